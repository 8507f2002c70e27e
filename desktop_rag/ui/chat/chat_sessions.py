"""The open conversations: the current one, and others that are still working. Qt thread.

A conversation keeps answering in the background; an idle one is closed, and loaded again when it is
opened. One without a question yet is stored nowhere, so it stays open.
"""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QObject, Signal, SignalInstance, Slot

from desktop_rag.answer.chat import Chat
from desktop_rag.core.conversation import Conversation, Message, MessagesStored
from desktop_rag.ui.chat.chat_session import ChatSession
from desktop_rag.ui.foundation.bridge import Bridge


class ChatSessions(QObject):
    """Opens and closes sessions, and forwards the signals of the current one.

    `shown` carries the session, `conversation_stored` its conversation, `replaced` the session, an
    answer and its replacement. `answered`, `titled` and `replaced` come from any session, as does
    `answer_completed`, which carries the conversation. `proposal_changed` carries the id of the
    command that the last answer proposes, or "".
    """

    shown = Signal(object)
    conversation_stored = Signal(object)
    busy_changed = Signal(bool)
    messages_changed = Signal()
    proposal_changed = Signal(str)
    answered = Signal()
    answer_completed = Signal(object)
    replaced = Signal(object, object, object)
    titled = Signal()
    scope_loaded = Signal()

    def __init__(self, bridge: Bridge, chat: Chat, parent: QObject | None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._chat = chat
        self._open: list[ChatSession] = []
        self._apart: list[ChatSession] = []
        self._proposal = ""
        self.messages_changed.connect(self._follow_proposal)
        self.current = self._unsent = self._new(None)
        bridge.hear(MessagesStored, self._on_messages_stored)

    def show_unsent(self) -> None:
        """Show the conversation without a question yet, and its attachments."""
        if self._unsent.conversation_id or self._unsent.is_busy:
            self._unsent = self._new(None)
        self._show(self._unsent)

    def show_new(self) -> None:
        """Show a new conversation for a question about to be sent."""
        self._show(self._new(None))

    def show_conversation(self, conversation: Conversation) -> None:
        """Show a stored conversation."""
        for session in self._open:
            if session.conversation_id == conversation.conversation_id:
                self._show(session)
                return
        session = self._new(conversation)
        self._show(session)
        session.load()

    def open_apart(self) -> ChatSession:
        """A new session for another window, kept until `release`."""
        session = self._new(None)
        self._apart.append(session)
        return session

    def release(self, session: ChatSession) -> None:
        """End a session of another window."""
        self._apart.remove(session)
        self._close_idle()

    def show_copy(self, copy: Conversation, messages: Sequence[Message]) -> None:
        """Show a conversation with messages that are already loaded."""
        session = self._new(copy)
        session.show_messages(messages)
        self._show(session)

    def show_current(self) -> None:
        """Emit the signals of the current session again."""
        self._show(self.current)

    def reload(self, session: ChatSession) -> None:
        """Load the messages again, unless the session is closed or busy."""
        if session in self._open and not session.is_busy:
            session.load()

    def leave(self, conversation_id: str) -> None:
        """Stop all work in a conversation, because it is deleted."""
        for session in self._open:
            if session.conversation_id == conversation_id:
                session.leave()
        if self.current.conversation_id == conversation_id:
            self.show_unsent()

    def _new(self, conversation: Conversation | None) -> ChatSession:
        session = ChatSession(self._bridge, self._chat, conversation, self)
        for signal, onward in (
            (session.conversation_stored, self.conversation_stored),
            (session.busy_changed, self.busy_changed),
            (session.scope_loaded, self.scope_loaded),
        ):
            signal.connect(partial(self._pass_on, session, onward))
        session.answered.connect(self._on_answered)
        session.replaced.connect(lambda *answers: self.replaced.emit(session, *answers))
        session.titled.connect(self.titled)
        session.model.loaded.connect(self.messages_changed)
        session.model.added.connect(self.messages_changed)
        session.model.changed.connect(self.messages_changed)
        self._open.append(session)
        return session

    def _show(self, session: ChatSession) -> None:
        self.current = session
        self.shown.emit(session)
        self.messages_changed.emit()
        self._close_idle()

    def _close_idle(self) -> None:
        for session in [session for session in self._open if not self._is_needed(session)]:
            self._open.remove(session)
            session.deleteLater()

    def _is_needed(self, session: ChatSession) -> bool:
        is_unsent = session is self._unsent and not session.conversation_id
        is_working = session.is_busy or session.is_checking or session.is_reading
        is_shown = session is self.current or session in self._apart
        return is_shown or is_unsent or is_working

    @Slot()
    def _follow_proposal(self) -> None:
        model = self.current.model
        turn = model.turn(-1) if model.rows else None
        notes = turn.message.notes if turn and not turn.is_live else None
        if (proposal := notes.proposal if notes else "") != self._proposal:
            self._proposal = proposal
            self.proposal_changed.emit(proposal)

    def _pass_on(self, session: ChatSession, onward: SignalInstance, *values: object) -> None:
        if session is self.current:
            onward.emit(*values)

    def _on_messages_stored(self, event: MessagesStored) -> None:
        for session in self._open:
            session.model.show_stored(event.message_ids)

    @Slot()
    def _on_answered(self) -> None:
        self._close_idle()
        self.answered.emit()
        session = self.sender()
        if isinstance(session, ChatSession):
            self.answer_completed.emit(session.conversation)
