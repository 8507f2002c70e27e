"""Word documents of before 2007 (DOC), with their tables and notes. Runs in the parser process."""

import re
import struct
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from operator import itemgetter

from desktop_rag.ingest.read.foundation.addresses import address_of_field, behind
from desktop_rag.ingest.read.foundation.blocks import (
    BlockWriter,
    ListLevel,
    Numbering,
    is_for_layout,
)
from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft
from desktop_rag.ingest.read.foundation.encryption import encrypted
from desktop_rag.ingest.read.foundation.looks import PLAIN, Look, in_looks
from desktop_rag.ingest.read.foundation.ole import Container
from desktop_rag.ingest.read.foundation.source_file import WORD, SourceFile, Unreadable, too_old

# Codes of single properties.
_IN_TABLE, _ROW_END = 0x2416, 0x2417
_OUTLINE_LEVEL = 0x2640
_LIST_LEVEL, _LIST = 0x260A, 0x460B
_NO_LIST = {0, 0xF801}
_OF_PARAGRAPHS, _OF_LETTERS = 1, 2
# The two whose length takes two bytes, or is said in their value.
_TABLE_DEFINITION, _CHANGE_TABS = 0xD608, 0xC615
_OPERAND_BYTES = {0: 1, 1: 1, 2: 2, 3: 4, 4: 2, 5: 2, 7: 3}
_VARIABLE = 6
_MAX_SIZE = 255
# Numbers of built-in styles.
_HEADINGS, _TITLE = range(1, 10), 62
_NO_STYLE = 0xFFF
_MAX_STYLES = 5000
_MAX_DEPTH = 10
_BODY_LEVEL = 9


@dataclass(frozen=True, slots=True)
class Paragraph:
    """`level` is 0 for the title of the document, 1-9 for a heading, None for text; `list_id` is
    the numbering of an item, "" for any other paragraph.
    """

    level: int | None = None
    list_id: str = ""
    list_level: int = 0
    is_in_table: bool = False
    is_row_end: bool = False


@dataclass(frozen=True, slots=True)
class _Style:
    """The number of the built-in style it is, the style it is based on, what it says itself of
    paragraphs and of letters.
    """

    built_in: int = _NO_STYLE
    based_on: int = _NO_STYLE
    paragraph: Mapping[int, int] = field(default_factory=dict[int, int])
    letters: Mapping[int, int] = field(default_factory=dict[int, int])


class OldStyles:
    """The style sheet of a document."""

    def __init__(self, sheet: bytes) -> None:
        self._styles: list[_Style] = []
        self._known: dict[bytes, Paragraph] = {}
        # The readable part of a damaged one is enough.
        with suppress(struct.error):
            self._read(sheet)

    def _read(self, sheet: bytes) -> None:
        header_bytes, count = struct.unpack_from("<HH", sheet)
        base_bytes = int.from_bytes(sheet[4:6], "little")
        position = 2 + header_bytes
        for _ in range(min(count, _MAX_STYLES)):
            (size,) = struct.unpack_from("<H", sheet, position)
            position += 2
            entry = sheet[position : position + size]
            self._styles.append(_style(entry, base_bytes) if size else _Style())
            # Each begins at an even place.
            position += size + size % 2

    def paragraph(self, properties: bytes) -> Paragraph:
        """Read the properties of a paragraph, the number of its style first."""
        if properties not in self._known:
            self._known[properties] = self._described(properties)
        return self._known[properties]

    def _described(self, properties: bytes) -> Paragraph:
        style = int.from_bytes(properties[:2], "little")
        said = dict(sprms(properties[2:]))
        level = self._level(style)
        outline = said.get(_OUTLINE_LEVEL)
        if outline is not None:
            level = outline + 1 if outline < _BODY_LEVEL else None
        for found in self._chain(style):
            said = {**found.paragraph, **said}
        is_list = said.get(_LIST, 0) not in _NO_LIST
        return Paragraph(
            level=level,
            list_id=str(said[_LIST]) if is_list else "",
            list_level=said.get(_LIST_LEVEL, 0),
            is_in_table=bool(said.get(_IN_TABLE)),
            is_row_end=bool(said.get(_ROW_END)),
        )

    def _level(self, style: int) -> int | None:
        if not self._styles and style in _HEADINGS:
            return style
        known = (found.built_in for found in self._chain(style))
        levels = {_TITLE: 0, **{n: n for n in _HEADINGS}}
        return next((levels[number] for number in known if number in levels), None)

    def _chain(self, style: int) -> Iterator[_Style]:
        """The style, what it is based on, and so on."""
        for _ in range(_MAX_DEPTH):
            if style >= len(self._styles):
                return
            yield self._styles[style]
            style = self._styles[style].based_on

    def letters(self, style: int) -> dict[int, int]:
        """What a style says of letters."""
        said: dict[int, int] = {}
        for found in self._chain(style):
            said = {**found.letters, **said}
        return {code: value & 0xFF for code, value in said.items() if code in _LOOKS}


def _style(entry: bytes, base_bytes: int) -> _Style:
    built_in, base = struct.unpack_from("<HH", entry)
    # Behind the name stand the properties of paragraphs, if it has such, and those of letters.
    chars = int.from_bytes(entry[base_bytes : base_bytes + 2], "little")
    position, parts = base_bytes + 2 * chars + 4, list[bytes]()
    for _ in range(int.from_bytes(entry[4:5], "little") & 0xF):
        size = int.from_bytes(entry[position : position + 2], "little")
        parts.append(entry[position + 2 : position + 2 + size])
        position += 2 + size + size % 2
    if base & 0xF == _OF_PARAGRAPHS:
        paragraph, letters = [*parts, b"", b""][:2]
    else:
        paragraph, letters = b"", parts[0] if base & 0xF == _OF_LETTERS and parts else b""
    said = dict(sprms(paragraph[2:])), dict(sprms(letters))
    return _Style(built_in & 0xFFF, base >> 4, *said)


def sprms(grpprl: bytes) -> Iterator[tuple[int, int]]:
    """The single properties in a list of them: (code, value of its first bytes)."""
    position = 0
    while position + 3 <= len(grpprl):
        code = grpprl[position] | grpprl[position + 1] << 8
        position += 2
        kind = code >> 13
        if kind != _VARIABLE:
            size = _OPERAND_BYTES[kind]
        elif code == _TABLE_DEFINITION:
            size = int.from_bytes(grpprl[position : position + 2], "little") + 1
        else:
            size = grpprl[position] + 1
            if code == _CHANGE_TABS and size > _MAX_SIZE:
                return
        yield code, int.from_bytes(grpprl[position : position + min(size, 4)], "little")
        position += size


DELETED = "\0"

_WORD_MAGIC = 0xA5EC
_OLD_MAGICS = {0xA5DC, 0xA699, 0xA697}
_ANCIENT_MAGICS = {0xA59B, 0xA5DB}
_FIRST_WORD_97 = 0xC1
_ENCRYPTED, _TABLE_1, _COMPLEX = 0x0100, 0x0200, 0x0004
_PAGE_BYTES = 512
# Properties of characters: deleted, hidden, crossed out once and twice, raised or lowered, style.
_CHARACTER_DELETED, _HIDDEN, _CROSSED_OUT = 0x0800, 0x083C, {0x0837, 0x2A53}
_RAISED_OR_LOWERED, _RAISED, _LOWERED = 0x2A48, 1, 2
_LOOKS = {_CHARACTER_DELETED, _HIDDEN, *_CROSSED_OUT, _RAISED_OR_LOWERED}
_CHARACTER_STYLE = 0x4A30
# As the style says, or not as it says.
_AS_STYLE, _UNLIKE_STYLE = 0x80, 0x81
_COMPRESSED = 1 << 30
_PIECE_TABLE, _PROPERTIES = 2, 1
# Where the pairs (offset, length) of the header begin, and which of them are read.
_PAIRS = 0x9A
_STYLES, _CHARACTERS, _PARAGRAPHS, _CLX, _LISTS, _LIST_USES = 1, 12, 13, 33, 73, 74
_OLD_CLX = 0x160
# How many characters each part of the text has: Word 97 and Word 6.
_COUNTS, _OLD_COUNTS = 0x4C, 0x34
_PARTS = ("main", "footnotes", "headers", "macros", "comments", "endnotes", "boxes", "header boxes")
# The code page of a language, where it is not the Western one.
_CODE_PAGES = {
    0x01: "cp1256", 0x02: "cp1251", 0x05: "cp1250", 0x08: "cp1253", 0x0D: "cp1255",
    0x0E: "cp1250", 0x15: "cp1250", 0x18: "cp1250", 0x19: "cp1251", 0x1A: "cp1250",
    0x1B: "cp1250", 0x1F: "cp1254", 0x22: "cp1251", 0x23: "cp1251", 0x24: "cp1250",
    0x25: "cp1257", 0x26: "cp1257", 0x27: "cp1257",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Piece:
    """A stretch of the text, from character `start`, and where its bytes are in the file."""

    start: int
    end: int
    offset: int
    char_bytes: int


class OldWordFile:
    """An opened document of Word 6-2003. Raises Unreadable if it is encrypted or damaged.

    After the published format ([MS-DOC]): the header (FIB) says where the pieces of the text are,
    and pages of 512 bytes say how stretches of the file look.
    """

    def __init__(self, container: Container) -> None:
        stream = container.stream("WordDocument")
        if stream is None:
            raise _damaged()
        self._stream = stream
        self._of_letters: dict[bytes, dict[int, int]] = {}
        try:
            self._read_header(container)
        except struct.error as exc:
            raise _damaged() from exc

    def _read_header(self, container: Container) -> None:
        magic, version, _, language, _, flags = struct.unpack_from("<6H", self._stream)
        self._is_old = version < _FIRST_WORD_97
        if magic in _ANCIENT_MAGICS:
            raise too_old(WORD)
        if magic != _WORD_MAGIC and not (self._is_old and magic in _OLD_MAGICS):
            raise _damaged()
        if flags & _ENCRYPTED:
            raise encrypted()
        self._code_page = _CODE_PAGES.get(language & 0xFF, "cp1252") if self._is_old else "cp1252"
        names = ("1Table", "0Table") if flags & _TABLE_1 else ("0Table", "1Table")
        tables = (container.stream(name) for name in names)
        self._table = self._stream if self._is_old else next(filter(None, tables), b"")
        counts = struct.unpack_from("<8i", self._stream, _OLD_COUNTS if self._is_old else _COUNTS)
        self._counts = dict(zip(_PARTS, (max(count, 0) for count in counts), strict=True))
        self._pieces = list(self._find_pieces())
        if not self._pieces and (self._is_old or not flags & _COMPLEX):
            self._pieces = [self._only_piece()]
        self._runs = list(_runs(self._stream, self._at(_PARAGRAPHS), width=13))
        self._run_starts = [start for start, _, _ in self._runs]
        self._styles = OldStyles(self._at(_STYLES))
        self._text = self._decoded()
        self.numbering = Numbering()
        if not self._is_old and len(self._stream) > _PAIRS + 8 * _LIST_USES:
            place, size = struct.unpack_from("<II", self._stream, _PAIRS + 8 * _LISTS)
            # The readable part of damaged lists is enough.
            with suppress(struct.error, IndexError):
                _count_lists(self.numbering, self._table, place, size, self._at(_LIST_USES))

    def text(self, part: str) -> tuple[int, str]:
        """The offset of a part of the text, in characters, and the part.

        DELETED stands for characters that are hidden, or were deleted while changes were tracked.
        """
        start = 0
        for name, count in self._counts.items():
            if name == part:
                return start, self._text[start : start + count]
            start += count
        raise KeyError(part)

    def shown(self, text: str, start: int) -> str:
        """A stretch of the text that begins at this character, as its letters look."""
        pieces: list[tuple[str, Look]] = []
        done, end = start, start + len(text)
        for begin, stop, look in self._looks[bisect_right(self._look_ends, start) :]:
            if begin >= end:
                break
            first, last = max(begin, done) - start, min(stop, end) - start
            pieces += [(text[done - start : first], PLAIN), (text[first:last], look)]
            done = start + last
        return in_looks([*pieces, (text[done - start :], PLAIN)]) if pieces else text

    def paragraph(self, position: int) -> Paragraph | None:
        """The properties of the paragraph whose mark is at this character, None without any."""
        if self._is_old or not self._runs:
            return None
        index = bisect_right(self._piece_starts, position) - 1
        piece = self._pieces[index] if index >= 0 else None
        if piece is None or position >= piece.end:
            return None
        offset = piece.offset + (position - piece.start) * piece.char_bytes
        run = self._runs[bisect_right(self._run_starts, offset) - 1]
        return self._styles.paragraph(run[2]) if run[0] <= offset < run[1] else None

    def positions(self, index: int, entry_bytes: int) -> list[int]:
        """The characters that the header's table with this number is about."""
        data = self._at(index)
        count = max(len(data) - 4, 0) // (4 + entry_bytes)
        return list(struct.unpack_from(f"<{count + 1}I", data)) if count else []

    def _at(self, index: int) -> bytes:
        """The bytes that the header's pair with this number points to."""
        place = _PAIRS + 8 * index
        if self._is_old or place + 8 > len(self._stream):
            return b""
        offset, size = struct.unpack_from("<II", self._stream, place)
        return self._table[offset : offset + size]

    def _find_pieces(self) -> Iterator[_Piece]:
        if self._is_old:
            offset, size = struct.unpack_from("<II", self._stream, _OLD_CLX)
            data = self._table[offset : offset + size]
        else:
            data = self._at(_CLX)
        position = 0
        while position + 5 <= len(data) and data[position] == _PROPERTIES:
            position += 3 + int.from_bytes(data[position + 1 : position + 3], "little")
        if position + 5 > len(data) or data[position] != _PIECE_TABLE:
            return
        (size,) = struct.unpack_from("<I", data, position + 1)
        table = data[position + 5 : position + 5 + size]
        count = (len(table) - 4) // 12
        starts = struct.unpack_from(f"<{count + 1}I", table)
        before = 0
        for index in range(count):
            (offset,) = struct.unpack_from("<I", table, 4 * (count + 1) + 8 * index + 2)
            start, end = starts[index], starts[index + 1]
            if start < before or not start < end <= len(self._stream):
                continue
            before = end
            if self._is_old:
                yield _Piece(start, end, offset, 1)
            elif offset & _COMPRESSED:
                yield _Piece(start, end, (offset & ~_COMPRESSED) // 2, 1)
            else:
                yield _Piece(start, end, offset, 2)

    def _in_paragraphs(self, start: int, end: int) -> Iterator[tuple[int, int, dict[int, int]]]:
        """The parts of a stretch of the file, each with what its paragraph's style says."""
        first = max(bisect_right(self._run_starts, start) - 1, 0)
        for begin, stop, properties in self._runs[first:]:
            if begin >= end:
                break
            if (said := self._letters_of(properties[:2])) and stop > start:
                yield start, max(begin, start), {}
                yield max(begin, start), min(stop, end), said
                start = min(stop, end)
        yield start, end, {}

    def _letters_of(self, style: bytes) -> dict[int, int]:
        if style not in self._of_letters:
            self._of_letters[style] = self._styles.letters(int.from_bytes(style, "little"))
        return self._of_letters[style]

    def _look(self, grpprl: bytes, around: Mapping[int, int]) -> Look:
        """The look that properties of characters say, over those of the styles around."""
        said = dict(sprms(grpprl))
        styled = {**around, **self._styles.letters(said.get(_CHARACTER_STYLE, _NO_STYLE))}

        def is_on(code: int) -> bool:
            value, by_style = said.get(code, _AS_STYLE) & 0xFF, styled.get(code) == 1
            return by_style != (value == _UNLIKE_STYLE) if value >= _AS_STYLE else value == 1

        place = said.get(_RAISED_OR_LOWERED, styled.get(_RAISED_OR_LOWERED, 0)) & 0xFF
        is_hidden = bool(said.get(_CHARACTER_DELETED, 0) & 0xFF) or is_on(_HIDDEN)
        is_crossed_out = any(map(is_on, _CROSSED_OUT))
        return Look(place == _RAISED, place == _LOWERED, is_crossed_out, is_hidden)

    def _only_piece(self) -> _Piece:
        first, end = struct.unpack_from("<II", self._stream, 0x18)
        end = min(end, len(self._stream))
        char_bytes = 1 if self._is_old or end - first < 2 * sum(self._counts.values()) else 2
        return _Piece(0, max(end - first, 0) // char_bytes, first, char_bytes)

    def _decoded(self) -> str:
        """The whole text, a character for each position, deleted ones replaced."""
        self._piece_starts = [piece.start for piece in self._pieces]
        runs = _runs(self._stream, self._at(_CHARACTERS), width=1)
        found = (
            (begin, stop, look)
            for start, end, said in runs
            for begin, stop, letters in self._in_paragraphs(start, end)
            if (said or letters) and (look := self._look(said, letters)) != PLAIN
        )
        looks = sorted(found, key=itemgetter(0))
        self._looks: list[tuple[int, int, Look]] = []
        texts: list[str] = []
        at = 0
        for piece in self._pieces:
            size = (piece.end - piece.start) * piece.char_bytes
            data = self._stream[piece.offset : piece.offset + size]
            if piece.char_bytes == 1:
                text = data.decode(self._code_page, "replace")
            else:
                text = "".join(
                    map(chr, struct.unpack(f"<{len(data) // 2}H", data[: len(data) & ~1]))
                )
            # A gap is no text, and what the file is too short for is missing.
            texts.append(DELETED * (piece.start - at))
            done = 0
            for start, end, look in _stretches(piece, len(text), looks):
                if look.is_hidden:
                    texts += [text[done:start], DELETED * (end - start)]
                    done = end
                else:
                    self._looks.append((piece.start + start, piece.start + end, look))
            texts.append(text[done:])
            at = piece.start + len(text)
        self._look_ends = [end for _, end, _ in self._looks]
        return "".join(texts)


def _stretches(
    piece: _Piece, length: int, looks: list[tuple[int, int, Look]]
) -> Iterator[tuple[int, int, Look]]:
    """The characters of a piece that have a look of their own, from its beginning, in order."""
    done = 0
    last = piece.offset + length * piece.char_bytes
    first = max(bisect_right(looks, piece.offset, key=itemgetter(0)) - 1, 0)
    for start, end, look in looks[first : bisect_right(looks, last, key=itemgetter(0))]:
        begin, stop = (
            min(max((offset - piece.offset) // piece.char_bytes, done), length)
            for offset in (start, end)
        )
        if begin < stop:
            yield begin, stop, look
            done = stop


# The kinds of numbers as Word names them today; others are plain ones.
_KINDS = {
    1: "upperRoman", 2: "lowerRoman", 3: "upperLetter", 4: "lowerLetter", 22: "decimalZero",
    23: "bullet", 255: "none",
}  # fmt: skip
_LIST_BYTES, _LEVEL_BYTES, _USE_BYTES, _MAX_LEVELS = 28, 28, 16, 9


def _count_lists(numbering: Numbering, table: bytes, place: int, size: int, uses: bytes) -> None:
    """Add the lists of a document, which begin at this place; `uses` says which numbering is of
    which list.
    """
    levels: dict[tuple[int, int], ListLevel] = {}
    [lists] = struct.unpack_from("<H", table, place)
    # Behind the lists stand their levels.
    position = place + size
    for at in range(place + 2, place + 2 + _LIST_BYTES * lists, _LIST_BYTES):
        [number] = struct.unpack_from("<i", table, at)
        for level in range(1 if table[at + _LIST_BYTES - 2] & 1 else _MAX_LEVELS):
            levels[number, level], position = _list_level(table, position)
    [count] = struct.unpack_from("<I", uses)
    position = 4 + _USE_BYTES * count
    for use in range(count):
        name, at = str(use + 1), 4 + _USE_BYTES * use
        [number] = struct.unpack_from("<i", uses, at)
        numbering.counted_as[name] = f"shared {number}"
        own = {(name, level): said for (n, level), said in levels.items() if n == number}
        numbering.levels.update(own)
        position += 4
        for _ in range(uses[at + 12]):
            start, flags = struct.unpack_from("<iI", uses, position)
            position, key = position + 8, (name, flags & 0xF)
            if flags & _OWN_FORM:
                numbering.levels[key], position = _list_level(uses, position)
            elif flags & _OWN_START and key in numbering.levels:
                numbering.levels[key] = numbering.levels[key]._replace(first=start)
            numbering.counted_as[name] = name


_OWN_START, _OWN_FORM = 0x10, 0x20
_LEGAL, _RESTARTS_SELDOM = 0x04, 0x08


def _list_level(data: bytes, position: int) -> tuple[ListLevel, int]:
    """A level, and the place behind it."""
    start, kind, flags = struct.unpack_from("<iBB", data, position)
    at = position + _LEVEL_BYTES + data[position + 24] + data[position + 25]
    [chars] = struct.unpack_from("<H", data, at)
    end = at + 2 + 2 * chars
    text = data[at + 2 : end].decode("utf-16-le", "replace")
    shown = "".join(f"%{ord(sign) + 1}" if ord(sign) < _MAX_LEVELS else sign for sign in text)
    restarted_by = data[position + 26] if flags & _RESTARTS_SELDOM else _MAX_LEVELS
    is_legal = bool(flags & _LEGAL)
    return ListLevel(_KINDS.get(kind, "decimal"), shown, start, restarted_by, is_legal), end


def _runs(stream: bytes, table: bytes, width: int) -> Iterator[tuple[int, int, bytes]]:
    """(from, to, properties) in bytes of the file, from pages whose entries have this width.

    An entry of one byte is about characters, a wider one about paragraphs.
    """
    count = (len(table) - 4) // 8
    if count <= 0:
        return
    for number in dict.fromkeys(struct.unpack_from(f"<{count}I", table, 4 * (count + 1))):
        page = stream[(number & 0x3FFFFF) * _PAGE_BYTES :][:_PAGE_BYTES]
        if len(page) < _PAGE_BYTES:
            continue
        runs = page[-1]
        if 4 * (runs + 1) + runs * width > _PAGE_BYTES:
            continue
        offsets = struct.unpack_from(f"<{runs + 1}I", page)
        for index in range(runs):
            place = 2 * page[4 * (runs + 1) + index * width]
            properties = _grpprl(page, place, is_paragraph=width > 1) if place else b""
            yield offsets[index], offsets[index + 1], properties


def _grpprl(page: bytes, place: int, *, is_paragraph: bool) -> bytes:
    size = page[place]
    if not is_paragraph:
        return page[place + 1 : place + 1 + size]
    if size:
        return page[place + 1 : place + 2 * size]
    return page[place + 2 : place + 2 + 2 * page[place + 1]]


def _damaged() -> Unreadable:
    return Unreadable("damaged", "The file is damaged", "Its text can't be found.")


_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f]")
_CELL = "\x07"
_FIELD, _FIELD_RESULT, _FIELD_END = "\x13", "\x14", "\x15"
_ENDS = {"\r", "\x0c", _CELL}
_SHOWN = {"\x0b": "\n", "\x0e": "\n", "\x1e": "-"}
# The header's tables of where notes are referred to, the size of an entry, and where their text is.
_NOTES = (("footnotes", 2, 2, 3), ("endnotes", 46, 2, 47), ("comments", 4, 30, 5))


def read(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft; the title is the first Title paragraph, else that of the properties."""
    container = Container(source)
    blocks = BlockWriter(draft)
    _Reader(OldWordFile(container), blocks).read()
    return blocks.title or container.title()


@dataclass(frozen=True, slots=True)
class _Ended:
    """A paragraph, the character that ends it, and the place of that character."""

    text: str
    end: str
    position: int


@dataclass(slots=True)
class _Field:
    """A field that is open: its code, whether that is still going on, and where its words begin."""

    code: str = ""
    is_code: bool = True
    words_from: int = 0


class _Reader:
    """Writes the parts of the text one after the other, notes where they are referred to."""

    def __init__(self, file: OldWordFile, blocks: BlockWriter) -> None:
        self._file = file
        self._blocks = blocks
        self._notes: dict[int, tuple[str, str]] = {}
        self._is_noted: set[str] = set()
        self._cell: list[tuple[str, Paragraph | None]] = []
        self._row: list[list[tuple[str, Paragraph | None]]] = []

    def read(self) -> None:
        """Write everything."""
        for kind in _NOTES:
            self._find_notes(*kind)
        self._write_main()
        # Notes of a file that does not say where they belong.
        parts = ["boxes", *(part for part, *_ in _NOTES if part not in self._is_noted)]
        for part in parts:
            for found in self._paragraphs(part):
                self._blocks.add_paragraph(found.text)
        margins = [
            found.text.strip()
            for part in ("headers", "header boxes")
            for found in self._paragraphs(part)
        ]
        self._blocks.add_margins(margins)
        self._blocks.finish()

    def _find_notes(self, part: str, references: int, entry_bytes: int, texts: int) -> None:
        start, text = self._file.text(part)
        places = self._file.positions(references, entry_bytes)[:-1]
        borders = self._file.positions(texts, 0)
        if not text or not places or len(borders) <= len(places):
            return
        self._is_noted.add(part)
        for index, place in enumerate(places):
            own = text[borders[index] : borders[index + 1]]
            note = " ".join(found.text for found in self._split(own, start + borders[index]))
            note = " ".join(note.split())
            if part == "comments":
                self._notes[place] = ("", f"[Comment: {note}]" if note else "")
            else:
                label = f"[{len(self._notes) + 1}]"
                self._notes[place] = (label, f"{label} {note}")

    def _paragraphs(self, part: str) -> Iterator[_Ended]:
        start, text = self._file.text(part)
        return self._split(text, start)

    def _write_main(self) -> None:
        is_after_cell = False
        start, text = self._file.text("main")
        labels = {place: label for place, (label, _) in self._notes.items()}
        waiting = sorted(self._notes, reverse=True)
        for found in self._split(text, start, labels):
            while waiting and waiting[-1] <= found.position:
                self._blocks.add_note(self._notes[waiting.pop()][1])
            look = self._file.paragraph(found.position)
            if found.end == _CELL:
                # Nothing says so in older files: the mark of a row follows that of its last cell.
                is_row_end = look.is_row_end if look else is_after_cell and not found.text
                if is_row_end:
                    self._end_row()
                else:
                    self._row.append([*self._cell, (found.text, look)])
                    self._cell = []
            elif look and look.is_in_table:
                self._cell.append((found.text, look))
            else:
                self._end_row()
                self._write_paragraph(found.text, look)
            is_after_cell = found.end == _CELL and bool(self._row)
        self._end_row()

    def _write_paragraph(self, text: str, look: Paragraph | None) -> None:
        text = text.strip()
        label = self._label(look)
        if text and look and look.level is not None:
            self._blocks.add_heading(look.level, f"{label.strip('-')} {text}".strip())
        elif text and look and look.list_id:
            self._blocks.add_item(look.list_level, label, text)
        else:
            self._blocks.add_paragraph(text)

    def _label(self, look: Paragraph | None) -> str:
        if not look or not look.list_id:
            return ""
        return self._file.numbering.next_label(look.list_id, look.list_level)

    def _end_row(self) -> None:
        row, self._row = [*self._row, *filter(None, [self._cell])], []
        self._cell = []
        if is_for_layout(row):
            for text, look in (paragraph for cell in row for paragraph in cell):
                self._write_paragraph(text, look)
        elif row:
            self._blocks.add_row(
                " ".join(f"{self._label(look).strip('-')} {text}" for text, look in cell)
                for cell in row
            )

    def _split(
        self, text: str, start: int, labels: dict[int, str] | None = None
    ) -> Iterator[_Ended]:
        """The paragraphs, with the results of fields and without their codes."""
        pieces: list[str] = []
        fields: list[_Field] = []
        done = 0
        for control in _CONTROL.finditer(f"{text}\r"):
            sign, place = control[0], control.start()
            if not any(field.is_code for field in fields):
                pieces.append(self._file.shown(text[done:place], start + done))
                pieces.append((labels or {}).get(start + place, "") or _SHOWN.get(sign, ""))
            elif fields[-1].is_code:
                fields[-1].code += text[done:place]
            done = place + 1
            if sign == _FIELD:
                fields.append(_Field())
            elif sign == _FIELD_RESULT and fields:
                fields[-1].is_code, fields[-1].words_from = False, len(pieces)
            elif sign == _FIELD_END and fields:
                closed = fields.pop()
                words = "" if closed.is_code else "".join(pieces[closed.words_from :])
                pieces.append(behind(words, address_of_field(closed.code)))
            elif sign in _ENDS:
                joined = "".join(pieces)
                # Two halves of a character, where they belong together.
                whole = joined.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
                yield _Ended(whole, sign, start + place)
                pieces = []
                # A code never goes on in the next paragraph.
                fields = [_Field(is_code=False) for _ in fields]
