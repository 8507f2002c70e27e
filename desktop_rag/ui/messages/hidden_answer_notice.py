"""A notice in place of an unsupported answer, if the settings hide those. Qt thread."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from desktop_rag.core.answer_claims import Claim
from desktop_rag.core.claims import Verdict
from desktop_rag.core.language.translation import tr
from desktop_rag.ui.widgets.controls import Card, PlainLabel, TextButton

_POSSIBLY_SUPPORTED = (Verdict.SUPPORTED, Verdict.PARTLY, Verdict.NOT_CHECKED)


class HiddenAnswerNotice(Card):
    """Says that the answer is hidden; `show_requested` when the person wants to see it."""

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
