"""Stands above an answer that rests on no document. Qt thread."""

from PySide6.QtWidgets import QHBoxLayout, QWidget

from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.widgets.controls import Card, IconLabel, PlainLabel

_WORDS = (
    "Not from your documents: nothing in them is about this. The model answers from what it knows,"
    " without sources, and nothing of it was checked."
)


class OwnKnowledgeNote(Card):
    """Says so; hidden for every other answer."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent, kind="notice", tone="warning")
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 8, 14, 8)
        row.setSpacing(10)
        row.addWidget(IconLabel(theme, "info:warning"))
        row.addWidget(PlainLabel(_WORDS, wrap=True), 1)
        self.hide()
