"""Chunks by content, and which of them have vectors. A protocol; any thread."""

from dataclasses import dataclass
from typing import Protocol


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


class ChunkStore(Protocol):
    """The chunks of all documents, by content hash, compared with the vectors of one model.

    Chunks of equal content share one vector. `model_id` is that of a `VectorStore`. A method that
    takes a `coverage` is about the chunks of these documents.
    """

    # --- reading -----------------------------------------------------------------------------

    def vector_counts(self, model_id: int, coverage: Coverage = ALL_CHUNKS) -> tuple[int, int]:
        """(distinct contents of the chunks, those of them without a vector)."""
        ...

    def without_vectors(
        self, model_id: int, limit: int, coverage: Coverage = ALL_CHUNKS
    ) -> list[tuple[str, str, str]]:
        """Up to `limit` distinct contents without a vector: (content hash, context, text)."""
        ...

    def without_windows(self, model_id: int, limit: int) -> list[tuple[str, str]]:
        """Up to `limit` contents with a vector but no windows yet: (content hash, text)."""
        ...

    def files_by_words_only(self) -> int:
        """The number of files and web pages that still wait for vectors."""
        ...

    # --- writing -----------------------------------------------------------------------------

    def finish_documents(self, model_id: int, coverage: Coverage = ALL_CHUNKS) -> list[str]:
        """Mark documents that are searchable by words as searchable once all chunks have vectors.

        Returns their ids. Check and update are one transaction: a document that was stored again
        meanwhile is not finished by the vectors of its former chunks.
        """
        ...

    def reopen_documents(self, model_id: int, coverage: Coverage = ALL_CHUNKS) -> list[str]:
        """Mark searchable documents that lack vectors as searchable by words; returns their ids."""
        ...

    def finish_without_vectors(self, coverage: Coverage) -> list[str]:
        """The same without vectors, for documents in a language that no model reads."""
        ...

    def prune_vectors(self, model_id: int, coverage: Coverage = ALL_CHUNKS) -> None:
        """Remove vectors and windows that no chunk of the coverage needs.

        Check and removal are one transaction: a vector that a new chunk needs stays.
        """
        ...
