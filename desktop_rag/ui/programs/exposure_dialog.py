"""The dialog that limits a token to certain models and assistants. Qt thread."""

from collections.abc import Mapping

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.core.programs.token_facts import TokenFacts
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.programs.ticked_list import TickedList
from desktop_rag.ui.widgets.content_scroll import ContentScroll
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton

_WIDTH_PX = 480
_NOTE = tr(
    "With none ticked, it may use everything that is exposed, now and later. Tick a model of an"
    " endpoint to expose it; it answers without documents."
)


class ExposureDialog(QDialog):
    """`submitted` carries the keys that are ticked."""

    submitted = Signal(object)

    def __init__(self, token: TokenFacts, models: Mapping[str, str], parent: QWidget) -> None:
        """`models` has the names of all by key."""
        super().__init__(parent)
        self.setWindowTitle(tr("Models and assistants"))
        self.setMinimumWidth(_WIDTH_PX)
        question = tr("“{name}” may ask:", name=one_line(token.name))
        gone = {key: tr("{name} (gone)", name=key) for key in token.models_asked}
        self._ticks = TickedList(question, {**gone, **models}, token.models_asked)
        save = TextButton(tr("Save"), kind="primary")
        save.setDefault(True)
        cancel = TextButton(tr("Cancel"))
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 16)
        column.setSpacing(8)
        column.addWidget(PlainLabel(question, wrap=True))
        self._scroll = ContentScroll(self._ticks)
        column.addWidget(self._scroll, 1)
        column.addWidget(PlainLabel(_NOTE, tone="muted", scale="small", wrap=True))
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        for button in (cancel, save):
            buttons.addWidget(button)
        column.addSpacing(6)
        column.addLayout(buttons)
        save.clicked.connect(self._on_save_clicked)
        cancel.clicked.connect(self.reject)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._scroll.make_room()

    @Slot()
    def _on_save_clicked(self) -> None:
        self.submitted.emit(self._ticks.ticked)
        self.accept()
