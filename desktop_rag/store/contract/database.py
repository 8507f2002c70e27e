"""An open library as a store sees it: connections, transactions, changed entities, shared SQL.

The SQL of stores is the same for every engine: parameters are `?`, or `$name` with a mapping; types
and functions have the names of the embedded engine, and another one defines what it lacks.
"""

import hashlib
import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePath
from typing import Any, Protocol, TypeVar

from desktop_rag.core.changes import Changes
from desktop_rag.core.errors import AppError
from desktop_rag.core.question import Readable

T = TypeVar("T")
# The engine's own type of connection.
OwnConnection = Any


@dataclass(frozen=True, slots=True)
class Entity:
    """One precious thing by its kind and key; a message also names its conversation."""

    kind: str
    key: str
    conversation_id: str = ""


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

    def cached(self, lookup: Callable[[Any], T]) -> T:
        """The result of a lookup at this moment, read once per state of the library."""
        ...


class Database(ABC):
    """An open library, for any thread: a file, or connections to a server. Close it last."""

    def __init__(self) -> None:
        # Publishes a PreciousChanged after each change of that kind, on the thread that writes.
        self.changes = Changes()
        # Called to free what is kept in memory.
        self.release_listeners: list[Callable[[], None]] = []

    @abstractmethod
    def read(self) -> AbstractContextManager[Connection]:
        """A connection for reading."""

    @abstractmethod
    def snapshot(self) -> AbstractContextManager[Moment]:
        """The library as it is now, unaffected by later changes."""

    @abstractmethod
    def insert(self, con: OwnConnection, table: str, columns: dict[str, Any]) -> None:
        """Insert rows given as columns; the engine adds the columns that it derives from them."""

    @abstractmethod
    def with_ids(self, document_ids: Sequence[str]) -> tuple[str, list[Any]]:
        """SQL that is true for the rows of these documents, and its parameters."""

    @abstractmethod
    def verify(self, may_go_on: Callable[[], bool] = ...) -> None:
        """Read everything that is stored; AppError when a part of it can't be read.

        Ends early when `may_go_on` returns False.
        """

    @abstractmethod
    def close(self) -> None:
        """Finish pending writes, then close. Idempotent, from any thread."""

    @abstractmethod
    def transact(
        self, work: Callable[[Any], T], changes: Iterable[Entity], *, invalidates: bool
    ) -> T:
        """As `write`, and forget cached lookups if the work `invalidates` them."""

    def write(self, work: Callable[[Any], T], *, changes: Iterable[Entity] = ()) -> T:
        """Run `work(connection)` in one transaction, one after the other; then it is on disk.

        An exception rolls it back and is raised here. `changes` names the precious things that it
        changed; it is read after the work, which may fill it.
        """
        return self.transact(work, changes, invalidates=True)

    def write_uncached(self, work: Callable[[Any], T], *, changes: Iterable[Entity] = ()) -> T:
        """The same for tables that no cached lookup reads, such as vectors and conversations."""
        return self.transact(work, changes, invalidates=False)

    def cached(self, lookup: Callable[[Any], T]) -> T:
        """The result of a lookup, read again only after a change of the library."""
        with self.snapshot() as snapshot:
            return snapshot.cached(lookup)

    def release(self) -> None:
        """Free cached memory soon; it is read again when needed."""
        for listener in self.release_listeners:
            listener()


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


def closed_error() -> AppError:
    """The error of every call after closing."""
    return AppError("The library is closed.", "Start the app again.")


def read_only_error() -> AppError:
    """The error of every change to a library that is open for reading."""
    return AppError("The library is open for reading only.", "Start the app to change it.")


def first_line(exc: BaseException) -> str:
    """The first line of a message, or the name of an exception without one."""
    lines = str(exc).splitlines()
    return lines[0] if lines else type(exc).__name__


@lru_cache(maxsize=50_000)
def key_of(text: str) -> int:
    """The key of a term, or of another text that is looked up often; SQL: md5_number_lower()."""
    digest = hashlib.md5(text.encode(), usedforsecurity=False).digest()
    return int.from_bytes(digest[8:], "little")


def folded(text: str) -> str:
    """SQL for a text in lower case and NFC; macOS returns names in another Unicode form."""
    return f"replace(replace(nfc_normalize(lower({text})), 'ß', 'ss'), '\u03c2', '\u03c3')"


def sql_plain_name(path: str) -> str:
    """SQL for the value of `documents.plain_name`, stored because every question scans it."""
    return folded(f"parse_filename({path})")


_MOST_PARTS = 8


def completing(text: str, day: str, condition: str, limit: int) -> tuple[str, dict[str, str]]:
    """SQL for the ids of documents whose name, title, address, folder or day of change hold each
    part of a folded text, and its parameters. `day` is SQL for that day.
    """
    parts = {f"part{n}": part for n, part in enumerate(text.split()[:_MOST_PARTS])}
    folder, title = folded("parse_dirpath(path)"), folded("title")
    held = f"concat_ws(' ', plain_name, {title}, lower(url), {folder}, {day})" if parts else "''"
    holds = "".join(f" AND contains(held, ${name})" for name in parts)
    named = " + ".join(f"contains(plain_name, ${name})::INT" for name in parts)
    by_name = f"NOT starts_with(plain_name, $text), {named} DESC, length(plain_name), path"
    sql = (
        f"SELECT document_id FROM (SELECT *, {held} AS held FROM documents) AS documents"
        f" WHERE parent_id = '' AND state <> 'gone'{condition}{holds}"
        f" ORDER BY {by_name if parts else 'mtime_ns DESC, path'} LIMIT {limit:d}"
    )
    return sql, (parts | {"text": text}) if parts else {}


def readable_documents(readable: Readable | None) -> tuple[str, dict[str, Any]]:
    """SQL that begins with AND, for readable rows of `documents`, and its parameters."""
    if readable is None:
        return "", {}
    collection = "(SELECT collection_id FROM sources s WHERE s.source_id = documents.source_id)"
    condition, parameters = readable_rows(readable, collection, "document_id")
    return f" AND {condition}", parameters


def readable_rows(
    readable: Readable, collection_id: str, document_id: str
) -> tuple[str, dict[str, Any]]:
    """SQL that holds for what is readable, by SQL for the two ids, and its parameters."""
    sql = (
        f"({collection_id} IN (SELECT unnest($readable_collections::VARCHAR[]))"
        f" OR {document_id} IN (SELECT unnest($readable_documents::VARCHAR[])))"
    )
    values = {
        "readable_collections": list(readable.collection_ids),
        "readable_documents": list(readable.document_ids),
    }
    return sql, values


_ENDING = re.compile(r"\.[^.]{1,8}$")


def plain(text: str) -> str:
    """The text in lower case and NFC, with ß as ss and a final sigma as any other one."""
    # One letter for one, as in SQL: İ becomes i.
    lower = unicodedata.normalize("NFC", "".join(c.lower()[0] for c in text))
    return lower.replace("ß", "ss").replace("\u03c2", "\u03c3")


def plain_name(path: str) -> str:
    """The normalised name of a file."""
    return plain(PurePath(path).name)


def squeezed(text: str) -> str:
    """The letters and digits of a text."""
    return "".join(c for c in text if unicodedata.category(c)[0] in "LN")


def stem(name: str) -> str:
    """The letters and digits of a name without its ending."""
    return squeezed(_ENDING.sub("", name))


def edits(first: str, second: str, most: int) -> int:
    """The number of edits between two words; `most` + 1 when there are more."""
    if abs(len(first) - len(second)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(second) + 1))
    for i, a in enumerate(first, 1):
        now = [i]
        for j, b in enumerate(second, 1):
            cost = min(row[j] + 1, now[j - 1] + 1, row[j - 1] + (a != b))
            if i > 1 and j > 1 and a == second[j - 2] and first[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            now.append(cost)
        if min(now) > most and min(row) > most:
            return most + 1
        before, row = row, now
    return min(row[-1], most + 1)
