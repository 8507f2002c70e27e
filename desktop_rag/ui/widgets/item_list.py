"""Lists and tables that show a text while they are empty. Qt thread."""

from collections.abc import Callable

from PySide6.QtCore import QAbstractItemModel, QEvent, QModelIndex, QPersistentModelIndex, Qt, Slot
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
from desktop_rag.ui.widgets.controls import PlainLabel

_MARGIN_PX = 16


class ItemList(QListWidget):
    """A framed list; `empty_text` tells how to get a first item."""

    def __init__(self, name: str, empty_text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
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
