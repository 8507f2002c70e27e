"""Packs a finished bundle for Debian and Ubuntu, with everything the desktop offers of it.

    python packaging/linux/build_deb.py build/bundle/desktop-rag --out build

The program lies in /usr/lib/desktop-rag, with a link in /usr/bin; menus, links, icons and file
managers name that link. Needs dpkg-deb.
"""

import argparse
import shutil
import subprocess
import tempfile
import tomllib
from pathlib import Path

from desktop_rag.core.paths import resources_dir
from desktop_rag.desktop.entries.desktop_entries import ICON_SIZES_PX, entry_files
from desktop_rag.desktop.launching import APP_ID, APP_NAME, SUMMARY
from desktop_rag.ui.tray.app_icon import drawing_path, icon_pngs

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PROGRAM = f"/usr/bin/{APP_NAME}"
_KIB = 1024
_DESCRIPTION = """\
 Choose folders; the app reads the files in them, follows every change, and
 answers in a chat window with numbered sources. Nothing leaves the computer
 but the prompt for the model that the person chooses."""


def fill(root: Path, bundle: Path) -> None:
    """Lay the files out as they will be installed, all but the description of the package."""
    home = root / "usr" / "lib" / APP_NAME
    shutil.copytree(bundle, home, symlinks=True)
    link = root / PROGRAM.lstrip("/")
    link.parent.mkdir(parents=True)
    link.symlink_to(f"../lib/{APP_NAME}/{APP_NAME}")
    share = root / "usr" / "share"
    drawing = drawing_path(resources_dir())
    for file in entry_files([PROGRAM], drawing.read_bytes(), icon_pngs(drawing, ICON_SIZES_PX)):
        path = share / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.content)
    _copy(HERE / f"{APP_ID}.metainfo.xml", share / "metainfo")
    for name in ("LICENSE", "NOTICES.md"):
        _copy(ROOT / name, share / "doc" / APP_NAME)
    (share / "doc" / APP_NAME / "LICENSE").rename(share / "doc" / APP_NAME / "copyright")


def describe(root: Path, architecture: str) -> str:
    """Write the description of the package; returns the name of its file."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    needs = tomllib.loads((HERE / "needs.toml").read_text("utf-8"))
    size = sum(p.lstat().st_size for p in root.rglob("*") if p.is_file() and not p.is_symlink())
    control = root / "DEBIAN" / "control"
    control.parent.mkdir()
    control.write_text(
        f"Package: {APP_NAME}\nVersion: {project['version']}\nArchitecture: {architecture}\n"
        f"Maintainer: {APP_NAME} <{APP_NAME}@localhost>\nSection: text\nPriority: optional\n"
        f"Installed-Size: {size // _KIB}\nDepends: {', '.join(needs['depends'])}\n"
        f"Recommends: {', '.join(needs['recommends'])}\nDescription: {SUMMARY}\n{_DESCRIPTION}\n"
    )
    return f"{APP_NAME}_{project['version']}_{architecture}.deb"


def set_modes(root: Path) -> None:
    """Let everybody read and nobody but root write, whatever the mask of the builder."""
    for path in (root, *root.rglob("*")):
        if not path.is_symlink():
            is_open = path.is_dir() or path.stat().st_mode & 0o100
            path.chmod(0o755 if is_open else 0o644)


def _copy(file: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, folder / file.name)


def main() -> int:
    """Build the package; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--out", type=Path, default=Path("build"))
    arguments = parser.parse_args()
    asked = ["dpkg", "--print-architecture"]
    architecture = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        fill(root, arguments.bundle)
        out: Path = arguments.out / describe(root, architecture)
        set_modes(root)
        command = ["dpkg-deb", "--build", "--root-owner-group", "-Zxz", str(root), str(out)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    print(f"{out.stat().st_size / 1e6:.1f} MB  {out}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
