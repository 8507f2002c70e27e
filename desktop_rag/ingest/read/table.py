"""Rows of cells as lines of text whose anchor is the range of cells.

Runs in the parser process.
"""

from collections.abc import Sequence
from functools import cache

from desktop_rag.core.anchors import Anchor
from desktop_rag.ingest.read.draft import Draft

_BORDER = " | "
# A longer stretch of empty cells is written as one: nobody reads sixteen thousand bars.
_MAX_EMPTY = 8
_LETTERS = 26


@cache
def column_name(column: int) -> str:
    """The letters of a column counted from 0: A … Z, AA …"""
    name = ""
    column += 1
    while column:
        column, letter = divmod(column - 1, _LETTERS)
        name = chr(ord("A") + letter) + name
    return name


class RowWriter:
    """Writes the rows of one table; call `close` after the last.

    Each row has its own mark; in huge tables a mark stands for a few rows.
    """

    def __init__(self, draft: Draft, sheet: str | None = None) -> None:
        self._draft = draft
        self._sheet = sheet
        self._offset: int | None = None
        self._rows = (0, 0)
        self._columns = (0, 0)

    def add(self, row: int, column: int, cells: Sequence[str]) -> None:
        """Write a row (from 1) whose first cell is in `column` (from 0), unless it is empty."""
        texts = [" ".join(cell.split()) for cell in cells]
        filled = [index for index, text in enumerate(texts) if text]
        if not filled:
            return
        if self._draft.length:
            self._draft.add("\n")
        if self._draft.is_mark_due(self._draft.length):
            self.close()
        first, last = column + filled[0], column + filled[-1]
        if self._offset is None:
            self._offset, self._rows, self._columns = self._draft.length, (row, row), (first, last)
        else:
            self._rows = (self._rows[0], row)
            self._columns = (min(self._columns[0], first), max(self._columns[1], last))
        self._draft.add(_BORDER.join(_without_gaps(texts[: filled[-1] + 1])))

    def close(self) -> None:
        """Set the mark of the last rows."""
        if self._offset is None:
            return
        start = f"{column_name(self._columns[0])}{self._rows[0]}"
        end = f"{column_name(self._columns[1])}{self._rows[1]}"
        cells = start if start == end else f"{start}:{end}"
        self._draft.mark(Anchor(sheet=self._sheet, cells=cells), self._offset)
        self._offset = None


def _without_gaps(texts: list[str]) -> list[str]:
    if len(texts) <= _MAX_EMPTY or all(texts):
        return texts
    kept: list[str] = []
    empty = 0
    for text in texts:
        empty = 0 if text else empty + 1
        if empty <= _MAX_EMPTY:
            kept.append(text)
    return kept
