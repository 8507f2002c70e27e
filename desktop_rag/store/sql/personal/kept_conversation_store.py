"""Conversations that are kept for other programs. Any thread; writes take the lane."""

from desktop_rag.core.conversation import Conversation
from desktop_rag.store.sql.personal.conversation_store import CONVERSATION, conversation_entity
from desktop_rag.store.sql.sql_engine import Database


class KeptConversationStore:
    """Which conversations are kept for which program; each method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, conversation_id: str, keeper: str) -> None:
        """Keep the conversation for a program, out of the person's list."""
        self._database.write_uncached(
            lambda con: con.execute(
                "UPDATE conversations SET kept_by = ? WHERE conversation_id = ?",
                [keeper, conversation_id],
            ),
            changes=[conversation_entity(conversation_id)],
        )

    def of(self, keeper: str = "") -> list[Conversation]:
        """The conversations kept for a program, or for any, the last changed first."""
        with self._database.read() as con:
            rows = con.execute(
                f"SELECT {CONVERSATION} FROM conversations WHERE NOT is_deleted AND kept_by <> ''"
                " AND ($keeper = '' OR kept_by = $keeper) ORDER BY change_number DESC",
                {"keeper": keeper},
            ).fetchall()
        return [Conversation(*row) for row in rows]
