"""The order in which a person reads lines that stand somewhere on a page.

Pure; runs in the parser process.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from statistics import median

# A gutter between columns is wider than this part of a line's height …
_GUTTER = 0.8
# … and columns of prose have lines at least so long; narrower ones are columns of a table.
_PROSE_CHARS = 20
_MIN_PROSE_LINES = 3
# Headlines and footers run across a gutter; more than this part of the lines is no gutter.
_MAX_ACROSS = 0.3
_MAX_GUTTERS = 20
_MAX_COLUMNS = 8
# Lines are in one row when they share this part of the lower one's height.
_SAME_ROW = 0.5
# Between blocks is more than this part of a line's height.
_BLOCK_GAP = 1.0
_CELL_BORDER = "  "


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text, or a piece of one, and its box from the top left."""

    left: float
    top: float
    right: float
    bottom: float
    text: str

    @property
    def height(self) -> float:
        """The height of the box."""
        return self.bottom - self.top


def in_reading_order(lines: Sequence[Line]) -> str:
    """Columns one after the other, rows of a table as one line each, blocks set apart."""
    blocks = _columns(list(lines), depth=0)
    return "\n\n".join(text for block in blocks for text in _paragraphs(block))


def _columns(lines: list[Line], depth: int) -> list[list[Line]]:
    """Blocks of one column each. A line across a gutter separates the columns above and below."""
    gutter = _gutter(lines) if depth < _MAX_COLUMNS else None
    if gutter is None:
        return [lines] if lines else []
    blocks: list[list[Line]] = []
    for runs_across, group in groupby(
        sorted(lines, key=_middle), key=lambda line: line.left < gutter < line.right
    ):
        block = list(group)
        if runs_across:
            blocks.append(block)
            continue
        blocks += _columns([line for line in block if line.right <= gutter], depth + 1)
        blocks += _columns([line for line in block if line.left >= gutter], depth + 1)
    return blocks


def _gutter(lines: list[Line]) -> float | None:
    """The position (from the left) with prose on both sides and few lines across."""
    if len(lines) < 2 * _MIN_PROSE_LINES:
        return None
    gap = _GUTTER * median(line.height for line in lines)
    lefts = sorted(line.left for line in lines)
    rights = sorted(line.right for line in lines)
    crossing = {
        left: len(lines)
        - bisect_right(rights, left - gap)
        - (len(lines) - bisect_left(lefts, left))
        for left in lefts
    }
    for left in sorted(crossing, key=lambda left: crossing[left])[:_MAX_GUTTERS]:
        middle = left - gap / 2
        sides = (
            [line for line in lines if line.right <= middle],
            [line for line in lines if line.left >= middle],
        )
        if crossing[left] <= _MAX_ACROSS * len(lines) and all(map(_is_prose, sides)):
            return middle
    return None


def _middle(line: Line) -> float:
    return line.top + line.bottom


def _is_prose(lines: list[Line]) -> bool:
    if len(lines) < _MIN_PROSE_LINES:
        return False
    return median(len(line.text) for line in lines) >= _PROSE_CHARS


def _paragraphs(block: list[Line]) -> list[str]:
    """The rows from top to bottom; wide gaps between them separate paragraphs."""
    rows = _rows(block)
    gap = _BLOCK_GAP * median(line.height for line in block)
    paragraphs: list[list[str]] = [[_joined(rows[0])]]
    for before, row in pairwise(rows):
        if _edge(row, min, "top") - _edge(before, max, "bottom") > gap:
            paragraphs.append([])
        paragraphs[-1].append(_joined(row))
    return ["\n".join(paragraph) for paragraph in paragraphs]


def _rows(block: list[Line]) -> list[list[Line]]:
    rows: list[list[Line]] = []
    for line in sorted(block, key=_middle):
        if rows and _share(rows[-1][-1], line) > _SAME_ROW:
            rows[-1].append(line)
        else:
            rows.append([line])
    return rows


def _share(first: Line, second: Line) -> float:
    common = min(first.bottom, second.bottom) - max(first.top, second.top)
    return common / max(1.0, min(first.height, second.height))


def _joined(row: list[Line]) -> str:
    return _CELL_BORDER.join(line.text for line in sorted(row, key=lambda line: line.left))


def _edge(row: list[Line], choose: Callable[..., float], side: str) -> float:
    return choose(getattr(line, side) for line in row)
