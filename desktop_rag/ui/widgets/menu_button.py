"""A button above the chat that says what is chosen, with a menu to choose something else. Qt
thread.
"""

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

# The arrow with what is left around it.
_ARROW_PX = 40
_SMALLEST_PX = 72


class MenuButton(QToolButton):
    """What it says is cut with … where the room ends: foreign names must not widen the window."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        # The arrow stands behind the words.
        self.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        theme.set_icon(self, "chevron-down:muted")
        self.choices = QMenu(self)
        self.choices.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        self.setMenu(self.choices)

    def minimumSizeHint(self) -> QSize:
        usual = super().minimumSizeHint()
        return QSize(min(usual.width(), _SMALLEST_PX), usual.height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        option = QStyleOptionToolButton()
        self.initStyleOption(option)
        if self.width() < self.sizeHint().width():
            room = max(0, self.width() - _ARROW_PX)
            right = Qt.TextElideMode.ElideRight
            option.text = self.fontMetrics().elidedText(self.text(), right, room)
        painter = QStylePainter(self)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ToolButton, option)
