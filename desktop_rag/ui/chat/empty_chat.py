"""The page of a chat without questions: what to ask, and how to start. Qt thread."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QScrollArea, QVBoxLayout, QWidget

from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import count_of
from desktop_rag.ui.messages.question_button import QuestionButton
from desktop_rag.ui.widgets.controls import IconLabel, PlainLabel, TextButton, centred

_COLUMN_PX = 440
_MAX_EXAMPLES = 4


class EmptyChat(QScrollArea):
    """Shows example questions or a way to add documents; `question_chosen` carries an example."""

    question_chosen = Signal(str)
    folder_requested = Signal()
    settings_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("Getting started")
        self._examples: list[QuestionButton] = []
        self._is_empty = True
        self._build(theme)
        # Nobody is to take a library that is not known yet for an empty one.
        self._words.setText("Opening the library…")
        self._add.hide()

    def _build(self, theme: Theme) -> None:
        self._words = PlainLabel(tone="muted", wrap=True)
        self._words.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._add = TextButton("Add folder…", kind="primary")
        self._add.setObjectName("addFolderButton")
        self._without_model = PlainLabel(
            "No model is connected, so answers are excerpts from your documents.",
            tone="muted",
            wrap=True,
        )
        self._without_model.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._endpoint = TextButton("Connect a model…", kind="quiet")
        title = PlainLabel("Ask your documents", scale="title")
        middle = Qt.AlignmentFlag.AlignHCenter
        inner = QWidget()
        column = QVBoxLayout(inner)
        column.setSpacing(10)
        column.addWidget(IconLabel(theme, "chat:accent", size_px=40), 0, middle)
        column.addWidget(title, 0, middle)
        column.addWidget(self._words)
        column.addSpacing(8)
        self._questions = QVBoxLayout()
        column.addLayout(self._questions)
        column.addWidget(self._add, 0, middle)
        column.addSpacing(8)
        column.addWidget(self._without_model)
        column.addWidget(self._endpoint, 0, middle)
        page = QWidget()
        page.setProperty("kind", "page")
        self.setWidget(page)
        outer = QVBoxLayout(page)
        outer.setContentsMargins(24, 24, 24, 24)
        outer.addStretch(2)
        outer.addLayout(centred(inner, _COLUMN_PX))
        outer.addStretch(3)
        self._add.clicked.connect(self.folder_requested)
        self._endpoint.clicked.connect(self.settings_requested)

    def show_examples(self, questions: Sequence[str]) -> None:
        """Show these example questions, replacing earlier ones."""
        for button in self._examples:
            button.deleteLater()
        self._examples = [QuestionButton(q, "example") for q in questions[:_MAX_EXAMPLES]]
        for button in self._examples:
            button.clicked.connect(self._on_example_clicked)
            self._questions.addWidget(button)
            button.setVisible(not self._is_empty)

    def show_library(self, sources: int, files: int) -> None:
        """Show the number of sources and searchable files."""
        self._is_empty = sources == 0
        if self._is_empty:
            words = (
                "Add a folder of documents, then ask anything about them. They stay on this "
                "computer, and changes are picked up automatically."
            )
        else:
            words = (
                f"Ask anything about your {count_of(files, 'file')}. Every answer has numbered "
                "sources that open at the right page or section."
            )
        self._words.setText(words)
        self._add.setVisible(self._is_empty)
        for button in self._examples:
            button.setVisible(not self._is_empty)

    def show_endpoint(self, *, is_set: bool) -> None:
        """Point out that answers are excerpts while no endpoint is set."""
        self._without_model.setVisible(not is_set)
        self._endpoint.setVisible(not is_set)

    @Slot()
    def _on_example_clicked(self) -> None:
        button = self.sender()
        assert isinstance(button, QuestionButton)
        self.question_chosen.emit(button.question)
