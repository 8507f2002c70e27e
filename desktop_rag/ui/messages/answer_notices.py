"""What is said of a whole answer: it is hidden, or the model's own knowledge. Qt thread."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from desktop_rag.core.answer_claims import Claim
from desktop_rag.core.claims import Verdict
from desktop_rag.core.conversation import Message
from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.widgets.controls import Card, IconLabel, PlainLabel, TextButton

_POSSIBLY_SUPPORTED = (Verdict.SUPPORTED, Verdict.PARTLY, Verdict.NOT_CHECKED)
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


class HiddenAnswerNotice(Card):
    """Stands in place of an unsupported answer, if the settings hide those.

    `show_requested` when the person wants to see it.
    """

    show_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, kind="notice", tone="warning")
        words = PlainLabel(tr("Answer hidden: your documents do not support any of it."), wrap=True)
        show = TextButton(tr("Show anyway"), kind="quiet")
        show.clicked.connect(self.show_requested)
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 8, 8, 8)
        row.addWidget(words, 1)
        row.addWidget(show)
        self.hide()


def may_be_supported(claims: Sequence[Claim]) -> bool:
    """True if a claim is supported or not checked yet, or if there are no claims."""
    return not claims or any(claim.verdict in _POSSIBLY_SUPPORTED for claim in claims)


def is_of_empty_library(message: Message) -> bool:
    """True for the answer that there are no documents yet: no files were counted for it."""
    is_of_others = message.sources or message.nearest or message.model or message.error_title
    is_counted = message.notes is None or message.notes.files or message.notes.rails
    return not (is_of_others or is_counted)
