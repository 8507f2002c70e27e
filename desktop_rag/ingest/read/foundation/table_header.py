"""Finds the header row of a table. Pure; runs in the parser process.

A wrong header does more harm than a missing one, so whatever is unsure is none.
"""

import re
from collections.abc import Sequence

# So many rows of a table are looked at.
SAMPLE_ROWS = 20
# Titles and remarks may stand above the header.
_MAX_ABOVE = 4
_MIN_COLUMNS = 2
_MAX_CELL_CHARS = 60
_MOST = 0.7
_MIN_FILLED = 0.5
_MIN_REPEATED_ROWS = 4
# A number, date, amount or percentage; a unit, a month or a currency may stand with it.
_VALUE = re.compile(r"(?:[A-Z]{3}\s)?\W*\d[\d\W]*(?:[A-Za-z]{1,3}[\d\W]*)?")
_LOGICAL = {"true", "false", "yes", "no", "n/a", "-", "x"}
_YEAR = re.compile(r"(?:19|20)\d\d")


def header_row(rows: Sequence[Sequence[str]]) -> int | None:
    """The index of the header among the first rows of a table, None if that is uncertain."""
    width = max((_filled(row) for row in rows), default=0)
    if width < _MIN_COLUMNS:
        return None
    for index, row in enumerate(rows[: _MAX_ABOVE + 1]):
        if _filled(row) >= max(_MIN_COLUMNS, _MIN_FILLED * width):
            below = rows[index + 1 : index + SAMPLE_ROWS]
            return index if _is_header(row, below) else None
    return None


def _filled(row: Sequence[str]) -> int:
    return sum(1 for cell in row if cell)


def _is_header(row: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    columns = [
        (cell, [other[column] for other in below if column < len(other) and other[column]])
        for column, cell in enumerate(row)
        if cell
    ]
    cells = [cell for cell, _ in columns]
    if not below or len(set(cells)) < len(cells) or any(not _is_name(*pair) for pair in columns):
        return False
    return any(_differs(*pair) for pair in columns)


def _is_name(cell: str, below: Sequence[str]) -> bool:
    """True when a cell may name its column: short, no value, not repeated in the column."""
    if len(cell) > _MAX_CELL_CHARS or cell in below:
        return False
    if _YEAR.fullmatch(cell):
        return not any(map(_YEAR.fullmatch, below))
    return not _is_value(cell)


def _differs(cell: str, below: Sequence[str]) -> bool:
    """True when the cells below are plainly of another kind."""
    if not below:
        return False
    values = sum(1 for other in below if _is_value(other))
    numbered = sum(1 for other in below if any(map(str.isdecimal, other)))
    if values >= _MOST * len(below):
        return True
    if numbered >= _MOST * len(below) and not any(map(str.isdecimal, cell)):
        return True
    # A few words that come again and again, and the cell is none of them.
    return len(below) >= _MIN_REPEATED_ROWS and len(set(below)) <= len(below) / 2


def _is_value(cell: str) -> bool:
    if len(cell) > _MAX_CELL_CHARS:
        return False
    return cell.lower() in _LOGICAL or _VALUE.fullmatch(cell) is not None
