"""The inside of a PowerPoint 97-2003 file: its tree of records, and where each slide is.

Follows the published format ([MS-PPT]). Runs in the parser process.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from desktop_rag.ingest.read.foundation.encryption import encrypted
from desktop_rag.ingest.read.foundation.ole import Container
from desktop_rag.ingest.read.foundation.source_file import Unreadable
from desktop_rag.ingest.read.foundation.too_old import POWERPOINT_95, too_old

DOCUMENT, SLIDE, NOTES = 0x03E8, 0x03EE, 0x03F0
SLIDE_ATOM, NOTES_ATOM, SLIDE_PERSIST = 0x03EF, 0x03F1, 0x03F3
SLIDE_LIST, DRAWING = 0x0FF0, 0x040C
TEXT_HEADER, TEXT_CHARS, TEXT_BYTES = 0x0F9F, 0x0FA0, 0x0FA8
TEXT_REFERENCE, PLACEHOLDER = 0x0F9E, 0x0BC3
STRING, HEADERS_FOOTERS, COMMENT = 0x0FBA, 0x0FD9, 0x2EE0
GROUP, SHAPE, GROUP_ANCHOR, GROUP_PROPERTIES = 0xF003, 0xF004, 0xF00F, 0xF122
TEXT_BOX = 0xF00D

_USER_EDIT, _PERSIST_DIRECTORY, _CRYPT_SESSION = 0x0FF5, 0x1772, 0x2F14
_ENCRYPTED_TOKEN = 0xF3D1C4DF
_HEADER = struct.Struct("<HHI")
_CONTAINER = 0xF
_MIN_CURRENT_BYTES = 28
_MAX_DEPTH = 40
_MAX_EDITS = 1000
_MAX_OBJECTS = 200_000


@dataclass(frozen=True, slots=True)
class Record:
    """A record: a container of others, or an atom whose bytes are [start, end) of the stream."""

    kind: int
    instance: int
    is_container: bool
    start: int
    end: int


class OldSlidesFile:
    """An opened presentation. Raises Unreadable if it is encrypted or damaged."""

    def __init__(self, container: Container) -> None:
        stream = container.stream("PowerPoint Document")
        if stream is None:
            raise Unreadable("damaged", "The file is damaged", "Its slides can't be found.")
        self._stream = stream
        current = container.stream("Current User") or b""
        if is_of_version_95(current):
            raise too_old(POWERPOINT_95)
        if int.from_bytes(current[12:16], "little") == _ENCRYPTED_TOKEN:
            raise encrypted()
        self._offsets, document_id = self._find_objects(int.from_bytes(current[16:20], "little"))
        self.document = self.object(document_id, DOCUMENT) or self._first(DOCUMENT)

    def object(self, number: int, kind: int) -> Record | None:
        """The record with this number, None if it is of another kind."""
        offset = self._offsets.get(number)
        record = None if offset is None else self._record(offset, len(self._stream))
        return record if record and record.kind == kind else None

    def all_of(self, kind: int) -> list[Record]:
        """Every record of this kind at the top, current or not."""
        return [record for record in self._children(0, len(self._stream)) if record.kind == kind]

    def children(self, record: Record | None) -> Iterator[Record]:
        """The records directly inside."""
        if record and record.is_container:
            yield from self._children(record.start, record.end)

    def descendants(self, record: Record | None, *kinds: int, depth: int = 0) -> Iterator[Record]:
        """The records of these kinds at any depth, in order; not those inside of one found."""
        for item in self.children(record):
            if item.kind in kinds:
                yield item
            elif depth < _MAX_DEPTH:
                yield from self.descendants(item, *kinds, depth=depth + 1)

    def content(self, record: Record) -> bytes:
        """The bytes of an atom."""
        return self._stream[record.start : record.end]

    def number(self, record: Record | None, offset: int) -> int:
        """The number of four bytes in an atom, 0 if it is too short."""
        return 0 if record is None else int.from_bytes(self.content(record)[offset:][:4], "little")

    def text(self, record: Record) -> str:
        """The text of an atom of text."""
        encoding = "latin-1" if record.kind == TEXT_BYTES else "utf-16-le"
        return self.content(record).decode(encoding, "replace")

    def _first(self, kind: int) -> Record | None:
        return next(iter(self.all_of(kind)), None)

    def _find_objects(self, offset: int) -> tuple[dict[int, int], int]:
        """The offset of each object by its number, and the number of the document.

        Saving appends an edit that names the objects it changed and the edit before it.
        """
        offsets: dict[int, int] = {}
        document = 0
        seen: set[int] = set()
        while offset and offset not in seen and len(seen) < _MAX_EDITS:
            seen.add(offset)
            edit = self._record(offset, len(self._stream))
            if edit is None or edit.kind != _USER_EDIT:
                break
            directory = self._record(self.number(edit, 12), len(self._stream))
            document = document or self.number(edit, 16)
            if directory and directory.kind == _PERSIST_DIRECTORY:
                for number, place in _entries(self.content(directory)):
                    offsets.setdefault(number, place)
            offset = self.number(edit, 8)
        for place in offsets.values():
            record = self._record(place, len(self._stream))
            if record and record.kind == _CRYPT_SESSION:
                raise encrypted()
        return offsets, document

    def _children(self, start: int, end: int) -> Iterator[Record]:
        while record := self._record(start, end):
            yield record
            start = record.end

    def _record(self, offset: int, limit: int) -> Record | None:
        if offset + _HEADER.size > limit:
            return None
        version, kind, size = _HEADER.unpack_from(self._stream, offset)
        start = offset + _HEADER.size
        is_container = version & 0xF == _CONTAINER
        return Record(kind, version >> 4, is_container, start, min(start + size, limit))


def is_of_version_95(current: bytes) -> bool:
    """True when the stream of the current user begins with its own length, as version 95 wrote it.

    Later versions write a record whose header takes eight bytes.
    """
    length = int.from_bytes(current[:4], "little")
    return 0 < length < _MIN_CURRENT_BYTES and length + 4 == len(current)


def _entries(directory: bytes) -> Iterator[tuple[int, int]]:
    """(number of the object, where it is) of a directory."""
    position = 0
    count = 0
    while position + 4 <= len(directory) and count < _MAX_OBJECTS:
        first = int.from_bytes(directory[position : position + 4], "little")
        position += 4
        for index in range(first >> 20):
            yield (first & 0xFFFFF) + index, int.from_bytes(directory[position:][:4], "little")
            position += 4
            count += 1
