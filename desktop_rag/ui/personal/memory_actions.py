"""Shows, deletes and restores remembered answers through the bridge. Qt thread."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from desktop_rag.core.conversation import Message
from desktop_rag.core.interaction import Interaction
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.personal.past_answers_dialog import PastAnswersDialog

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat


class MemoryActions(QObject):
    """Opens dialogs over `parent`."""

    def __init__(self, bridge: Bridge, chat: "Chat", parent: QWidget) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._memory = chat.memory
        self._window = parent

    def show_past_answers(self, message: Message) -> None:
        """Show the earlier answers that were examples for this one."""
        ids = [past.interaction_id for past in message.remembered]

        def open_dialog(known: list[Interaction]) -> None:
            dialog = PastAnswersDialog(message.remembered, known, self._window)
            dialog.delete_requested.connect(self._forget)
            dialog.restore_requested.connect(self._restore)
            dialog.finished.connect(dialog.deleteLater)
            dialog.open()

        self._bridge.run(self, lambda: self._memory.recall(ids), open_dialog)

    def _forget(self, interaction: Interaction) -> None:
        self._bridge.run(self, lambda: self._memory.forget(interaction.interaction_id))

    def _restore(self, interaction: Interaction) -> None:
        self._bridge.run(self, lambda: self._memory.put_back(interaction))
