"""Chunks by content, and which of them have vectors. Any thread."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from desktop_rag.store.contract.database import Connection, Database, fetched
from desktop_rag.store.contract.vectors import vector_table


@dataclass(frozen=True, slots=True)
class Coverage:
    """The documents that a model is for, by their collection and their language.

    `collection_ids`: None means every collection, an empty tuple none. `languages` are codes with
    "" for unknown; None means all. With `but_languages` documents in those are left out.
    """

    collection_ids: tuple[str, ...] | None = None
    languages: frozenset[str] | None = None
    but_languages: frozenset[str] = frozenset()


ALL_CHUNKS = Coverage()


class ChunkStore(ABC):
    """The chunks of all documents, by content hash, compared with the vectors of one model.

    Chunks of equal content share one vector. `model_id` is that of a `VectorStore`. A method that
    takes a `coverage` is about the chunks of these documents.
    """

    # SQL that begins with AND, for rows of documents or chunks in the `$collections`.
    in_collections: str
    # SQL that holds for a chunk `c` and its vector `v`, and for a chunk `c` and its document.
    same_content = "c.content_hash = v.content_hash"
    of_document = "c.document_id = documents.document_id"

    def __init__(self, database: Database) -> None:
        self.database = database

    # --- reading -----------------------------------------------------------------------------

    def vector_counts(self, model_id: int, coverage: Coverage = ALL_CHUNKS) -> tuple[int, int]:
        """(distinct contents of the chunks, those of them without a vector)."""
        condition, parameters = self.within(coverage)
        [(total, missing)] = fetched(
            self.database,
            "SELECT count(*), count(*) FILTER (WHERE v.content_hash IS NULL) FROM"
            f" (SELECT DISTINCT content_hash FROM chunks WHERE true{condition}) c LEFT JOIN"
            f" (SELECT DISTINCT content_hash FROM {vector_table(model_id)}) v"
            " ON v.content_hash = c.content_hash",
            parameters,
        )
        return int(total), int(missing)

    @abstractmethod
    def without_vectors(
        self, model_id: int, limit: int, coverage: Coverage = ALL_CHUNKS
    ) -> list[tuple[str, str, str]]:
        """Up to `limit` distinct contents without a vector: (content hash, context, text)."""

    def without_windows(self, model_id: int, limit: int) -> list[tuple[str, str]]:
        """Up to `limit` contents with a vector but no windows yet: (content hash, text)."""
        rows = fetched(
            self.database,
            "SELECT DISTINCT ON (content_hash) content_hash, text FROM chunks"
            f" WHERE content_hash IN (SELECT content_hash FROM {vector_table(model_id)} v"
            f" WHERE windows IS NULL AND EXISTS (SELECT 1 FROM chunks c WHERE {self.same_content})"
            f" LIMIT {limit:d}) ORDER BY content_hash, chunk_id",
        )
        return [(row[0].hex, row[1]) for row in rows]

    def files_by_words_only(self) -> int:
        """The number of files and web pages that still wait for vectors."""
        [(count,)] = fetched(
            self.database,
            "SELECT count(*) FROM documents WHERE state = 'searchable by words' AND parent_id = ''",
        )
        return int(count)

    # --- writing -----------------------------------------------------------------------------

    def finish_documents(self, model_id: int, coverage: Coverage = ALL_CHUNKS) -> list[str]:
        """Mark documents that are searchable by words as searchable once all chunks have vectors.

        Returns their ids. Check and update are one transaction: a document that was stored again
        meanwhile is not finished by the vectors of its former chunks.
        """
        condition, parameters = self.within(coverage)
        return self.update_documents(
            "UPDATE documents SET state = 'searchable' WHERE state = 'searchable by words'"
            f" AND NOT EXISTS (SELECT 1 FROM chunks c WHERE {self.of_document}"
            f" AND {self.lacks(model_id)}){condition} RETURNING document_id",
            parameters,
        )

    def reopen_documents(self, model_id: int, coverage: Coverage = ALL_CHUNKS) -> list[str]:
        """Mark searchable documents that lack vectors as searchable by words; returns their ids."""
        condition, parameters = self.within(coverage)
        return self.update_documents(
            "UPDATE documents SET state = 'searchable by words' WHERE state = 'searchable'"
            f" AND EXISTS (SELECT 1 FROM chunks c WHERE {self.of_document}"
            f" AND {self.lacks(model_id)}){condition} RETURNING document_id",
            parameters,
        )

    def lacks(self, model_id: int) -> str:
        """SQL that holds for a chunk `c` without a vector of a model."""
        return f"NOT EXISTS (SELECT 1 FROM {vector_table(model_id)} v WHERE {self.same_content})"

    def finish_without_vectors(self, coverage: Coverage) -> list[str]:
        """The same without vectors, for documents in a language that no model reads."""
        condition, parameters = self.within(coverage)
        which = f"state = 'searchable by words'{condition}"
        sql = f"SELECT 1 FROM documents WHERE {which} LIMIT 1"
        if not fetched(self.database, sql, parameters):  # called often, a write waits for the disk
            return []
        return self.update_documents(
            f"UPDATE documents SET state = 'searchable' WHERE {which} RETURNING document_id",
            parameters,
        )

    def prune_vectors(self, model_id: int, coverage: Coverage = ALL_CHUNKS) -> bool:
        """Remove vectors and windows that no chunk of the coverage needs; False without any.

        Check and removal are one transaction: a vector that a new chunk needs stays.
        """
        condition, parameters = self.within(coverage)
        unused = (
            f"FROM {vector_table(model_id)} v WHERE NOT EXISTS"
            f" (SELECT 1 FROM chunks c WHERE {self.same_content}{condition})"
        )
        if not fetched(self.database, f"SELECT 1 {unused} LIMIT 1", parameters):
            return False
        self.database.write_uncached(lambda con: con.execute(f"DELETE {unused}", parameters))
        return True

    def update_documents(self, sql: str, parameters: dict[str, Any]) -> list[str]:
        """Run an update in a transaction; the first column of what it returns."""

        def work(con: Connection) -> list[str]:
            return [row[0] for row in con.execute(sql, parameters).fetchall()]

        return self.database.write(work)

    def within(self, coverage: Coverage) -> tuple[str, dict[str, Any]]:
        """SQL that begins with AND, and its parameters; empty for all chunks."""
        sql, parameters = "", dict[str, Any]()
        if coverage.collection_ids is not None:
            sql += self.in_collections
            parameters["collections"] = list(coverage.collection_ids)
        for name, negation, languages in (
            ("languages", "", coverage.languages),
            ("but_languages", "NOT ", coverage.but_languages or None),
        ):
            if languages is not None:
                sql += (
                    " AND document_id IN (SELECT d.document_id FROM documents d WHERE"
                    f" d.language {negation}IN (SELECT unnest(${name}::VARCHAR[])))"
                )
                parameters[name] = sorted(languages)
        return sql, parameters
