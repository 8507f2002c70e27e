"""The conversations that are open: the one that is looked at, and those still at work. Qt thread.

An answer goes on while another conversation is looked at; one that has nothing left to do is let
go and read anew when it is opened again. One that was not asked yet is stored nowhere, and kept.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from desktop_rag.core.conversation import Conversation, Message
from desktop_rag.ui.chat.chat_session import ChatSession
from desktop_rag.ui.foundation.bridge import Bridge

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat


class ChatSessions(QObject):
    """Opens and lets go of sessions; tells of the one that is looked at, unless said otherwise.

    `shown` carries the session, `conversation_known` its conversation, `replaced` the session, an
    answer and the one in its place. `answered` and `replaced` come from any session.
    """

    shown = Signal(object)
    conversation_known = Signal(object)
    busy_changed = Signal(bool)
    messages_changed = Signal()
    answered = Signal()
    replaced = Signal(object, object, object)

    def __init__(self, bridge: Bridge, chat: "Chat", parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._chat = chat
        self._open: list[ChatSession] = []
        self.current = self._unasked = self._new(None)

    def show_new(self) -> None:
        """Look at the conversation that was not asked yet, with what is attached to it."""
        if self._unasked.conversation_id or self._unasked.is_busy:
            self._unasked = self._new(None)
        self._show(self._unasked)

    def begin(self) -> None:
        """Look at a conversation for a question that is there already."""
        self._show(self._new(None))

    def show_conversation(self, conversation: Conversation) -> None:
        """Look at a stored conversation."""
        for session in self._open:
            if session.conversation_id == conversation.conversation_id:
                self._show(session)
                return
        session = self._new(conversation)
        self._show(session)
        session.load()

    def show_copy(self, copy: Conversation, messages: Sequence[Message]) -> None:
        """Look at a conversation whose messages are known."""
        session = self._new(copy)
        session.model.load(messages)
        self._show(session)

    def show_current(self) -> None:
        """Tell of the one that is looked at once more."""
        self._show(self.current)

    def reload(self, session: ChatSession) -> None:
        """Read its messages anew; one that was let go is read when it is opened."""
        if session in self._open and not session.is_busy:
            session.load()

    def leave(self, conversation_id: str) -> None:
        """End everything in a conversation: it is deleted."""
        for session in self._open:
            if session.conversation_id == conversation_id:
                session.leave()
        if self.current.conversation_id == conversation_id:
            self.show_new()

    def _new(self, conversation: Conversation | None) -> ChatSession:
        session = ChatSession(self._bridge, self._chat, conversation, self)
        session.conversation_known.connect(self._on_conversation_known)
        session.busy_changed.connect(self._on_busy_changed)
        session.answered.connect(self._on_answered)
        session.replaced.connect(self._on_replaced)
        session.model.modelReset.connect(self.messages_changed)
        session.model.rowsInserted.connect(self.messages_changed)
        session.model.dataChanged.connect(self.messages_changed)
        self._open.append(session)
        return session

    def _show(self, session: ChatSession) -> None:
        self.current = session
        self.shown.emit(session)
        self.messages_changed.emit()
        self._drop_idle()

    def _drop_idle(self) -> None:
        for session in [session for session in self._open if not self._is_wanted(session)]:
            self._open.remove(session)
            session.deleteLater()

    def _is_wanted(self, session: ChatSession) -> bool:
        is_unasked = session is self._unasked and not session.conversation_id
        is_at_work = session.is_busy or session.is_checking or session.is_reading
        return session is self.current or is_unasked or is_at_work

    @Slot(object)
    def _on_conversation_known(self, conversation: Conversation) -> None:
        if self.sender() is self.current:
            self.conversation_known.emit(conversation)

    @Slot(bool)
    def _on_busy_changed(self, is_busy: bool) -> None:
        if self.sender() is self.current:
            self.busy_changed.emit(is_busy)

    @Slot()
    def _on_answered(self) -> None:
        self._drop_idle()
        self.answered.emit()

    @Slot(object, object)
    def _on_replaced(self, former: Message, present: Message) -> None:
        self.replaced.emit(self.sender(), former, present)
