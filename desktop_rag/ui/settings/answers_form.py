"""Settings for checks, suggestions and memory around an answer. Qt thread."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QCheckBox, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.core.settings import FEW_FILES, AnswerSettings
from desktop_rag.ui.widgets.form_fields import SettingsSection, note, show_checked

_CHECK_NOTE = tr(
    "Each sentence gets a badge. The check runs on this computer and compares words and numbers: it"
    " is a hint, not a proof."
)
_MODEL_NOTE = tr(
    "Understands other words for the same, and says in a sentence what agrees and what differs."
    " One extra request for every five sentences."
)
_HIDE_NOTE = tr(
    "Hides an answer if your documents support none of its sentences. You can still show it."
)
_QUESTION_NOTE = tr(
    "Takes one short request after each answer. Without a model, headings are suggested."
)
_FEW_NOTE = tr(
    "Where a question may find at most {FEW_FILES} files. Each relevant file takes one request to"
    " the model.",
    FEW_FILES=FEW_FILES,
)
_MEMORY_NOTE = tr(
    "Shows the model up to three earlier answers to similar questions, best rated first, so that it"
    " matches the style you like. When off, new answers are not remembered."
)


class AnswersForm(SettingsSection):
    """Edits AnswerSettings; `changed` carries the new value."""

    changed = Signal(object)

    def __init__(self, memory: QWidget, parent: QWidget | None = None) -> None:
        """`memory` is a widget shown below the memory setting."""
        super().__init__(tr("Answers"), parent=parent)
        self._checks = QCheckBox(tr("Check each sentence against the sources"))
        self._checks_with_model = QCheckBox(tr("Also check with the model"))
        self._hides = QCheckBox(tr("Hide unsupported answers"))
        self._suggests = QCheckBox(tr("Suggest follow-up questions"))
        self._asks_few = QCheckBox(tr("Ask file by file when nothing is found"))
        self._remembers = QCheckBox(tr("Learn from earlier answers"))
        for label, box, explanation in (
            (tr("Checks"), self._checks, _CHECK_NOTE),
            ("", self._checks_with_model, _MODEL_NOTE),
            ("", self._hides, _HIDE_NOTE),
            (tr("Suggestions"), self._suggests, _QUESTION_NOTE),
            (tr("Nothing found"), self._asks_few, _FEW_NOTE),
            (tr("Memory"), self._remembers, _MEMORY_NOTE),
        ):
            self.add_row(label, box)
            self.add_note(note(explanation))
            box.toggled.connect(self._on_toggled)
        self.add_row("", memory)

    def show_answers(self, answers: AnswerSettings) -> None:
        """Show these settings without emitting `changed`."""
        show_checked(self._checks, answers.checks_claims)
        show_checked(self._checks_with_model, answers.checks_with_model)
        show_checked(self._hides, answers.hides_unsupported)
        show_checked(self._suggests, answers.suggests_questions)
        show_checked(self._asks_few, answers.asks_few_files)
        show_checked(self._remembers, answers.uses_memory)
        self._update_enabled()

    @Slot()
    def _on_toggled(self) -> None:
        self._update_enabled()
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

    def _update_enabled(self) -> None:
        """Enable the options that depend on checks only while checks are on."""
        for box in (self._checks_with_model, self._hides):
            box.setEnabled(self._checks.isChecked())
