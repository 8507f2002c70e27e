"""The embedding models, and whose vectors answer for which collection. Any thread."""

import threading
from collections.abc import Collection, Sequence

from desktop_rag.features.shared_library.postgres.database.server_connection import ServerConnection
from desktop_rag.features.shared_library.postgres.database.server_database import ServerDatabase
from desktop_rag.features.shared_library.postgres.documents.collection_vectors import vector_table
from desktop_rag.features.shared_library.postgres.search.server_vectors import (
    ServerVectorSearch,
    ServerVectorStore,
    ServerVectorTable,
    find,
    find_or_create,
)
from desktop_rag.store.contract.vectors import ModelRow


class ServerModelStore:
    """The models that made vectors, and which of them answer."""

    def __init__(self, database: ServerDatabase) -> None:
        self._database = database
        # Dropping a model must not overlap with opening one: ids are used again.
        self._lock = threading.Lock()
        self._tables: dict[tuple[str, int], ServerVectorTable] = {}

    def vectors(self, name: str, dimensions: int, spec: str | None = None) -> ServerVectorStore:
        """The vectors of a model; `spec`, if given, is where to find it from now on."""
        with self._lock:
            vectors = ServerVectorStore(self._database, self._table(name, dimensions))
        if spec is not None:
            self._database.write(
                lambda con: con.execute(
                    "UPDATE models SET folder = $spec"
                    " WHERE model_id = $model::integer AND folder <> $spec",
                    {"spec": spec, "model": vectors.model_id},
                )
            )
        return vectors

    def _table(self, name: str, dimensions: int) -> ServerVectorTable:
        if (name, dimensions) not in self._tables:
            # A library that is open to be read has the tables that it has.
            with self._database.read() as con:
                known = find(con, name, dimensions)
            self._tables[name, dimensions] = known or self._database.write(
                lambda con: find_or_create(con, name, dimensions)
            )
        return self._tables[name, dimensions]

    def stored(self) -> list[ModelRow]:
        """Every model that has vectors here, by its number."""
        with self._database.read() as con:
            rows = con.execute(
                "SELECT model_id, name, dimensions, folder FROM models ORDER BY model_id"
            ).fetchall()
        return [ModelRow(*row) for row in rows]

    def search(self, model_id: int) -> ServerVectorSearch:
        """The search over the vectors of a model."""
        with self._lock:
            [table] = [each for each in self._tables.values() if each.model_id == model_id]
            return ServerVectorSearch(self._database, table)

    def answering(self) -> dict[str, ModelRow]:
        """Collection id → the model whose vectors answer; absent for a collection without any."""
        with self._database.read() as con:
            rows = con.execute(
                "SELECT c.collection_id, m.model_id, m.name, m.dimensions, m.folder"
                " FROM collections c JOIN models m ON m.model_id = c.answering"
            ).fetchall()
        return {row[0]: ModelRow(*row[1:]) for row in rows}

    def answer(self, model_id: int, collection_ids: Sequence[str]) -> None:
        """Let the vectors of this model answer for these collections from now on."""
        self._database.write(
            lambda con: con.execute(
                "UPDATE collections SET answering = ? WHERE collection_id = ANY (?::text[])",
                [model_id, list(collection_ids)],
            )
        )

    def drop_unused(self, wanted: Collection[str]) -> None:
        """Remove models, with their vectors, that neither answer nor are being filled."""

        def work(con: ServerConnection) -> set[int]:
            rows = con.execute(
                "SELECT model_id, folder FROM models WHERE model_id NOT IN"
                " (SELECT answering FROM collections) ORDER BY model_id"
            ).fetchall()
            latest = {spec: model_id for model_id, spec in rows if spec in wanted}
            unused = {model_id for model_id, spec in rows if latest.get(spec) != model_id}
            for model_id in unused:
                con.execute(f"DROP TABLE IF EXISTS {vector_table(model_id)}")
                con.execute("DELETE FROM models WHERE model_id = ?", [model_id])
            return unused

        with self._lock:
            dropped = self._database.write(work)
            self._tables = {
                key: table for key, table in self._tables.items() if table.model_id not in dropped
            }
