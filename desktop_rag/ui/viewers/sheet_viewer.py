"""Spreadsheets as grids, one sheet at a time. Qt thread."""

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Slot,
)
from PySide6.QtGui import QBrush, QGuiApplication, QKeyEvent, QKeySequence, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTabBar,
    QTableView,
    QWidget,
)

from desktop_rag.core.language.translation import tr
from desktop_rag.core.places import column_letters
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import literal, one_line
from desktop_rag.ui.viewers.sheet_grid import Cell, SheetGrid, is_within
from desktop_rag.ui.viewers.viewer import NO_WORDS, Hits, Span, Viewer
from desktop_rag.ui.widgets.controls import plain_tooltip
from desktop_rag.ui.widgets.layouts import vertical

_Index = QModelIndex | QPersistentModelIndex
_KEPT_ROWS = 500
_MAX_SHOWN_CHARS = 200
_ROOT = QModelIndex()


class SheetModel(QAbstractTableModel):
    """The cells of one sheet, split when they are shown."""

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
        """The first cell that overlaps the span, or the first one of its row."""
        row = self.grid.row_at(span[0])
        columns = [c for c, cell in self.cells(row).items() if is_within(cell, span)]
        return self.index(row, min(columns, default=0))

    def is_cited(self, row: int, column: int) -> bool:
        """True for a cell that overlaps the cited words."""
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
        if self._current is not None and is_within(cell, self._current):
            return "accent", "accent_text"
        at = bisect_right(self._hit_ends, cell.start)
        if at < len(self._hits) and is_within(cell, self._hits[at]):
            return "accent_soft", "accent_soft_text"
        if is_within(cell, self._cited):
            return "highlight", "highlight_text"
        return "", ""


_SAMPLE_ROWS = 40
_MIN_COLUMN_PX, _MAX_COLUMN_PX, _PADDING_PX = 56, 260, 24
_ROW_PADDING_PX = 10
# Further columns keep the default width: there may be thousands.
_FITTED_COLUMNS = 100


class _CellDelegate(QStyledItemDelegate):
    """Paints the background of marked cells, which a style sheet for cells omits."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        ground = index.data(Qt.ItemDataRole.BackgroundRole)
        if isinstance(ground, QBrush):
            painter.fillRect(option.rect, ground)
        super().paint(painter, option, index)


class SheetTable(QTableView):
    """A grid whose selected cells are copied as lines with tabs."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self._copy()
        else:
            super().keyPressEvent(event)

    def _copy(self) -> None:
        chosen = sorted(self.selectedIndexes(), key=lambda i: (i.row(), i.column()))
        rows: dict[int, list[str]] = {}
        for index in chosen:
            rows.setdefault(index.row(), []).append(str(index.data() or ""))
        if rows:
            QGuiApplication.clipboard().setText("\n".join("\t".join(row) for row in rows.values()))


class SheetViewer(Viewer):
    """Shows the sheets of a document, with a tab for each if there are several."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._grids: Sequence[SheetGrid] = ()
        self._model: SheetModel | None = None
        self._tabs = QTabBar(expanding=False, usesScrollButtons=True, drawBase=False)
        self._tabs.setAccessibleName(tr("Sheets"))
        self.table = SheetTable()
        self.table.setAccessibleName(tr("Cells"))
        self.table.setObjectName("sheet")
        self.table.setWordWrap(False)
        self.table.setItemDelegate(_CellDelegate(self.table))
        self.table.setTabKeyNavigation(False)
        self.table.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        rows = self.table.verticalHeader()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setDefaultSectionSize(self.fontMetrics().height() + _ROW_PADDING_PX)
        self.setFocusProxy(self.table)
        vertical((self.table, 1), self._tabs, on=self, margins=0, spacing=0)
        self._tabs.currentChanged.connect(self._show_sheet)
        theme.changed.connect(self.table.viewport().update)

    def show_grids(self, grids: Sequence[SheetGrid], cited: Span) -> None:
        """Show these sheets at these words."""
        self._grids, self._cited, self._hits = grids, cited, Hits()
        self._tabs.blockSignals(True)
        while self._tabs.count():
            self._tabs.removeTab(0)
        for grid in grids:
            self._tabs.addTab(literal(one_line(grid.name)))
        self._tabs.blockSignals(False)
        self._tabs.setVisible(len(grids) > 1)
        self._show_sheet(0)
        self.show_span(cited)

    def _go_to(self, span: Span) -> None:
        sheet = next((n for n, grid in enumerate(self._grids) if grid.holds(span[0])), None)
        if sheet is None:
            return
        if sheet != self._tabs.currentIndex():
            self._tabs.setCurrentIndex(sheet)
        if self._model is None:
            return
        index = self._model.index_of(span)
        self.table.scrollTo(index, QAbstractItemView.ScrollHint.PositionAtCenter)
        self.table.setCurrentIndex(index)
        self.table.clearSelection()

    def _mark(self) -> None:
        if self._model is not None:
            self._model.mark(self._cited, self._hits)

    @Slot(int)
    def _show_sheet(self, sheet: int) -> None:
        if not 0 <= sheet < len(self._grids):
            return
        before, self._model = self._model, SheetModel(self._theme, self._grids[sheet], self)
        self.table.setModel(self._model)
        if before is not None:
            before.deleteLater()
        self._mark()
        self.table.selectionModel().currentChanged.connect(self._on_current)
        self._fit_columns(self._model)

    def _fit_columns(self, model: SheetModel) -> None:
        """Make columns as wide as the text near the cited row, within limits."""
        metrics = self.table.fontMetrics()
        around = model.grid.row_at(self._cited[0])
        rows = {0, *range(max(0, around - _SAMPLE_ROWS), around + _SAMPLE_ROWS)}
        widths: dict[int, int] = {}
        for row in rows:
            if row < model.grid.row_count:
                for column, cell in model.cells(row).items():
                    width = metrics.horizontalAdvance(cell.text[:60]) + _PADDING_PX
                    widths[column] = max(width, widths.get(column, _MIN_COLUMN_PX))
        for column, width in widths.items():
            if column < _FITTED_COLUMNS:
                self.table.setColumnWidth(column, min(width, _MAX_COLUMN_PX))

    @Slot(QModelIndex, QModelIndex)
    def _on_current(self, index: QModelIndex, _before: QModelIndex) -> None:
        if self._model is None or not index.isValid():
            return
        letters = self._model.headerData(index.column(), Qt.Orientation.Horizontal)
        cell = f"{letters}{self._model.grid.number(index.row())}"
        name = self._model.grid.name
        self.place_changed.emit(
            f"{one_line(name)} · {cell}" if name else tr("cell {cell}", cell=cell)
        )
