"""The cells of one sheet for a grid. Qt thread."""

from bisect import bisect_right
from collections import OrderedDict
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QBrush

from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.viewers.document_span import Span
from desktop_rag.ui.viewers.sheet_grid import Cell, SheetGrid, column_letters, is_within
from desktop_rag.ui.viewers.viewer import NO_WORDS, Hits
from desktop_rag.ui.widgets.controls import plain_tooltip

_Index = QModelIndex | QPersistentModelIndex
_KEPT_ROWS = 500
_MAX_SHOWN_CHARS = 200
_ROOT = QModelIndex()


class SheetModel(QAbstractTableModel):
    """The cells of one sheet, split only where they are looked at."""

    def __init__(self, theme: Theme, grid: SheetGrid, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme
        self.grid = grid
        self._cited: Span = NO_WORDS
        self._hits: tuple[Span, ...] = ()
        self._hit_ends: list[int] = []
        self._current: Span | None = None
        self._rows: OrderedDict[int, dict[int, Cell]] = OrderedDict()

    def mark(self, cited: Span, hits: Hits) -> None:
        """Mark the cells with these words."""
        self._cited, self._hits, self._current = cited, hits.spans, hits.current_span
        self._hit_ends = [end for _, end in hits.spans]
        if self.grid.row_count:
            last = self.index(self.grid.row_count - 1, self.grid.column_count - 1)
            self.dataChanged.emit(self.index(0, 0), last)

    def cells(self, row: int) -> dict[int, Cell]:
        """The cells of a row by their columns."""
        if row not in self._rows:
            self._rows[row] = self.grid.cells(row)
            if len(self._rows) > _KEPT_ROWS:
                self._rows.popitem(last=False)
        return self._rows[row]

    def index_of(self, span: Span) -> QModelIndex:
        """The first cell with a part of the span, or the first one of its row."""
        row = self.grid.row_at(span[0])
        columns = [c for c, cell in self.cells(row).items() if is_within(cell, span)]
        return self.index(row, min(columns, default=0))

    def is_cited(self, row: int, column: int) -> bool:
        """True for a cell with a part of the cited words."""
        cell = self.cells(row).get(column)
        return cell is not None and is_within(cell, self._cited)

    def rowCount(self, parent: _Index = _ROOT) -> int:
        return 0 if parent.isValid() else self.grid.row_count

    def columnCount(self, parent: _Index = _ROOT) -> int:
        return 0 if parent.isValid() else self.grid.column_count

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        if orientation is Qt.Orientation.Horizontal:
            return column_letters(section)
        return f"{self.grid.number(section)}"

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        cell = self.cells(index.row()).get(index.column()) if index.isValid() else None
        if cell is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return cell.text[:_MAX_SHOWN_CHARS]
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tooltip(cell.text) if len(cell.text) > _MAX_SHOWN_CHARS // 8 else None
        ground, words = self._roles(cell)
        if role == Qt.ItemDataRole.BackgroundRole and ground:
            return QBrush(self._theme.colour(ground))
        if role == Qt.ItemDataRole.ForegroundRole and words:
            return QBrush(self._theme.colour(words))
        return None

    def _roles(self, cell: Cell) -> tuple[str, str]:
        """The colours of a cell by its marks, for ground and text."""
        if self._current is not None and is_within(cell, self._current):
            return "accent", "accent_text"
        if self._is_hit(cell):
            return "accent_soft", "accent_soft_text"
        if is_within(cell, self._cited):
            return "highlight", "highlight_text"
        return "", ""

    def _is_hit(self, cell: Cell) -> bool:
        at = bisect_right(self._hit_ends, cell.start)
        return at < len(self._hits) and is_within(cell, self._hits[at])
