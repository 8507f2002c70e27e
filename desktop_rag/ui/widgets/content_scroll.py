"""The content of a dialog, which scrolls only where the screen has no room for it. Qt thread."""

from PySide6.QtCore import QCoreApplication, QEvent, QSize, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

_LEAST_LINES = 4
_SHARE_OF_SCREEN = 0.9


class ContentScroll(QScrollArea):
    """As large as its content wants to be, if it may."""

    def __init__(self, content: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._content = content
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidget(content)

    def sizeHint(self) -> QSize:
        wanted, layout = self._content.sizeHint(), self._content.layout()
        width = max(wanted.width(), self.viewport().width())
        height = layout.totalHeightForWidth(width) if layout else -1
        return QSize(wanted.width(), max(height, wanted.height()))

    def minimumSizeHint(self) -> QSize:
        bar = self.verticalScrollBar().sizeHint().width()
        width = self._content.minimumSizeHint().width() + bar
        return QSize(width, _LEAST_LINES * self.fontMetrics().lineSpacing())

    def make_room(self) -> None:
        """Let the window grow by what the content has grown, as far as the screen allows."""
        # Sizes are known only after the layout of what was just shown.
        QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)
        window = self.window()
        width = window.width() - self.width() + self.minimumSizeHint().width()
        window.resize(max(window.width(), width), window.height())
        missing = self.sizeHint().height() - self.viewport().height()
        most = int(QGuiApplication.primaryScreen().availableSize().height() * _SHARE_OF_SCREEN)
        height = max(window.height(), min(window.height() + missing, most))
        window.resize(window.width(), height)
