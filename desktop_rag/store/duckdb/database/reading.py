"""Snapshots, results of lookups cached until a commit, and the active readers. Any thread."""

import logging
import threading
import time
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from desktop_rag.store.contract.database import closed_error
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


log = logging.getLogger(__name__)

# An interrupt ends one statement only, so it is repeated until the reader is gone.
_INTERRUPT_INTERVAL_S = 0.02
# A reader that is blocked elsewhere must not delay closing for longer.
_TIMEOUT_S = 5.0


@dataclass(eq=False, slots=True)
class _Reader:
    """One that reads, with its cursor while that is open."""

    cursor: Connection | None = None


class ActiveReaders:
    """The cursors of all active readers."""

    def __init__(self) -> None:
        self._readers: set[_Reader] = set()
        self._is_closed = False
        self._is_held = False
        self._changed = threading.Condition()

    @contextmanager
    def cursor(self, connection: Callable[[], Connection]) -> Generator[Connection]:
        """A cursor on the connection for one reader, closed at the end of the context.

        Opened and closed without the lock: a question opens many, and others would wait for each.
        """
        reader = _Reader()
        with self._changed:
            self._changed.wait_for(lambda: not self._is_held)
            if self._is_closed:
                raise closed_error()
            self._readers.add(reader)
        try:
            with closing(connection().cursor()) as cursor:
                reader.cursor = cursor
                try:
                    yield cursor
                finally:
                    with self._changed:
                        # A closed cursor can't be interrupted.
                        reader.cursor = None
        finally:
            with self._changed:
                self._readers.discard(reader)
                self._changed.notify_all()

    def interrupt_all(self) -> None:
        """Refuse new readers, interrupt the active ones and wait until they are gone."""
        with self._changed:
            self._is_closed = True
            if not self._interrupted():
                log.warning("%d readers are still active", len(self._readers))

    @contextmanager
    def none_active(self) -> Generator[None]:
        """Interrupt the active readers; new ones wait for the end of the context.

        TimeoutError when one is still active after seconds.
        """
        with self._changed:
            self._is_held = True
            try:
                if not self._interrupted():
                    raise TimeoutError(f"{len(self._readers)} readers are still active")
                yield
            finally:
                self._is_held = False
                self._changed.notify_all()

    @contextmanager
    def held_if_none(self) -> Generator[bool]:
        """If no reader is active, True, and new ones wait for the end of the context."""
        with self._changed:
            is_held = self._is_held = not self._readers and not self._is_closed
            try:
                yield is_held
            finally:
                self._is_held = False
                self._changed.notify_all()

    def _interrupted(self) -> bool:
        """True once no reader is left. The lock must be held; it is released while waiting."""
        ends_at = time.monotonic() + _TIMEOUT_S
        while self._readers and time.monotonic() < ends_at:
            for reader in self._readers:
                if reader.cursor:
                    reader.cursor.interrupt()
            self._changed.wait(_INTERRUPT_INTERVAL_S)
        return not self._readers
