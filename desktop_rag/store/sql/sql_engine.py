"""What the stores of this room need of an engine: connections, transactions, a few pieces of SQL.

Their SQL is the same for every engine: parameters are `?`, or `$name` with a mapping; types and
functions have the names of the embedded engine; another defines what it lacks.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

from desktop_rag.core.parsed import Chunk
from desktop_rag.store.contract.documents import IndexingOutcome

T = TypeVar("T")
# The connection of the engine that a collaborator belongs to.
OwnConnection = Any
# A document with the documents inside it.
Family = Sequence[IndexingOutcome]


class Result(Protocol):
    """The rows of a statement."""

    @property
    def description(self) -> Sequence[Any] | None:
        """The columns, each beginning with its name."""
        ...

    def fetchall(self) -> list[Any]:
        """All rows that are left."""
        ...

    def fetchone(self) -> tuple[Any, ...] | None:
        """The next row, None without one."""
        ...


class Connection(Protocol):
    """A connection for one thread, inside a transaction."""

    def execute(self, query: str, parameters: object = None) -> Result:
        """Run a statement."""
        ...


class Moment(Protocol):
    """The library as it was at one moment."""

    @property
    def con(self) -> Connection:
        """A connection that sees this moment."""
        ...


class Database(Protocol):
    """An open library, for any thread."""

    def read(self) -> AbstractContextManager[Connection]:
        """A connection for reading."""
        ...

    def snapshot(self) -> AbstractContextManager[Moment]:
        """The library as it is now, unaffected by later changes."""
        ...

    def cached(self, lookup: Callable[[Connection], T]) -> T:
        """The result of a lookup, read again only after a change of the library."""
        ...

    def write(self, work: Callable[[Connection], T], *, changes: Iterable[Any] = ()) -> T:
        """Run `work(connection)` in one transaction, one after the other.

        `changes` names the precious things that it changed; it is read after the work.
        """
        ...

    def write_uncached(self, work: Callable[[Connection], T], *, changes: Iterable[Any] = ()) -> T:
        """The same for tables that no cached lookup reads."""
        ...

    def insert(self, con: OwnConnection, table: str, columns: dict[str, Any]) -> None:
        """Insert rows given as columns; the engine adds the columns that it derives from them."""
        ...

    def with_ids(self, document_ids: Sequence[str]) -> tuple[str, list[Any]]:
        """SQL that is true for the rows of these documents, and its parameters."""
        ...


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
