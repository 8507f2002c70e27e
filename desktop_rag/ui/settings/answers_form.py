"""What is done about an answer once it stands, as settings. Qt thread."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QCheckBox, QWidget

from desktop_rag.core.settings import FEW_FILES, AnswerSettings
from desktop_rag.ui.settings.settings_fields import SettingsSection, note, show_checked

_CHECK_NOTE = (
    "Each sentence gets a badge. Done on this computer by comparing words and numbers: a hint,"
    " not a proof."
)
_MODEL_NOTE = "Slower, and one more request for each sentence."
_HIDE_NOTE = "An answer of which no sentence is supported is shown on request only."
_QUESTION_NOTE = "Takes one short request after an answer; without a model, headings are offered."
_FEW_NOTE = f"Up to {FEW_FILES} files; each that may hold something takes a request to the model."
_MEMORY_NOTE = (
    "Your model sees up to three earlier answers to questions like yours, the liked ones first, for"
    " the form you like. Off, nothing more is remembered either."
)


class AnswersForm(SettingsSection):
    """`changed` carries the AnswerSettings as they are now."""

    changed = Signal(object)

    def __init__(self, memory: QWidget, parent: QWidget | None = None) -> None:
        """`memory` tells how much is remembered."""
        super().__init__("Answers", parent=parent)
        self._checks = QCheckBox("Compare each sentence with the sources")
        self._checks_with_model = QCheckBox("Have the model compare too")
        self._hides = QCheckBox("Hide what nothing supports")
        self._suggests = QCheckBox("Suggest what to ask next")
        self._asks_few = QCheckBox("Ask each file when nothing is found among all")
        self._remembers = QCheckBox("Learn from earlier answers")
        for label, box, words in (
            ("Checks", self._checks, _CHECK_NOTE),
            ("", self._checks_with_model, _MODEL_NOTE),
            ("", self._hides, _HIDE_NOTE),
            ("Questions", self._suggests, _QUESTION_NOTE),
            ("Nothing found", self._asks_few, _FEW_NOTE),
            ("Memory", self._remembers, _MEMORY_NOTE),
        ):
            self.add_row(label, box)
            self.add_note(note(words))
            box.toggled.connect(self._on_toggled)
        self.add_row("", memory)

    def show_answers(self, answers: AnswerSettings) -> None:
        """Show settings; nothing is told."""
        show_checked(self._checks, answers.checks_claims)
        show_checked(self._checks_with_model, answers.checks_with_model)
        show_checked(self._hides, answers.hides_unsupported)
        show_checked(self._suggests, answers.suggests_questions)
        show_checked(self._asks_few, answers.asks_few_files)
        show_checked(self._remembers, answers.uses_memory)
        self._show_what_counts()

    @Slot()
    def _on_toggled(self) -> None:
        self._show_what_counts()
        self.changed.emit(
            AnswerSettings(
                checks_claims=self._checks.isChecked(),
                checks_with_model=self._checks_with_model.isChecked(),
                hides_unsupported=self._hides.isChecked(),
                suggests_questions=self._suggests.isChecked(),
                asks_few_files=self._asks_few.isChecked(),
                uses_memory=self._remembers.isChecked(),
            )
        )

    def _show_what_counts(self) -> None:
        """Without checks there is nothing to have compared or to hide."""
        for box in (self._checks_with_model, self._hides):
            box.setEnabled(self._checks.isChecked())
