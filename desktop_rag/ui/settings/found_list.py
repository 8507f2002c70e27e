"""What the search of the settings found, to be chosen. Qt thread."""

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QPainter, QPalette
from PySide6.QtWidgets import (
    QApplication,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from desktop_rag.core.language.translation import tr
from desktop_rag.ui.settings.settings_parts import Found
from desktop_rag.ui.widgets.controls import PlainLabel
from desktop_rag.ui.widgets.form_fields import draw_line
from desktop_rag.ui.widgets.layouts import Stretch, vertical

_FOUND = Qt.ItemDataRole.UserRole
_WIDTH_PX = 780
_SIDE_PX = 18
_PADDING_PX = 9
_NONE = tr("No setting has these words. Try others.")


class FoundList(QWidget):
    """Settings and where they are; `chosen` carries the Found that is opened."""

    chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setProperty("kind", "page")
        self._list = QListWidget()
        self._list.setObjectName("pageNames")
        self._list.setAccessibleName(tr("Settings found"))
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.setItemDelegate(_FoundPainter(self._list))
        self._list.setMaximumWidth(_WIDTH_PX)
        self._none = PlainLabel(_NONE, tone="muted", wrap=True)
        vertical(
            PlainLabel(tr("Found"), scale="title"),
            self._none,
            (self._list, 1),
            Stretch(0),
            on=self,
            margins=(_SIDE_PX, 18, _SIDE_PX, 0),
            spacing=12,
        )
        self._list.itemClicked.connect(self.open_current)
        self._list.itemActivated.connect(self.open_current)

    def show_found(self, every: Sequence[Found]) -> None:
        """Show these, the first of them chosen."""
        self._list.clear()
        for found in every:
            item = QListWidgetItem(found.name)
            item.setData(_FOUND, found)
            said = f"{found.name}, {found.place}"
            item.setData(Qt.ItemDataRole.AccessibleTextRole, said)
            self._list.addItem(item)
        self._list.setCurrentRow(0)
        self._list.setVisible(bool(every))
        self._none.setVisible(not every)

    def press(self, event: QKeyEvent) -> None:
        """Choose another one by a key."""
        QApplication.sendEvent(self._list, event)

    @Slot()
    def open_current(self) -> None:
        """Open the chosen one."""
        if item := self._list.currentItem():
            self.chosen.emit(item.data(_FOUND))


_Index = QModelIndex | QPersistentModelIndex


class _FoundPainter(QStyledItemDelegate):
    """Draws the name, and below it the place in a muted colour."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        row = QStyleOptionViewItem(option)
        self.initStyleOption(row, index)
        row.text = ""
        style = row.widget.style() if row.widget else QApplication.style()
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, row, painter, row.widget)
        found: Found = index.data(_FOUND)
        area = QRect(row.rect).adjusted(_PADDING_PX, _PADDING_PX, -_PADDING_PX, -_PADDING_PX)
        painter.save()
        painter.setFont(row.font)
        for text, role, at in (
            (found.name, QPalette.ColorRole.Text, 0),
            (found.place, QPalette.ColorRole.PlaceholderText, 1),
        ):
            height = area.height() // 2
            line = QRect(area.left(), area.top() + at * height, area.width(), height)
            painter.setPen(row.palette.color(role))
            short = row.fontMetrics.elidedText(text, Qt.TextElideMode.ElideRight, line.width())
            draw_line(painter, line, short)
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        line = option.fontMetrics.height()
        return QSize(super().sizeHint(option, index).width(), 2 * line + 2 * _PADDING_PX)
