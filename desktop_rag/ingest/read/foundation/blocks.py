"""Writes blocks of texts and slides, and finds headers of tables. Runs in the parser process."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence, Sized
from dataclasses import dataclass, field
from itertools import groupby, pairwise, zip_longest
from typing import NamedTuple

from desktop_rag.core.parsed import Anchor
from desktop_rag.ingest.read.foundation.addresses import without_addresses
from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft, HeadingPath, one_line

CELL_BORDER = " | "
# Rows of a table that are looked at.
SAMPLE_ROWS = 20
# Titles and remarks may stand above the header.
_MAX_ABOVE = 4
_MIN_COLUMNS = 2
_MAX_CELL_CHARS, _MAX_CELL_PARAGRAPHS = 60, 5
_MOST = 0.7
_MIN_FILLED = 0.5
_MIN_REPEATED_ROWS = 4
# A number, date, amount or percentage; a unit, a month or a currency may stand with it.
_VALUE = re.compile(r"(?:[A-Z]{3}\s)?\W*\d[\d\W]*(?:[A-Za-z]{1,3}[\d\W]*)?|\d{4}-\d\d-\d\d \(.*\)")
_LOGICAL = {"true", "false", "yes", "no", "n/a", "-", "x"}
_YEAR = re.compile(r"(?:19|20)\d\d")


def header_row(rows: Sequence[Sequence[str]]) -> tuple[int, list[str]] | None:
    """The index of the header's last row among a table's first rows, and the names of the columns.

    None if unsure: a wrong one does harm.
    """
    width = max((_filled(row) for row in rows), default=0)
    if width < _MIN_COLUMNS:
        return None
    for index, row in enumerate(rows[: _MAX_ABOVE + 1]):
        if _filled(row) >= max(_MIN_COLUMNS, _MIN_FILLED * width):
            below = rows[index + 1 : index + SAMPLE_ROWS]
            names, lowest = _joined_names(row, below[0]) if below else ([], [])
            if names and _is_header(lowest, below[1:], names):
                return index + 1, names
            return (index, list(row)) if _is_header(row, below, row) else None
    return None


def table_header(rows: Sequence[Sequence[str]], marked: int = 0) -> tuple[int, str] | None:
    """The index of the header's last row among a table's first rows, and its text: all rows that
    the document itself calls so, else one that looks so.
    """
    if 0 < marked < len(rows):
        return marked - 1, " / ".join(CELL_BORDER.join(row).strip() for row in rows[:marked])
    found = header_row(rows)
    return found and (found[0], CELL_BORDER.join(found[1]).strip())


def write_table(draft: DocumentDraft, rows: Sequence[Sequence[str]], marked: int = 0) -> None:
    """Write a table of a slide, a line for each row."""
    ends: list[int] = []
    for row in filter(any, rows):
        draft.add("\n" * bool(ends) + CELL_BORDER.join(row).strip())
        ends.append(draft.length)
    if found := table_header(list(filter(any, rows))[:SAMPLE_ROWS], marked):
        draft.add_table_header(ends[found[0]], found[1])


def merged(cells: Iterable[tuple[str, str, int]], above: Sequence[str]) -> list[str]:
    """A text for each column of a row, by (text, what it goes on, columns) of its cells.

    A cell that goes on the one on its "left", or the one "above", says the text of that.
    """
    texts: list[str] = []
    for text, goes_on, columns in cells:
        before = {"left": texts[-1:], "above": above[len(texts) : len(texts) + 1]}.get(goes_on)
        texts += [before[0] if before else text] * columns
    return texts


def _joined_names(row: Sequence[str], below: Sequence[str]) -> tuple[list[str], list[str]]:
    """The names of columns under cells that reach over several, and the lowest part of each name;
    none if no cell does.
    """
    wide = {cell for cell, following in pairwise(row) if cell and cell == following}
    pairs = list(zip_longest(row, below, fillvalue=""))
    if not wide or not all(
        _is_name(lower, ()) if upper in wide or not upper else lower in ("", upper)
        for upper, lower in pairs
    ):
        return [], []
    names = [" ".join(dict.fromkeys(filter(None, pair))) for pair in pairs]
    return names, [lower or upper for upper, lower in pairs]


def _filled(row: Sequence[str]) -> int:
    return sum(1 for cell in row if cell)


def _is_header(row: Sequence[str], below: Sequence[Sequence[str]], names: Sequence[str]) -> bool:
    columns = [
        (cell, [other[column] for other in below if column < len(other) and other[column]])
        for column, cell in enumerate(row)
        if cell
    ]
    cells = list(filter(None, names))
    # A cell that reaches over several columns names each of them.
    is_repeated = len(set(cells)) < max(len(list(groupby(cells))), _MIN_COLUMNS)
    if not below or is_repeated or any(not _is_name(*pair) for pair in columns):
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


_LETTERS = 26
_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
    (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_MAX_ROMAN = 4000


def is_for_layout(cells: Sequence[Sized]) -> bool:
    """Whether a row by its cells' paragraphs is layout: one cell, or pages of text in a cell."""
    return len(cells) == 1 or max(map(len, cells), default=0) > _MAX_CELL_PARAGRAPHS


def counted(count: int, style: str) -> str:
    """The label of an item by its number and the style, as Word names it; else the number."""
    match style:
        case "lowerLetter" | "upperLetter" if count > 0:
            letter = chr(ord("a") + (count - 1) % _LETTERS) * ((count - 1) // _LETTERS + 1)
            return letter if style == "lowerLetter" else letter.upper()
        case "lowerRoman" | "upperRoman" if 0 < count < _MAX_ROMAN:
            roman = ""
            for value, sign in _ROMAN:
                times, count = divmod(count, value)
                roman += sign * times
            return roman if style == "lowerRoman" else roman.upper()
        case "decimalZero":
            return f"{count:02}"
        case "none":
            return ""
        case _:
            return str(count)


_PLACEHOLDER = re.compile(r"%(\d)")
_BULLET = "-"


class ListLevel(NamedTuple):
    """A level of a numbering: its style as in `counted`, its text as in `%1.%2.`, the first number,
    how many of the levels above make it begin anew, and whether it shows each as a plain number.
    """

    style: str = "decimal"
    text: str = ""
    first: int = 1
    restarted_by: int = 9
    is_legal: bool = False


class Numbering:
    """Counts list items and numbered headings the way Word does.

    `levels` are by the id of a numbering and the level from 0; `counted_as` names numberings that
    count as one.
    """

    def __init__(self) -> None:
        self.levels: dict[tuple[str, int], ListLevel] = {}
        self.counted_as: dict[str, str] = {}
        self._counts: defaultdict[str, dict[int, int]] = defaultdict(dict)

    def next_label(self, number: str, level: int) -> str:
        """The label of the next paragraph of this numbering: `2.1.`, `b)` or `-`."""
        own = self.levels.get((number, level), ListLevel("bullet"))
        counts = self._counts[self.counted_as.get(number, number)]
        # A level that was left out counts as begun.
        for above in range(level):
            counts.setdefault(above, self._level(number, above).first)
        counts[level] = counts.get(level, own.first - 1) + 1
        for deeper in [
            n for n in counts if level < n and level < self._level(number, n).restarted_by
        ]:
            del counts[deeper]
        if own.style == "bullet":
            return _BULLET

        def shown(match: re.Match[str]) -> str:
            place = int(match[1]) - 1
            style = self._level(number, place).style
            return counted(counts.get(place, 1), "decimal" if own.is_legal else style)

        return _PLACEHOLDER.sub(shown, own.text).strip()

    def _level(self, number: str, level: int) -> ListLevel:
        return self.levels.get((number, level), ListLevel())


_INDENT = "  "
_MAX_INDENT = 8


class BlockWriter:
    """Writes one block after another; call `finish` after the last."""

    def __init__(self, draft: DocumentDraft) -> None:
        self.title = ""
        self.draft = draft
        self._path = HeadingPath()
        self._is_after_line = False
        self._notes: list[str] = []
        # The rows of the table that is being written, and where each of them ends.
        self._rows: list[list[str]] = []
        self._ends: list[int] = []
        self._marked_headers = 0

    def add_paragraph(self, text: str) -> None:
        """Write a paragraph, with its notes."""
        self._end_table()
        if text.strip():
            self._add(text.strip())
        self._add_notes()

    def add_item(self, level: int, label: str, text: str) -> None:
        """Write an item of a list; `level` counts from 0."""
        self._end_table()
        self._add(f"{_INDENT * min(level, _MAX_INDENT)}{label} {text.strip()}", is_line=True)
        self._add_notes()

    def add_heading(self, level: int, text: str) -> None:
        """Write a heading of level 1-9; level 0 is the title of the document."""
        self._end_table()
        if level == 0 and not self.title:
            self.title = one_line(text)
        # Under a title every heading is one deeper.
        level = level + bool(self.title) if level else 1
        self._add("")
        title = without_addresses(text)
        self.draft.add_heading(level, title)
        self.draft.mark(Anchor(heading=self._path.enter(level, title)))
        self.draft.add(one_line(text))
        self._add_notes()

    def add_row(self, cells: Iterable[str], *, is_header: bool = False) -> None:
        """Write a row of a table; the next row belongs to it too, until something else comes."""
        texts = [" ".join(cell.split()) for cell in cells]
        if not any(texts):
            return
        self._is_after_line &= bool(self._rows)
        self._add(CELL_BORDER.join(texts).strip(), is_line=True)
        if is_header and self._marked_headers == len(self._rows):
            self._marked_headers += 1
        # Text that is never looked at need not be kept.
        if len(self._rows) < SAMPLE_ROWS:
            self._ends.append(self.draft.length)
            self._rows.append(texts)

    def end_table(self) -> None:
        """End the table: the next row belongs to another."""
        self._end_table()
        self._add_notes()

    def add_note(self, text: str) -> None:
        """Add a footnote or comment, which follows the paragraph or table that is being written."""
        text = " ".join(text.split())
        if text:
            self._notes.append(text)

    def add_margins(self, texts: Iterable[str]) -> None:
        """Write headers and footers, each once, after everything else and under no heading."""
        self.end_table()
        # A mere page number has no letters.
        kept = dict.fromkeys(text.strip() for text in texts if any(map(str.isalpha, text)))
        if kept:
            self._add("")
            self.draft.mark(Anchor())
            self._is_after_line = False
            for index, text in enumerate(kept):
                self.draft.add("\n" * bool(index) + text)

    def finish(self) -> None:
        """Finish the last table, if one is open."""
        self.end_table()

    def _add(self, text: str, *, is_line: bool = False) -> None:
        if self.draft.length:
            self.draft.add("\n" if is_line and self._is_after_line else "\n\n")
        self.draft.add(text)
        self._is_after_line = is_line

    def _add_notes(self) -> None:
        notes, self._notes = self._notes, []
        for note in notes:
            self._add(note, is_line=True)
        if notes:
            self._is_after_line = False

    def _end_table(self) -> None:
        rows, self._rows = self._rows, []
        ends, self._ends = self._ends, []
        marked, self._marked_headers = self._marked_headers, 0
        if rows:
            self._is_after_line = False
            if found := table_header(rows, marked):
                self.draft.add_table_header(ends[found[0]], found[1])


# The name that programs give an untitled presentation: "Slide 1" in many languages.
_NO_TITLE = re.compile(r"PowerPoint\b.*|\w+ 1", re.IGNORECASE)


def given_title(text: str) -> str:
    """The title in the properties of a presentation, "" unless a person gave it."""
    return "" if _NO_TITLE.fullmatch(text) else text


@dataclass(slots=True)
class Table:
    """The cells of a table, and how many rows at its top are called headers."""

    rows: list[list[str]]
    marked: int = 0


@dataclass(slots=True)
class Slide:
    """The content of a slide. A block is a text box, its lines joined, or a table."""

    title: str = ""
    blocks: list["str | Table"] = field(default_factory=list)
    footers: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    is_hidden: bool = False


class SlideWriter:
    """Writes slide after slide; a footer is written once, not on each of them."""

    def __init__(self, draft: DocumentDraft) -> None:
        self._draft = draft
        self._footers: set[str] = set()

    def write(self, number: int, slide: Slide) -> None:
        """Write the slide with this number (from 1), unless there is nothing on it."""
        title = one_line(slide.title)
        blocks = [
            block if isinstance(block, Table) else block.strip("\n")
            for block in slide.blocks
            if (any(map(any, block.rows)) if isinstance(block, Table) else block.strip())
        ]
        for footer in _with_text(slide.footers):
            if footer not in self._footers:
                self._footers.add(footer)
                blocks.append(footer)
        if notes := _with_text(slide.notes):
            blocks.append("\n".join(["Notes:", *notes]))
        blocks += _with_text(slide.comments)
        if title or blocks:
            marks = ["[Hidden slide]"] * slide.is_hidden
            self._write(number, title, [*marks, *blocks])

    def _write(self, number: int, title: str, blocks: Sequence[str | Table]) -> None:
        if self._draft.length:
            self._draft.add("\n\n")
        self._draft.mark(Anchor(slide=number))
        if title:
            self._draft.add_heading(1, title)
        for place, block in enumerate([title, *blocks] if title else blocks):
            self._draft.add("\n\n" * bool(place))
            if isinstance(block, Table):
                write_table(self._draft, block.rows, block.marked)
            else:
                self._draft.add(block)


def _with_text(texts: Iterable[str]) -> list[str]:
    return [text.strip("\n") for text in texts if text.strip()]
