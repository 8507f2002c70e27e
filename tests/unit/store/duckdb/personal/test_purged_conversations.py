from desktop_rag.core.conversation import Message, Role, SourceRef
from desktop_rag.core.parsed import Anchor
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.duckdb.database.database import Database


def test_what_is_purged_leaves_no_sources_behind(engine: Engine, database: Database) -> None:
    source = SourceRef(1, "d", "/docs/a.pdf", "A", Anchor(page=3), "passage", 0.5)
    for title in ("kept", "gone"):
        conversation_id = engine.conversations.add(title, "").conversation_id
        message = Message(title, conversation_id, Role.ASSISTANT, "", 1.0, sources=(source,))
        engine.conversations.add_message(message)
        engine.conversations.set_deleted(conversation_id, title == "gone")
    engine.conversations.purge_deleted()
    with database.read() as con:
        assert con.execute("SELECT message_id FROM citations").fetchall() == [("kept",)]
