"""The settings field with the number of remembered answers, to delete them all. Qt thread."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QMessageBox, QWidget

from desktop_rag.core.language.translation import count_of, tr
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat

_QUESTION = tr(
    "Delete {count}?\n\nYour chats stay as they are, but their answers no longer serve as examples."
    " This can't be undone."
)


class MemoryField(QWidget):
    """Updates the count whenever it is shown."""

    def __init__(self, bridge: Bridge, chat: "Chat", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._memory = chat.memory
        self._count = 0
        self._label = PlainLabel(tone="muted")
        self._delete = TextButton(tr("Delete all…"))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        row.addWidget(self._label)
        row.addWidget(self._delete)
        row.addStretch(1)
        self._delete.clicked.connect(self._on_delete_clicked)
        self._show(0)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._refresh()

    @Slot()
    def _on_delete_clicked(self) -> None:
        box = QMessageBox(self)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setWindowTitle(tr("Delete remembered answers"))
        box.setText(
            _QUESTION.format(
                count=count_of(self._count, tr("remembered answer"), tr("remembered answers"))
            )
        )
        confirm = box.addButton(tr("Delete all"), QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(box.addButton(QMessageBox.StandardButton.Cancel))
        confirm.clicked.connect(self._on_confirmed)
        box.open()

    @Slot()
    def _on_confirmed(self) -> None:
        self._bridge.run(self, self._memory.forget_all, lambda _nothing: self._refresh())

    def _refresh(self) -> None:
        self._bridge.run(self, self._memory.count, self._show)

    def _show(self, count: int) -> None:
        self._count = count
        self._label.setText(
            tr("{count_of} remembered", count_of=count_of(count, tr("answer"), tr("answers")))
        )
        self._delete.setEnabled(count > 0)
