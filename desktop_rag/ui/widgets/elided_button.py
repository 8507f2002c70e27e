"""A button that elides text too long for it. Qt thread."""

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from desktop_rag.ui.widgets.controls import press_by_enter, set_tip


class ElidedButton(QPushButton):
    """Shows its text on one line, elided to fit; the tooltip shows the full text."""

    _PADDING_PX = 32

    def __init__(self, text: str, kind: str, parent: QWidget | None = None) -> None:
        """`kind` is one from the style sheet, such as `quiet`."""
        super().__init__(parent)
        self._full_text = ""
        self.setProperty("kind", kind)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.set_full_text(text)

    @property
    def full_text(self) -> str:
        """The text before eliding."""
        return self._full_text

    def set_full_text(self, text: str) -> None:
        """Set the text; line breaks become spaces."""
        self._full_text = " ".join(text.split())
        self.setAccessibleName(self._full_text)
        self.updateGeometry()
        self._elide()

    def sizeHint(self) -> QSize:
        # One extra pixel, because the advance is rounded.
        width = self.fontMetrics().horizontalAdvance(self._full_text) + 1 + self._PADDING_PX
        return QSize(width, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not press_by_enter(self, event):
            super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._elide()

    def _elide(self) -> None:
        shown = self._fitted(max(0, self.width() - self._PADDING_PX))
        # A single & would mark a shortcut key.
        self.setText(shown.replace("&", "&&"))
        set_tip(self, self._full_text if " ".join(shown.split()) != self._full_text else "")

    def _fitted(self, room_px: int) -> str:
        """What of the text has room."""
        return self.fontMetrics().elidedText(self._full_text, Qt.TextElideMode.ElideRight, room_px)
