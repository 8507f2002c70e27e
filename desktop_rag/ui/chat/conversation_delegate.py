"""Draws a chat of the list, with the heading of its group above the first one. Qt thread."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QFont, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem, QWidget

from desktop_rag.ui.chat.conversation_model import ConversationModel
from desktop_rag.ui.foundation.theme import Theme

_SMALL = 0.88
_ABOVE_PX, _BELOW_PX, _SIDE_PX = 12, 4, 8
_Index = QModelIndex | QPersistentModelIndex


class ConversationDelegate(QStyledItemDelegate):
    """The heading is part of the row of the first chat, so that the keyboard walks chats only."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._view = parent

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        size = super().sizeHint(option, index)
        return QSize(size.width(), size.height() + self._heading_px(index))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        heading_px = self._heading_px(index)
        if heading_px:
            painter.save()
            painter.setFont(_small(option.font))
            painter.setPen(self._theme.colour("muted"))
            place = QRect(option.rect.left(), option.rect.top(), option.rect.width(), heading_px)
            place.adjust(_SIDE_PX, 0, -_SIDE_PX, -_BELOW_PX)
            flags = Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignBottom
            painter.drawText(place, flags, index.data(ConversationModel.GroupRole))
            painter.restore()
        super().paint(painter, self._below(option, heading_px), index)

    def updateEditorGeometry(
        self, editor: QWidget, option: QStyleOptionViewItem, index: _Index
    ) -> None:
        below = self._below(option, self._heading_px(index))
        super().updateEditorGeometry(editor, below, index)

    def _below(self, option: QStyleOptionViewItem, heading_px: int) -> QStyleOptionViewItem:
        below = QStyleOptionViewItem(option)
        below.rect = option.rect.adjusted(0, heading_px, 0, 0)
        return below

    def _heading_px(self, index: _Index) -> int:
        """The height of the heading above this row; 0 within a group."""
        before = index.sibling(index.row() - 1, 0)
        group = index.data(ConversationModel.GroupRole)
        if before.isValid() and before.data(ConversationModel.GroupRole) == group:
            return 0
        above = _ABOVE_PX if before.isValid() else 0
        return round(self._view.fontMetrics().height() * _SMALL) + above + _BELOW_PX + _BELOW_PX


def _small(font: QFont) -> QFont:
    small = QFont(font)
    if font.pointSizeF() > 0:
        small.setPointSizeF(font.pointSizeF() * _SMALL)
    else:
        small.setPixelSize(round(font.pixelSize() * _SMALL))
    return small
