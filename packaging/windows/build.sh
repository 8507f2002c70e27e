#!/usr/bin/env bash
# What `make package` does, for Windows, where Git's bash is there and make is not.
set -euo pipefail
cd "$(dirname "$0")/../.."
python -m venv .venv
.venv/Scripts/python -m pip install --quiet --require-hashes --no-deps -r requirements.lock
.venv/Scripts/python -m pip install --quiet --no-deps --no-build-isolation --editable .
python -m venv build/package
build/package/Scripts/python -m pip install --quiet --require-hashes --no-deps -r requirements.lock
# The versions are those of the Makefile.
read -ra tools < <(sed -n 's/^PYINSTALLER := //p' Makefile | tr -d '\r')
build/package/Scripts/python -m pip install --quiet "${tools[@]}"
build/package/Scripts/python -m pip install --quiet --no-deps --no-build-isolation --force-reinstall .
QT_QPA_PLATFORM=offscreen .venv/Scripts/python packaging/bundle/build_icons.py --out build/icons
build/package/Scripts/pyinstaller --noconfirm --log-level WARN --distpath build/bundle \
    --workpath build/pyinstaller packaging/bundle/desktop-rag.spec
.venv/Scripts/python packaging/bundle/finish_bundle.py build/bundle/desktop-rag
