"""What is known of the chats with or without a page that shows them. Qt thread.

The tray lists the last chats and the popup asks in new ones before a page of chats was built.
"""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from desktop_rag.ui.chat.chat_sessions import ChatSessions
from desktop_rag.ui.chat.conversation_feed import ConversationFeed
from desktop_rag.ui.chat.library_overview import LibraryOverview
from desktop_rag.ui.foundation.bridge import Bridge

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat
    from desktop_rag.ingest.library import Library


class ChatState(QObject):
    """The list of chats, the open ones, and the library as a chat sees it."""

    def __init__(
        self, bridge: Bridge, library: "Library", chat: "Chat", parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.feed = ConversationFeed(bridge, chat, self)
        self.sessions = ChatSessions(bridge, chat, self)
        self.overview = LibraryOverview(bridge, library, self)
        self.sessions.answered.connect(self.feed.refresh)
        self.sessions.titled.connect(self.feed.refresh)
        self.sessions.conversation_stored.connect(self.feed.refresh)

    def refresh(self) -> None:
        """Load the list of chats and the overview of the library."""
        self.feed.refresh()
        self.overview.refresh()
