"""The field of the quick ask: question, selected text from another program, scope. Qt thread."""

from functools import partial

from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.core.question import Question
from desktop_rag.core.question_scope import ALL_DOCUMENTS, WITHOUT_DOCUMENTS, QuestionScope
from desktop_rag.ui.composer.composer import QuestionCard
from desktop_rag.ui.composer.name_completion import NamedChoice
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.widgets.flow_row import FlowRow
from desktop_rag.ui.widgets.layouts import clear, horizontal, vertical
from desktop_rag.ui.widgets.removable_chip import RemovableChip

_MAX_SELECTION = 4_000
_PLACEHOLDER = tr("Ask your documents, or search as you type")
_FOLLOW_UP = tr("Ask a follow-up")
_NOBODY = NamedChoice("")


class AskField(QuestionCard):
    """`typed` carries the text, `stepped` 1 or -1 for the arrow keys.

    `copy_requested` is Ctrl+C with nothing selected in the field.
    """

    typed = Signal(str)
    scope_changed = Signal()
    stepped = Signal(int)
    copy_requested = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Ask"), tr("Stop"))
        self._assistant = _NOBODY
        self._is_without_documents = False
        self._selection = ""
        self._is_held = self._is_follow_up = False
        self._field.setPlaceholderText(_PLACEHOLDER)
        self._build()
        self._connect()
        self._show_chips()
        self.set_busy(False)

    def _build(self) -> None:
        self._limits = QWidget()
        self._flow = FlowRow(self._limits)
        row = horizontal((self._field, 1), self._send, self._stop, spacing=8)
        vertical(self.scope_bar, row, self._limits, on=self, margins=(12, 8, 8, 8), spacing=6)

    def _connect(self) -> None:
        self._field.entered.connect(self._submit)
        self._field.textChanged.connect(lambda: self.typed.emit(self.text))
        self._field.installEventFilter(self)
        self.names.chosen.connect(self._on_name_chosen)
        self.scope_bar.changed.connect(self._on_about_changed)

    @property
    def scope(self) -> QuestionScope:
        """The scope of the question."""
        if self.scope_bar.scope.is_limited:
            return self.scope_bar.scope
        return WITHOUT_DOCUMENTS if self._is_without_documents else ALL_DOCUMENTS

    @property
    def is_completing(self) -> bool:
        """True while a list of completions is open."""
        return self.prompts.is_open or self.names.is_open

    def select_all(self) -> None:
        """Select the question, so that typing replaces it."""
        self._field.selectAll()

    def set_follow_up(self, is_follow_up: bool) -> None:
        """Show that the next question continues the same chat."""
        self._is_follow_up = is_follow_up
        self._show_placeholder()

    def _show_placeholder(self) -> None:
        # The field itself says what a question is about.
        if self._is_follow_up:
            self._field.setPlaceholderText(_FOLLOW_UP)
        elif self.scope == ALL_DOCUMENTS:
            self._field.setPlaceholderText(_PLACEHOLDER)

    def show_selection(self, text: str) -> None:
        """Send this text from another program with the next question; "" for none."""
        self._selection = text.strip()[:_MAX_SELECTION]
        self._show_chips()

    @Slot(object)
    def _on_name_chosen(self, choice: NamedChoice) -> None:
        if choice.assistant_id:
            self._assistant = choice
        else:
            self._is_without_documents = choice.scope.is_without_documents
            if choice.item:
                self.scope_bar.add(choice.item)
            elif self.scope_bar.scope.is_limited:
                self.scope_bar.clear()
        self._show_chips()
        self.scope_changed.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            # In a question of several lines the arrows move the cursor.
            is_one_line = self._field.document().blockCount() == 1 and not self.is_completing
            if is_one_line and event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
                self.stepped.emit(1 if event.key() == Qt.Key.Key_Down else -1)
                return True
            has_selection = self._field.textCursor().hasSelection()
            if event.matches(QKeySequence.StandardKey.Copy) and not has_selection:
                self.copy_requested.emit()
                return True
        return super().eventFilter(watched, event)

    def question(self) -> Question:
        """The typed question with the selected text and the scope."""
        text = self.text.strip()
        if self._selection:
            text = f"{text}\n\n“{self._selection}”" if text else self._selection
        return self.question_of(text)

    def question_of(self, text: str) -> Question:
        """This text as a question to the field's assistant and scope."""
        return Question(
            text,
            assistant_id=self._assistant.assistant_id,
            attachments=tuple(f.attachment for f in self.scope_bar.attached if f.attachment),
            scope=self.scope,
        )

    def begin_anew(self) -> None:
        """Empty the field and clear the files it is limited to."""
        self.clear()
        self.scope_bar.clear()

    def clear(self) -> None:
        """Empty the field; the scope stays."""
        self._is_held = False
        self._field.clear()
        self.show_selection("")

    @Slot()
    def _submit(self) -> None:
        # A question about a file that is being read is sent once it is there.
        self._is_held = self.scope_bar.is_reading
        if not self._is_busy and not self._is_held:
            self.submitted.emit(self.question())

    @Slot()
    def _on_about_changed(self) -> None:
        self._field.show_scope(self.scope)
        self._show_placeholder()
        if self._is_held and not self.scope_bar.is_reading:
            self._submit()

    @Slot()
    def _on_assistant_removed(self) -> None:
        self._assistant = _NOBODY
        self._show_chips()
        self.scope_changed.emit()

    @Slot()
    def _on_all_wanted(self) -> None:
        self._is_without_documents = False
        self._show_chips()
        self.scope_changed.emit()

    def _show_chips(self) -> None:
        """Show what goes with the question, each with a way to leave it out."""
        clear(self._flow)
        name, text = self._assistant.name, " ".join(self._selection.split())
        without = tr("Without documents: the model answers from what it knows")
        for is_wanted, words, removal, removed in (
            (text, tr("Selected text: “{shown}”", shown=one_line(text)),
             tr("Remove the selected text"), partial(self.show_selection, "")),
            (name, tr("Assistant: {one_line}", one_line=one_line(name)),
             tr("Ask without this assistant"), self._on_assistant_removed),
            (self._is_without_documents, without,
             tr("Ask about all documents"), self._on_all_wanted),
        ):  # fmt: skip
            if is_wanted:
                chip = RemovableChip(self._theme, words, removal, self._limits)
                chip.removed.connect(removed)
                self._flow.addWidget(chip)
                chip.show()
        self._limits.setVisible(self._flow.count() > 0)
