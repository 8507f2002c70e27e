"""A button that asks a question. Qt thread."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextLayout
from PySide6.QtWidgets import QSizePolicy, QWidget

from desktop_rag.ui.widgets.controls import ElidedButton


class QuestionButton(ElidedButton):
    """Shows a question on two lines at most, as wide as its column."""

    def __init__(self, question: str, kind: str, parent: QWidget | None = None) -> None:
        """`kind` is `example` or `followUp`."""
        super().__init__(question, kind, parent)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    @property
    def question(self) -> str:
        """The full question."""
        return self.full_text

    def _fitted(self, room_px: int) -> str:
        layout = QTextLayout(self.full_text, self.font())
        layout.beginLayout()
        line = layout.createLine()
        line.setLineWidth(room_px)
        length = line.textLength()
        layout.endLayout()
        first, rest = self.full_text[:length].rstrip(), self.full_text[length:]
        if not rest or " " not in self.full_text[:length]:
            return super()._fitted(room_px)
        elided = self.fontMetrics().elidedText(rest, Qt.TextElideMode.ElideRight, room_px)
        return f"{first}\n{elided}"
