"""The one DuckDB file: opening it, the one write lane, read cursors, and foreign errors mapped.

Any thread may call. Writes are serialised on the lane's own thread, each in one transaction;
a read takes its own cursor and never waits for a write. Results are always fetched whole: since
DuckDB 2.0 a connection with an unfinished result refuses other work.
"""

import logging
import threading
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar

import duckdb

from desktop_rag.core.errors import AppError
from desktop_rag.store.duckdb.database.active_readers import ActiveReaders, closed_error
from desktop_rag.store.duckdb.database.bulk_rows import DERIVED, Columns, insert
from desktop_rag.store.duckdb.database.checkpoints import Checkpoints, has_room
from desktop_rag.store.duckdb.database.compaction import compact, is_wasteful, remove_unfinished
from desktop_rag.store.duckdb.database.connections import Connection
from desktop_rag.store.duckdb.database.file_opening import (
    create_or_refuse,
    free_buffers,
    open_to_read,
    open_to_write,
)
from desktop_rag.store.duckdb.database.journal import FOLDER, Journal
from desktop_rag.store.duckdb.database.snapshot_cache import Lookup, Snapshot, SnapshotCache
from desktop_rag.store.duckdb.database.store_errors import (
    mapping_duckdb_errors,
    mapping_open_errors,
)
from desktop_rag.store.sql.line_files import mapping_journal_errors
from desktop_rag.store.sql.precious_rows import Entity
from desktop_rag.store.sql.sql_engine import sql_in
from desktop_rag.store.sql.text_sql import key_of

log = logging.getLogger(__name__)

T = TypeVar("T")

# A cancelled verification ends after this many rows.
_ROWS_VERIFIED = 200_000


class Database:
    """An open library file. Close it last: readers still active then get an AppError."""

    def __init__(
        self, path: Path, *, memory_mb: int, backups: Path, is_read_only: bool = False
    ) -> None:
        """Open or create the file and bring its schema up to date.

        With `is_read_only` neither the file nor the journal is changed, and every write raises
        AppError. A file of a newer version, of another program, damaged, or held by another process
        is left untouched and reported as AppError; so is a missing or older one if `is_read_only`.
        """
        self.path = path
        self.memory_mb = memory_mb
        self._backups = backups
        self._is_broken = False
        self._checkpoints = Checkpoints(path)
        self.is_read_only = is_read_only
        self._journal = Journal(path.with_name(FOLDER))
        self.restored = 0
        with mapping_open_errors(path):
            if is_read_only:
                self._connection = open_to_read(path, memory_mb)
            else:
                create_or_refuse(path)
                remove_unfinished(path)
                self._connection = open_to_write(path, memory_mb, backups)
                path.chmod(0o600)  # it holds the text of the documents
                self._restore(path)
                self._checkpoints.keep_private()
        self._queue: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._is_closed = False
        self._readers = ActiveReaders()
        self._cache = SnapshotCache()
        self._listeners: list[Callable[[], None]] = []
        self.let_go_listeners: list[Callable[[], None]] = []
        self._closing = threading.Lock()
        self._lane = threading.Thread(target=self._run_lane, name="store-lane", daemon=True)
        self._lane.start()

    def _restore(self, path: Path) -> None:
        try:
            with mapping_journal_errors():
                self.restored = self._journal.catch_up(self._connection)
        except BaseException:
            self._connection.close()
            raise

    @contextmanager
    def read(self) -> Generator[Connection]:
        """A cursor of the caller's own, for reading. Not to be shared between threads."""
        with mapping_duckdb_errors(), self._readers.cursor(lambda: self._connection) as cursor:
            yield cursor

    @contextmanager
    def snapshot(self) -> Generator[Snapshot]:
        """The library as it is now, unaffected by later changes."""
        with self.read() as con:
            snapshot = Snapshot(con, self._cache)
            try:
                yield snapshot
            finally:
                con.rollback()

    @contextmanager
    def build_cursor(self) -> Generator[Connection]:
        """A cursor that builds tables nobody reads yet, while the lane goes on writing others.

        For long work only; a short `write` then puts the new tables in place.
        """
        with self.read() as con:
            yield con

    def cached(self, lookup: Lookup[T]) -> T:
        """The result of a lookup, read again only after a change of the library."""
        entry = self._cache.get(lookup, self._cache.changes)
        if entry and not self._is_closed:
            return entry.value
        with self.snapshot() as snapshot:
            return snapshot.cached(lookup)

    def write(self, work: Callable[[Connection], T], *, changes: Iterable[Entity] = ()) -> T:
        """Change the library: run `work(connection)` on the lane in one transaction.

        Returns once it is on disk. An exception rolls it back and is raised here. `changes` names
        the precious things that the work changes; it is read after the work, which may fill it.
        """
        return self._on_lane(work, changes, invalidates=True)

    def write_uncached(
        self, work: Callable[[Connection], T], *, changes: Iterable[Entity] = ()
    ) -> T:
        """The same as `write`, for tables that no cached lookup reads: vectors, conversations.

        What is cached of the library stays valid.
        """
        return self._on_lane(work, changes, invalidates=False)

    def _on_lane(
        self, work: Callable[[Connection], T], changes: Iterable[Entity], *, invalidates: bool
    ) -> T:
        result: Future[T] = Future()

        def run() -> None:
            try:
                done = self._in_transaction(work, changes, invalidates=invalidates)
            except BaseException as error:
                # Before the caller hears of it, who may read next.
                self._is_broken = self._is_broken or isinstance(error, duckdb.FatalException)
                self._reopen_when_broken()
                result.set_exception(error)
            else:
                result.set_result(done)

        if self.is_read_only:
            raise AppError("The library is open for reading only.", "Start the app to change it.")
        with self._closing:
            if self._is_closed:
                raise closed_error()
            self._queue.put(run)
        with mapping_duckdb_errors():
            return result.result()

    def insert(self, con: Connection, table: str, columns: Columns) -> None:
        """Insert rows given as columns, with the columns that are derived from them."""
        insert(con, table, columns, DERIVED.get(table))

    def with_ids(self, document_ids: Sequence[str]) -> tuple[str, list[Any]]:
        """SQL that is true for the rows of these documents, and its parameters."""
        which = f"{sql_in('key', document_ids)} AND {sql_in('document_id', document_ids)}"
        return which, [*map(key_of, document_ids), *document_ids]

    def subscribe(self, listener: Callable[[], None]) -> None:
        """Call `listener` on the lane after each change of a precious thing."""
        self._listeners.append(listener)

    def let_go(self) -> None:
        """Free soon what is kept in memory of the file; it is read again when it is needed."""
        for listener in self.let_go_listeners:
            listener()
        self._cache.clear()
        with self._closing:
            if not self._is_closed:
                self._queue.put(self._free_buffers)

    def verify(self, may_go_on: Callable[[], bool] = lambda: True) -> None:
        """Read every row of every table, so that each block is compared with its checksum."""
        with self.read() as con:
            tables = con.execute("SELECT table_name FROM duckdb_tables()").fetchall()
            for (table,) in tables:
                sql = f"SELECT coalesce(max(rowid), -1) FROM {table}"
                [(last,)] = con.execute(sql).fetchall()
                for first in range(0, last + 1, _ROWS_VERIFIED):
                    if not may_go_on():
                        return
                    rows = f"rowid BETWEEN {first} AND {first + _ROWS_VERIFIED - 1}"
                    con.execute(f"SELECT bit_xor(hash(t)) FROM {table} t WHERE {rows}").fetchall()

    def journal_numbers(self) -> tuple[int, int | None]:
        """The number of the last change in the library, and in the journal if there is one."""

        def read(con: Connection) -> tuple[int, int | None]:
            [(stored,)] = con.execute("SELECT max(generation) FROM journal_state").fetchall()
            return int(stored or 0), self._journal.last_number()

        if not self.is_read_only:
            # On the lane: a change is in the journal a moment earlier than in the library.
            return self.write_uncached(read)
        with self.read() as con:
            return read(con)

    def unreadable_lines(self) -> int:
        """The number of damaged lines of the journal. AppError when its files can't be read."""
        try:
            return self._journal.count_unreadable()
        except OSError as exc:
            raise AppError(
                "The journal beside the library cannot be read.", f"{exc.filename}: {exc.strerror}."
            ) from exc

    def rewrite_journal(self) -> None:
        """Write the journal anew from the library."""
        self.write_uncached(self._journal.rewrite)

    def close(self) -> None:
        """Finish the queued writes, interrupt active readers, then close the file. Idempotent.

        When much of the file is free, it is then copied into a smaller one: about a second per
        100 MB.
        """
        with self._closing:
            if not self._is_closed:
                self._is_closed = True
                self._queue.put(None)
        self._lane.join()

    def _run_lane(self) -> None:
        while (run := self._queue.get()) is not None:
            self._reopen_when_broken()
            run()
            self._checkpoint_when_due()
        self._readers.interrupt_all()
        is_wasteful = self._is_wasteful()
        self._connection.close()
        if is_wasteful:
            compact(self.path, self.memory_mb)

    def _checkpoint_when_due(self) -> None:
        try:
            self._checkpoints.run_when_due(self._connection)
        except (duckdb.Error, OSError) as error:
            log.info("the log could not be written into the library file: %s", error)
            self._is_broken = isinstance(error, duckdb.FatalException)
            self._reopen_when_broken()

    def _free_buffers(self) -> None:
        with self._readers.held_if_none() as is_held:
            if is_held:
                free_buffers(self._connection, self.memory_mb)

    def _reopen_when_broken(self) -> None:
        """Open the file again after an error that DuckDB calls fatal: its reads all fail then.

        What was committed is in the log. Without success, the next write tries again.
        """
        if not self._is_broken:
            return
        try:
            with self._readers.none_active(), self._cache.changing():
                self._connection.close()
                self._connection = open_to_write(self.path, self.memory_mb, self._backups)
                self._is_broken = False
        except (duckdb.Error, TimeoutError) as error:
            log.info("the library file could not be opened again: %s", error)

    def _is_wasteful(self) -> bool:
        if self.is_read_only:
            return False
        try:
            return has_room(self.path) and is_wasteful(self._connection)
        except (duckdb.Error, OSError) as error:
            log.info("the free space of the library file is not known: %s", error)
            return False

    def _in_transaction(
        self, work: Callable[[Connection], T], changes: Iterable[Entity], *, invalidates: bool
    ) -> T:
        self._connection.begin()
        try:
            result = work(self._connection)
            if changed := list(changes):
                with mapping_journal_errors():
                    self._journal.record(self._connection, changed)
            # Nobody else sees any of it before the commit.
            with self._cache.changing() if invalidates else nullcontext():
                self._connection.commit()
        except BaseException:
            self._rollback()
            raise
        self._checkpoints.keep_private()
        if changed:
            self._journal.settle()
            for listener in self._listeners:
                listener()
        return result

    def _rollback(self) -> None:
        try:
            self._connection.rollback()
        except duckdb.TransactionException:
            # A commit that failed has already ended the transaction.
            log.info("nothing to roll back")
