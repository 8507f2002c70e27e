"""Tables of web pages: which are made for layout only, and which row is the header of the others.

Runs in the parser process.
"""

from collections.abc import Mapping

from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft
from desktop_rag.ingest.read.foundation.table_header import SAMPLE_ROWS, header_row

CELL_BORDER = " | "
CELLS = {"td", "th"}
# Elements that show that a table cell is part of the page layout.
_NOT_IN_CELLS = {"table", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "hr", "form"}
_MAX_CELL_PARAGRAPHS = 5
_MAX_HEADER_ROWS = 3
_MIN_COLUMNS = 2
_MAX_CELLS = 200
_MAX_CELL_CHARS = 200


class TableSurvey:
    """Finds the tables (by number) made for layout: their cells are parts of a page, no columns."""

    def __init__(self) -> None:
        self.layout: set[int] = set()
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

    def end(self, tag: str) -> None:
        """An element ends."""
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
        self._rows: list[list[str]] = []
        # Where each row ends, and how many of its cells are header cells.
        self._ends: list[int] = []
        self._named_cells: list[int] = []
        self._is_row_kept = False

    def start_row(self) -> None:
        """A row begins."""
        self.cell_number = 0
        self._is_row_kept = len(self._rows) < SAMPLE_ROWS
        if self._is_row_kept:
            self._rows.append([])
            self._named_cells.append(0)

    def start_cell(self, tag: str) -> None:
        """A cell begins."""
        if not self._rows:
            # Some tables have cells without a row.
            self.start_row()
        self.cell_number += 1
        if self._is_row_kept and self.cell_number <= _MAX_CELLS:
            self._rows[-1].append("")
            self._named_cells[-1] += tag == "th"

    def add(self, text: str) -> None:
        """Text in the cell that is open."""
        row = self._rows[-1] if self._is_row_kept else None
        if row and len(row[-1]) < _MAX_CELL_CHARS:
            row[-1] = f"{row[-1]} {text}".strip()

    def end_row(self, offset: int) -> None:
        """A row ends at this offset of the document."""
        if len(self._ends) < len(self._rows):
            self._ends.append(offset)

    def close(self, draft: DocumentDraft) -> None:
        """Tell the draft under which header row the others stand, if there is one."""
        self.end_row(draft.length)
        count = 0 if self.is_layout else self._named_rows()
        if count:
            header = " / ".join(CELL_BORDER.join(row) for row in self._rows[:count])
        else:
            found = None if self.is_layout else header_row(self._rows)
            if found is None:
                return
            header, count = CELL_BORDER.join(self._rows[found]), found + 1
        draft.add_table_header(self._ends[count - 1], header)

    def _named_rows(self) -> int:
        """The number of rows at the top that have header cells only."""
        count = 0
        for row, named in zip(self._rows, self._named_cells, strict=True):
            if not row or named < len(row) or count == _MAX_HEADER_ROWS:
                break
            count += 1
        widest = max((len(row) for row in self._rows[:count]), default=0)
        return count if widest >= _MIN_COLUMNS else 0
