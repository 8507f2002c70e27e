"""What sheets of binary workbooks (XLS, XLSB) show beside their values, as `sheet_looks` has it.

Only records of formats, rows, columns and cells with numbers are looked at; the rest is skipped by
its size. Damaged records end the looking, not the reading. Runs in the parser process.
"""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from desktop_rag.ingest.read.foundation.ooxml import OfficePackage
from desktop_rag.ingest.read.office.sheet_looks import (
    BUILT_IN_FORMATS,
    RowLooks,
    SheetLooks,
    Show,
    show_of,
    telling_formats,
)

# Records as the specifications of XLS call them.
_EOF, _BOUNDSHEET, _XF, _FORMAT = 0x000A, 0x0085, 0x00E0, 0x041E
_FORMULA, _ROW_INFO, _COLUMNS, _FILTERED = 0x0006, 0x0208, 0x007D, 0x009B
_NUMBERS = {0x0203, 0x027E, _FORMULA}
# The value of a formula that is an empty text.
_EMPTY, _NO_NUMBER = b"\3", b"\xff\xff"
_MULRK, _MULRK_SIZE = 0x00BD, 6
_BOF, _BIFF8 = 0x0809, b"\x00\x06"
# … and those of XLSB.
_ROW, _BUNDLE_SHEET, _FMT, _CELL_XF, _CELL_XFS, _CELL_XFS_END = 0, 156, 44, 47, 617, 618
_REALS, _TEXT_FORMULA, _FORMULAS = {2, 5, 9}, 8, {8, 9, 10, 11}
_COLUMN_INFO, _FILTER_COLUMN, _ROW_BYTES = 60, 163, 12
# Bits of a row and of columns that hide them, and those that say how deep in closed groups.
_ROW_HIDDEN, _ROW_GROUPED, _COLUMN_HIDDEN, _COLUMN_GROUPED = 0x20, 0x07, 0x0001, 0x0700
_LAST_COLUMN, _LAST_XLSB_COLUMN = 0xFF, 0x3FFF
_BITS, _MORE = 7, 0x80


def xls_looks(stream: bytes) -> dict[str, SheetLooks]:
    """The looks of the sheets of an XLS workbook, by name."""
    codes, used = dict(BUILT_IN_FORMATS), list[str]()
    sheets: dict[str, int] = {}
    is_wide = False
    try:
        for kind, content in _records(stream, 0):
            if kind == _BOF:
                is_wide = content[:2] == _BIFF8
            elif kind == _FORMAT:
                size, skipped = (2, 3) if is_wide else (1, 1)
                text = _text(content[2:], size, skipped, is_wide=is_wide)
                codes[str(int.from_bytes(content[:2], "little"))] = text
            elif kind == _XF:
                used.append(str(int.from_bytes(content[2:4], "little")))
            elif kind == _BOUNDSHEET:
                name = _text(content[6:], 1, 2 if is_wide else 1, is_wide=is_wide)
                sheets[name] = int.from_bytes(content[:4], "little")
        formats = telling_formats(codes.get(number, "") for number in used)
        return {name: _xls_sheet(stream, start, formats).looks() for name, start in sheets.items()}
    except struct.error:
        return {}


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

    formats: Mapping[int, str]
    shows: dict[int, dict[int, Show]] = field(default_factory=dict)
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: set[int] = field(default_factory=set)
    is_filtered: bool = False
    formulas: int = 0
    empty_formulas: int = 0

    def add_number(self, row: int, column: int, style: int) -> None:
        """A cell with a number."""
        if code := self.formats.get(style):
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
            RowLooks(row, row in hidden, self.shows.get(row, {}))
            for row in sorted(hidden | self.shows.keys())
        )
        # A formula may make an empty text, but hardly each of them.
        unstored = self.formulas if self.formulas == self.empty_formulas else 0
        return SheetLooks(rows, frozenset(self.hidden_columns), unstored)


def _xls_sheet(stream: bytes, start: int, formats: Mapping[int, str]) -> _Sheet:
    sheet = _Sheet(formats)
    for kind, content in _records(stream, start):
        if kind in _NUMBERS:
            sheet.add_number(*struct.unpack_from("<HHH", content))
            sheet.formulas += kind == _FORMULA
            is_empty = content[6:7] == _EMPTY and content[12:14] == _NO_NUMBER
            sheet.empty_formulas += kind == _FORMULA and is_empty
        elif kind == _MULRK:
            row, column = struct.unpack_from("<HH", content)
            for n in range((len(content) - _MULRK_SIZE) // _MULRK_SIZE):
                [style] = struct.unpack_from("<H", content, 4 + n * _MULRK_SIZE)
                sheet.add_number(row, column + n, style)
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
        formats = _xlsb_formats(package.content(next(package.related(main, "/styles"), "")) or b"")
        relations = package.relations(main)
        found: dict[str, SheetLooks] = {}
        for kind, content in _brt_records(package.content(main) or b""):
            if kind == _BUNDLE_SHEET:
                reference, end = _wide(content, 8)
                part = relations.get(reference, ("", ""))[1]
                sheet = _xlsb_sheet(package.content(part) or b"", formats)
                found[_wide(content, end)[0]] = sheet.looks()
        return found
    except (struct.error, IndexError):
        return {}


def _xlsb_formats(content: bytes) -> Mapping[int, str]:
    codes, used = dict(BUILT_IN_FORMATS), list[str]()
    is_in_cells = False
    for kind, record in _brt_records(content):
        if kind == _FMT:
            codes[str(struct.unpack_from("<H", record)[0])] = _wide(record, 2)[0]
        elif kind in {_CELL_XFS, _CELL_XFS_END}:
            is_in_cells = kind == _CELL_XFS
        elif kind == _CELL_XF and is_in_cells:
            used.append(str(struct.unpack_from("<H", record, 2)[0]))
    return telling_formats(codes.get(number, "") for number in used)


def _xlsb_sheet(content: bytes, formats: Mapping[int, str]) -> _Sheet:
    sheet, row = _Sheet(formats), 0
    for kind, record in _brt_records(content):
        if kind == _ROW:
            row, flags = struct.unpack_from("<I7xB", record.ljust(_ROW_BYTES, b"\0"))
            # Here the bit that hides is one lower.
            sheet.add_row(row, flags << 1 & _ROW_HIDDEN | flags & _ROW_GROUPED)
        elif kind in _REALS:
            column, style = struct.unpack_from("<II", record)
            sheet.add_number(row, column, style & 0xFFFFFF)
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
