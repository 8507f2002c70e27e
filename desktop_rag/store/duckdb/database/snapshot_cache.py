"""Snapshots of the library, and results of lookups cached until a commit. Any thread."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, Generic, NamedTuple, TypeVar

from desktop_rag.store.duckdb.database.connections import Connection

T = TypeVar("T")
# A function that reads from a cursor; it is its own key in the cache.
Lookup = Callable[[Connection], T]


class CachedEntry(NamedTuple, Generic[T]):
    """The result of a lookup, and the change number of the library state it was read in."""

    changes: int
    value: T


class SnapshotCache:
    """Results of lookups, each valid for one state of the library."""

    def __init__(self) -> None:
        # Odd while a change is being committed: until then nobody sees it.
        self._changes = 0
        self._entries: dict[Lookup[Any], CachedEntry[Any]] = {}

    @contextmanager
    def changing(self) -> Generator[None]:
        """Wrap the commit of a change of the library in this. One at a time."""
        self._changes += 1
        try:
            yield
        finally:
            self._changes += 1

    @property
    def changes(self) -> int | None:
        """The number of the current library state, unique to it; None during a commit."""
        return None if self._changes % 2 else self._changes

    def get(self, lookup: Lookup[T], changes: int | None) -> CachedEntry[T] | None:
        """The cached result of a lookup in that state, if there is one."""
        entry = self._entries.get(lookup)
        return entry if entry and entry.changes == changes else None

    def put(self, lookup: Lookup[T], entry: CachedEntry[T]) -> None:
        """Cache a result in place of an earlier one."""
        self._entries[lookup] = entry

    def clear(self) -> None:
        """Forget everything; it is read again when it is needed."""
        self._entries.clear()


class Snapshot:
    """The library at one moment, for consistent reads. For one thread."""

    def __init__(self, con: Connection, cache: SnapshotCache) -> None:
        """Begin on a cursor that has no transaction."""
        self.con = con
        self._cache = cache
        before = cache.changes
        con.begin()
        # DuckDB takes the snapshot at the first access to a table. Its immediate_transaction_mode,
        # which takes it at BEGIN, made a question a seventh slower.
        con.execute("FROM posting_runs LIMIT 0").fetchall()
        self._changes = before if before == cache.changes else None

    @property
    def changes(self) -> int | None:
        """The number of this library state; None when a commit ran while the snapshot was taken."""
        return self._changes

    def cached(self, lookup: Lookup[T]) -> T:
        """The result of a lookup in this snapshot, read once per library state."""
        if entry := self._cache.get(lookup, self._changes):
            return entry.value
        value = lookup(self.con)
        if self._changes is not None:
            self._cache.put(lookup, CachedEntry(self._changes, value))
        return value
