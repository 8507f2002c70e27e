"""How the lines of a PDF page stand: columns drawn line by line, spaced letters, rows of tables.

PDFium gives the text in the order in which it was drawn, with one space for a gap of any width.
Offsets are those of that text. Runs in the parser process.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from desktop_rag.ingest.read.pdf.glyphs import Edit, Glyphs

_LINE = re.compile(r"[^\r\n\ufffe]*[^\s\ufffe][^\r\n\ufffe]*")
_GAP = re.compile(r"(?<=\S)[ ](?=\S)")
# Cells of tables seldom begin with a small letter, and most words do.
_GAP_OF_TABLE = re.compile(r"(?<=\S)[ ](?=[^\sa-z])")
# Shares of the size of letters: between columns, and inside a word that is drawn with gaps.
_WIDE, _MAX_SPACED = 0.9, 2.0
# Most pages have no wide gap; a few of their lines show it.
_SAMPLE_AT_ENDS, _SAMPLE = 3, 6
_MAX_LINES = 2000
_MIN_ROWS, _MIN_PROSE_LINES = 3, 4
# With two columns a value alone is in the line of its label, or below it.
_MIN_COLUMNS = 3
_MIN_CELLS = 2
_BORDER = "| "
_MIN_PROSE_WORDS, _MIN_LETTERS, _MIN_FILLED = 3, 0.75, 0.6
_MIN_GOES_ON = 0.4
_NEAR_LINES = 1.7
# Above and below a table that goes over pages: the page's number, a title, a header.
_MAX_LINES_AROUND = 3
_SPACED = re.compile(r"(?<!\S)(?:[^\W_] ){4,}[^\W_](?!\S)")
_WORD_GAP = 1.6
_MIN_DIFFERENT = 3


@dataclass(frozen=True, slots=True)
class Cell:
    """A part of a line without a wide gap, and where it begins and ends on the page in points."""

    start: int
    end: int
    left: float
    right: float


Column = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Run:
    """Lines of a page that follow one another, each with its cells, which stand in columns.

    `lines_above` and `lines_below` count the others of the page; `shown` has the lines of a table
    as they are read.
    """

    text: str
    lines: tuple[tuple[Cell, ...], ...]
    columns: tuple[Column, ...]
    lines_above: int
    lines_below: int
    shown: tuple[str, ...] = ()

    @property
    def start(self) -> int:
        """Where its first line begins."""
        return self.lines[0][0].start

    @property
    def end(self) -> int:
        """Where its last line ends."""
        return self.lines[-1][-1].end

    def rows(self) -> list[list[str]]:
        """The texts of each line by column."""
        rows: list[list[str]] = []
        for line in self.lines:
            rows.append([""] * len(self.columns))
            for cell in line:
                at = self.column(cell)
                rows[-1][at] = f"{rows[-1][at]} {self.text[cell.start : cell.end]}".strip()
        return rows

    def edited_lines(self, edits: Sequence[Edit]) -> Iterator[str]:
        """The text of each line with the edits made."""
        for line in self.lines:
            yield _with_edits(self.text, line[0].start, line[-1].end, edits)

    def column(self, cell: Cell) -> int:
        """The number of the column that a cell stands in."""
        return next(n for n, (_, right) in enumerate(self.columns) if cell.left < right)

    def continues(self, before: "Run | None") -> bool:
        """True for rows that go on those at the end of the page before, in the same columns."""
        if before is None or max(self.lines_above, before.lines_below) > _MAX_LINES_AROUND:
            return False
        pairs = zip(self.columns, before.columns, strict=False)
        is_same = len(self.columns) == len(before.columns)
        return is_same and all(own[0] < old[1] and old[0] < own[1] for own, old in pairs)

    @property
    def is_prose(self) -> bool:
        """True when each column is a text of its own: lines of words that fill it and go on."""
        return all(map(self._is_column_prose, range(len(self.columns))))

    def _is_column_prose(self, number: int) -> bool:
        cells = [cell for line in self.lines for cell in line if self.column(cell) == number]
        texts = [self.text[cell.start : cell.end] for cell in cells]
        solid = "".join("".join(texts).split())
        left, right = self.columns[number]
        return (
            len(cells) >= _MIN_PROSE_LINES
            and sum(len(said.split()) for said in texts) >= _MIN_PROSE_WORDS * len(cells)
            and sum(map(str.isalpha, solid)) >= _MIN_LETTERS * len(solid)
            and sum(said[:1].islower() for said in texts[1:]) >= _MIN_GOES_ON * len(cells)
            and median(cell.right - cell.left for cell in cells) >= _MIN_FILLED * (right - left)
        )


def runs_of(glyphs: Glyphs, text: str) -> list[Run]:
    """The runs of lines in columns; none for a page that has no wide gaps where it is looked at."""
    spans = [found.span() for found in _LINE.finditer(text)][:_MAX_LINES]
    ends = spans[:_SAMPLE_AT_ENDS] + spans[-_SAMPLE_AT_ENDS:]
    sample = ends + spans[_SAMPLE_AT_ENDS :: max(1, len(spans) // _SAMPLE)]
    parted = [cells for span in sample if len(cells := _cells(glyphs, text, span)) > 1]
    if not parted:
        return []
    is_prose_likely = any(text[cell.start].islower() for cells in parted for cell in cells[1:])
    pattern = _GAP if is_prose_likely else _GAP_OF_TABLE
    return list(_runs(glyphs, text, [_cells(glyphs, text, span, pattern) for span in spans]))


def _cells(
    glyphs: Glyphs, text: str, span: tuple[int, int], pattern: re.Pattern[str] = _GAP
) -> tuple[Cell, ...]:
    start, end = span[0], span[0] + len(text[slice(*span)].rstrip())
    gaps = list(pattern.finditer(text, start, end))
    wide = _WIDE * max(glyphs.size(start), 1.0) if gaps else 0.0
    borders = [gap.start() for gap in gaps if glyphs.gap(gap.start()) > wide]
    begins, ends = [start, *(border + 1 for border in borders)], [*borders, end]
    if not borders:
        return (Cell(start, end, glyphs.left(start), glyphs.right(end - 1)),)
    return tuple(
        Cell(begin, end, glyphs.left(begin), glyphs.right(end - 1))
        for begin, end in zip(begins, ends, strict=True)
    )


def _runs(glyphs: Glyphs, text: str, lines: Sequence[tuple[Cell, ...]]) -> Iterator[Run]:
    kept: list[tuple[Cell, ...]] = []
    columns: list[Column] = []
    for number, line in enumerate([*lines, ()]):
        wider = _with_cells(columns, line) if kept and line else None
        if wider is None:
            above = number - len(kept)
            kept = _without_stray(glyphs, kept)
            if sum(len(cells) > 1 for cells in kept) >= _MIN_ROWS:
                below = len(lines) - above - len(kept)
                yield Run(text, tuple(kept), _columns(kept), above, below)
            kept, wider = [], _with_cells([], line) if len(line) > 1 else None
        columns = wider or []
        if wider:
            kept.append(line)


def _columns(lines: Sequence[tuple[Cell, ...]]) -> tuple[Column, ...]:
    columns: list[Column] = []
    for line in lines:
        columns = _with_cells(columns, line) or columns
    return tuple(columns)


def _with_cells(columns: Sequence[Column], cells: Sequence[Cell]) -> list[Column] | None:
    """The columns, as wide as the cells of one more line make them; None if a cell joins two."""
    wider = list(columns)
    for cell in cells:
        if cell.left >= cell.right:
            return None
        met = [column for column in wider if cell.left < column[1] and column[0] < cell.right]
        if len(met) > 1:
            return None
        for column in met:
            wider.remove(column)
        sides = [*(side for column in met for side in column), cell.left, cell.right]
        wider.append((min(sides), max(sides)))
    return sorted(wider)


def _without_stray(glyphs: Glyphs, lines: list[tuple[Cell, ...]]) -> list[tuple[Cell, ...]]:
    """The lines without those of one cell below them, unless they are near."""
    heights = [glyphs.height(line[0].start) for line in lines]
    pitches = [upper - lower for upper, lower in pairwise(heights) if upper > lower]
    near = _NEAR_LINES * median(pitches) if pitches else 0.0
    kept = len(lines)
    while kept > 1 and len(lines[kept - 1]) == 1:
        if 0 < heights[kept - 2] - heights[kept - 1] <= near:
            break
        kept -= 1
    return lines[:kept]


def spaced_letters(glyphs: Glyphs, text: str) -> Iterator[Edit]:
    """The lines that are letters with gaps between them, as the words that they are."""
    for found in _SPACED.finditer(text):
        letters = found[0][::2]
        offsets = range(found.start(), found.end(), 2)
        gaps = [glyphs.gap(offset + 1) for offset in offsets[:-1]]
        usual = median(gaps)
        is_alphabet = all(ord(later) - ord(earlier) == 1 for earlier, later in pairwise(letters))
        is_far = not 0 < usual < _MAX_SPACED * glyphs.size(found.start())
        if is_alphabet or is_far or len(set(filter(str.isalpha, letters))) < _MIN_DIFFERENT:
            continue
        spaces = (" " if gap > _WORD_GAP * usual else "" for gap in [0.0, *gaps])
        words = "".join(space + letter for space, letter in zip(spaces, letters, strict=True))
        yield Edit(found.start(), found.end(), words)


def edited(text: str, edits: Sequence[Edit], columns: Sequence[Run]) -> str:
    """The text with the edits made, and each of the columns written as a whole."""
    parts: list[str] = []
    done = 0
    for run in columns:
        parts.append(_with_edits(text, done, run.start, edits))
        column_of = [(run.column(cell), cell) for line in run.lines for cell in line]
        cells = [cell for _, cell in sorted(column_of, key=lambda placed: placed[0])]
        for cell, below in zip(cells, [*cells[1:], None], strict=True):
            shown = _with_edits(text, cell.start, cell.end, edits)
            is_joined = below is not None and text[below.start].islower()
            is_broken = text[cell.end : cell.end + 1] == "\ufffe" or shown.endswith("-")
            if is_joined and is_broken:
                # As PDFium writes a hyphen that ends a line.
                parts.append(shown.removesuffix("-") + "\ufffe")
            else:
                parts.append(shown + "\r\n" * (below is not None))
        done = run.end
    parts.append(_with_edits(text, done, len(text), edits))
    return "".join(parts)


def empty_cells(table: Run) -> Iterator[Edit]:
    """Borders in each row that lacks a cell, so that those behind it stay in their columns.

    Signs such as "$" that stand apart belong to the column of the figure behind them. Where no row
    has all columns, some are none: a year in the middle above the figures.
    """
    rows = [
        {table.column(c) for c in line if any(map(str.isalnum, table.text[c.start : c.end]))}
        for line in table.lines
    ]
    said = sorted(set[int]().union(*rows))
    if len(said) < _MIN_COLUMNS or not any(row.issuperset(said) for row in rows):
        return
    placed = [[bisect_left(said, table.column(cell)) for cell in line] for line in table.lines]
    for line, places in zip(table.lines, placed, strict=True):
        begin = line[0].start
        if len(line) < _MIN_CELLS or places[-1] < len(set(places)):
            continue
        yield Edit(begin, begin, _BORDER * places[0])
        for (cell, place), (below, later) in pairwise(zip(line, places, strict=True)):
            yield Edit(cell.end, below.start, " " + _BORDER * (later - place))


def _with_edits(text: str, start: int, end: int, edits: Sequence[Edit]) -> str:
    parts: list[str] = []
    for edit in edits:
        if start <= edit.start and edit.end <= end and (edit.end > start or not start):
            parts += [text[start : edit.start], edit.text]
            start = edit.end
    return "".join([*parts, text[start:end]])
