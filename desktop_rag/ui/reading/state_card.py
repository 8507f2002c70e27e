"""A quiet card that says what is the matter with a document, with a way out. Qt thread."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.reading.document_state import WORDS, StateNotice, WayOut
from desktop_rag.ui.widgets.controls import Card, IconLabel, PlainLabel, TextButton


class StateCard(Card):
    """Hidden while there is nothing to say."""

    way_out_chosen = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent, kind="notice")
        self._notice: StateNotice | None = None
        self._title = PlainLabel("", wrap=True, selectable=True)
        self._title.setObjectName("noticeTitle")
        self._hint = PlainLabel("", wrap=True, selectable=True)
        self._action = TextButton(tr("Show its folder"), kind="quiet")
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(self._title)
        words.addWidget(self._hint)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 8, 8)
        row.setSpacing(10)
        row.addWidget(IconLabel(theme, "info:accent_soft_text"), 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(words, 1)
        row.addWidget(self._action, 0, Qt.AlignmentFlag.AlignTop)
        self._action.clicked.connect(self._on_action)
        self.hide()

    @property
    def is_free(self) -> bool:
        """True while nothing is said."""
        return self._notice is None

    def show_notice(self, notice: StateNotice | None) -> None:
        """Say this; None hides the card."""
        self._notice = notice
        if notice is not None:
            self._title.setText(notice.title)
            self._hint.setText(notice.hint)
            self._hint.setVisible(bool(notice.hint))
            self._action.setText(WORDS[notice.way_out])
            self._action.setVisible(notice.way_out is not WayOut.NONE)
        self.setVisible(notice is not None)

    @Slot()
    def _on_action(self) -> None:
        if self._notice is not None:
            self.way_out_chosen.emit(self._notice.way_out)
