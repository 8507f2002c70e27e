"""Merged cells of a sheet: what they say is said for each row and column they cover.

So a row makes sense without the rows above it. Runs in the parser process.
"""

from collections.abc import Sequence
from dataclasses import dataclass

CellRange = tuple[tuple[int, int], tuple[int, int]]
# Larger ones are titles and frames, whose text need not be said again.
_MAX_ROWS = 200
_MAX_COLUMNS = 6
_MAX_CHARS = 80
_MAX_RANGES = 100_000


@dataclass(frozen=True, slots=True)
class _Open:
    last_row: int
    columns: range
    text: str


class MergedCells:
    """Fills the rows of one sheet; they must come from top to bottom, counted from 0."""

    def __init__(self, ranges: Sequence[CellRange], first_column: int) -> None:
        kept = [
            found
            for found in ranges[:_MAX_RANGES]
            if found[1][0] - found[0][0] < _MAX_ROWS and found[1][1] - found[0][1] < _MAX_COLUMNS
        ]
        self._waiting = sorted(kept, reverse=True)
        self._first_column = first_column
        self._open: list[_Open] = []

    def filled(self, row: int, texts: list[str]) -> list[str]:
        """The row with the merged cells that reach into it, unless nothing else stands there."""
        while self._waiting and self._waiting[-1][0][0] <= row:
            (top, left), (bottom, right) = self._waiting.pop()
            column = left - self._first_column
            is_here = top == row and 0 <= column < len(texts)
            if is_here and 0 < len(texts[column]) <= _MAX_CHARS:
                columns = range(column, min(right - self._first_column + 1, len(texts)))
                self._open.append(_Open(bottom, columns, texts[column]))
        self._open = [found for found in self._open if found.last_row >= row]
        own = {text for text in texts if text}
        if not self._open or not own:
            return texts
        filled = list(texts)
        for found in self._open:
            # A cell alone in its row is a title.
            if own != {found.text}:
                for column in found.columns:
                    filled[column] = filled[column] or found.text
        return filled
