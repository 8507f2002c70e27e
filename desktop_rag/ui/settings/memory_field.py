"""How much is remembered, and a way to forget it all, as a field of the settings. Qt thread."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QMessageBox, QWidget

from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.wording import count_of
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat

_QUESTION = (
    "Forget {count}?\n\nYour chats stay as they are, but their answers are no examples any more."
    " This can't be undone."
)


class MemoryField(QWidget):
    """Counts anew whenever it comes to be seen."""

    def __init__(self, bridge: Bridge, chat: "Chat", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._memory = chat.memory
        self._count = 0
        self._words = PlainLabel(tone="muted")
        self._forget = TextButton("Forget everything…")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        row.addWidget(self._words)
        row.addWidget(self._forget)
        row.addStretch(1)
        self._forget.clicked.connect(self._on_forget_clicked)
        self._show(0)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._refresh()

    @Slot()
    def _on_forget_clicked(self) -> None:
        box = QMessageBox(self)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setWindowTitle("Forget everything")
        box.setText(_QUESTION.format(count=count_of(self._count, "remembered answer")))
        yes = box.addButton("Forget everything", QMessageBox.ButtonRole.DestructiveRole)
        box.addButton(QMessageBox.StandardButton.Cancel)
        yes.clicked.connect(self._on_agreed)
        box.open()

    @Slot()
    def _on_agreed(self) -> None:
        self._bridge.run(self, self._memory.forget_all, lambda _nothing: self._refresh())

    def _refresh(self) -> None:
        self._bridge.run(self, self._memory.count, self._show)

    def _show(self, count: int) -> None:
        self._count = count
        self._words.setText(f"{count_of(count, 'answer')} remembered")
        self._forget.setEnabled(count > 0)
