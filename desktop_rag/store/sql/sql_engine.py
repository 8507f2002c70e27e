"""What the stores of documents need of an engine, and a few pieces of SQL."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from desktop_rag.core.parsed import Chunk
from desktop_rag.store.contract.database import OwnConnection
from desktop_rag.store.contract.documents import IndexingOutcome

# A document with the documents inside it.
Family = Sequence[IndexingOutcome]


class StagedOutcomes(Protocol):
    """Outcomes whose content is about to be stored."""

    outcomes: list[IndexingOutcome]

    def insert(self, con: OwnConnection, families: Sequence[Family]) -> None:
        """Store the content of these documents, in the transaction that stores their rows."""
        ...


class DocumentContent(Protocol):
    """Texts, chunks and postings of documents, as an engine keeps them."""

    @property
    def finished(self) -> str:
        """SQL that is true for chunks of documents that are completely written."""
        ...

    def staged(self, outcomes: Sequence[IndexingOutcome]) -> AbstractContextManager[StagedOutcomes]:
        """Prepare these outcomes; what the block doesn't insert leaves nothing."""
        ...

    def delete(self, con: OwnConnection, document_ids: Sequence[str]) -> None:
        """Remove text, chunks and postings of these documents."""
        ...

    def follow(self, con: OwnConnection, document_ids: Sequence[str]) -> None:
        """Put content where the engine keeps that of its document's source, which has changed."""
        ...

    def text_of(self, con: OwnConnection, document_id: str) -> tuple[str | None, str]:
        """The whole text of a document, None without one, and its places."""
        ...

    def chunks_of(self, con: OwnConnection, document_id: str) -> list[Chunk]:
        """The chunks of a document in reading order."""
        ...

    def purge_orphans(self, con: OwnConnection) -> int:
        """Remove content without a document; returns the number of chunks removed."""
        ...


def sql_in(column: str, values: Sequence[Any]) -> str:
    """SQL that is true when a column equals one of the values, which are its parameters.

    For a few values, IN (?, ?) is twice as fast as unnest(); for one, = is twice as fast again.
    """
    if len(values) == 1:
        return f"{column} = ?"
    return f"{column} IN ({', '.join('?' * len(values)) or 'NULL'})"


def chunk_rows(outcomes: Iterable[IndexingOutcome]) -> Iterator[tuple[str, Chunk, Any]]:
    """The chunks of these outcomes one after the other: document id, chunk, count of its terms."""
    for item in outcomes:
        for chunk, count in zip(item.chunks, item.term_counts, strict=True):
            yield item.document.document_id, chunk, count
