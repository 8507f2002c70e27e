"""What the questions of the current chat are about: chips, checked; names after an @. Qt thread.

The scope belongs to the chat: a stored one has that of its last question.
"""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from desktop_rag.core.question_scope import QuestionScope
from desktop_rag.ui.chat.chat_sessions import ChatSessions
from desktop_rag.ui.chat.empty_chat import EmptyChat
from desktop_rag.ui.composer.assistant_choice import AssistantChoice
from desktop_rag.ui.composer.composer import Composer
from desktop_rag.ui.composer.name_completion import NameFeed
from desktop_rag.ui.composer.scope_check import ScopeCheck
from desktop_rag.ui.foundation.bridge import Bridge

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat


class ChatScope(QObject):
    """Connects the composer with the scope of the current session."""

    library_requested = Signal()

    def __init__(
        self,
        bridge: Bridge,
        chat: "Chat",
        composer: Composer,
        sessions: ChatSessions,
        *,
        choice: AssistantChoice,
        empty: EmptyChat,
    ) -> None:
        """`choice` knows the assistant, `empty` says in a chat without questions what is asked."""
        super().__init__(composer)
        self._composer = composer
        self._sessions = sessions
        self._empty = empty
        self._is_showing = False
        NameFeed(bridge, chat, composer.names)
        check = ScopeCheck(bridge, chat, composer.scope_bar, lambda: choice.assistant_id)
        check.library_requested.connect(self.library_requested)
        choice.chosen.connect(check.check)
        composer.assistant_chosen.connect(choice.choose)
        composer.scope_changed.connect(self._on_scope_changed)
        sessions.scope_loaded.connect(self._show)
        sessions.shown.connect(self._show)

    @Slot()
    def _show(self) -> None:
        session = self._sessions.current
        self._is_showing = True
        self._composer.choose_documents(session.collection_id, session.scope)
        self._is_showing = False

    @Slot(object)
    def _on_scope_changed(self, scope: QuestionScope) -> None:
        self._empty.show_scope(scope)
        # Kept before the first question, too. One that is still being loaded is not the person's.
        if not self._is_showing:
            self._sessions.current.scope = scope
