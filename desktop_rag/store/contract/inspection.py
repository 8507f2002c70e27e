"""Checks and repairs the integrity of a library. Any thread."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from desktop_rag.core.errors import AppError
from desktop_rag.store.contract.database import Connection, Database
from desktop_rag.store.contract.document_rows import waiting_pictures


class NoLibraryError(AppError):
    """The home holds no library: it is new, or the file is gone. `has_journal` tells which."""

    def __init__(self, *, has_journal: bool) -> None:
        super().__init__("There is no library yet.", "The app creates it when it starts.")
        self.has_journal = has_journal


@dataclass(frozen=True, slots=True)
class Discrepancy:
    """A rule that `count` things break; `what` names them in the plural.

    `is_precious` is True for chats, folders and the like, which the journal holds too, and False
    for the index, which can be made again from the files.
    """

    what: str
    count: int
    is_precious: bool = False

    def __str__(self) -> str:
        return f"{self.what}: {self.count:,}"


@dataclass(frozen=True, slots=True)
class JournalState:
    """The number of the last change in the library and in the journal beside it."""

    stored: int
    written: int | None  # None without a journal
    unreadable: int = 0  # damaged lines of the journal


@dataclass(frozen=True, slots=True)
class IndexRepair:
    """The result of a repair: the numbers of orphans removed and of documents to be read again."""

    removed: int
    read_again: int


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of the library; `broken` is SQL that follows FROM, with a row for each violation."""

    what: str  # names the violations, in the plural
    broken: str
    of_documents: bool = False  # the rows have a `document_id` that can be read again from its file
    is_precious: bool = False  # the rows can't be made again


def _without(what: str, table: str, owners: str, key: str, *, is_precious: bool = False) -> Rule:
    """The rule that each row of a table has an owner with its key."""
    owner = f"(SELECT 1 FROM {owners} o WHERE o.{key} = t.{key})"
    return Rule(what, f"{table} t WHERE NOT EXISTS {owner}", is_precious=is_precious)


DOCUMENTS_OF_SOURCES = _without("documents without a source", "documents", "sources", "source_id")
PARTS_OF_DOCUMENTS = Rule(
    "documents inside one that does not exist",
    "documents d WHERE parent_id <> '' AND NOT EXISTS"
    " (SELECT 1 FROM documents p WHERE p.document_id = d.parent_id)",
)
PASSAGES_OF_DOCUMENTS = _without(
    "passages without a document", "chunks", "documents", "document_id"
)
SOURCES_OF_COLLECTIONS = _without(
    "folders and links without a collection",
    "sources",
    "collections",
    "collection_id",
    is_precious=True,
)
MESSAGES_OF_CHATS = _without(
    "messages without a chat", "messages", "conversations", "conversation_id", is_precious=True
)


def broken(
    con: Connection, rules: Iterable[Rule], may_go_on: Callable[[], bool]
) -> list[Discrepancy]:
    """The rules that are broken; ends early when `may_go_on` returns False."""
    found = (
        Discrepancy(rule.what, count_of(con, rule.broken), rule.is_precious)
        for rule in rules
        if may_go_on()
    )
    return [each for each in found if each.count]


def count_of(con: Connection, rows: str) -> int:
    """The number of rows of what follows FROM."""
    [(count,)] = con.execute(f"SELECT count(*) FROM {rows}").fetchall()
    return int(count)


class Inspection(ABC):
    """Reads the whole library without changing it, except for `repair`."""

    def __init__(self, database: Database) -> None:
        self.database = database

    @abstractmethod
    def discrepancies(self, may_go_on: Callable[[], bool]) -> list[Discrepancy]:
        """The rules that are broken, all of the same moment; none in a healthy library.

        Ends early when `may_go_on` returns False.
        """

    @abstractmethod
    def waiting_contents(self) -> int:
        """The number of distinct chunk contents that have no vector of any model."""

    def waiting_pictures(self) -> int:
        """The number of pictures and scanned pages that wait to be read."""
        with self.database.read() as con:
            return waiting_pictures(con)

    @abstractmethod
    def journal(self) -> JournalState:
        """The last change in the library and in its journal. Reads the whole journal."""

    @abstractmethod
    def repair(self) -> IndexRepair:
        """Remove orphans from the index and queue inconsistent documents, in one transaction.

        A journal with damaged lines is then written anew from the library.
        """
