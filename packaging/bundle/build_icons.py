"""Writes the icon for Windows (.ico) and macOS (.icns) from the one drawing in the resources.

    python packaging/bundle/build_icons.py --out build/icons

Both formats hold PNG pictures: a directory with their sizes and places, or a chain of blocks.
"""

import argparse
import struct
from pathlib import Path

from desktop_rag.core.paths import resources_dir
from desktop_rag.desktop.launching import APP_NAME
from desktop_rag.ui.tray.app_icon import drawing_path, icon_pngs

ICO_SIZES_PX = (16, 20, 24, 32, 40, 48, 64, 128, 256)
# The names of macOS for its sizes.
ICNS_TYPES = {16: b"icp4", 32: b"icp5", 64: b"icp6", 128: b"ic07", 256: b"ic08", 512: b"ic09"}
_ICO_HEADER, _ICO_ENTRY = struct.Struct("<HHH"), struct.Struct("<BBBBHHII")
_BITS = 32


def ico(pictures: dict[int, bytes]) -> bytes:
    """The content of an .ico file."""
    place = _ICO_HEADER.size + _ICO_ENTRY.size * len(pictures)
    entries, body = b"", b""
    for size_px, png in pictures.items():
        # 256 is written as 0.
        side = size_px % 256
        entries += _ICO_ENTRY.pack(side, side, 0, 0, 1, _BITS, len(png), place + len(body))
        body += png
    return _ICO_HEADER.pack(0, 1, len(pictures)) + entries + body


def icns(pictures: dict[int, bytes]) -> bytes:
    """The content of an .icns file."""
    blocks = b"".join(
        ICNS_TYPES[size_px] + struct.pack(">I", len(png) + 8) + png
        for size_px, png in pictures.items()
    )
    return b"icns" + struct.pack(">I", len(blocks) + 8) + blocks


def main() -> int:
    """Write both; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("build/icons"))
    out: Path = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    drawing = drawing_path(resources_dir())
    (out / f"{APP_NAME}.ico").write_bytes(ico(icon_pngs(drawing, ICO_SIZES_PX)))
    (out / f"{APP_NAME}.icns").write_bytes(icns(icon_pngs(drawing, ICNS_TYPES)))
    print(f"{out}/{APP_NAME}.ico and .icns")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
