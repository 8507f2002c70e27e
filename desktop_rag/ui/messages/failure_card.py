"""The card that says why an answer failed, with what may help. Qt thread."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from desktop_rag.core.conversation import Message, MessageState
from desktop_rag.core.language.translation import told, tr
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.widgets.controls import Card, PlainLabel, TextButton
from desktop_rag.ui.widgets.flow_row import FlowRow

# The states of an answer that has a card.
BROKEN_OFF = (MessageState.FAILED, MessageState.CUT)


class FailureCard(Card):
    """The reason an answer failed or was cut off, with Retry and what else may help.

    `retry_requested` carries True when excerpts are to be shown instead. The parts are made for
    the first failure.
    """

    retry_requested = Signal(bool)
    settings_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent, kind="notice", tone="danger")
        self._theme = theme
        self._is_from_model = self._is_built = False
        self.hide()

    def _build(self) -> None:
        self._title = PlainLabel(wrap=True, selectable=True)
        self._title.setObjectName("noticeTitle")
        self._hint = PlainLabel(wrap=True, selectable=True)
        self._retry = TextButton(tr("Retry"), icon="retry", theme=self._theme)
        self._excerpts = TextButton(tr("Show excerpts instead"))
        self._settings = TextButton(tr("Open settings"), kind="quiet")
        self._retry.clicked.connect(self.retry_requested)
        self._excerpts.clicked.connect(lambda: self.retry_requested.emit(True))
        self._settings.clicked.connect(self.settings_requested)
        # In a narrow chat they don't fit beside each other in every language.
        buttons = FlowRow()
        for button in (self._retry, self._excerpts, self._settings):
            buttons.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 12, 14, 12)
        column.setSpacing(6)
        column.addWidget(self._title)
        column.addWidget(self._hint)
        column.addLayout(buttons)
        self._is_built = True

    def show_failure(self, message: Message) -> None:
        """Show the error of a failed or cut answer; hidden for any other."""
        if message.state not in BROKEN_OFF:
            self.hide()
            return
        if not self._is_built:
            self._build()
        self._title.setText(told(message.error_title))
        self._hint.setText(told(message.error_hint))
        self._hint.setVisible(bool(message.error_hint))
        # No setting can keep an answer from being cut.
        self._settings.setVisible(message.state is MessageState.FAILED)
        self._is_from_model = bool(message.model) and message.state is MessageState.FAILED
        self.show()

    def offer_retry(self, *, is_offered: bool) -> None:
        """Offer Retry: it answers the last question, so it belongs to the last answer only."""
        if self._is_built:
            self._retry.setVisible(is_offered)
            self._excerpts.setVisible(is_offered and self._is_from_model)
