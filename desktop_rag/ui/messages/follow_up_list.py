"""Suggested follow-up questions below the last answer. Qt thread."""

from collections.abc import Sequence

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.ui.messages.question_button import QuestionButton
from desktop_rag.ui.widgets.controls import PlainLabel


class FollowUpList(QWidget):
    """One button per question; `chosen` carries the pressed one."""

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._questions: tuple[str, ...] = ()
        self._buttons: list[QuestionButton] = []
        title = PlainLabel(tr("Ask next"), tone="muted", scale="small")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 8, 0, 0)
        self._column.setSpacing(6)
        self._column.addWidget(title)
        self.hide()

    def show_questions(self, questions: Sequence[str]) -> None:
        """Show these questions; hidden without any."""
        self.setVisible(bool(questions))
        if tuple(questions) == self._questions:
            return
        self._questions = tuple(questions)
        for button in self._buttons:
            button.hide()
            button.deleteLater()
        self._buttons = [QuestionButton(question, "followUp") for question in questions]
        for button in self._buttons:
            button.clicked.connect(self._on_clicked)
            self._column.addWidget(button)

    @Slot()
    def _on_clicked(self) -> None:
        button = self.sender()
        assert isinstance(button, QuestionButton)
        self.chosen.emit(button.question)
