"""Chunks by content, and the documents that their vectors make searchable. Any thread.

Writes take the lane. The tables of vectors are in the same file, so that a statement joins both.
"""

from typing import Any

from desktop_rag.store.contract.chunks import ALL_CHUNKS, Coverage
from desktop_rag.store.contract.database import fetched
from desktop_rag.store.duckdb.database.connections import Connection
from desktop_rag.store.duckdb.database.database import Database
from desktop_rag.store.duckdb.search.chunk_cache import table_name
from desktop_rag.store.duckdb.search.index_cache import IndexCache
from desktop_rag.store.duckdb.search.vector_store import stored_among


class ChunkStore:
    """The chunks of all documents, compared with the vectors of one model."""

    def __init__(self, database: Database, cache: IndexCache) -> None:
        self._database = database
        self._cache = cache

    # --- reading -----------------------------------------------------------------------------

    def vector_counts(self, model_id: int, coverage: Coverage = ALL_CHUNKS) -> tuple[int, int]:
        """(distinct contents of the chunks, those of them without a vector)."""
        condition, parameters = _within(coverage)
        [(total, missing)] = fetched(
            self._database,
            "SELECT count(DISTINCT content_hash), count(DISTINCT content_hash) FILTER"
            f" (content_hash NOT IN (SELECT content_hash FROM {table_name(model_id)}))"
            f" FROM chunks WHERE true{condition}",
            parameters,
        )
        return int(total), int(missing)

    def without_vectors(
        self, model_id: int, limit: int, coverage: Coverage = ALL_CHUNKS
    ) -> list[tuple[str, str, str]]:
        """Up to `limit` contents without a vector: (content hash, context, text)."""
        condition, parameters = _within(coverage)
        # First the hashes, then their texts: a plain query would read the texts of all rows.
        rows = fetched(
            self._database,
            "SELECT content_hash, any_value(context), any_value(text) FROM chunks"
            " WHERE content_hash IN (SELECT DISTINCT content_hash FROM"
            f" (SELECT content_hash FROM chunks WHERE true{condition})"
            f" ANTI JOIN {table_name(model_id)} USING (content_hash) LIMIT {limit:d})"
            " GROUP BY content_hash",
            parameters,
        )
        return [(row[0].hex, row[1], row[2]) for row in rows]

    def without_windows(self, model_id: int, limit: int) -> list[tuple[str, str]]:
        """Up to `limit` contents with a vector but no windows yet: (content hash, text)."""
        rows = fetched(
            self._database,
            "SELECT content_hash, any_value(text) FROM chunks WHERE content_hash IN"
            f" (SELECT content_hash FROM {table_name(model_id)} SEMI JOIN chunks"
            f" USING (content_hash) WHERE windows IS NULL LIMIT {limit:d}) GROUP BY content_hash",
        )
        return [(row[0].hex, row[1]) for row in rows]

    def files_by_words_only(self) -> int:
        """The number of files and web pages that still wait for vectors."""
        [(count,)] = fetched(
            self._database,
            "SELECT count(*) FROM documents WHERE state = 'searchable by words' AND parent_id = ''",
        )
        return int(count)

    # --- writing -----------------------------------------------------------------------------

    def finish_documents(self, model_id: int, coverage: Coverage = ALL_CHUNKS) -> list[str]:
        """Mark documents whose chunks all have vectors as searchable; returns their ids."""
        condition, parameters = _within(coverage)
        stored = stored_among(table_name(model_id), "candidates")
        return self._update_documents(
            "WITH candidates AS MATERIALIZED (SELECT document_id, content_hash FROM chunks"
            " WHERE document_id IN (SELECT document_id FROM documents"
            f" WHERE state = 'searchable by words'{condition}))"
            " UPDATE documents SET state = 'searchable' WHERE state = 'searchable by words'"
            " AND document_id NOT IN (SELECT document_id FROM candidates"
            f" ANTI JOIN {stored} USING (content_hash)){condition} RETURNING document_id",
            parameters,
        )

    def reopen_documents(self, model_id: int, coverage: Coverage = ALL_CHUNKS) -> list[str]:
        """Mark searchable documents that lack vectors as searchable by words; their ids."""
        condition, parameters = _within(coverage)
        return self._update_documents(
            "UPDATE documents SET state = 'searchable by words' WHERE state = 'searchable'"
            " AND document_id IN (SELECT c.document_id FROM chunks c"
            f" ANTI JOIN {table_name(model_id)} v USING (content_hash)){condition}"
            " RETURNING document_id",
            parameters,
        )

    def finish_without_vectors(self, coverage: Coverage) -> list[str]:
        """Mark documents that are searchable by words as searchable, vectors or not; their ids."""
        condition, parameters = _within(coverage)
        which = f"state = 'searchable by words'{condition}"
        found = fetched(
            self._database, f"SELECT 1 FROM documents WHERE {which} LIMIT 1", parameters
        )
        if not found:  # called often, and a write waits for the disk
            return []
        return self._update_documents(
            f"UPDATE documents SET state = 'searchable' WHERE {which} RETURNING document_id",
            parameters,
        )

    def _update_documents(self, sql: str, parameters: dict[str, Any]) -> list[str]:
        def work(con: Connection) -> list[str]:
            return [row[0] for row in con.execute(sql, parameters).fetchall()]

        return self._database.write(work)

    def prune_vectors(self, model_id: int, coverage: Coverage = ALL_CHUNKS) -> None:
        """Remove vectors and windows that no chunk of the coverage needs."""
        condition, parameters = _within(coverage)
        table = table_name(model_id)
        unused = f"content_hash NOT IN (SELECT content_hash FROM chunks WHERE true{condition})"
        [(count,)] = fetched(
            self._database, f"SELECT count(*) FROM {table} WHERE {unused}", parameters
        )
        if count:
            sql = f"DELETE FROM {table} WHERE {unused}"
            self._database.write_uncached(lambda con: con.execute(sql, parameters))
            self._cache.clear_signs(model_id)


def _within(coverage: Coverage) -> tuple[str, dict[str, Any]]:
    """SQL that begins with AND, and its parameters; empty for all chunks."""
    conditions: list[str] = []
    parameters: dict[str, Any] = {}
    if coverage.collection_ids is not None:
        conditions.append("s.collection_id IN (SELECT unnest($collections::VARCHAR[]))")
        parameters["collections"] = list(coverage.collection_ids)
    if coverage.languages is not None:
        conditions.append("d.language IN (SELECT unnest($languages::VARCHAR[]))")
        parameters["languages"] = sorted(coverage.languages)
    if coverage.but_languages:
        conditions.append("d.language NOT IN (SELECT unnest($but_languages::VARCHAR[]))")
        parameters["but_languages"] = sorted(coverage.but_languages)
    if not conditions:
        return "", {}
    return (
        " AND document_id IN (SELECT d.document_id FROM documents d JOIN sources s"
        f" USING (source_id) WHERE {' AND '.join(conditions)})"
    ), parameters
