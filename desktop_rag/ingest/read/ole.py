"""The old Office container: just enough of it to tell what kind of file it is.

Runs in the parser process.
"""

import struct

MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

_END_OF_CHAIN = 0xFFFFFFFA
_FIRST_FAT_ENTRIES = 109
_SECTOR_SHIFTS = {9, 12}
_MAX_DIRECTORY_SECTORS = 2000
_ENTRY_BYTES = 128
_ENTRY = struct.Struct("<64sHBxIII")
_NONE = 0xFFFFFFFF


def root_names(data: bytes) -> set[str]:
    """The names at the top of the container; empty if it is damaged."""
    try:
        directory = _directory(data)
    except (struct.error, IndexError):
        return set()
    entries = [
        _ENTRY.unpack_from(directory, offset)
        for offset in range(0, len(directory) - _ENTRY_BYTES + 1, _ENTRY_BYTES)
    ]
    names: set[str] = set()
    seen: set[int] = set()
    # Siblings form a tree that hangs on the root's only child.
    waiting = [entries[0][5]] if entries else []
    while waiting:
        index = waiting.pop()
        if index == _NONE or index in seen or index >= len(entries):
            continue
        seen.add(index)
        name, name_bytes, _, left, right, _ = entries[index]
        names.add(name[: max(name_bytes - 2, 0)].decode("utf-16-le", "replace"))
        waiting += [left, right]
    return names


def _directory(data: bytes) -> bytes:
    """The sectors of the directory, put together along their chain."""
    (shift,) = struct.unpack_from("<H", data, 30)
    if shift not in _SECTOR_SHIFTS:
        return b""
    sector_bytes = 1 << shift
    per_sector = sector_bytes // 4
    fat_sectors = struct.unpack_from(f"<{_FIRST_FAT_ENTRIES}I", data, 76)
    (sector,) = struct.unpack_from("<I", data, 48)
    pieces: list[bytes] = []
    while sector < _END_OF_CHAIN and len(pieces) < _MAX_DIRECTORY_SECTORS:
        start = (sector + 1) * sector_bytes
        pieces.append(data[start : start + sector_bytes])
        fat_start = (fat_sectors[sector // per_sector] + 1) * sector_bytes
        (sector,) = struct.unpack_from("<I", data, fat_start + 4 * (sector % per_sector))
    return b"".join(pieces)
