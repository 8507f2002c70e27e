"""A notice above an answer from the model's own knowledge. Qt thread."""

from PySide6.QtWidgets import QHBoxLayout, QWidget

from desktop_rag.core.conversation import Message
from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.widgets.controls import Card, IconLabel, PlainLabel

_WITHOUT = tr(
    "Without documents, as you chose: nothing was searched. The model answers from its own"
    " knowledge, without sources or checks."
)
_WORDS = tr(
    "Not from your documents: nothing relevant was found in them. The model answers from its own"
    " knowledge, without sources or checks."
)


class ModelKnowledgeNotice(Card):
    """Says that the answer has no sources; hidden for all other answers."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent, kind="notice", tone="warning")
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 8, 14, 8)
        row.setSpacing(10)
        row.addWidget(IconLabel(theme, "info:warning"))
        self._words = PlainLabel(_WORDS, wrap=True)
        row.addWidget(self._words, 1)
        self.hide()

    def show_for(self, message: Message) -> None:
        """Show it above an answer from the model's own knowledge."""
        words = _WITHOUT if message.scope.is_without_documents else _WORDS
        # Setting the same words again would have the whole conversation laid out again.
        if words != self._words.text():
            self._words.setText(words)
        self.setVisible(message.is_own_knowledge)
