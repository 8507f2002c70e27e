"""All stores of one library, opened together, and what every engine promises."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any, Literal, Protocol, TypeVar

from desktop_rag.core.errors import AppError
from desktop_rag.core.paths import Home
from desktop_rag.core.server_state import ServerState
from desktop_rag.store.contract.chunks import ChunkStore
from desktop_rag.store.contract.database import Database
from desktop_rag.store.contract.documents import (
    DocumentClaims,
    DocumentContent,
    DocumentStore,
    TagStore,
)
from desktop_rag.store.contract.inspection import Inspection
from desktop_rag.store.contract.interaction_store import InteractionStore
from desktop_rag.store.contract.precious import PreciousStore
from desktop_rag.store.contract.records import (
    AssistantStore,
    AttachmentStore,
    ConversationStore,
    UnfinishedAnswerStore,
)
from desktop_rag.store.contract.search import LexicalStore, NameStore, Upkeep
from desktop_rag.store.contract.sources import SourceStore
from desktop_rag.store.contract.vectors import ModelStore

ColumnKind = Literal["VARCHAR", "BIGINT", "DOUBLE", "DATE", "TIMESTAMP", "TIME", "BOOLEAN"]


class QueryRefusedError(Exception):
    """A query is forbidden, wrong, or exceeds a limit; the message is for the query's author."""


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column. `values` are written as in SQL: `-12.5`, `2026-01-31`, `true`."""

    name: str
    kind: ColumnKind
    values: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class QueryTable:
    """A table; the names of tables, and of the columns of one, differ in more than their case."""

    name: str
    columns: tuple[TableColumn, ...]


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The first rows of a result; `is_cut` is True when there were more.

    `used` maps each table of the query to the numbers, from 0, of the rows that the result is based
    on; None means all of them. `columns_used` are column names in lower case; None means all.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    is_cut: bool
    used: Mapping[str, tuple[int, ...] | None]
    columns_used: frozenset[str] | None


class OpenTables(Protocol):
    """Tables open for queries; for one thread at a time."""

    @property
    def dialect(self) -> str:
        """The name of the SQL dialect, as a model knows it."""
        ...

    def run(self, sql: str, cancel: Event) -> QueryResult:
        """The result of one SELECT over these tables and nothing else.

        QueryRefusedError for any other statement, for an error in it, and when it takes too long or
        too much memory. No statement can read or write anything outside of the tables.
        """
        ...


class TableQueries(Protocol):
    """Opens tables for queries."""

    def open(self, tables: tuple[QueryTable, ...]) -> AbstractContextManager[OpenTables]:
        """The tables in a database of their own, which is dropped at the end of the context."""
        ...


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Engine:
    """The stores of one library. The following holds for all their methods.

    Threads: any thread may call any method at any time; a result is complete and the caller's own.

    Writes: each method that changes something is one transaction. Transactions run one after the
    other, so that nothing changes between what one reads and what it writes. Once a method returns,
    its change is on disk and every read that begins then sees it. When it raises, nothing has
    changed. After a crash at any moment, the next opening finds every finished write and no part of
    an unfinished one.

    Reads: they see finished writes only and never wait for one. A method that runs several queries
    may see a write that finished in between; it then leaves out what is gone.

    Values: frozen values of `core` and of the contract, lists and dicts of them. What is stored
    comes back equal. Texts contain no NUL and no lone surrogates; all other characters are kept as
    they are, in texts, names and paths alike. Texts are ordered and compared by code points unless
    stated otherwise. Times are seconds since the epoch.

    `restored` counts the chats, messages, sources and other precious things that the library had
    lost and that came back when it was opened. `fault` says why it can only be read for now.
    `server` looks at the server as it is now; None when there is none.

    Errors: AppError for failures of the environment: the disk is full or damaged, another process
    holds the library, the server can't be reached, or a method was called after `close`. Refusals
    that a method documents are AppErrors too. Anything else is a bug and is raised as it is.
    """

    documents: DocumentStore
    chunks: ChunkStore
    sources: SourceStore
    tags: TagStore
    lexical: LexicalStore
    names: NameStore
    models: ModelStore
    conversations: ConversationStore
    unfinished: UnfinishedAnswerStore
    assistants: AssistantStore
    interactions: InteractionStore
    attachments: AttachmentStore
    precious: PreciousStore
    tables: TableQueries
    upkeep: Upkeep
    inspection: Inspection
    storage: Database
    server: Callable[[], ServerState] | None = None
    restored: int = 0
    fault: AppError | None = None

    def store(self, made: Callable[[Database], T]) -> T:
        """A feature's own store over the same library; `made` makes it."""
        return made(self.storage)

    def close(self) -> None:
        """Close all stores; from then on every method raises AppError."""
        self.storage.close()


def assembled(
    storage: Database,
    content: DocumentContent,
    home: Path,
    claims: DocumentClaims | None = None,
    **brought: Any,  # noqa: ANN401  the other fields of `Engine`
) -> Engine:
    """The stores that all engines share, over an open library, with what its engine brings."""
    return Engine(
        documents=DocumentStore(storage, content, claims or DocumentClaims()),
        sources=SourceStore(storage, content),
        tags=TagStore(storage),
        conversations=ConversationStore(storage),
        unfinished=UnfinishedAnswerStore(home / "unfinished"),
        assistants=AssistantStore(storage),
        interactions=InteractionStore(storage),
        attachments=AttachmentStore(storage, content),
        storage=storage,
        **brought,
    )


class EngineOpener(ABC):
    """Opens the library of a home folder with one kind of engine."""

    @abstractmethod
    def open(self, home: Home, memory_mb: int) -> Engine:
        """Open or create it; `memory_mb` limits the memory of the engine.

        AppError, with the library unchanged, when it is damaged, open in another process, or of a
        newer version or another program.
        """

    @abstractmethod
    def open_to_read(self, home: Home, memory_mb: int) -> Engine:
        """Open an existing library so that nothing in the home changes; writes raise AppError.

        AppError as in `open`, and when there is no library or an earlier version wrote it.
        """

    @abstractmethod
    def restore(self, home: Home) -> None:
        """Let the next opening take every chat, source and the like from the journal.

        Nobody may have the library open. AppError when it can't be written.
        """

    @abstractmethod
    def size_bytes(self, home: Home) -> int:
        """The disk space of a closed library."""
