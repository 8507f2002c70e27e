"""Stands in the place of an answer that nothing backs, where the person wants it so. Qt thread."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from desktop_rag.core.answer_claims import Claim
from desktop_rag.core.claims import Verdict
from desktop_rag.ui.widgets.controls import Card, PlainLabel, TextButton

_BACKED = (Verdict.SUPPORTED, Verdict.PARTLY, Verdict.NOT_CHECKED)


class HiddenAnswer(Card):
    """Says that the answer is hidden; `shown` when the person wants to see it all the same."""

    shown = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, kind="notice", tone="warning")
        words = PlainLabel("Hidden: your documents support no sentence of this answer.", wrap=True)
        show = TextButton("Show it anyway", kind="quiet")
        show.clicked.connect(self.shown)
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 8, 8, 8)
        row.addWidget(words, 1)
        row.addWidget(show)
        self.hide()


def is_backed(claims: Sequence[Claim]) -> bool:
    """Whether a claim is supported, or may be; an answer without claims is."""
    return not claims or any(claim.verdict in _BACKED for claim in claims)
