"""Lists and tables that show a text while they are empty; tables by columns. Qt thread."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from PySide6.QtCore import (
    QAbstractItemModel,
    QAbstractTableModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QListWidget,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.widgets.controls import PlainLabel, plain_tooltip

_MARGIN_PX = 16


class ItemList(QListWidget):
    """A framed list; `empty_text` tells how to get a first item."""

    def __init__(self, name: str, empty_text: str = "") -> None:
        super().__init__()
        self._empty_text = empty_text
        self.setObjectName("itemList")
        self.setAccessibleName(name)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for changed in (self.model().rowsInserted, self.model().rowsRemoved):
            changed.connect(self._tell)
        self.model().modelReset.connect(self._tell)
        self._tell()

    @Slot()
    def _tell(self) -> None:
        # Screen readers don't read painted words.
        self.setAccessibleDescription("" if self.count() else self._empty_text)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        # Rows that were laid out before there was a style are too low for it.
        self.doItemsLayout()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.count():
            return
        painter = QPainter(self.viewport())
        painter.setPen(self.palette().color(QPalette.ColorRole.PlaceholderText))
        margin = _MARGIN_PX
        area = self.viewport().rect().adjusted(margin, margin, -margin, -margin)
        how = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        painter.drawText(area, int(how), self._empty_text)


_ROW_PADDING_PX = 12
_Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
R = TypeVar("R")


class RoleDelegate(QStyledItemDelegate):
    """Colours a cell by its meaning; `role_of` names the colour role."""

    def __init__(self, theme: Theme, role_of: Callable[[_Index], str], parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._role_of = role_of

    def initStyleOption(self, option: QStyleOptionViewItem, index: _Index) -> None:
        super().initStyleOption(option, index)
        palette = QPalette(option.palette)
        colour = self._theme.colour(self._role_of(index))
        palette.setColor(QPalette.ColorRole.Text, colour)
        palette.setColor(QPalette.ColorRole.HighlightedText, colour)
        option.palette = palette


class RowTable(QTableView):
    """A table in which one row at a time is chosen; subclasses size columns in `_fit_columns`."""

    def __init__(
        self, theme: Theme, model: QAbstractItemModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setModel(model)
        self._empty_label = PlainLabel("", self.viewport(), tone="muted", wrap=True)
        self._empty_label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty_label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        # Single selection: one of thousands would have to follow every row that moves.
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        rows = self.verticalHeader()
        rows.hide()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self._fit_rows()
        self.horizontalHeader().setHighlightSections(False)
        theme.changed.connect(self.viewport().update)

    def set_empty_text(self, text: str) -> None:
        """Set the text shown while there are no rows."""
        self._empty_label.setText(text)
        self._empty_label.setVisible(self.model().rowCount() == 0)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit_rows()
            self._fit_columns()

    def _fit_rows(self) -> None:
        height = self.fontMetrics().height() + _ROW_PADDING_PX
        self.verticalHeader().setDefaultSectionSize(height)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._empty_label.setGeometry(self.viewport().rect())
        self._fit_columns()

    def _fit_columns(self) -> None:
        raise NotImplementedError


# Without slots: with them, Python 3.11 can't make a generic one that is frozen.
@dataclass(frozen=True)
class Column(Generic[R]):
    """A column of a table: its title, and the text of each row in it.

    It is as wide as the widest of its `samples`, and takes its share of the room that is left, but
    not less than `least` needs. `colour_of` names the colour role of a cell, `spoken` gives what
    is read out instead of its text.
    """

    title: str
    text: Callable[[R], str]
    samples: Sequence[str] = ()
    share: int = 0
    least: str = ""
    tip: Callable[[R], str] | None = None
    colour_of: Callable[[R], str] | None = None
    spoken: Callable[[R], str] | None = None


class RowsModel(QAbstractTableModel, Generic[R]):
    """Rows in the given order, shown by columns; a list shows the first one."""

    RowRole = Qt.ItemDataRole.UserRole

    def __init__(self, columns: Sequence[Column[R]], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.columns = columns
        self._rows: Sequence[R] = ()

    def show(self, rows: Sequence[R]) -> None:
        """Replace all rows."""
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def row_at(self, position: int) -> R:
        """What this row shows."""
        return self._rows[position]

    def rowCount(self, parent: _Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: _Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self.columns)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        is_title = orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole
        return self.columns[section].title if is_title else None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row, column = self._rows[index.row()], self.columns[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.text(row)
        if role == Qt.ItemDataRole.ToolTipRole and column.tip:
            return plain_tooltip(column.tip(row))
        if role == Qt.ItemDataRole.AccessibleTextRole and column.spoken:
            return column.spoken(row)
        return row if role == self.RowRole else None


class ColumnTable(RowTable):
    """Shows a RowsModel. `chosen` carries the current row, or None."""

    chosen = Signal(object)

    def __init__(
        self,
        theme: Theme,
        model: RowsModel[Any],
        name: str,
        parent: QWidget | None = None,
        *,
        padding_px: int = 26,
    ) -> None:
        """`name` is the accessible name; `padding_px` is around the text of a cell."""
        super().__init__(theme, model, parent)
        self._padding_px = padding_px
        self._rows = model
        self.setAccessibleName(name)
        for position, column in enumerate(model.columns):
            if column.colour_of:
                delegate = RoleDelegate(theme, _colour_in(column.colour_of), self)
                self.setItemDelegateForColumn(position, delegate)
        self.selectionModel().currentRowChanged.connect(
            lambda current, _before: self.chosen.emit(self._row_of(current))
        )

    @property
    def current(self) -> Any:
        """The current row, or None."""
        return self._row_of(self.currentIndex())

    def _row_of(self, index: QModelIndex) -> Any:
        return self._rows.row_at(index.row()) if index.isValid() else None

    def _fit_columns(self) -> None:
        text_px, padding_px = self.fontMetrics().horizontalAdvance, self._padding_px
        columns = self._rows.columns
        needed = [
            max(map(text_px, column.samples)) + padding_px if column.samples else 0
            for column in columns
        ]
        room = self.viewport().width() - sum(needed)
        shares, taken, before = sum(column.share for column in columns), 0, 0
        for position, column in enumerate(columns):
            if column.share:
                taken += column.share
                end = taken * room // shares
                least = text_px(column.least) or padding_px
                needed[position] = max(least, needed[position] + end - before)
                before = end
            self.setColumnWidth(position, needed[position])


def _colour_in(colour_of: Callable[[Any], str]) -> Callable[[_Index], str]:
    return lambda index: colour_of(index.data(RowsModel.RowRole))
