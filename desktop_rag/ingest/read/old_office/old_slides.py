"""PowerPoint presentations of before 2007 (PPT), with their notes. Runs in the parser process."""

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from desktop_rag.ingest.read.foundation.blocks import Slide, SlideWriter, Table, given_title
from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft
from desktop_rag.ingest.read.foundation.encryption import encrypted
from desktop_rag.ingest.read.foundation.looks import Look, in_looks
from desktop_rag.ingest.read.foundation.ole import Container
from desktop_rag.ingest.read.foundation.source_file import (
    POWERPOINT_95,
    SourceFile,
    Unreadable,
    too_old,
)
from desktop_rag.ingest.read.office.sheet_extras import said_by
from desktop_rag.ingest.read.office.slides import SlideLine, numbered_lines

DOCUMENT, SLIDE, NOTES = 0x03E8, 0x03EE, 0x03F0
SLIDE_ATOM, SLIDE_PERSIST = 0x03EF, 0x03F3
SLIDE_LIST, DRAWING, SLIDE_INFO = 0x0FF0, 0x040C, 0x03F9
TEXT_HEADER, TEXT_CHARS, TEXT_BYTES = 0x0F9F, 0x0FA0, 0x0FA8
TEXT_REFERENCE = 0x0F9E
TEXT_LOOKS, TAGGED = 0x0FA1, 0x138B
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
    """An opened presentation, after [MS-PPT]. Raises Unreadable if it is encrypted or damaged."""

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


# Which list of slides it is, by its instance.
_SLIDES, _NOTES = 0, 2
# Kinds of text: the title of a slide, or of a title slide.
_TITLES = {0, 6}
_TITLE_SLIDE = 6
_OTHER = 4
_TEXTS = (TEXT_HEADER, TEXT_CHARS, TEXT_BYTES, TEXT_REFERENCE, TEXT_LOOKS, TAGGED)
_TABLE_PROPERTY = 0x039F
# Where the flags of a slide's show are, and the one that leaves it out.
_INFO_FLAGS, _HIDDEN = 10, 0x0004
_ANCHOR, _MAX_LINES = struct.Struct("<iiii"), 200
# Strings of headers and footers: the date, the header, the footer.
_FOOTER_STRINGS = {0, 1, 2}
_AUTHOR, _SAID = 0, 1
# Placeholders for the number of a slide or a date.
_FIELDS = {"*", ""}
# The characters that end a line without ending a paragraph, and that end a paragraph.
_LINES = str.maketrans({"\x0b": "\n", "\r": "\n", "\xad": None})


def read(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft; the title is that of a title slide, else that of the properties."""
    container = Container(source)
    file = OldSlidesFile(container)
    reader = _Reader(file)
    writer = SlideWriter(draft)
    for number, slide in enumerate(reader.slides(), 1):
        writer.write(number, slide)
    return reader.title or given_title(container.title())


@dataclass(frozen=True, slots=True)
class _Text:
    kind: int
    text: str = ""
    table: Table | None = None


@dataclass(frozen=True, slots=True)
class _ListedSlide:
    """A slide as the document lists it: its numbers, and the texts of its outline."""

    stored: int
    slide_id: int
    texts: Sequence[_Text]


class _Reader:
    """Puts each slide together from the list, its drawing and its page of notes."""

    def __init__(self, file: OldSlidesFile) -> None:
        self.title = ""
        self._file = file
        lists = [r for r in file.children(file.document) if r.kind == SLIDE_LIST]
        self._listed = [
            listed for found in lists if found.instance == _SLIDES for listed in self._list(found)
        ]
        self._notes = {
            listed.slide_id: listed
            for found in lists
            if found.instance == _NOTES
            for listed in self._list(found)
        }

    def slides(self) -> Iterator[Slide]:
        """The slides in their order; those of a file whose list is lost as they are stored."""
        if self._listed:
            for listed in self._listed:
                yield self._slide(self._file.object(listed.stored, SLIDE), listed.texts)
        else:
            for record in self._file.all_of(SLIDE):
                yield self._slide(record, ())

    def _list(self, found: Record) -> Iterator[_ListedSlide]:
        stored, slide_id, texts = 0, 0, list[_Text]()
        kind, text = 0, None
        for item in self._file.children(found):
            if item.kind == SLIDE_PERSIST:
                if stored:
                    yield _ListedSlide(stored, slide_id, texts)
                stored, slide_id = self._file.number(item, 0), self._file.number(item, 12)
                texts = []
            elif item.kind == TEXT_HEADER:
                kind = self._file.number(item, 0)
                texts.append(_Text(kind, ""))
            elif item.kind in {TEXT_CHARS, TEXT_BYTES} and texts:
                text, texts[-1] = item, _Text(kind, self._cleaned(item))
            elif item.kind == TEXT_LOOKS and text:
                texts[-1] = _Text(kind, self._shown(text, item))
        if stored:
            yield _ListedSlide(stored, slide_id, texts)

    def _slide(self, record: Record | None, outline: Sequence[_Text]) -> Slide:
        slide = Slide()
        texts, used = self._drawn(record, outline)
        # Texts of the outline that no shape shows.
        texts += [text for index, text in enumerate(outline) if index not in used]
        for text in texts:
            if text.kind in _TITLES and not slide.title:
                slide.title = text.text
                if text.kind == _TITLE_SLIDE and not self.title:
                    self.title = " ".join(text.text.split())
            else:
                slide.blocks.append(text.table or text.text)
        atom = next((r for r in self._file.children(record) if r.kind == SLIDE_ATOM), None)
        notes = self._notes.get(self._file.number(atom, 16))
        if notes:
            page = self._file.object(notes.stored, NOTES)
            slide.notes = [text.text for text in self._drawn(page, notes.texts)[0] if text.text]
        infos = (r for r in self._file.children(record) if r.kind == SLIDE_INFO)
        slide.is_hidden = any(self._file.number(r, _INFO_FLAGS) & _HIDDEN for r in infos)
        slide.footers = list(self._footers(record))
        slide.comments = list(self._comments(record))
        return slide

    def _drawn(
        self, record: Record | None, outline: Sequence[_Text]
    ) -> tuple[list[_Text], set[int]]:
        """The texts of the shapes in order, and which texts of the outline they show."""
        texts: list[_Text] = []
        used: set[int] = set()
        for drawing in self._file.children(record):
            if drawing.kind == DRAWING:
                self._collect(drawing, outline, texts, used)
        return [text for text in texts if text.table or text.text.strip() not in _FIELDS], used

    def _collect(
        self,
        record: Record,
        outline: Sequence[_Text],
        texts: list[_Text],
        used: set[int],
        depth: int = 0,
    ) -> None:
        kind, text, numbers = _OTHER, None, b""
        for item in self._file.descendants(record, GROUP, *_TEXTS):
            if item.kind == GROUP and self._is_table(item):
                texts.append(_Text(_OTHER, table=Table(self._rows(item))))
            elif item.kind == GROUP and depth < _MAX_DEPTH:
                self._collect(item, outline, texts, used, depth + 1)
            elif item.kind == TEXT_HEADER:
                kind = self._file.number(item, 0)
            elif item.kind == TEXT_REFERENCE:
                index = self._file.number(item, 0)
                if index < len(outline) and index not in used:
                    used.add(index)
                    texts.append(outline[index])
            elif item.kind == TAGGED:
                numbers = self._file.content(item)
            elif item.kind == TEXT_LOOKS and text:
                texts[-1] = _Text(kind, self._shown(text, item, numbers))
                text = None
            elif item.kind in {TEXT_CHARS, TEXT_BYTES}:
                text = item
                texts.append(_Text(kind, self._cleaned(item)))

    def _is_table(self, group: Record) -> bool:
        """True when the properties of a group have one that only tables have."""
        first = next(self._file.children(group), None)
        for item in self._file.children(first):
            if item.kind == GROUP_PROPERTIES:
                content = self._file.content(item)
                places = range(0, min(6 * item.instance, len(content) - 5), 6)
                numbers = (int.from_bytes(content[place : place + 2], "little") for place in places)
                return any(number & 0x3FFF == _TABLE_PROPERTY for number in numbers)
        return False

    def _rows(self, group: Record) -> list[list[str]]:
        """The cells of a table, which are shapes, put into rows and columns by where they are
        drawn; a merged one stands wherever it reaches.
        """
        cells: list[tuple[tuple[int, ...], str]] = []
        for shape in self._file.children(group):
            anchors = self._file.descendants(shape, GROUP_ANCHOR)
            anchor = next((self._file.content(item) for item in anchors), b"")
            # Lines of the grid are shapes too, but no cells.
            is_cell = shape.kind == SHAPE and next(self._file.descendants(shape, TEXT_BOX), None)
            if is_cell and len(anchor) >= _ANCHOR.size:
                texts: list[_Text] = []
                self._collect(shape, (), texts, set())
                text = " ".join(" ".join(each.text for each in texts).split())
                cells.append((_ANCHOR.unpack_from(anchor), text))
        columns, rows = (sorted({place[n] for place, _ in cells})[:_MAX_LINES] for n in (0, 1))
        grid = {(row, column): "" for row in rows for column in columns}
        for (left, top, right, bottom), text in cells:
            for row in (row for row in rows if top <= row < bottom):
                grid |= {(row, column): text for column in columns if left <= column < right}
        return [[grid[row, column] for column in columns] for row in rows]

    def _footers(self, record: Record | None) -> Iterator[str]:
        for found in self._file.children(record):
            if found.kind == HEADERS_FOOTERS:
                for item in self._file.children(found):
                    if item.kind == STRING and item.instance in _FOOTER_STRINGS:
                        yield self._cleaned(item)

    def _comments(self, record: Record | None) -> Iterator[str]:
        for comment in self._file.descendants(record, COMMENT):
            strings = {
                item.instance: self._cleaned(item)
                for item in self._file.children(comment)
                if item.kind == STRING
            }
            if strings.get(_SAID):
                yield f"Comment{said_by(strings.get(_AUTHOR, ''), '')}: {strings[_SAID]}"

    def _cleaned(self, record: Record) -> str:
        lines = self._file.text(record).translate(_LINES).split("\n")
        return "\n".join(line.strip() for line in lines if line.strip())

    def _shown(self, record: Record, looks: Record, numbers: bytes = b"") -> str:
        """A text as its letters look, its paragraphs indented and numbered."""
        units = self._file.text(record).encode("utf-16-le", "replace")

        def part(start: int, end: int) -> str:
            return units[2 * start : 2 * end].decode("utf-16-le", "replace")

        paragraphs, letters = _runs_of(self._file.content(looks), len(units) // 2)
        kinds = _kinds(paragraphs, letters, _schemes(numbers))
        lines: list[SlideLine] = []
        start = 0
        for line in self._file.text(record).split("\r"):
            end = start + len(line.encode("utf-16-le", "replace")) // 2
            own = [run for run in letters if run.start < end and run.end > start]
            pieces = [(part(max(r.start, start), min(r.end, end)), r.look()) for r in own]
            around = next((r for r in paragraphs if r.start <= start < r.end), _Run(0, 0, 0, {}))
            kind = next((kind for place, kind in kinds if place <= start), "")
            has_bullet = around.said.get(_BULLET, 1) & 1
            text = (in_looks(pieces) if pieces else line).translate(_LINES)
            lines.append(SlideLine(text, around.depth, kind if has_bullet else ""))
            start = end + 1
        return "\n".join(numbered_lines(lines))


# The parts of the properties of paragraphs and of letters in their order: the bits that say one is
# there, and its size. Of tabs their number is said first.
_BULLET, _TABS, _TAB_BYTES = 0x0F, 0x100000, 4
_OF_PARAGRAPHS = (
    (_BULLET, 2), (0x80, 2), (0x10, 2), (0x40, 2), (0x20, 4), (0x800, 2), (0x1000, 2), (0x2000, 2),
    (0x4000, 2), (0x100, 2), (0x400, 2), (0x8000, 2), (_TABS, 2), (0x10000, 2), (0xE0000, 2),
    (0x200000, 2),
)  # fmt: skip
_LETTER_STYLE, _SHIFT = 0x3EB7, 0x80000
_OF_LETTERS = (
    (_LETTER_STYLE, 2), (0x10000, 2), (0x200000, 2), (0x400000, 2), (0x800000, 2), (0x20000, 2),
    (0x40000, 4), (_SHIFT, 2),
)  # fmt: skip
# Of the style of letters the bits that say which numbering their paragraph has.
_NUMBER_BITS, _NUMBER_SHIFT, _TURN = 0x3C00, 10, 16
_NUMBERING = 0x0FAC
# Of a numbering, and of letters and words, which follow it.
_OF_NUMBERING = ((0x800000, 2), (0x2000000, 2), (0x1000000, 4))
_OF_MORE = (((0x100000, 4),), ((1, 2), (2, 2), (4, 2), (0x40, 2), (0x20, 4)))
_KINDS = [
    "alphaLcPeriod", "alphaUcPeriod", "arabicParenR", "arabicPeriod", "romanLcParenBoth",
    "romanLcParenR", "romanLcPeriod", "romanUcPeriod", "alphaLcParenBoth", "alphaLcParenR",
    "alphaUcParenBoth", "alphaUcParenR", "arabicParenBoth", "arabicPlain", "romanUcParenBoth",
    "romanUcParenR",
]  # fmt: skip
_USUAL_KIND = 3


@dataclass(frozen=True, slots=True)
class _Run:
    """A stretch of a text with what is said of it, by the bits of the part."""

    start: int
    end: int
    depth: int
    said: Mapping[int, int]

    def look(self) -> Look:
        """The look of its letters: by how many per cent they are raised."""
        shift = self.said.get(_SHIFT, 0)
        return Look(0 < shift < _LOWERED, shift >= _LOWERED)


_LOWERED = 0x8000


def _runs_of(data: bytes, length: int) -> tuple[list[_Run], list[_Run]]:
    """The stretches of paragraphs and of letters of a text of this length."""
    position, found = 0, (list[_Run](), list[_Run]())
    for runs, parts, head in zip(found, (_OF_PARAGRAPHS, _OF_LETTERS), (6, 4), strict=True):
        start = 0
        while start <= length and position + head + 4 <= len(data):
            end = start + int.from_bytes(data[position : position + 4], "little")
            depth = int.from_bytes(data[position + 4 : position + head], "little")
            said, position = _said(data, position + head, parts)
            runs.append(_Run(start, end, depth, said))
            start = end
    return found


def _said(
    data: bytes, position: int, parts: Sequence[tuple[int, int]]
) -> tuple[dict[int, int], int]:
    """The parts that properties have, and the place behind them."""
    mask, position = int.from_bytes(data[position : position + 4], "little"), position + 4
    said: dict[int, int] = {}
    for bits, size in parts:
        if mask & bits:
            said[bits] = int.from_bytes(data[position : position + size], "little")
            position += size + said[bits] * _TAB_BYTES * (bits == _TABS)
    return said, position


def _kinds(
    paragraphs: list[_Run], letters: list[_Run], schemes: Mapping[int, str]
) -> list[tuple[int, str]]:
    """Where a kind of numbers begins, the last place first.

    Letters say the places of their numberings one after the other, by the last four bits; where
    none do, each stretch of paragraphs has the next.
    """
    said = [(run.said.get(_LETTER_STYLE, 0) & _NUMBER_BITS) >> _NUMBER_SHIFT for run in letters]
    turns = accumulate(after < before for before, after in pairwise([0, *said]))
    marked = [turn * _TURN + place for turn, place in zip(turns, said, strict=True)]
    runs, places = (letters, marked) if any(said) else (paragraphs, range(len(paragraphs)))
    return [(run.start, schemes.get(n, "")) for run, n in zip(runs, places, strict=True)][::-1]


def _schemes(data: bytes) -> dict[int, str]:
    """The kinds of numbers, as PPTX names them, by their place in a record of such."""
    found: dict[int, str] = {}
    if len(data) < _HEADER.size or _HEADER.unpack_from(data)[1] != _NUMBERING:
        return found
    position, place = _HEADER.size, 0
    while position < len(data):
        said, position = _said(data, position, _OF_NUMBERING)
        for parts in _OF_MORE:
            _, position = _said(data, position, parts)
        if said.get(0x2000000):
            scheme = said.get(0x1000000, _USUAL_KIND) & 0xFFFF
            found[place] = _KINDS[scheme] if scheme < len(_KINDS) else _KINDS[_USUAL_KIND]
        place += 1
    return found
