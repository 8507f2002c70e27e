"""Chunks by content, and which of them have vectors. A protocol; any thread."""

from collections.abc import Sequence
from typing import Protocol


class ChunkStore(Protocol):
    """The chunks of all documents, by content hash, compared with the vectors of one model.

    Chunks of equal content share one vector. `model_id` is that of a `VectorStore`. Where a method
    takes `collection_ids`, None means every collection and an empty sequence none.
    """

    # --- reading -----------------------------------------------------------------------------

    def vector_counts(
        self, model_id: int, collection_ids: Sequence[str] | None = None
    ) -> tuple[int, int]:
        """(distinct contents of the chunks, those of them without a vector)."""
        ...

    def without_vectors(
        self, model_id: int, limit: int, collection_ids: Sequence[str] | None = None
    ) -> list[tuple[str, str, str]]:
        """Up to `limit` contents without a vector: (content hash, context, text).

        Each content once, in any order.
        """
        ...

    def without_windows(self, model_id: int, limit: int) -> list[tuple[str, str]]:
        """Up to `limit` contents with a vector but no windows yet: (content hash, text)."""
        ...

    def files_by_words_only(self) -> int:
        """The number of files and web pages that still wait for vectors."""
        ...

    # --- writing -----------------------------------------------------------------------------

    def finish_documents(
        self, model_id: int, collection_ids: Sequence[str] | None = None
    ) -> list[str]:
        """Mark documents that are searchable by words as searchable once all chunks have vectors.

        Returns their ids. Check and update are one transaction: a document that was stored again
        meanwhile is not finished by the vectors of its former chunks.
        """
        ...

    def reopen_documents(
        self, model_id: int, collection_ids: Sequence[str] | None = None
    ) -> list[str]:
        """Mark searchable documents that lack vectors as searchable by words; returns their ids.

        Check and update are one transaction.
        """
        ...

    def prune_vectors(self, model_id: int, collection_ids: Sequence[str] | None = None) -> None:
        """Remove vectors and windows that no chunk of these collections needs.

        Check and removal are one transaction: a vector that a new chunk needs stays.
        """
        ...
