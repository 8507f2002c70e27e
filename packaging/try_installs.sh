#!/usr/bin/env bash
# Installs the checkout with pipx and with uv for a person who has nothing, and uses what they made.
#
#     sudo packaging/try_installs.sh
#
# The person lives in a root of their own, whose folders of the system are this computer's, read-only,
# and whose home is empty: nothing of the checkout's environment, caches or settings is in reach. So it
# proves that wheel and sdist hold all the app needs besides Python and the system's libraries, that
# both tools put the program on the path, and that it works without the checkout. It does not prove
# which libraries of the system are needed. Needs root, for the mounts, and the package registry.
set -euo pipefail

if [ "${1:-}" != inside ]; then
    root=$(mktemp -d)
    cleared() { umount -R "$root" 2>/dev/null || true; rmdir "$root"; }
    trap cleared EXIT
    checkout=$(cd "$(dirname "$0")/.." && pwd)
    python=$(make --silent -C "$checkout" find-python)
    prefix=$("$python" -c 'import sys; print(sys.base_prefix)')
    export checkout prefix root
    export interpreter="$prefix/bin/python3"
    unshare --mount --propagation private bash "$0" inside
    exit
fi

mount -t tmpfs -o mode=755 person "$root"
for folder in /usr /bin /sbin /lib /lib64 /etc /opt "$prefix"; do
    [ -d "$folder" ] || continue
    mkdir -p "$root$folder"
    mount --rbind "$folder" "$root$folder"
    mount -o remount,bind,ro "$root$folder"
done
mkdir -p "$root"/{proc,dev,tmp,person,checkout}
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
# A copy of what git knows: neither environment nor build folder comes along.
git -C "$checkout" ls-files -z --cached --others --exclude-standard \
    | tar -C "$checkout" --null --files-from=- --create | tar -C "$root/checkout" --extract

# The registry is reached as this computer reaches it.
mapfile -t registry < <(env | grep -E '^(PIP|UV|SSL|REQUESTS|HTTPS?|https?|NO|no)_[A-Za-z_]*=' || true)
exec chroot "$root" /usr/bin/env -i "${registry[@]}" HOME=/person LANG=C.UTF-8 \
    PATH=/person/.local/bin:/usr/bin:/bin QT_QPA_PLATFORM=offscreen \
    interpreter="$interpreter" /bin/bash -euo pipefail <<'PERSON'
cd "$HOME"
"$interpreter" -m venv tools
tools/bin/python -m pip install --quiet pipx==1.18.4 uv==0.13.8 build==1.6.1

used() {
    program=$HOME/.local/bin/desktop-rag
    [ "$(command -v desktop-rag)" = "$program" ]
    desktop-rag demo --terminal 2>/dev/null | grep -F '[1]'
    desktop-rag doctor --json | grep -F '"check": "model files", "state": "ok"' >/dev/null
    desktop-rag desktop-entries install >/dev/null
    grep -qF "$(dirname "$(readlink -f "$program")")" .local/share/applications/*.desktop
    desktop-rag desktop-entries remove >/dev/null
    [ -z "$(find .local/share/applications -name '*.desktop')" ]
    rm -rf .local/share/desktop-rag
}

echo "== sdist and wheel"
tools/bin/python -m build --outdir dist /checkout >/dev/null
ls -l dist
for held in all-MiniLM-L6-v2/model.onnx app_icon.svg questions.toml themes/dark.toml; do
    "$interpreter" -m zipfile --list dist/*.whl | grep -F "$held" >/dev/null
    tar --list --file dist/*.tar.gz | grep -F "$held" >/dev/null
done
echo "== pipx"
tools/bin/pipx install --quiet --python "$interpreter" /checkout
used
tools/bin/pipx uninstall --quiet desktop-rag
[ ! -e .local/bin/desktop-rag ]
echo "== uv, from the sdist"
tools/bin/uv tool install --quiet --python "$interpreter" dist/*.tar.gz
used
tools/bin/uv tool uninstall --quiet desktop-rag
[ ! -e .local/bin/desktop-rag ]
echo "both work"
PERSON
