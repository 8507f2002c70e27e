"""What is so of the library as a whole, remembered until it changes. Any thread."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, Generic, NamedTuple, TypeVar

from desktop_rag.store.duckdb.database.connections import Connection

T = TypeVar("T")
# What looks something up.
Look = Callable[[Connection], T]


class CachedEntry(NamedTuple, Generic[T]):
    """What was found in the library after so many changes."""

    changes: int
    value: T


class SnapshotCache:
    """What was looked up since the library last changed."""

    def __init__(self) -> None:
        # Odd while a change is committed: before, nobody sees it.
        self._changes = 0
        self._found: dict[Look[Any], CachedEntry[Any]] = {}

    @contextmanager
    def changing(self) -> Generator[None]:
        """While a change of the library is committed. One at a time."""
        self._changes += 1
        try:
            yield
        finally:
            self._changes += 1

    @property
    def changes(self) -> int | None:
        """A number that no other state of the library has; None while it changes."""
        return None if self._changes % 2 else self._changes

    def found(self, look: Look[T], changes: int | None) -> CachedEntry[T] | None:
        """What `look` found in that state."""
        found = self._found.get(look)
        return found if found and found.changes == changes else None

    def keep(self, look: Look[T], found: CachedEntry[T]) -> None:
        """Remember it instead of what it found before."""
        self._found[look] = found


class Snapshot:
    """The library as it was at one moment, for reads that must fit together. On one thread."""

    def __init__(self, con: Connection, known: SnapshotCache) -> None:
        """Begin on a cursor that has no transaction."""
        self.con = con
        self._known = known
        before = known.changes
        con.begin()
        # It begins with the first look at a table. To let DuckDB begin every transaction at once,
        # by its immediate_transaction_mode, made a question a seventh slower.
        con.execute("FROM posting_runs LIMIT 0").fetchall()
        self._changes = before if before == known.changes else None

    @property
    def changes(self) -> int | None:
        """A number that no other state of the library has; None if there is no telling."""
        return self._changes

    def known(self, look: Look[T]) -> T:
        """What `look` finds here, looked up once as long as the library stays as it is."""
        if found := self._known.found(look, self._changes):
            return found.value
        value = look(self.con)
        if self._changes is not None:
            self._known.keep(look, CachedEntry(self._changes, value))
        return value
