"""The rows of spreadsheets in the stored text, found by their marks. Worker threads.

Readers write each row as a line with bars between its cells, and mark the cells it covers. Rows are
found at once, and split into cells only when they are shown.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from desktop_rag.core.domain import StoredText
from desktop_rag.core.places import column_number, mark_columns
from desktop_rag.ui.viewers.viewer import Span

_BAR = " | "
# One match for each line: a line without a range has empty groups.
_RANGE = re.compile(r"^(?:([A-Z]{1,3})(\d{1,7})(?::([A-Z]{1,3})(\d{1,7}))?|.*)$", re.MULTILINE)
# Readers shorten longer runs of empty cells to this many.
_GAP_CELLS = 8
_MAX_COLUMNS = 2_000


@dataclass(frozen=True, slots=True)
class Cell:
    """The text of a cell, and its span in the text of the document."""

    text: str
    start: int
    end: int


@dataclass(slots=True)
class _Rows:
    """The rows of a sheet: their numbers, offsets, and first and last columns."""

    numbers: list[int] = field(default_factory=list[int])
    starts: list[int] = field(default_factory=list[int])
    ends: list[int] = field(default_factory=list[int])
    columns: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def add(self, number: int, start: int, end: int, columns: tuple[str, str]) -> None:
        self.numbers.append(number)
        self.starts.append(start)
        self.ends.append(end)
        self.columns.append(columns)


class SheetGrid:
    """One sheet; rows and columns count from 0, empty rows are left out."""

    def __init__(self, name: str, text: str, rows: _Rows) -> None:
        self.name = name
        self._text = text
        self._rows = rows
        last = max(
            (column_number(letters) for letters in {last for _, last in rows.columns}), default=0
        )
        self.column_count = min(1 + last, _MAX_COLUMNS)

    @property
    def row_count(self) -> int:
        """The number of rows that are not empty."""
        return len(self._rows.numbers)

    def number(self, row: int) -> int:
        """The number of a row in the sheet, from 1."""
        return self._rows.numbers[row]

    def range_at(self, offset: int) -> str:
        """The cells of the row at this offset, such as `A5:D5`."""
        row = self.row_at(offset)
        first, last = self._rows.columns[row]
        return f"{first}{self.number(row)}:{last}{self.number(row)}"

    def row_at(self, offset: int) -> int:
        """The row at this offset, or the nearest one before it."""
        return max(0, bisect_right(self._rows.starts, offset) - 1)

    def holds(self, offset: int) -> bool:
        """True if this offset is in the sheet."""
        rows = self._rows
        return bool(rows.starts) and rows.starts[0] <= offset <= rows.ends[-1]

    def cells(self, row: int) -> dict[int, Cell]:
        """The non-empty cells of a row by column."""
        offset = self._rows.starts[row]
        first, last = map(column_number, self._rows.columns[row])
        written = self._text[offset : self._rows.ends[row]].split(_BAR)
        found: dict[int, Cell] = {}
        # The mark begins at the line's first non-empty cell.
        column = max(0, first - next((n for n, text in enumerate(written) if text), 0))
        missing = last - column + 1 - len(written)
        gap = _gap(written) if missing > 0 else -1
        for n, text in enumerate(written):
            if n == gap:
                column += missing
            if text:
                found[column] = Cell(text, offset, offset + len(text))
            offset += len(text) + len(_BAR)
            column += 1
        return found


def sheet_grids(stored: StoredText) -> list[SheetGrid]:
    """The sheets of a document in order; a CSV file has one without a name."""
    columns = mark_columns(stored.places)
    starts = columns["offset"]
    cells = columns.get("cells", [None] * len(starts))
    names = columns.get("sheet", [None] * len(starts))
    grids: list[SheetGrid] = []
    name, rows = "", _Rows()
    ends = [*starts[1:], len(stored.text)]
    # All ranges at once: matching them one by one would take most of the time.
    ranges = _RANGE.findall("\n".join(cell or "-" for cell in cells))
    if len(ranges) != len(starts):
        return []
    for start, end, sheet, found in zip(starts, ends, names, ranges, strict=True):
        if (sheet or "") != name:
            if rows.numbers:
                grids.append(SheetGrid(name, stored.text, rows))
            name, rows = sheet or "", _Rows()
        # Comments follow the rows, and are marked with their cells too.
        if found[0] and not stored.text.startswith("Comment on ", start):
            _add(rows, stored.text, start, end, found)
    if rows.numbers:
        grids.append(SheetGrid(name, stored.text, rows))
    return grids


def _add(rows: _Rows, text: str, start: int, end: int, found: tuple[str, ...]) -> None:
    """Add the marked row, or all marked rows of a very large sheet."""
    first, last, top = found[0], found[2] or found[0], int(found[1])
    bottom = int(found[3] or top)
    after = rows.numbers[-1] if rows.numbers else 0
    if top == bottom:
        if top > after:
            rows.add(top, start, len(text[start:end].rstrip("\n")) + start, (first, last))
        return
    for n, line in enumerate(text[start:end].rstrip("\n").split("\n")):
        number = min(top + n, bottom)
        if number > after:
            rows.add(number, start, start + len(line), (first, last))
        start += len(line) + 1


def is_within(cell: Cell, span: Span) -> bool:
    """True if the span overlaps the cell."""
    return cell.start < span[1] and span[0] < cell.end


def _gap(written: Sequence[str]) -> int:
    """The position of a shortened run of empty cells; -1 without one."""
    for n in range(len(written) - _GAP_CELLS + 1):
        if not any(written[n : n + _GAP_CELLS]):
            return n
    return -1
