"""What sheets of binary workbooks (XLS, XLSB) show beside their values: their number formats.

Only records of formats and of cells with numbers are looked at; the rest is skipped by its size.
Damaged records end the looking, not the reading. Runs in the parser process.
"""

import struct
from collections.abc import Iterator, Mapping

from desktop_rag.ingest.read.foundation.ooxml import OfficePackage
from desktop_rag.ingest.read.office.sheet_looks import (
    BUILT_IN_FORMATS,
    RowLooks,
    SheetLooks,
    Show,
    show_of,
    telling_formats,
)

_Shows = dict[int, dict[int, Show]]
# Records as the specifications of XLS call them.
_EOF, _BOUNDSHEET, _XF, _FORMAT = 0x000A, 0x0085, 0x00E0, 0x041E
_NUMBERS = {0x0203, 0x027E, 0x0006}
_MULRK, _MULRK_SIZE = 0x00BD, 6
_BOF, _BIFF8 = 0x0809, b"\x00\x06"
# … and those of XLSB.
_ROW, _BUNDLE_SHEET, _FMT, _CELL_XF, _CELL_XFS, _CELL_XFS_END = 0, 156, 44, 47, 617, 618
_REALS = {2, 5, 9}
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
        return {
            name: _looks(_xls_cells(stream, start), formats)
            for name, start in (sheets.items() if formats else ())
        }
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


def _xls_cells(stream: bytes, start: int) -> Iterator[tuple[int, int, int]]:
    """Row, column and style of each number."""
    for kind, content in _records(stream, start):
        if kind in _NUMBERS:
            yield struct.unpack_from("<HHH", content)
        elif kind == _MULRK:
            row, column = struct.unpack_from("<HH", content)
            for n in range((len(content) - _MULRK_SIZE) // _MULRK_SIZE):
                [style] = struct.unpack_from("<H", content, 4 + n * _MULRK_SIZE)
                yield row, column + n, style


def xlsb_looks(package: OfficePackage, main: str) -> dict[str, SheetLooks]:
    """The looks of the sheets of an XLSB workbook, by name."""
    try:
        formats = _xlsb_formats(package.content(next(package.related(main, "/styles"), "")) or b"")
        relations = package.relations(main)
        found: dict[str, SheetLooks] = {}
        for kind, content in _brt_records(package.content(main) or b"") if formats else ():
            if kind == _BUNDLE_SHEET:
                reference, end = _wide(content, 8)
                part = relations.get(reference, ("", ""))[1]
                cells = _xlsb_cells(package.content(part) or b"")
                found[_wide(content, end)[0]] = _looks(cells, formats)
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


def _xlsb_cells(content: bytes) -> Iterator[tuple[int, int, int]]:
    row = 0
    for kind, record in _brt_records(content):
        if kind == _ROW:
            [row] = struct.unpack_from("<I", record)
        elif kind in _REALS:
            column, style = struct.unpack_from("<II", record)
            yield row, column, style & 0xFFFFFF


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


def _looks(cells: Iterator[tuple[int, int, int]], formats: Mapping[int, str]) -> SheetLooks:
    shows: _Shows = {}
    for row, column, style in cells:
        if code := formats.get(style):
            shows.setdefault(row, {})[column] = show_of(code)
    return SheetLooks(RowLooks(row, shows=shows[row]) for row in sorted(shows))
