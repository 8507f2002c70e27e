"""A button that asks a question. Qt thread."""

from PySide6.QtWidgets import QSizePolicy, QWidget

from desktop_rag.ui.widgets.elided_button import ElidedButton


class QuestionButton(ElidedButton):
    """Shows a question on one line, as wide as its column."""

    def __init__(self, question: str, kind: str, parent: QWidget | None = None) -> None:
        """`kind` is `example` or `followUp`."""
        super().__init__(question, kind, parent)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    @property
    def question(self) -> str:
        """The full question."""
        return self.full_text
