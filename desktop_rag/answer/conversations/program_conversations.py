"""Conversations that other programs keep here: none of them is in the person's list. Any thread."""

from desktop_rag.core.conversation import Conversation, Message
from desktop_rag.store.contract.engine import Engine


class ProgramConversations:
    """Stores conversations for programs, which are known by the ids of their tokens."""

    def __init__(self, engine: Engine) -> None:
        self._store = engine.conversations
        self._kept = engine.kept_conversations

    def of(self, keeper: str = "") -> list[Conversation]:
        """The conversations of a program, or of all programs, the last changed first."""
        return self._kept.of(keeper)

    def start(self, keeper: str, title: str) -> Conversation:
        """A new, empty conversation."""
        made = self._store.add(title, "")
        self._kept.keep(made.conversation_id, keeper)
        return self._store.get(made.conversation_id)

    def add(self, message: Message) -> None:
        """Store a message at the end of its conversation."""
        self._store.add_message(message)

    def conversation_of(self, message_id: str) -> str:
        """The id of the conversation with this message; "" when there is none."""
        found = self._store.places_of([message_id]) if message_id else {}
        return found[message_id][0] if message_id in found else ""
