"""The field of the quick ask: question, selected text of another program, and scope. Qt thread."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from desktop_rag.core.question import Question
from desktop_rag.ui.composer.composer import QuestionField
from desktop_rag.ui.composer.slash_prompts import SlashPrompts
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.quick_ask.about_bar import AboutBar
from desktop_rag.ui.quick_ask.name_completion import ALL_DOCUMENTS, NameCompletion, NamedChoice
from desktop_rag.ui.widgets.controls import Card, ElidedLabel, IconButton

_MAX_SELECTION = 4_000
_PLACEHOLDER = "Ask your documents, or search as you type"
_FOLLOW_UP = "Ask a follow-up"


class AskField(Card):
    """`typed` carries the text, `submitted` a Question, `stepped` 1 or -1 for the arrow keys.

    `copy_requested` is Ctrl+C with nothing selected in the field.
    `about` shows the files and folders that questions are limited to.
    `names` offers collections and assistants after an @, `prompts` saved prompts after a slash.
    """

    typed = Signal(str)
    submitted = Signal(object)
    scope_changed = Signal()
    stop_requested = Signal()
    stepped = Signal(int)
    copy_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent, kind="composer")
        self._theme = theme
        self._scope = ALL_DOCUMENTS
        self._selection = ""
        self._is_busy = self._is_held = False
        self._field = QuestionField()
        self._field.setPlaceholderText(_PLACEHOLDER)
        self.prompts = SlashPrompts(self._field)
        self.names = NameCompletion(self._field)
        self.setFocusProxy(self._field)
        self.about = AboutBar(theme)
        self._build()
        self._connect()
        self._show_scope()
        self.set_busy(False)

    def _build(self) -> None:
        self._send = IconButton(self._theme, "send:accent_text", "Ask")
        self._send.setObjectName("sendButton")
        self._stop = IconButton(self._theme, "stop:accent_text", "Stop")
        self._stop.setObjectName("stopButton")
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self._field, 1)
        row.addWidget(self._send)
        row.addWidget(self._stop)
        self._scope_chip, self._scope_label = self._chip(
            "Ask all documents instead", self._on_scope_removed
        )
        self._context_chip, self._context_label = self._chip(
            "Remove the selected text", self._on_context_removed
        )
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 8, 8)
        column.setSpacing(6)
        column.addWidget(self.about)
        column.addWidget(self._context_chip)
        column.addLayout(row)
        column.addWidget(self._scope_chip)

    def _chip(self, removal: str, on_removed: Callable[[], None]) -> tuple[Card, ElidedLabel]:
        chip = Card(kind="chip")
        label = ElidedLabel(tone="muted", scale="small")
        remove = IconButton(self._theme, "close:muted", removal)
        remove.clicked.connect(on_removed)
        row = QHBoxLayout(chip)
        row.setContentsMargins(8, 2, 2, 2)
        row.addWidget(label, 1)
        row.addWidget(remove)
        return chip, label

    def _connect(self) -> None:
        self._field.entered.connect(self._submit)
        self._field.textChanged.connect(lambda: self.typed.emit(self.text))
        self._field.installEventFilter(self)
        self._send.clicked.connect(self._submit)
        self._stop.clicked.connect(self.stop_requested)
        self.names.chosen.connect(self.choose_scope)
        self.about.changed.connect(self._on_about_changed)

    @property
    def text(self) -> str:
        """What is typed."""
        return self._field.toPlainText()

    @property
    def scope(self) -> NamedChoice:
        """The collection or assistant that is asked."""
        return self._scope

    @property
    def is_completing(self) -> bool:
        """True while a list of completions is open."""
        return self.prompts.is_open or self.names.is_open

    def set_text(self, text: str) -> None:
        """Replace what is typed."""
        self._field.setPlainText(text)
        self._field.moveCursor(self._field.textCursor().MoveOperation.End)

    def select_all(self) -> None:
        """Select the question, so that typing replaces it."""
        self._field.selectAll()

    def set_busy(self, is_busy: bool) -> None:
        """Show Stop while an answer is being written, else Ask."""
        self._is_busy = is_busy
        self._send.setVisible(not is_busy)
        self._stop.setVisible(is_busy)

    def set_follow_up(self, is_follow_up: bool) -> None:
        """Say that the next question goes on in the same chat."""
        self._field.setPlaceholderText(_FOLLOW_UP if is_follow_up else _PLACEHOLDER)

    def show_selection(self, text: str) -> None:
        """Send this text of another program with the next question; "" for none."""
        self._selection = text.strip()[:_MAX_SELECTION]
        self._show_scope()

    @Slot(object)
    def choose_scope(self, choice: NamedChoice) -> None:
        """Ask this collection or assistant."""
        self._scope = choice
        self._show_scope()
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
        """What is typed, with the selected text and the scope."""
        text = self.text.strip()
        if self._selection:
            text = f"{text}\n\n“{self._selection}”" if text else self._selection
        return self.question_of(text)

    def question_of(self, text: str) -> Question:
        """This text, asked of the scope and about what the field shows; "" stays empty."""
        scope, about = self._scope, self.about
        return Question(
            self._limited(text), scope.collection_id, scope.assistant_id, about.attachments
        )

    @property
    def written(self) -> str:
        """What is typed, with the filters for what it is about."""
        return self._limited(self.text.strip())

    def _limited(self, text: str) -> str:
        return f"{text} {self.about.filters}".strip() if text else ""

    def begin_anew(self) -> None:
        """Empty the field, and ask about all documents of the scope again."""
        self.clear()
        self.about.removed.emit()

    def clear(self) -> None:
        """Empty the field; the scope stays."""
        self._is_held = False
        self._field.clear()
        self.show_selection("")

    @Slot()
    def _submit(self) -> None:
        # A question about a file that is being read is sent once it is there.
        self._is_held = self.about.is_reading
        if not self._is_busy and not self._is_held:
            self.submitted.emit(self.question())

    @Slot()
    def _on_about_changed(self) -> None:
        if self._is_held and not self.about.is_reading:
            self._submit()

    @Slot()
    def _on_scope_removed(self) -> None:
        self.choose_scope(ALL_DOCUMENTS)

    @Slot()
    def _on_context_removed(self) -> None:
        self.show_selection("")

    def _show_scope(self) -> None:
        kind, name = self._scope.kind, one_line(self._scope.name)
        self._scope_label.set_full_text(f"{kind}: {name}")
        self._scope_chip.setVisible(bool(kind))
        shown = one_line(" ".join(self._selection.split()))
        self._context_label.set_full_text(f"Selected text: “{shown}”")
        self._context_chip.setVisible(bool(self._selection))
