"""The stored conversations, listed and changed through the bridge. Qt thread."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from desktop_rag.core.conversation import Conversation
from desktop_rag.ui.foundation.bridge import Bridge, Job

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat


class ConversationFeed(QObject):
    """After every change the list is read anew, so that an older answer never overtakes a newer."""

    listed = Signal(object)
    restored = Signal(object)
    found = Signal(str, object)

    def __init__(self, bridge: Bridge, chat: "Chat", parent: QObject) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._chat = chat
        self._reading: Job | None = None
        self._finding: Job | None = None

    def refresh(self) -> None:
        """Read the list; `listed` carries it, in its order."""
        if self._reading:
            self._reading.cancel()
        self._reading = self._bridge.run(self, self._chat.history.all, self._on_listed)

    def rename(self, conversation_id: str, title: str) -> None:
        """Give a conversation another title."""
        self._change(lambda: self._chat.history.rename(conversation_id, title))

    def set_pinned(self, conversation_id: str, is_pinned: bool) -> None:
        """Keep a conversation above the others, or no longer."""
        self._change(lambda: self._chat.history.set_pinned(conversation_id, is_pinned))

    def find(self, text: str) -> None:
        """Look through all messages; `found` carries the text and the conversations' ids."""
        if self._finding:
            self._finding.cancel()
        self._finding = self._bridge.run(
            self, lambda: self._chat.history.find(text), lambda ids: self.found.emit(text, ids)
        )

    def delete(self, conversation: Conversation) -> None:
        """Hide a conversation; `restore` brings it back."""
        self._change(lambda: self._chat.history.delete(conversation.conversation_id))

    def restore(self, conversation: Conversation) -> None:
        """Bring a deleted conversation back; `restored` carries it."""
        self._change(
            lambda: self._chat.history.restore(conversation.conversation_id),
            lambda: self.restored.emit(conversation),
        )

    def _change(self, change: Callable[[], None], done: Callable[[], None] | None = None) -> None:
        def go_on(_nothing: None) -> None:
            self.refresh()
            if done:
                done()

        self._bridge.run(self, change, go_on)

    def _on_listed(self, conversations: list[Conversation]) -> None:
        self._reading = None
        self.listed.emit(conversations)
