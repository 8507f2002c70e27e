"""A button that shows the current choice and opens a menu of others. Qt thread."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import (
    QMenu,
    QSizePolicy,
    QStyle,
    QStyleOptionToolButton,
    QStylePainter,
    QToolButton,
    QWidget,
)

from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.widgets.controls import ToolButton

# The arrow and the padding around it.
_ARROW_PX = 40
_MIN_PX = 72


class MenuButton(ToolButton):
    """A menu button that elides its text, so that a long name never widens the window."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        theme.set_icon(self, "chevron-down:muted")
        self.choices = QMenu(self)
        self.setMenu(self.choices)

    def minimumSizeHint(self) -> QSize:
        usual = super().minimumSizeHint()
        return QSize(min(usual.width(), _MIN_PX), usual.height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        option = QStyleOptionToolButton()
        self.initStyleOption(option)
        # Puts the arrow after the text. The button itself keeps its side, at which its menu opens.
        is_mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        sides = Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft
        option.direction = sides[not is_mirrored]
        if self.width() < self.sizeHint().width():
            room = max(0, self.width() - _ARROW_PX)
            right = Qt.TextElideMode.ElideRight
            option.text = self.fontMetrics().elidedText(self.text(), right, room)
        painter = QStylePainter(self)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ToolButton, option)
