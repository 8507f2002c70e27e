"""Chunks by content, and the documents that vectors make searchable. Any thread."""

from desktop_rag.features.shared_library.postgres.database.server_connection import ServerConnection
from desktop_rag.features.shared_library.postgres.database.server_database import ServerDatabase
from desktop_rag.features.shared_library.postgres.documents.collection_vectors import (
    copy_to_places,
    places_of,
)
from desktop_rag.store.contract.chunks import ALL_CHUNKS, ChunkStore, Coverage
from desktop_rag.store.contract.vectors import vector_table


class ServerChunkStore(ChunkStore):
    """The chunks of all documents, compared with the vectors of one model."""

    in_collections = " AND collection_id = ANY ($collections::text[])"

    def __init__(self, database: ServerDatabase) -> None:
        super().__init__(database)
        self._database = database

    def vector_counts(self, model_id: int, coverage: Coverage = ALL_CHUNKS) -> tuple[int, int]:
        condition, parameters = self.within(coverage)
        with self._database.read() as con:
            [(total, missing)] = con.execute(
                "SELECT count(*), count(*) FILTER (WHERE v.content_hash IS NULL) FROM"
                f" (SELECT DISTINCT content_hash FROM chunks WHERE true{condition}) c"
                f" LEFT JOIN (SELECT DISTINCT content_hash FROM {vector_table(model_id)}) v"
                " USING (content_hash)",
                parameters,
            ).fetchall()
        return int(total), int(missing)

    def without_vectors(
        self, model_id: int, limit: int, coverage: Coverage = ALL_CHUNKS
    ) -> list[tuple[str, str, str]]:
        """Up to `limit` contents without a vector: (content hash, context, text).

        Contents with a vector in another collection get a copy of it instead.
        """
        condition, parameters = self.within(coverage)
        while True:
            with self._database.read() as con:
                rows = con.execute(
                    "SELECT DISTINCT ON (content_hash) content_hash, context, text FROM chunks"
                    " WHERE content_hash IN (SELECT DISTINCT content_hash FROM chunks c WHERE"
                    f" {_lacks(model_id)}{condition} LIMIT {limit:d})"
                    " ORDER BY content_hash, chunk_id",
                    parameters,
                ).fetchall()
                hashes = [row[0].hex for row in rows]
                known = places_of(con, vector_table(model_id), hashes)
            if not known:
                return [(row[0].hex, row[1], row[2]) for row in rows]
            self._copy(model_id, {content_hash for content_hash, _ in known})

    def _copy(self, model_id: int, hashes: set[str]) -> None:
        """Copy the vectors of contents to all collections that these are in."""

        def work(con: ServerConnection) -> None:
            copy_to_places(con, [vector_table(model_id)], places_of(con, "chunks", hashes))

        self._database.write_uncached(work)

    def without_windows(self, model_id: int, limit: int) -> list[tuple[str, str]]:
        with self._database.read() as con:
            rows = con.execute(
                "SELECT DISTINCT ON (content_hash) content_hash, text FROM chunks"
                f" WHERE content_hash IN (SELECT content_hash FROM {vector_table(model_id)} v"
                " WHERE windows IS NULL AND EXISTS (SELECT 1 FROM chunks c WHERE"
                " c.content_hash = v.content_hash AND c.collection_id = v.collection_id)"
                f" LIMIT {limit:d})"
                " ORDER BY content_hash, chunk_id"
            ).fetchall()
        return [(row[0].hex, row[1]) for row in rows]

    def finish_documents(self, model_id: int, coverage: Coverage = ALL_CHUNKS) -> list[str]:
        condition, parameters = self.within(coverage)
        return self.update_documents(
            "UPDATE documents SET state = 'searchable' WHERE state = 'searchable by words'"
            f" AND NOT EXISTS (SELECT 1 FROM {_OWN} AND {_lacks(model_id)}){condition}"
            " RETURNING document_id",
            parameters,
        )

    def reopen_documents(self, model_id: int, coverage: Coverage = ALL_CHUNKS) -> list[str]:
        condition, parameters = self.within(coverage)
        return self.update_documents(
            "UPDATE documents SET state = 'searchable by words' WHERE state = 'searchable'"
            f" AND EXISTS (SELECT 1 FROM {_OWN} AND {_lacks(model_id)}){condition}"
            " RETURNING document_id",
            parameters,
        )

    def prune_vectors(self, model_id: int, coverage: Coverage = ALL_CHUNKS) -> None:
        condition, parameters = self.within(coverage)
        sql = (
            f"DELETE FROM {vector_table(model_id)} v WHERE NOT EXISTS (SELECT 1 FROM chunks"
            " WHERE chunks.content_hash = v.content_hash"
            f" AND chunks.collection_id = v.collection_id{condition})"
        )
        self._database.write_uncached(lambda con: con.execute(sql, parameters))


# The chunks of a row of `documents` in the same statement.
_OWN = (
    "chunks c WHERE c.document_id = documents.document_id"
    " AND c.collection_id = documents.collection_id"
)


def _lacks(model_id: int) -> str:
    """SQL that holds for a chunk `c` without a vector of a model in its collection."""
    return (
        f"NOT EXISTS (SELECT 1 FROM {vector_table(model_id)} v"
        " WHERE v.content_hash = c.content_hash AND v.collection_id = c.collection_id)"
    )
