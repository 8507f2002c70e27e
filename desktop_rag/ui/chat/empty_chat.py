"""The page of a chat without questions: what is there to ask, and how to begin. Qt thread."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QScrollArea, QWidget

from desktop_rag.core.language.translation import count_of, tr
from desktop_rag.core.question_scope import ALL_DOCUMENTS, QuestionScope
from desktop_rag.core.settings import Settings
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.messages.question_item import QuestionButton
from desktop_rag.ui.widgets.controls import IconLabel, PlainLabel, TextButton, centred
from desktop_rag.ui.widgets.layouts import Gap, Stretch, vertical

_COLUMN_PX = 440
_MAX_EXAMPLES = 4
_TITLE = tr("Ask your documents")
_LIMITED = tr("Nothing else is read for your questions.")
_NO_MODEL = tr("No model is connected, so answers are excerpts from your documents.")
_NO_MODEL_AT_ALL = tr("No model is connected, and without documents only a model can answer.")
_EXCERPTS = tr(
    "Excerpts are chosen above, so answers are excerpts from your documents. To ask a model, choose"
    " it there."
)
_EXCERPTS_AT_ALL = tr(
    "Excerpts are chosen above, and without documents only a model can answer. Choose one there."
)
_WITHOUT_DOCUMENTS = tr(
    "The model answers from what it knows. Your documents are not searched, and answers have no "
    "sources and no checks."
)


class EmptyChat(QScrollArea):
    """The page of an empty chat, with examples to ask; `question_chosen` carries one."""

    question_chosen = Signal(str)
    summary_requested = Signal()
    folder_requested = Signal()
    writing_requested = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(tr("Getting started"))
        self._examples: list[QuestionButton] = []
        self._is_empty = True
        self._has_files = False
        self._library_words = ""
        self._scope = ALL_DOCUMENTS
        self._has_model = True
        self._has_choice = False
        self._build(theme)
        # A library that is not loaded yet must not look empty.
        self._library_words = tr("Opening the library…")
        self._words.setText(self._library_words)
        self._add.hide()
        self._summary.hide()

    def _build(self, theme: Theme) -> None:
        self._words = PlainLabel(tone="muted", wrap=True)
        self._words.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._add = TextButton(tr("Add folder…"), kind="primary", then=self.folder_requested)
        self._add.setObjectName("addFolderButton")
        self._without_model = PlainLabel(_NO_MODEL, tone="muted", wrap=True)
        self._without_model.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._endpoint = TextButton(
            tr("Connect a model…"), kind="quiet", then=self.writing_requested
        )
        self._title = PlainLabel(_TITLE, scale="title", wrap=True)
        self._title.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        middle = Qt.AlignmentFlag.AlignHCenter
        inner = QWidget()
        self._questions = vertical()
        self._summary = TextButton(
            tr("Summarise the documents"), kind="quiet", then=self.summary_requested
        )
        vertical(
            (IconLabel(theme, "chat:accent", size_px=40), 0, middle),
            self._title,
            self._words,
            Gap(8),
            self._questions,
            (self._summary, 0, middle),
            (self._add, 0, middle),
            Gap(8),
            self._without_model,
            (self._endpoint, 0, middle),
            on=inner,
            spacing=10,
        )
        page = QWidget()
        page.setProperty("kind", "page")
        self.setWidget(page)
        vertical(Stretch(2), centred(inner, _COLUMN_PX), Stretch(3), on=page, margins=24)

    def show_examples(self, questions: Sequence[str]) -> None:
        """Show these example questions, replacing earlier ones."""
        for button in self._examples:
            button.deleteLater()
        self._examples = [QuestionButton(q, "example") for q in questions[:_MAX_EXAMPLES]]
        for button in self._examples:
            button.clicked.connect(
                lambda _=False, asked=button.question: self.question_chosen.emit(asked)
            )
            self._questions.addWidget(button)
        self._show()

    def show_library(self, sources: int, files: int) -> None:
        """Show the number of sources and searchable files."""
        self._is_empty, self._has_files = sources == 0, files > 0
        if self._is_empty:
            words = tr(
                "Add a folder of documents, then ask anything about them. They stay on this "
                "computer, and changes are picked up automatically."
            )
        else:
            words = tr(
                "Ask anything about your {count_of}. Every answer has numbered sources that"
                " open at the right page or section.",
                count_of=count_of(files, tr("file"), tr("files")) if files else tr("files"),
            )
        self._library_words = words
        self._show()

    def apply(self, settings: Settings) -> None:
        """Say that answers are excerpts while no model is connected or chosen."""
        self._has_model = settings.endpoint.is_set
        self._has_choice = bool(settings.endpoints)
        self._show()

    def show_scope(self, scope: QuestionScope) -> None:
        """Say what the next question is about: all documents, some, or none."""
        self._scope = scope
        self._show()

    def _show(self) -> None:
        scope, has_none = self._scope, self._scope.is_without_documents
        title, words = _TITLE, self._library_words
        if has_none:
            title, words = tr("Chat without documents"), _WITHOUT_DOCUMENTS
        elif scope.is_limited:
            words = f"{one_line(scope.in_words())}. {_LIMITED}"
        self._title.setText(title)
        self._words.setText(words)
        is_plain = not (has_none or scope.is_limited)
        self._add.setVisible(is_plain and self._is_empty)
        for button in (*self._examples, self._summary):
            button.setVisible(is_plain and self._has_files)
        if self._has_choice:
            self._without_model.setText(_EXCERPTS_AT_ALL if has_none else _EXCERPTS)
        else:
            self._without_model.setText(_NO_MODEL_AT_ALL if has_none else _NO_MODEL)
        self._without_model.setVisible(not self._has_model)
        self._endpoint.setVisible(not (self._has_model or self._has_choice))
