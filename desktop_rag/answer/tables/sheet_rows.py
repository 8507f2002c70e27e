"""The rows of spreadsheets and CSV files, parsed from their stored text and places. Pure.

The readers write each row as one line, with bars between the cells, and mark its range of cells.
Passages are cut from that text, so citations can point at it, and the file itself is not needed.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from desktop_rag.core.parsed import Anchor, Mark, TableHeader
from desktop_rag.core.places import column_number, places_from_json

_BORDER = " | "
# The readers shorten a longer run of empty cells to this many.
_GAP_CELLS = 8
# A share as its sheet rounds it, with the exact one.
_EXACT = re.compile(r"^-?[\d.,]+ ?% \((-?[\d.]+%)\)$")
_RANGE = re.compile(r"([A-Z]{1,3})(\d{1,7})(?::([A-Z]{1,3})(\d{1,7}))?")


@dataclass(frozen=True, slots=True)
class SheetRow:
    """A row of a sheet by its number, from 1, at [start, end) of the text of the document."""

    sheet: str | None
    number: int
    cells: tuple[str, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class RowBlock:
    """Adjacent rows of a sheet, whose first cells are in `first_column` (from 0).

    `header` holds the column names, none when the readers were not sure; `unclear` counts rows
    whose cells cannot be separated.
    """

    sheet: str | None
    first_column: int
    header: tuple[str, ...]
    rows: tuple[SheetRow, ...]
    unclear: int = 0


def row_blocks(text: str, places: str) -> list[RowBlock]:
    """The blocks of rows of a document in order, with their headers."""
    marks, _, headers = places_from_json(places)
    found: list[RowBlock] = []
    for sheet, lines in _sheets(text, marks):
        found += _blocks(sheet, lines, headers)
    return found


@dataclass(slots=True)
class _Line:
    """A row as written, with the range of cells marked for it."""

    number: int
    first: int
    last: int
    is_exact: bool
    start: int
    text: str
    cells: list[str] = field(default_factory=list[str])

    @property
    def base(self) -> int:
        """The column where the line begins, derived from its first filled cell."""
        return self.first - next((n for n, cell in enumerate(self.cells) if cell), 0)


def _sheets(text: str, marks: Sequence[Mark]) -> Iterator[tuple[str | None, list[_Line]]]:
    ends = [*(mark.offset for mark in marks[1:]), len(text)][: len(marks)]
    lines: list[_Line] = []
    is_over = False
    for n, (mark, end) in enumerate(zip(marks, ends, strict=True)):
        if n and mark.anchor.sheet != marks[n - 1].anchor.sheet:
            if lines:
                yield marks[n - 1].anchor.sheet, lines
            lines, is_over = [], False
        after = lines[-1].number if lines else 0
        written = [] if is_over else _lines(mark.anchor, text[mark.offset : end], mark.offset)
        if written and written[0].number > after:
            lines += written
        elif lines:
            # Comments follow the rows, and have cells too.
            is_over = True
    if lines:
        yield marks[-1].anchor.sheet, lines


def _lines(anchor: Anchor, text: str, start: int) -> list[_Line]:
    found = _RANGE.fullmatch(anchor.cells or "")
    if not found or text.startswith(f"Comment on {anchor.cells}"):
        return []
    first, top = column_number(found[1]), int(found[2])
    last = column_number(found[3]) if found[3] else first
    bottom = int(found[4]) if found[4] else top
    lines: list[_Line] = []
    written = text.rstrip("\n").split("\n")
    for n, line in enumerate(written):
        # A mark for many rows may cover empty ones: then the number is a guess.
        number = min(top + n, bottom)
        cells = line.split(_BORDER)
        lines.append(_Line(number, first, last, top == bottom, start, line, cells))
        start += len(line) + 1
    return lines


def _blocks(
    sheet: str | None, lines: list[_Line], headers: Sequence[TableHeader]
) -> Iterator[RowBlock]:
    bases = Counter(line.base for line in lines if line.is_exact) or Counter([lines[0].first])
    base = bases.most_common(1)[0][0]
    own = {header.start for header in headers}
    names: tuple[str, ...] = ()
    for block in _parted(lines, headers):
        rows = [_row(sheet, line, base) for line in block]
        at = next((n for n, line in enumerate(block) if line.start + len(line.text) in own), None)
        if at is not None and (header_row := rows[at]):
            names, rows = header_row.cells, rows[at + 1 :]
        elif block[0].start not in own:
            names = ()
        kept = tuple(row for row in rows if row is not None)
        if kept:
            yield RowBlock(sheet, base, names, kept, len(rows) - len(kept))


def _parted(lines: list[_Line], headers: Sequence[TableHeader]) -> Iterator[list[_Line]]:
    """The lines, split at empty rows, but not at hidden ones inside a table."""
    block = lines[:1]
    for before, line in pairwise(lines):
        is_parted = line.number > before.number + 1
        if is_parted and not any(h.start < line.start < h.end for h in headers):
            yield block
            block = []
        block.append(line)
    yield block


def _row(sheet: str | None, line: _Line, base: int) -> SheetRow | None:
    """The row with its cells; None when a cell contains the separator."""
    cells = line.cells
    missing = line.last - base + 1 - len(cells)
    if line.is_exact and missing > 0:
        cells = _widened(cells, missing)
        missing = line.last - base + 1 - len(cells)
    first = base + next((n for n, cell in enumerate(cells) if cell), 0)
    if missing < 0 or (line.is_exact and (missing or first != line.first)):
        return None
    exact = tuple(_EXACT.sub(r"\1", cell) for cell in cells)
    return SheetRow(sheet, line.number, exact, line.start, line.start + len(line.text))


def _widened(cells: list[str], missing: int) -> list[str]:
    """The cells with a shortened run of empty cells restored, if there is one."""
    starts = [
        n
        for n in range(len(cells) - _GAP_CELLS + 1)
        if not any(cells[n : n + _GAP_CELLS]) and (n == 0 or cells[n - 1])
    ]
    if len(starts) != 1:
        return cells
    return [*cells[: starts[0]], *[""] * missing, *cells[starts[0] :]]
