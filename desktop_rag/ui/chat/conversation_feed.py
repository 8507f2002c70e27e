"""Loads and changes the list of stored conversations through the bridge. Qt thread."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from desktop_rag.core.conversation import Conversation
from desktop_rag.ui.foundation.bridge import Bridge, Job

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat


class ConversationFeed(QObject):
    """Reloads the list after every change, so that an older result never replaces a newer one."""

    loaded = Signal(object)
    restored = Signal(object)
    search_finished = Signal(str, object)

    def __init__(self, bridge: Bridge, chat: "Chat", parent: QObject) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._chat = chat
        # As `loaded` carried them last.
        self.conversations: list[Conversation] | None = None
        self._load_job: Job | None = None
        self._search_job: Job | None = None

    @Slot()
    def refresh(self) -> None:
        """Load the list; `loaded` carries it in display order."""
        if self._load_job:
            self._load_job.cancel()
        self._load_job = self._bridge.run(self, self._chat.history.all, self._on_loaded)

    def rename(self, conversation_id: str, title: str) -> None:
        """Rename a conversation."""
        self._change(lambda: self._chat.history.rename(conversation_id, title))

    def set_pinned(self, conversation_id: str, is_pinned: bool) -> None:
        """Pin a conversation above the others, or unpin it."""
        self._change(lambda: self._chat.history.set_pinned(conversation_id, is_pinned))

    def search(self, text: str) -> None:
        """Search all messages; `search_finished` carries the text and conversation ids."""
        if self._search_job:
            self._search_job.cancel()
        self._search_job = self._bridge.run(
            self,
            lambda: self._chat.history.find(text),
            lambda ids: self.search_finished.emit(text, ids),
        )

    def delete(self, conversation: Conversation) -> None:
        """Hide a conversation; `restore` brings it back."""
        self._change(lambda: self._chat.history.delete(conversation.conversation_id))

    def restore(self, conversation: Conversation) -> None:
        """Restore a deleted conversation; `restored` carries it."""
        self._change(
            lambda: self._chat.history.restore(conversation.conversation_id),
            lambda: self.restored.emit(conversation),
        )

    def _change(self, change: Callable[[], None], done: Callable[[], None] | None = None) -> None:
        def finish(_nothing: None) -> None:
            self.refresh()
            if done:
                done()

        self._bridge.run(self, change, finish)

    def _on_loaded(self, conversations: list[Conversation]) -> None:
        self._load_job = None
        self.conversations = conversations
        self.loaded.emit(conversations)
