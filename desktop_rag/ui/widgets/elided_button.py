"""A button whose words may be longer than there is room for. Qt thread."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from desktop_rag.ui.widgets.controls import plain_tooltip


class ElidedButton(QPushButton):
    """Shows its text on one line, cut with … where the room ends; the tooltip has it whole."""

    _AROUND_PX = 32

    def __init__(self, text: str, kind: str, parent: QWidget | None = None) -> None:
        """`kind` is one of the style sheet's, as `quiet`."""
        super().__init__(parent)
        self._full_text = ""
        self.setProperty("kind", kind)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.set_full_text(text)

    @property
    def full_text(self) -> str:
        """What it would say with enough room."""
        return self._full_text

    def set_full_text(self, text: str) -> None:
        """Show another text, its line breaks as spaces."""
        self._full_text = " ".join(text.split())
        self.setAccessibleName(self._full_text)
        self.updateGeometry()
        self._elide()

    def sizeHint(self) -> QSize:
        # One more, because the advance is rounded.
        width = self.fontMetrics().horizontalAdvance(self._full_text) + 1 + self._AROUND_PX
        return QSize(width, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()

    def _elide(self) -> None:
        room = max(0, self.width() - self._AROUND_PX)
        shown = self.fontMetrics().elidedText(self._full_text, Qt.TextElideMode.ElideRight, room)
        # A single & would underline what follows.
        self.setText(shown.replace("&", "&&"))
        self.setToolTip(plain_tooltip(self._full_text) if shown != self._full_text else "")
