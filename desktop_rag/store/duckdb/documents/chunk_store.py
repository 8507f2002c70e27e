"""Chunks by content, and the documents that their vectors make searchable. Any thread.

Writes take the lane. The tables of vectors are in the same file, so that a statement joins both.
"""

from desktop_rag.store.contract.chunks import ALL_CHUNKS, ChunkStore, Coverage
from desktop_rag.store.contract.database import fetched
from desktop_rag.store.contract.vectors import vector_table
from desktop_rag.store.duckdb.database.database import Database
from desktop_rag.store.duckdb.search.index_cache import IndexCache
from desktop_rag.store.duckdb.search.model_store import stored_among


class DuckdbChunkStore(ChunkStore):
    """The chunks of all documents, compared with the vectors of one model."""

    in_collections = (
        " AND document_id IN (SELECT d.document_id FROM documents d JOIN sources s"
        " USING (source_id) WHERE s.collection_id IN (SELECT unnest($collections::VARCHAR[])))"
    )

    def __init__(self, database: Database, cache: IndexCache) -> None:
        super().__init__(database)
        self._database = database
        self._cache = cache

    # --- reading -----------------------------------------------------------------------------

    def without_vectors(
        self, model_id: int, limit: int, coverage: Coverage = ALL_CHUNKS
    ) -> list[tuple[str, str, str]]:
        condition, parameters = self.within(coverage)
        # First the hashes, then their texts: a plain query would read the texts of all rows.
        rows = fetched(
            self._database,
            "SELECT content_hash, any_value(context), any_value(text) FROM chunks"
            " WHERE content_hash IN (SELECT DISTINCT content_hash FROM"
            f" (SELECT content_hash FROM chunks WHERE true{condition})"
            f" ANTI JOIN {vector_table(model_id)} USING (content_hash) LIMIT {limit:d})"
            " GROUP BY content_hash",
            parameters,
        )
        return [(row[0].hex, row[1], row[2]) for row in rows]

    # --- writing -----------------------------------------------------------------------------

    def finish_documents(self, model_id: int, coverage: Coverage = ALL_CHUNKS) -> list[str]:
        """From the waiting documents on: a join with all vectors takes much longer."""
        condition, parameters = self.within(coverage)
        stored = stored_among(vector_table(model_id), "candidates")
        return self.update_documents(
            "WITH candidates AS MATERIALIZED (SELECT document_id, content_hash FROM chunks"
            " WHERE document_id IN (SELECT document_id FROM documents"
            f" WHERE state = 'searchable by words'{condition}))"
            " UPDATE documents SET state = 'searchable' WHERE state = 'searchable by words'"
            " AND document_id NOT IN (SELECT document_id FROM candidates"
            f" ANTI JOIN {stored} USING (content_hash)){condition} RETURNING document_id",
            parameters,
        )

    def prune_vectors(self, model_id: int, coverage: Coverage = ALL_CHUNKS) -> bool:
        if is_pruned := super().prune_vectors(model_id, coverage):
            self._cache.clear_signs(model_id)
        return is_pruned
