"""A question that can be asked by pressing it. Qt thread."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from desktop_rag.ui.controls import plain_tooltip


class QuestionButton(QPushButton):
    """Shows a question on one line, cut with … where the room ends; the tooltip has it whole."""

    _AROUND_PX = 32

    def __init__(self, question: str, kind: str, parent: QWidget | None = None) -> None:
        """`kind` is `example` or `followUp`."""
        super().__init__(parent)
        self.question = " ".join(question.split())
        self.setProperty("kind", kind)
        self.setAccessibleName(self.question)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._elide()

    def sizeHint(self) -> QSize:
        width = self.fontMetrics().horizontalAdvance(self.question) + self._AROUND_PX
        return QSize(width, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()

    def _elide(self) -> None:
        room = max(0, self.width() - self._AROUND_PX)
        shown = self.fontMetrics().elidedText(self.question, Qt.TextElideMode.ElideRight, room)
        # A single & would underline what follows.
        self.setText(shown.replace("&", "&&"))
        self.setToolTip(plain_tooltip(self.question) if shown != self.question else "")
