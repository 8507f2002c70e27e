"""Assistants, one per row, their settings as JSON. Any thread."""

import json

from desktop_rag.core.assistant import Assistant
from desktop_rag.store.contract.database import Connection, Database, Entity
from desktop_rag.store.sql.sql_engine import fetched


class AssistantStore:
    """Reads and writes assistants; each method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[Assistant]:
        """Assistants that are not hidden, by name."""
        rows = fetched(self._database, "SELECT made_of FROM assistants WHERE NOT is_deleted")
        found = [Assistant.from_json(json.loads(made_of)) for (made_of,) in rows]
        return sorted(found, key=lambda a: (a.name.casefold(), a.assistant_id))

    def put(self, assistant: Assistant) -> None:
        """Store the assistant in place of the one with the same id."""
        made_of = json.dumps(assistant.to_json(), ensure_ascii=False)

        def work(con: Connection) -> None:
            con.execute("DELETE FROM assistants WHERE assistant_id = ?", [assistant.assistant_id])
            con.execute(
                "INSERT INTO assistants (assistant_id, made_of) VALUES (?, ?)",
                [assistant.assistant_id, made_of],
            )

        self._database.write_uncached(work, changes=[Entity("assistant", assistant.assistant_id)])

    def set_deleted(self, assistant_id: str, is_deleted: bool) -> None:
        """Hide the assistant, or undo that."""
        sql = "UPDATE assistants SET is_deleted = ? WHERE assistant_id = ?"
        self._database.write_uncached(
            lambda con: con.execute(sql, [is_deleted, assistant_id]),
            changes=[Entity("assistant", assistant_id)],
        )

    def purge_deleted(self) -> None:
        """Remove hidden assistants for good."""
        changes: list[Entity] = []

        def work(con: Connection) -> None:
            gone = con.execute(
                "DELETE FROM assistants WHERE is_deleted RETURNING assistant_id"
            ).fetchall()
            changes.extend(Entity("assistant", assistant_id) for (assistant_id,) in gone)

        self._database.write_uncached(work, changes=changes)
