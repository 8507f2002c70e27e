"""The one DuckDB file: opening, the write lane, read cursors, checkpoints and compaction.

Any thread may use `Database`; everything else runs on the write lane, or before it starts. Writes
are serialised on the lane's thread, each in one transaction; a read takes its own cursor and never
waits for a write. Results are always fetched whole: since DuckDB 2.0 a connection with an
unfinished result refuses other work.
"""

import errno
import logging
import os
import shutil
import threading
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar

import duckdb

from desktop_rag.core.errors import AppError, DiskError, NotReadableNowError, os_error_as
from desktop_rag.core.files.own_files import close_to_others
from desktop_rag.store.contract import database as contract
from desktop_rag.store.contract.database import (
    Entity,
    closed_error,
    key_of,
    read_only_error,
    sql_in,
)
from desktop_rag.store.contract.inspection import NoLibraryError
from desktop_rag.store.contract.line_files import mapping_journal_errors
from desktop_rag.store.contract.precious import SCHEMA, PreciousChanged, precious_tables
from desktop_rag.store.duckdb.database.connections import (
    DERIVED,
    OPTIONS,
    Columns,
    Connection,
    insert,
    is_usable,
    mapping_duckdb_errors,
    mapping_open_errors,
    roll_back,
)
from desktop_rag.store.duckdb.database.journal import FOLDER, Journal
from desktop_rag.store.duckdb.database.reading import ActiveReaders, Lookup, Snapshot, SnapshotCache
from desktop_rag.store.duckdb.database.schema import (
    TOO_OLD,
    bring_up_to_date,
    create,
    drop_old_copy,
    form_of,
    keep_copy,
    tables_in,
)

log = logging.getLogger(__name__)

# A small log is quickly replayed after a crash.
_LOG_BYTES = 16_000_000
# A checkpoint writes what the log holds and the blocks around it, in part twice.
_LEAST_FREE_BYTES = 64_000_000
_FREE_PER_LOG_BYTE = 4
# What a small change takes in the log and in the journal.
_LEAST_TO_WRITE_BYTES = 1_000_000
# DuckDB's own threshold, so that it never makes a checkpoint by itself.
NEVER = "1TB"


class Checkpoints:
    """Writes the write-ahead log into the library file, and keeps it private.

    DuckDB would do so in the middle of a commit: if the disk has no room then, all reads fail until
    the file is opened again.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._due_bytes = _LOG_BYTES

    def run_when_due(self, connection: Connection) -> None:
        """Write a long log into the file if the disk has room; tried again once the log has grown.

        duckdb.FatalException when the disk or a quota is full nevertheless: the connection is then
        unusable.
        """
        size = _log_bytes(self._path)
        if size < self._due_bytes or not has_room(self._path):
            return
        self._due_bytes = size + _LOG_BYTES
        try:
            connection.execute("CHECKPOINT")
        except duckdb.TransactionException:
            log.info("a table is being built: the log grows until that is done")
        self._due_bytes = _LOG_BYTES

    def keep_private(self) -> None:
        """Close the log to other users; DuckDB creates it anew after each checkpoint.

        The process's umask doesn't suffice: programs that use the package keep their own, and an
        export lifts ours for a moment.
        """
        close_to_others(_log_file(self._path))


def has_room(path: Path, size_bytes: int = 0) -> bool:
    """True when the disk of the library file has room for a checkpoint, and for so much more."""
    needed = size_bytes + _LEAST_FREE_BYTES + _FREE_PER_LOG_BYTE * _log_bytes(path)
    return shutil.disk_usage(path.parent).free >= needed


def _log_bytes(path: Path) -> int:
    try:
        return _log_file(path).stat().st_size
    except FileNotFoundError:
        return 0


def _log_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.wal")


def open_to_write(path: Path, memory_mb: int, backups: Path) -> Connection:
    """Open an existing file and bring its schema up to date."""
    # Opening replays the log of a crash under the memory limit, so the limit is set afterwards.
    connection = duckdb.connect(str(path), config={**OPTIONS, "checkpoint_threshold": NEVER})
    try:
        bring_up_to_date(connection)
        connection.execute("SET allowed_directories = [$1]", [str(backups)])
        connection.execute("SET enable_external_access = false")
        connection.execute(f"SET memory_limit = '{int(memory_mb)}MB'")
        connection.execute("SET preserve_insertion_order = false")
        # For `free_buffers`.
        connection.execute("SET allowed_configs = ['memory_limit']")
        connection.execute("SET lock_configuration = true")
    except BaseException:
        connection.close()
        raise
    return connection


def open_to_read(path: Path, memory_mb: int) -> Connection:
    """Open an existing file of the latest version so that nothing is written; AppError for others.

    A write-ahead log is replayed in memory.
    """
    if not path.exists():
        raise NoLibraryError(has_journal=path.with_name(FOLDER).exists())
    found, _ = _form(path)
    # Without a folder for temporary files: nothing at all is written.
    connection = duckdb.connect(
        str(path),
        read_only=True,
        config={**OPTIONS, "temp_directory": "", "memory_limit": f"{memory_mb:d}MB"},
    )
    try:
        if found != SCHEMA or not tables_in(connection).issuperset(precious_tables()):
            raise NotReadableNowError(
                "The library was written by an earlier version of the app.",
                "Start the app once: it brings the library up to date.",
            )
        connection.execute("SET enable_external_access = false")
        connection.execute("SET preserve_insertion_order = false")
    except BaseException:
        connection.close()
        raise
    return connection


def free_buffers(connection: Connection, memory_mb: int) -> None:
    """Free the cached blocks of the file. Nobody may read or write meanwhile."""
    try:
        connection.execute("SET memory_limit = '1MB'")
    except duckdb.Error as error:
        log.info("the memory of the store was not freed: %s", error)
    finally:
        connection.execute(f"SET memory_limit = '{int(memory_mb)}MB'")


def create_or_refuse(path: Path) -> None:
    """Create the file, or refuse an existing one that is not ours or too new."""
    drop_old_copy(path)
    if not path.exists():
        create(path)
        return
    found, is_before_first = _form(path)
    if is_before_first or 0 < found < SCHEMA:
        keep_copy(path)


def _form(path: Path) -> tuple[int, bool]:
    """What `form_of` says; AppError when we must refuse the file, leaving it untouched."""
    connection = duckdb.connect(str(path), read_only=True)
    try:
        found, is_before_first = form_of(connection)
    finally:
        connection.close()
    if found is None:
        raise AppError(
            "This database belongs to another program.",
            f"{path} was left as it is. Move it away, or choose another home folder.",
        )
    if found == TOO_OLD:
        raise AppError(
            "The library was written by an app from before the first release.",
            f"{path} was left as it is. Move it away: then chats and folders come back from the"
            " journal beside it.",
        )
    if found > SCHEMA:
        raise AppError(
            "The library was written by a newer version of the app.",
            f"{path} (version {found}, this app knows {SCHEMA}) was left as it is. "
            "Update the app to open it.",
        )
    return found, is_before_first


# A file is compacted when it is this many times as large as its content, and wastes this much.
_MAX_RATIO = 1.45
_MIN_WASTE_BYTES = 16_000_000
# Also when text was deleted, whose bytes stay in free blocks. Readers wait a second per 100 MB: a
# larger file is copied at rest once a day only.
_OFTEN_COPIED_BYTES = 200_000_000
_LONG_COPY_EVERY_S = 86_400.0
_SUFFIX = ".compact"


def is_wasteful(connection: Connection) -> bool:
    """True when much of the open file is free or taken by deleted rows."""
    connection.execute("CHECKPOINT")
    [(block_bytes, total, used)] = connection.execute(
        "SELECT block_size, total_blocks, used_blocks FROM pragma_database_size()"
    ).fetchall()
    needed = used * _live_share(connection)
    return total > _MAX_RATIO * needed and (total - needed) * block_bytes > _MIN_WASTE_BYTES


def compact(path: Path, memory_mb: int) -> bool:
    """Replace a closed file by a copy without free space; False if that failed and it is as it was.

    DuckDB reuses free blocks, but truncates only those at the end of the file.
    """
    if _log_bytes(path):
        return False  # it would be replayed into the copy
    fresh = path.with_name(path.name + _SUFFIX)
    remove_unfinished(path)
    try:
        _copy(path, fresh, memory_mb)
        fresh.chmod(0o600)
        fresh.replace(path)
    except (duckdb.Error, OSError) as error:
        log.info("the library file keeps its size: %s", error)
        return False
    finally:
        remove_unfinished(path)
    return True


def remove_unfinished(path: Path) -> None:
    """Remove the files of an interrupted copy. No copy may be running."""
    for suffix in (_SUFFIX, f"{_SUFFIX}.wal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _live_share(connection: Connection) -> float:
    """The share of rows in the largest tables that are not deleted."""
    names = connection.execute(
        "SELECT table_name FROM duckdb_tables() WHERE table_name IN ('chunks', 'document_texts')"
        " OR table_name LIKE 'vectors\\_%' ESCAPE '\\'"
    ).fetchall()
    counts = [
        connection.execute(f"SELECT count(*), coalesce(max(rowid) + 1, 0) FROM {name}").fetchall()
        for (name,) in names
    ]
    places = sum(place for [(_, place)] in counts)
    return sum(count for [(count, _)] in counts) / places if places else 1.0


def _copy(path: Path, fresh: Path, memory_mb: int) -> None:
    connection = duckdb.connect(
        config={**OPTIONS, "memory_limit": f"{memory_mb:d}MB", "temp_directory": f"{fresh}.temp"}
    )
    try:
        connection.execute(f"ATTACH {_quoted(path)} AS library (READ_ONLY)")
        connection.execute(f"ATTACH {_quoted(fresh)} AS fresh")
        connection.execute("COPY FROM DATABASE library TO fresh")
        if _rows(connection, "library") != _rows(connection, "fresh"):
            raise OSError("the copy is not complete")
        connection.execute("DETACH fresh")
    finally:
        connection.close()


def _rows(connection: Connection, database: str) -> dict[str, int]:
    tables = connection.execute(
        "SELECT table_name FROM duckdb_tables() WHERE database_name = ?", [database]
    ).fetchall()
    return {
        name: connection.execute(f"SELECT count(*) FROM {database}.{name}").fetchall()[0][0]
        for (name,) in tables
    }


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


T = TypeVar("T")
# A cancelled verification ends after this many rows.
_ROWS_VERIFIED = 200_000


class Database(contract.Database):
    """An open library file. Close it last: readers still active then get an AppError."""

    def __init__(
        self, path: Path, *, memory_mb: int, backups: Path, is_read_only: bool = False
    ) -> None:
        """Open or create the file and bring its schema up to date.

        Where the disk refuses to write, the library can be read, and every write tries again and
        raises that `fault`. With `is_read_only` neither the file nor the journal is changed, and
        every write raises AppError. AppError, with the file untouched, if it is of a newer version,
        of another program, damaged or held by another process; if `is_read_only`, also if missing
        or older.
        """
        super().__init__()
        self.path = path
        self.memory_mb = memory_mb
        self._backups = backups
        self._checkpoints = Checkpoints(path)
        self.is_read_only = is_read_only
        self._journal = Journal(path.with_name(FOLDER))
        self.restored = 0
        # The reason why an open library can only be read.
        self.fault: DiskError | None = None
        self._is_broken = False
        # Set on the lane by who deletes: the bytes of the text are still in the file.
        self.holds_deleted_text = False
        self._long_copy_at = 0.0
        self._connection = self._open()
        self._device = _device_of(path)
        self._queue: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._is_closed = False
        self._readers = ActiveReaders()
        self._cache = SnapshotCache()
        self._closing = threading.Lock()
        self._lane = threading.Thread(target=self._run_lane, name="store-lane", daemon=True)
        self._lane.start()

    def _open(self) -> Connection:
        """Open the file; only to read, until the next write, where the disk refuses to write."""
        self.fault = None
        try:
            if not self.is_read_only:
                return self._open_to_write()
        except DiskError as error:
            if not self.path.exists():
                raise
            log.info("the library is opened to read only: %s", error)
            self.fault = error
        try:
            with mapping_open_errors(self.path):
                return open_to_read(self.path, self.memory_mb)
        except NotReadableNowError as error:
            raise self.fault or error from error

    def _open_to_write(self) -> Connection:
        """Open or create the file, bring it up to date and let it catch up with the journal."""
        with mapping_open_errors(self.path):
            if not os.access(self.path.parent, os.W_OK):
                # The engine would open the file all the same, and fail with the first change.
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            create_or_refuse(self.path)
            remove_unfinished(self.path)
            connection = open_to_write(self.path, self.memory_mb, self._backups)
            try:
                close_to_others(self.path)  # it holds the text of the documents
                self.restored = self._journal.catch_up(connection)
            except BaseException:
                connection.close()
                raise
        self._checkpoints.keep_private()
        return connection

    @contextmanager
    def read(self) -> Generator[Connection]:
        """A cursor for reading, for one thread."""
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

    def cached(self, lookup: Lookup[T]) -> T:
        entry = self._cache.get(lookup, self._cache.changes)
        if entry and not self._is_closed:
            return entry.value
        return super().cached(lookup)

    def transact(
        self, work: Callable[[Connection], T], changes: Iterable[Entity], *, invalidates: bool
    ) -> T:
        """Run the work on the lane."""
        result: Future[T] = Future()

        def run() -> None:
            try:
                self._check_writable()
                done = self._in_transaction(work, changes, invalidates=invalidates)
            except BaseException as error:
                # Before the caller gets the error, as it may read next.
                if not is_usable(self._connection):
                    self._reopen()
                result.set_exception(error)
            else:
                result.set_result(done)

        if self.is_read_only:
            raise read_only_error()
        with self._closing:
            if self._is_closed:
                raise closed_error()
            self._queue.put(run)
        with mapping_duckdb_errors():
            return result.result()

    def insert(self, con: Connection, table: str, columns: Columns) -> None:
        insert(con, table, columns, DERIVED.get(table))

    def with_ids(self, document_ids: Sequence[str]) -> tuple[str, list[Any]]:
        which = f"{sql_in('key', document_ids)} AND {sql_in('document_id', document_ids)}"
        return which, [*map(key_of, document_ids), *document_ids]

    def release(self) -> None:
        super().release()
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
        with os_error_as("The journal beside the library cannot be read."):
            return self._journal.count_unreadable()

    def rewrite_journal(self) -> None:
        """Write the journal anew from the library."""
        self.write_uncached(self._journal.rewrite)

    def close(self) -> None:
        """Finish the queued writes, interrupt active readers, then close the file. Idempotent.

        A file that is mostly free or holds deleted text is then compacted: about a second per
        100 MB.
        """
        with self._closing:
            if not self._is_closed:
                self._is_closed = True
                self._queue.put(None)
        self._lane.join()

    def _run_lane(self) -> None:
        while (run := self._queue.get()) is not None:
            run()
            self._checkpoint_when_due()
        self._readers.interrupt_all()
        is_to_be_copied = self._is_wasteful() or self._may_drop_deleted_text(is_closing=True)
        self._connection.close()
        if is_to_be_copied:
            compact(self.path, self.memory_mb)

    def _checkpoint_when_due(self) -> None:
        if self.fault:
            return
        try:
            self._checkpoints.run_when_due(self._connection)
        except (duckdb.Error, OSError) as error:
            log.info("the log could not be written into the library file: %s", error)
            if not is_usable(self._connection):
                self._reopen()

    def _free_buffers(self) -> None:
        with self._readers.held_if_none() as is_held:
            if is_held and self._may_drop_deleted_text():
                self._drop_deleted_text()
            elif is_held:
                free_buffers(self._connection, self.memory_mb)

    def _may_drop_deleted_text(self, *, is_closing: bool = False) -> bool:
        if not self.holds_deleted_text or self.is_read_only or self._is_broken or self.fault:
            return False
        try:
            size = self.path.stat().st_size
            is_due = (
                is_closing or size <= _OFTEN_COPIED_BYTES or time.monotonic() >= self._long_copy_at
            )
            return is_due and has_room(self.path, size)
        except OSError:
            return False

    def _drop_deleted_text(self) -> None:
        """Put a copy without deleted text in place of the file. On the lane, without readers."""
        try:
            self._long_copy_at = time.monotonic() + _LONG_COPY_EVERY_S
            self._connection.execute("CHECKPOINT")
            with self._cache.changing():
                self._connection.close()
                self.holds_deleted_text = not compact(self.path, self.memory_mb)
                self._connection = self._open()
        except (duckdb.Error, AppError) as error:
            log.info("the library file could not be copied and opened again: %s", error)
            self._is_broken = not is_usable(self._connection)  # the next write tries again

    def _check_writable(self) -> None:
        """AppError while nothing can be written; the file is opened again once that may work."""
        found = _device_of(self.path)
        if found is None:
            hint = f"{self.path} is not there. Connect its disk: the app goes on by itself."
            raise DiskError("The folder of the library is away.", hint)
        if found != self._device or self._is_broken or (self.fault and _may_write(self.path)):
            self._reopen()
        if self.fault:
            raise self.fault.with_traceback(None) from None

    def _reopen(self) -> None:
        """Open the file again: all reads fail after an error that DuckDB calls fatal.

        Commits are in the log. If it fails, the next write tries again.
        """
        self._is_broken = True
        try:
            with self._readers.none_active(), self._cache.changing():
                self._connection.close()
                self._connection = self._open()
                self._device = _device_of(self.path)
        except (AppError, TimeoutError) as error:
            log.info("the library file could not be opened again: %s", error)
            return
        self._is_broken = False
        if self.restored:
            self.changes.publish(PreciousChanged())

    def _is_wasteful(self) -> bool:
        if self.is_read_only or self._is_broken or self.fault:
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
            roll_back(self._connection)
            self._journal.withdraw()
            raise
        self._checkpoints.keep_private()
        if changed:
            self._journal.settle()
            self.changes.publish(PreciousChanged())
        return result


def _device_of(path: Path) -> int | None:
    """The number of the disk with the file; None where there is no file.

    Not its inode: some file systems of networks give a file another one now and then.
    """
    try:
        return path.stat().st_dev
    except OSError:
        return None


def _may_write(path: Path) -> bool:
    """False while the permissions or the free space tell that nothing can be written."""
    try:
        free = shutil.disk_usage(path.parent).free
    except OSError:  # it went away meanwhile
        return False
    is_allowed = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    return is_allowed and free >= _LEAST_TO_WRITE_BYTES
