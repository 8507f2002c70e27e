"""Which embedding models there are, and whose vectors answer for which collection. Any thread.

Every model has tables of its own, so vectors of two models never mix. `spec` is where a model is
found again: a folder, the address of an endpoint, or empty for the bundled one.
"""

import threading
from collections.abc import Collection, Sequence

from desktop_rag.store.contract.vectors import ModelRow
from desktop_rag.store.duckdb.database.database import Connection, Database
from desktop_rag.store.duckdb.search.chunk_cache import ChunkCache
from desktop_rag.store.duckdb.search.vector_store import VectorStore


class ModelStore:
    """The models of the vectors, and which of them answer."""

    def __init__(self, database: Database, chunks: ChunkCache) -> None:
        self._database = database
        self._chunks = chunks
        self._lock = threading.Lock()
        self._open: dict[tuple[str, int], VectorStore] = {}

    def vectors(self, name: str, dimensions: int, spec: str | None = None) -> VectorStore:
        """The vectors of a model; `spec`, if given, is where it is found from now on."""
        vectors = self._vectors(name, dimensions)
        if spec is not None:
            self._database.write(
                lambda con: con.execute(
                    "UPDATE models SET folder = $1 WHERE model_id = $2 AND folder <> $1",
                    [spec, vectors.model_id],
                )
            )
        return vectors

    def _vectors(self, name: str, dimensions: int) -> VectorStore:
        # One of each, as it knows in memory what was added to its table.
        with self._lock:
            known = self._open.get((name, dimensions))
            if known is None:
                known = VectorStore(self._database, name, dimensions, self._chunks)
                self._open[name, dimensions] = known
            return known

    def answering(self) -> dict[str, ModelRow]:
        """Collection id → the model whose vectors answer; without those that have none yet."""
        with self._database.read() as con:
            rows = con.execute(
                "SELECT c.collection_id, m.model_id, m.name, m.dimensions, m.folder"
                " FROM collections c JOIN models m ON m.model_id = c.answering"
            ).fetchall()
        return {row[0]: ModelRow(*row[1:]) for row in rows}

    def answer(self, model_id: int, collection_ids: Sequence[str]) -> None:
        """From now on the vectors of this model answer for these collections."""
        self._database.write(
            lambda con: con.execute(
                "UPDATE collections SET answering = ? WHERE collection_id IN (SELECT unnest(?))",
                [model_id, list(collection_ids)],
            )
        )

    def drop_unused(self, wanted: Collection[str]) -> None:
        """Remove vectors that neither answer nor are being made. Nothing may be asking them.

        Of each wanted spec the model that came last is kept.
        """

        def work(con: Connection) -> set[int]:
            rows = con.execute(
                "SELECT model_id, folder FROM models WHERE model_id NOT IN"
                " (SELECT answering FROM collections) ORDER BY model_id"
            ).fetchall()
            latest = {spec: model_id for model_id, spec in rows if spec in wanted}
            unused = {model_id for model_id, spec in rows if latest.get(spec) != model_id}
            for model_id in unused:
                con.execute(f"DROP TABLE IF EXISTS vectors_{model_id}")
                con.execute("DELETE FROM models WHERE model_id = ?", [model_id])
            return unused

        with self._lock:
            dropped = self._database.write(work)
            self._open = {
                key: vectors
                for key, vectors in self._open.items()
                if vectors.model_id not in dropped
            }
