"""Tables and lists of a page while it is written. Runs in the parser process."""

from collections.abc import Mapping

from desktop_rag.ingest.read.foundation.blocks import SAMPLE_ROWS, counted, table_header
from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft

CELLS = {"td", "th"}
# Elements that show that a table cell is part of the page layout.
_NOT_IN_CELLS = {"table", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "hr", "form"}
_MAX_CELL_PARAGRAPHS = 5
_MAX_HEADER_ROWS = 3
_MIN_COLUMNS = 2
_MAX_CELLS = 200
_MAX_SPAN = 60
_MAX_CELL_CHARS = 200
LISTS = {"ul", "ol"}
_MAX_DIGITS = 9


class Survey:
    """Looks ahead for the tables (by number) made for layout, whose cells are parts of the page,
    for the number of items of each list, and for the lists to choose one from that say no choice.
    """

    def __init__(self) -> None:
        self.layout: set[int] = set()
        self.items: list[int] = []
        self.undecided: list[bool] = []
        self._lists: list[int] = []
        self._open: list[int] = []
        self._count = 0
        self._paragraphs = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        if tag in CELLS:
            self._paragraphs = 0
        self._paragraphs += tag == "p"
        if tag in _NOT_IN_CELLS or self._paragraphs > _MAX_CELL_PARAGRAPHS:
            self.layout.update(self._open[-1:])
        if tag == "table":
            self._open.append(self._count)
            self._count += 1
        elif tag in LISTS:
            self._lists.append(len(self.items))
            self.items.append(0)
        elif tag == "li" and self._lists:
            self.items[self._lists[-1]] += 1
        elif tag == "select":
            self.undecided.append("multiple" not in attributes)
        elif tag == "option" and self.undecided and "selected" in attributes:
            self.undecided[-1] = False

    def end(self, tag: str) -> None:
        """An element ends."""
        if tag in LISTS and self._lists:
            self._lists.pop()
        if tag == "table" and self._open:
            self._open.pop()

    def data(self, text: str) -> None:
        """Text counts for nothing here."""

    def close(self) -> None:
        """The page ends."""


class HtmlTable:
    """A table that is being written: which row and cell it is at, and its first rows."""

    def __init__(self, *, is_layout: bool) -> None:
        self.is_layout = is_layout
        self.cell_number = 0
        # The text of the open cell, the columns and rows that it covers, and the cells that reach
        # into rows below: by column, the text and the number of rows to come.
        self._cell = ""
        self._span = (1, 1)
        self._reaching: dict[int, tuple[str, int]] = {}
        self._column = 0
        self._rows: list[list[str]] = []
        # Where each row ends, and how many of its cells are header cells.
        self._ends: list[int] = []
        self._named_cells: list[int] = []
        self._is_row_kept = False

    def start_row(self) -> None:
        """A row begins."""
        self.cell_number = self._column = 0
        self._is_row_kept = len(self._rows) < SAMPLE_ROWS
        if self._is_row_kept:
            self._rows.append([])
            self._named_cells.append(0)

    def start_cell(self, tag: str, attributes: Mapping[str, str]) -> None:
        """A cell begins."""
        self._cell = ""
        self._span = (_span(attributes, "colspan"), _span(attributes, "rowspan"))
        if not self._rows:
            # Some tables have cells without a row.
            self.start_row()
        self.cell_number += 1
        if self._is_row_kept and self.cell_number <= _MAX_CELLS:
            self._rows[-1].append("")
            self._named_cells[-1] += tag == "th"

    def add(self, text: str) -> None:
        """Text in the cell that is open."""
        if len(self._cell) < _MAX_CELL_CHARS:
            self._cell = f"{self._cell} {text}".strip()
        row = self._rows[-1] if self._is_row_kept else None
        if row and len(row[-1]) < _MAX_CELL_CHARS:
            row[-1] = f"{row[-1]} {text}".strip()

    def end_cell(self) -> list[str]:
        """The cell ends: its text for the other columns that it covers."""
        columns, rows = self._span
        for column in range(self._column, self._column + columns):
            if rows > 1:
                self._reaching[column] = self._cell, rows - 1
        self._column += columns
        return [self._cell] * (columns - 1)

    def reached(self) -> list[str]:
        """The texts of cells above that reach into the next columns of this row."""
        texts: list[str] = []
        while reach := self._reaching.pop(self._column, None):
            text, rows = reach
            if rows > 1:
                self._reaching[self._column] = text, rows - 1
            texts.append(text)
            self._column += 1
        return texts

    def end_row(self, offset: int) -> None:
        """A row ends at this offset of the document."""
        if len(self._ends) < len(self._rows):
            self._ends.append(offset)

    def close(self, draft: DocumentDraft) -> None:
        """Add the header row to the draft, if there is one."""
        self.end_row(draft.length)
        found = None if self.is_layout else table_header(self._rows, self._named_rows())
        if found:
            draft.add_table_header(self._ends[found[0]], found[1])

    def _named_rows(self) -> int:
        """The number of rows at the top that have header cells only."""
        count = 0
        for row, named in zip(self._rows, self._named_cells, strict=True):
            if not row or named < len(row) or count == _MAX_HEADER_ROWS:
                break
            count += 1
        widest = max((len(row) for row in self._rows[:count]), default=0)
        return count if widest >= _MIN_COLUMNS else 0


def _span(attributes: Mapping[str, str], name: str) -> int:
    return max(1, min(_number(attributes, name, 1), _MAX_SPAN))


def _number(attributes: Mapping[str, str], name: str, default: int) -> int:
    number = attributes.get(name, "").strip() if attributes else ""
    is_number = number.removeprefix("-").isdecimal() and len(number) < _MAX_DIGITS
    return int(number) if is_number else default


_UNNUMBERED = "none"
_LIST_STYLES = {
    "a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman",
    "lower-alpha": "lowerLetter", "upper-alpha": "upperLetter", "lower-latin": "lowerLetter",
    "upper-latin": "upperLetter", "lower-roman": "lowerRoman", "upper-roman": "upperRoman",
    "decimal-leading-zero": "decimalZero", "decimal": "", _UNNUMBERED: _UNNUMBERED,
}  # fmt: skip


class PageList:
    """A list that is open, with the number of its next item."""

    def __init__(
        self, tag: str, attributes: Mapping[str, str], style: Mapping[str, str], items: int
    ) -> None:
        """`items` is how many it has, as far as that is known."""
        is_reversed = bool(attributes) and "reversed" in attributes
        self._step = -1 if is_reversed else 1
        self._number = _number(attributes, "start", max(items, 1) if is_reversed else 1)
        kinds = [*style.get("list-style", "").split(), style.get("list-style-type", "")]
        kinds.insert(0, attributes.get("type", "") if attributes else "")
        known = [_LIST_STYLES[kind] for kind in kinds if kind in _LIST_STYLES]
        self._style = _UNNUMBERED if tag == "ul" else known[-1] if known else ""

    def bullet(self, attributes: Mapping[str, str]) -> str:
        """What stands before the next item, which has these attributes."""
        if self._style == _UNNUMBERED:
            return "- "
        number = _number(attributes, "value", self._number)
        self._number = number + self._step
        return f"{counted(number, self._style)}. "
