"""What the SQL stores need of an engine, and helpers for queries. Any thread."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from desktop_rag.core.parsed import Chunk
from desktop_rag.store.contract.database import Database, OwnConnection
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
        """SQL that is true for the chunks of completely written documents."""
        ...

    def staged(self, outcomes: Sequence[IndexingOutcome]) -> AbstractContextManager[StagedOutcomes]:
        """Prepare these outcomes; what the block doesn't insert is removed."""
        ...

    def delete(self, con: OwnConnection, document_ids: Sequence[str]) -> None:
        """Remove text, chunks and postings of these documents."""
        ...

    def follow(self, con: OwnConnection, document_ids: Sequence[str]) -> None:
        """Move content whose documents changed their source, if the engine places it by source."""
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


def fetched(database: Database, sql: str, parameters: object = None) -> list[Any]:
    """The rows of one query, on a connection for reading."""
    with database.read() as con:
        return con.execute(sql, parameters).fetchall()


def sql_in(column: str, values: Sequence[Any]) -> str:
    """SQL that is true when a column equals one of the values, passed as parameters.

    For a few values, IN (?, ?) is twice as fast as unnest(); for one, = is twice as fast again.
    """
    if len(values) == 1:
        return f"{column} = ?"
    return f"{column} IN ({', '.join('?' * len(values)) or 'NULL'})"


def chunk_rows(outcomes: Iterable[IndexingOutcome]) -> Iterator[tuple[str, Chunk, Any]]:
    """(document id, chunk, term counts) of each chunk of these outcomes."""
    for item in outcomes:
        for chunk, count in zip(item.chunks, item.term_counts, strict=True):
            yield item.document.document_id, chunk, count
