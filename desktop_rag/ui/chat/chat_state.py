"""The state of the chats, independent of any page that shows them. Qt thread.

The tray lists the last chats, and the popup asks in new ones, before a chat page exists.
"""

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from desktop_rag.answer.chat import Chat
from desktop_rag.core.conversation import Conversation
from desktop_rag.core.domain import Collection, Source
from desktop_rag.core.library_events import DocumentCounts, DocumentsChanged, SourcesChanged
from desktop_rag.core.shared_library import SharedLibraryChanged
from desktop_rag.ingest.library import Library
from desktop_rag.ui.chat.chat_sessions import ChatSessions
from desktop_rag.ui.foundation.bridge import Bridge, Job

_DELAY_MS = 3_000


class LibraryOverview(QObject):
    """The library's collections and counts, as the chat needs them.

    `loaded` carries the collections and the numbers of sources and searchable documents.
    """

    loaded = Signal(object, int, int)

    def __init__(self, bridge: Bridge, library: Library, parent: QObject) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._library = library
        self._loaded: tuple[list[Collection], int, int] | None = None
        self._timer = QTimer(self, singleShot=True, interval=_DELAY_MS)
        self._timer.timeout.connect(self.refresh)
        bridge.hear((SourcesChanged, SharedLibraryChanged), self._on_changed)
        bridge.hear(DocumentsChanged, self._on_documents_changed)

    @Slot()
    def refresh(self) -> None:
        """Load the overview; `loaded` follows."""
        library = self._library
        self._bridge.run(
            self,
            lambda: (
                library.collections.searchable(),
                library.collections.searchable_sources(),
                library.documents.counts(),
            ),
            self._on_read,
        )

    def _on_changed(self, _event: object) -> None:
        self.refresh()

    def _on_documents_changed(self, _event: DocumentsChanged) -> None:
        # They change often while files are read: one refresh in three seconds is enough.
        if not self._timer.isActive():
            self._timer.start()

    def _on_read(self, found: tuple[list[Collection], list[Source], DocumentCounts]) -> None:
        collections, sources, counts = found
        self._loaded = collections, len(sources), counts.searchable
        self.loaded.emit(*self._loaded)

    def tell(self, listener: Callable[[list[Collection], int, int], object]) -> None:
        """Call the listener with the present values, and whenever `loaded` is emitted."""
        self.loaded.connect(listener)
        if self._loaded:
            listener(*self._loaded)


class ConversationFeed(QObject):
    """Loads and changes the list of stored conversations.

    It reloads the list after every change, so that an older result never replaces a newer one.
    """

    loaded = Signal(object)
    restored = Signal(object)
    search_finished = Signal(str, object)

    def __init__(self, bridge: Bridge, chat: Chat, parent: QObject) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._chat = chat
        # As last carried by `loaded`.
        self.conversations: list[Conversation] | None = None
        self._load_job = Job()
        self._search_job = Job()

    @Slot()
    def refresh(self) -> None:
        """Load the list; `loaded` carries it in display order."""
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
        self.conversations = conversations
        self.loaded.emit(conversations)


class ChatState(QObject):
    """The list of chats, the open ones, and the overview of the library."""

    def __init__(
        self, bridge: Bridge, library: Library, chat: Chat, parent: QObject | None = None
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
