#!/usr/bin/env bash
# Lays out an AppImage of a finished bundle, and packs it where appimagetool is installed.
#
#     packaging/linux/build_appimage.sh build/bundle/desktop-rag
#
# The folder build/desktop-rag.AppDir runs by itself: build/desktop-rag.AppDir/AppRun
# appimagetool and the runtime that it puts before the files are on no package registry.
set -euo pipefail
bundle=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
id=app.desktoprag.desktoprag
folder=build/desktop-rag.AppDir
rm -rf "$folder"
mkdir -p "$folder/usr/lib" "$folder/usr/share/metainfo"
cp -a "$bundle" "$folder/usr/lib/desktop-rag"
cp "packaging/linux/$id.metainfo.xml" "$folder/usr/share/metainfo/"
QT_QPA_PLATFORM=offscreen .venv/bin/python - "$folder" <<'PYTHON'
import sys
from pathlib import Path

from desktop_rag.core.paths import resources_dir
from desktop_rag.desktop.entries.desktop_entries import DESKTOP_FILE, ICON_SIZES_PX, entry_files
from desktop_rag.desktop.launching import APP_ID
from desktop_rag.ui.tray.app_icon import drawing_path, icon_pngs

folder, drawing = Path(sys.argv[1]), drawing_path(resources_dir())
icons = icon_pngs(drawing, ICON_SIZES_PX)
for file in entry_files(["desktop-rag"], drawing.read_bytes(), icons):
    if file.path == DESKTOP_FILE or "icons" in file.path.parts:
        path = folder / "usr" / "share" / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.content)
(folder / f"{APP_ID}.png").write_bytes(icons[256])
(folder / DESKTOP_FILE.name).symlink_to(Path("usr", "share", DESKTOP_FILE))
PYTHON
ln -s usr/lib/desktop-rag/desktop-rag "$folder/AppRun"
if command -v appimagetool >/dev/null; then
    appimagetool "$folder" "build/desktop-rag-$(uname -m).AppImage"
else
    echo "$folder is ready; appimagetool, which packs it, is not installed." >&2
fi
