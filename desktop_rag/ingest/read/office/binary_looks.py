"""What sheets of binary workbooks (XLS, XLSB) show beside their values, as `sheet_looks` has it.

Only records of formats, fonts, texts, rows, columns and cells are looked at; the rest is skipped by
its size. Damaged records end the looking, not the reading. Runs in the parser process.
"""

import struct
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate

from desktop_rag.ingest.read.foundation.looks import PLAIN, Look, in_looks
from desktop_rag.ingest.read.foundation.ooxml import OfficePackage
from desktop_rag.ingest.read.office.sheet_looks import (
    BUILT_IN_FORMATS,
    RowLooks,
    SheetLooks,
    Show,
    WorkbookLooks,
    show_of,
    telling_formats,
)

# Records as the specifications of XLS call them.
_EOF, _BOUNDSHEET, _XF, _FORMAT = 0x000A, 0x0085, 0x00E0, 0x041E
_FONT, _TEXTS, _GOING_ON = 0x0031, 0x00FC, 0x003C
_WORDS = {0x00FD, 0x0204}
_FORMULA, _ROW_INFO, _COLUMNS, _FILTERED = 0x0006, 0x0208, 0x007D, 0x009B
_NUMBERS = {0x0203, 0x027E, _FORMULA}
# The value of a formula that is an empty text.
_EMPTY, _NO_NUMBER = b"\3", b"\xff\xff"
_MULRK, _MULRK_SIZE = 0x00BD, 6
_BOF, _BIFF8 = 0x0809, b"\x00\x06"
# … and those of XLSB.
_ROW, _BUNDLE_SHEET, _FMT, _CELL_XF, _CELL_XFS, _CELL_XFS_END = 0, 156, 44, 47, 617, 618
_REALS, _TEXT_FORMULA, _FORMULAS = {2, 5, 9}, 8, {8, 9, 10, 11}
_TEXT_CELLS, _BRT_FONT, _TEXT_ITEM = {6, 7, 8}, 43, 19
_COLUMN_INFO, _FILTER_COLUMN, _ROW_BYTES = 60, 163, 12
# Bits of a row and of columns that hide them, and those that say how deep in closed groups.
_ROW_HIDDEN, _ROW_GROUPED, _COLUMN_HIDDEN, _COLUMN_GROUPED = 0x20, 0x07, 0x0001, 0x0700
_LAST_COLUMN, _LAST_XLSB_COLUMN = 0xFF, 0x3FFF
_BITS, _MORE = 7, 0x80


def xls_looks(stream: bytes) -> dict[str, SheetLooks]:
    """The looks of the sheets of an XLS workbook, by name."""
    codes, used = dict(BUILT_IN_FORMATS), list[str]()
    fonts, of_cells, texts = list[Look](), list[int](), list[bytes]()
    sheets: dict[str, int] = {}
    is_wide, before = False, 0
    try:
        for kind, content in _records(stream, 0):
            if kind == _TEXTS or (kind == _GOING_ON and before in (_TEXTS, _GOING_ON) and texts):
                texts.append(content)
            before = kind
            if kind == _BOF:
                is_wide = content[:2] == _BIFF8
            elif kind == _FORMAT:
                size, skipped = (2, 3) if is_wide else (1, 1)
                text = _text(content[2:], size, skipped, is_wide=is_wide)
                codes[str(int.from_bytes(content[:2], "little"))] = text
            elif kind == _FONT:
                fonts.append(_look(*struct.unpack_from("<2xH4xH", content)))
            elif kind == _XF:
                of_cells.append(int.from_bytes(content[:2], "little"))
                used.append(str(int.from_bytes(content[2:4], "little")))
            elif kind == _BOUNDSHEET:
                name = _text(content[6:], 1, 2 if is_wide else 1, is_wide=is_wide)
                sheets[name] = int.from_bytes(content[:4], "little")
        formats = telling_formats(codes.get(number, "") for number in used)
        # No font has the number 4.
        fonts[4:4] = [PLAIN]
        shared = _shared(formats, fonts, of_cells, partial(_xls_texts, texts))
        return {name: _xls_sheet(stream, start, shared).looks() for name, start in sheets.items()}
    except (struct.error, IndexError):
        return {}


def _look(flags: int, place: int) -> Look:
    return Look(place == _RAISED, place == _LOWERED, bool(flags & _STRUCK))


_RAISED, _LOWERED, _STRUCK = 1, 2, 0x0008
# The text of a cell, and where in it each font begins.
_Text = tuple[str, list[tuple[int, int]]]


def _shared(
    formats: Mapping[int, str],
    fonts: Sequence[Look],
    of_cells: Sequence[int],
    texts: Callable[[], Iterator[_Text]],
) -> WorkbookLooks:
    looks = {number: look for number, look in enumerate(fonts) if look != PLAIN}
    struck = {number for number, look in looks.items() if look.is_crossed_out}
    found: dict[str, str] = {}
    # Telling texts apart costs time, and few workbooks have fonts of such a look.
    for text, runs in texts() if looks else ():
        starts = [0, *(start for start, _ in runs)]
        ends = [*starts[1:], len(text)]
        own = [PLAIN, *(looks.get(font, PLAIN) for _, font in runs)]
        if any(look != PLAIN for look in own):
            pieces = zip(map(slice, starts, ends), own, strict=True)
            found[text] = in_looks((text[piece], look) for piece, look in pieces)
    return WorkbookLooks(formats, {n for n, f in enumerate(of_cells) if f in struck}, found)


def _xls_texts(blocks: Sequence[bytes]) -> Iterator[_Text]:
    data, borders = b"".join(blocks), list(accumulate(map(len, blocks)))
    position = 8
    while position < len(data):
        count, flags = struct.unpack_from("<HB", data, position)
        position += 3
        fonts, more = 0, 0
        if flags & _HAS_FONTS:
            [fonts] = struct.unpack_from("<H", data, position)
            position += 2
        if flags & _HAS_MORE:
            [more] = struct.unpack_from("<I", data, position)
            position += 4
        text = ""
        while True:
            # Behind a border a flag says anew how wide the letters are.
            wide = flags & 1
            border = borders[bisect_right(borders, position)] if position < len(data) else position
            end = min(position + count * (1 + wide), border)
            text += data[position:end].decode("utf-16-le" if wide else "latin-1", "replace")
            count -= (end - position) // (1 + wide)
            position = end
            if not count or position >= len(data):
                break
            flags, position = data[position], position + 1
        yield text, list(struct.iter_unpack("<HH", data[position : position + 4 * fonts]))
        position += 4 * fonts + more


_HAS_FONTS, _HAS_MORE = 0x08, 0x04


def _records(stream: bytes, position: int) -> Iterator[tuple[int, bytes]]:
    """Kind and content of each record up to the end of the part that begins here."""
    while position + 4 <= len(stream):
        kind, size = struct.unpack_from("<HH", stream, position)
        if kind == _EOF:
            return
        yield kind, stream[position + 4 : position + 4 + size]
        position += 4 + size


def _text(content: bytes, size: int, skipped: int, *, is_wide: bool) -> str:
    """A text behind its length of `size` bytes; in later versions a flag says how wide it is."""
    count = int.from_bytes(content[:size], "little")
    if is_wide and content[skipped - 1 : skipped] and content[skipped - 1] & 1:
        return content[skipped : skipped + 2 * count].decode("utf-16-le", "replace")
    return content[skipped : skipped + count].decode("cp1252", "replace")


@dataclass(slots=True)
class _Sheet:
    """What the records of a sheet say, row after row."""

    shared: WorkbookLooks
    shows: dict[int, dict[int, Show]] = field(default_factory=dict)
    crossed_out: dict[int, set[int]] = field(default_factory=dict)
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: set[int] = field(default_factory=set)
    is_filtered: bool = False
    formulas: int = 0
    empty_formulas: int = 0

    def add(self, row: int, column: int, style: int, *, is_number: bool = True) -> None:
        """A cell."""
        if style in self.shared.crossed_out:
            self.crossed_out.setdefault(row, set()).add(column)
        if is_number and (code := self.shared.formats.get(style)):
            self.shows.setdefault(row, {})[column] = show_of(code)

    def add_columns(self, first: int, last: int, flags: int, last_of_all: int) -> None:
        """Columns that look alike; to the right end of a sheet its empty part is hidden."""
        if flags & _COLUMN_HIDDEN and not flags & _COLUMN_GROUPED and last < last_of_all:
            self.hidden_columns.update(range(first, last + 1))

    def add_row(self, row: int, flags: int) -> None:
        """The look of a row."""
        if flags & _ROW_HIDDEN and not flags & _ROW_GROUPED:
            self.hidden_rows.add(row)

    def looks(self) -> SheetLooks:
        """The looks of the whole sheet; rows that a filter hides are shown by a press."""
        hidden = set[int]() if self.is_filtered else self.hidden_rows
        rows = (
            RowLooks(row, row in hidden, self.shows.get(row, {}), self.crossed_out.get(row, set()))
            for row in sorted(hidden | self.shows.keys() | self.crossed_out.keys())
        )
        # A formula may make an empty text, but hardly each of them.
        unstored = self.formulas if self.formulas == self.empty_formulas else 0
        columns = frozenset(self.hidden_columns)
        return SheetLooks(rows, columns, unstored, texts=self.shared.texts)


def _xls_sheet(stream: bytes, start: int, shared: WorkbookLooks) -> _Sheet:
    sheet = _Sheet(shared)
    for kind, content in _records(stream, start):
        if kind in _WORDS:
            sheet.add(*struct.unpack_from("<HHH", content), is_number=False)
        elif kind in _NUMBERS:
            sheet.add(*struct.unpack_from("<HHH", content))
            sheet.formulas += kind == _FORMULA
            is_empty = content[6:7] == _EMPTY and content[12:14] == _NO_NUMBER
            sheet.empty_formulas += kind == _FORMULA and is_empty
        elif kind == _MULRK:
            row, column = struct.unpack_from("<HH", content)
            for n in range((len(content) - _MULRK_SIZE) // _MULRK_SIZE):
                [style] = struct.unpack_from("<H", content, 4 + n * _MULRK_SIZE)
                sheet.add(row, column + n, style)
        elif kind == _ROW_INFO:
            sheet.add_row(*struct.unpack_from("<H10xB", content))
        elif kind == _COLUMNS:
            sheet.add_columns(*struct.unpack_from("<HH4xH", content), _LAST_COLUMN)
        elif kind == _FILTERED:
            sheet.is_filtered = True
    return sheet


def xlsb_looks(package: OfficePackage, main: str) -> dict[str, SheetLooks]:
    """The looks of the sheets of an XLSB workbook, by name."""
    try:
        shared = _xlsb_looks(package, main)
        relations = package.relations(main)
        found: dict[str, SheetLooks] = {}
        for kind, content in _brt_records(package.content(main) or b""):
            if kind == _BUNDLE_SHEET:
                reference, end = _wide(content, 8)
                part = relations.get(reference, ("", ""))[1]
                sheet = _xlsb_sheet(package.content(part) or b"", shared)
                found[_wide(content, end)[0]] = sheet.looks()
        return found
    except (struct.error, IndexError):
        return {}


def _xlsb_looks(package: OfficePackage, main: str) -> WorkbookLooks:
    codes, used = dict(BUILT_IN_FORMATS), list[str]()
    fonts, of_cells = list[Look](), list[int]()
    is_in_cells = False
    styles = package.content(next(package.related(main, "/styles"), "")) or b""
    for kind, record in _brt_records(styles):
        if kind == _FMT:
            codes[str(struct.unpack_from("<H", record)[0])] = _wide(record, 2)[0]
        elif kind == _BRT_FONT:
            fonts.append(_look(*struct.unpack_from("<2xH2xH", record)))
        elif kind in {_CELL_XFS, _CELL_XFS_END}:
            is_in_cells = kind == _CELL_XFS
        elif kind == _CELL_XF and is_in_cells:
            number, font = struct.unpack_from("<2xHH", record)
            used.append(str(number))
            of_cells.append(font)
    formats = telling_formats(codes.get(number, "") for number in used)
    return _shared(formats, fonts, of_cells, partial(_xlsb_texts, package, main))


def _xlsb_texts(package: OfficePackage, main: str) -> Iterator[_Text]:
    part = next(package.related(main, "/sharedStrings"), "")
    for kind, record in _brt_records(package.content(part) or b""):
        if kind == _TEXT_ITEM and record[0] & 1:
            text, end = _wide(record, 1)
            [count] = struct.unpack_from("<I", record, end)
            yield text, list(struct.iter_unpack("<HH", record[end + 4 : end + 4 + 4 * count]))


def _xlsb_sheet(content: bytes, shared: WorkbookLooks) -> _Sheet:
    sheet, row = _Sheet(shared), 0
    for kind, record in _brt_records(content):
        if kind == _ROW:
            row, flags = struct.unpack_from("<I7xB", record.ljust(_ROW_BYTES, b"\0"))
            # Here the bit that hides is one lower.
            sheet.add_row(row, flags << 1 & _ROW_HIDDEN | flags & _ROW_GROUPED)
        elif kind in _REALS | _TEXT_CELLS:
            column, style = struct.unpack_from("<II", record)
            sheet.add(row, column, style & 0xFFFFFF, is_number=kind in _REALS)
        elif kind == _COLUMN_INFO:
            sheet.add_columns(*struct.unpack_from("<II8xH", record), _LAST_XLSB_COLUMN)
        elif kind == _FILTER_COLUMN:
            sheet.is_filtered = True
        if kind in _FORMULAS:
            sheet.formulas += 1
            sheet.empty_formulas += kind == _TEXT_FORMULA and not any(record[8:12])
    return sheet


def _brt_records(content: bytes) -> Iterator[tuple[int, bytes]]:
    position = 0
    while position < len(content):
        kind, position = _number(content, position, 2)
        size, position = _number(content, position, 4)
        yield kind, content[position : position + size]
        position += size


def _number(content: bytes, position: int, longest: int) -> tuple[int, int]:
    """A number in seven bits a byte, and the position behind it."""
    value = 0
    for n in range(longest):
        byte = content[position + n]
        value |= (byte & ~_MORE) << (_BITS * n)
        if not byte & _MORE:
            return value, position + n + 1
    return value, position + longest


def _wide(content: bytes, position: int) -> tuple[str, int]:
    """A text behind its length, and the position behind it."""
    [count] = struct.unpack_from("<I", content, position)
    end = position + 4 + 2 * count
    return content[position + 4 : end].decode("utf-16-le", "replace"), end
