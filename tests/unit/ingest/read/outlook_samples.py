"""Outlook messages made by hand: a container of storages and streams, and properties in it."""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

Tree = Mapping[str, "bytes | Tree"]
_SECTOR = 512
# Shorter streams would have to be in a stream of their own.
_MIN_STREAM_BYTES = 4096
_NONE, _END = 0xFFFFFFFF, 0xFFFFFFFE
_FIXED = "__properties_version1.0"


def make_message(fields: Mapping[str, str | bytes], **storages: Tree) -> bytes:
    """A MSG file; fields are those of `item`. `storages` are attachments and recipients."""
    return make_container({**item(fields, offset=32), **storages})


def item(
    fields: Mapping[str, str | bytes], offset: int = 8, numbers: Mapping[int, int] | None = None
) -> Tree:
    """The streams of a storage: number of a property in hex → text or bytes."""
    entries = (struct.pack("<HHIQ", 3, key, 0, value) for key, value in (numbers or {}).items())
    streams: dict[str, bytes | Tree] = {_FIXED: bytes(offset) + b"".join(entries)}
    for key, value in fields.items():
        kind = "001F" if isinstance(value, str) else "0102"
        content = value.encode("utf-16-le") if isinstance(value, str) else value
        filling = b"\0" if isinstance(value, str) else b" "
        streams[f"__substg1.0_{key}{kind}"] = content.ljust(_MIN_STREAM_BYTES, filling)
    return streams


@dataclass
class _Entry:
    name: str
    content: bytes | None = None
    right: int = _NONE
    child: int = _NONE
    start: int = _END


def make_container(tree: Tree) -> bytes:
    """An old Office container with these storages and streams."""
    entries = [_Entry("Root Entry")]
    entries[0].child = _add(tree, entries)
    streams = [entry for entry in entries[1:] if entry.content is not None]
    contents = [_padded(entry.content or b"") for entry in streams]
    directory_sectors = -(-len(entries) // 4)
    sizes = [directory_sectors, *(len(content) // _SECTOR for content in contents)]
    fat_sectors = sum(sizes) // 127 + 1
    fat = [0xFFFFFFFD] * fat_sectors
    for entry, size in zip([entries[0], *streams], sizes, strict=True):
        entry.start = len(fat)
        fat += [*range(len(fat) + 1, len(fat) + size), _END]
    directory_start, entries[0].start = entries[0].start, _END
    fat += [_NONE] * (fat_sectors * 128 - len(fat))
    head = struct.pack(
        "<8s16x5H6x9I", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 62, 3, 0xFFFE, 9, 6,
        0, fat_sectors, directory_start, 0, 4096, _END, 0, _END, 0,
    )  # fmt: skip
    head = (head + struct.pack(f"<{fat_sectors}I", *range(fat_sectors))).ljust(_SECTOR, b"\xff")
    directory = b"".join(map(_packed, entries)).ljust(directory_sectors * _SECTOR, b"\0")
    return head + struct.pack(f"<{len(fat)}I", *fat) + directory + b"".join(contents)


def _add(tree: Tree, entries: list[_Entry]) -> int:
    """Append the entries of a storage, each to the right of the one before it."""
    numbers: list[int] = []
    for name, content in tree.items():
        numbers.append(len(entries))
        entries.append(_Entry(name, content if isinstance(content, bytes) else None))
        if not isinstance(content, bytes):
            entries[numbers[-1]].child = _add(content, entries)
    for left, right in pairwise(numbers):
        entries[left].right = right
    return numbers[0] if numbers else _NONE


def _padded(content: bytes) -> bytes:
    content = content.ljust(_MIN_STREAM_BYTES, b"\0")
    return content + bytes(-len(content) % _SECTOR)


def _packed(entry: _Entry) -> bytes:
    kind = 5 if entry.name == "Root Entry" else 1 if entry.content is None else 2
    name = entry.name.encode("utf-16-le")
    size = max(len(entry.content), _MIN_STREAM_BYTES) if entry.content is not None else 0
    fields = name.ljust(64, b"\0") + struct.pack("<HBB", len(name) + 2, kind, 1)
    links = struct.pack("<3I", _NONE, entry.right, entry.child)
    return (fields + links).ljust(116, b"\0") + struct.pack("<IQ", entry.start, size)
