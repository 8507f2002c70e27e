"""The card that tries a sentence: what it means, the nearest examples, what is said, the events.

Qt thread.
"""

from collections.abc import Sequence

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPlainTextEdit, QVBoxLayout, QWidget

from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.error_words import failure_in_words
from desktop_rag.ui.widgets.controls import Card, PlainLabel, TextButton

_EVENTS_PX = 190


class TryingCard(Card):
    """`requested` carries a sentence; what comes of it goes to `show_tried` or `show_error`."""

    requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(tr("Try a sentence"))
        self._sentence = QLineEdit()
        self._sentence.setAccessibleName(tr("Sentence to try"))
        self._sentence.setPlaceholderText(tr("A sentence as somebody would say it"))
        self._try = TextButton(tr("Try"))
        self._result = PlainLabel(wrap=True, selectable=True)
        self._events_name = PlainLabel(tr("Events"), tone="muted", scale="small")
        self._events = QPlainTextEdit()
        self._events.setAccessibleName(tr("Events"))
        self._events.setReadOnly(True)
        self._events.setTabChangesFocus(True)
        self._events.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._events.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self._events.setFixedHeight(_EVENTS_PX)
        row = QHBoxLayout()
        row.addWidget(self._sentence, 1)
        row.addWidget(self._try)
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 16, 18, 18)
        column.setSpacing(8)
        column.addWidget(PlainLabel(tr("Try a sentence"), scale="heading"))
        column.addLayout(row)
        for widget in (self._result, self._events_name, self._events):
            column.addWidget(widget)
            widget.hide()
        self._try.clicked.connect(self._on_try)
        self._sentence.returnPressed.connect(self._on_try)
        self._sentence.textChanged.connect(self._on_typed)
        self._on_typed()

    def show_tried(self, words: str, events: Sequence[str]) -> None:
        """Show what would be done with the sentence, in words and as events."""
        self._result.set_tone("")
        self._result.setText(words)
        self._events.setPlainText("\n".join(events))
        self._done(has_events=True)

    def show_error(self, error: AppError) -> None:
        """Show why the sentence can't be tried."""
        self._result.set_tone("danger")
        self._result.setText(failure_in_words(error))
        self._done(has_events=False)

    def clear(self) -> None:
        """Show nothing of what was tried before."""
        self._result.hide()
        self._events.hide()
        self._events_name.hide()

    def _done(self, *, has_events: bool) -> None:
        self._result.show()
        self._events.setVisible(has_events)
        self._events_name.setVisible(has_events)
        self._on_typed()

    @Slot()
    def _on_typed(self) -> None:
        self._try.setEnabled(bool(self._sentence.text().strip()))

    @Slot()
    def _on_try(self) -> None:
        sentence = self._sentence.text().strip()
        if sentence and self._try.isEnabled():
            self._try.setEnabled(False)
            self._result.set_tone("muted")
            self._result.setText(tr("Trying…"))
            self._result.show()
            self.requested.emit(sentence)
