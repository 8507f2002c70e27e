"""The tokens with all that is known of them, and what can be done with each. Qt thread."""

import time
from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.core.programs.token_facts import TokenFacts
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.programs.token_words import limits_in_words, times_in_words
from desktop_rag.ui.widgets.controls import ElidedLabel, PlainLabel, TextButton


class TokenList(QWidget):
    """Both signals carry the TokenFacts of a row."""

    models_wanted = Signal(object)
    revoke_wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows = QVBoxLayout(self)
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._rows.setSpacing(12)

    def show_tokens(self, tokens: Sequence[TokenFacts]) -> None:
        """Show these in place of those before."""
        while item := self._rows.takeAt(0):
            if widget := item.widget():
                widget.deleteLater()
        for token in tokens:
            self._rows.addWidget(self._row_of(token))
        if not tokens:
            self._rows.addWidget(PlainLabel(tr("No tokens yet."), tone="muted"))

    def _row_of(self, token: TokenFacts) -> QWidget:
        name = one_line(token.name)
        row = QWidget(self)
        column = QVBoxLayout(row)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        line = QHBoxLayout()
        line.setSpacing(10)
        line.addWidget(ElidedLabel(name), 1)
        if {"ask", "admin"} & {*token.allows}:
            models = TextButton(tr("Models…"), kind="quiet")
            models.setAccessibleName(tr("What {name} may ask", name=name))
            models.clicked.connect(lambda: self.models_wanted.emit(token))
            line.addWidget(models)
        revoke = TextButton(tr("Revoke…"), kind="quiet")
        revoke.setAccessibleName(tr("Revoke {name}", name=name))
        revoke.clicked.connect(lambda: self.revoke_wanted.emit(token))
        line.addWidget(revoke)
        column.addLayout(line)
        for words in (limits_in_words(token), times_in_words(token, time.time())):
            column.addWidget(PlainLabel(words, tone="muted", scale="small", wrap=True))
        return row
