"""The one DuckDB file: opening it, the one write lane, read cursors, and foreign errors mapped.

Any thread may call. Writes are serialised on the lane's own thread, each in one transaction;
a read takes its own cursor and never waits for a write. Results are always fetched whole: since
DuckDB 2.0 a connection with an unfinished result refuses other work.
"""

import logging
import os
import re
import threading
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar

import duckdb
import numpy as np
from numpy.typing import NDArray

from desktop_rag.core.errors import AppError
from desktop_rag.store.duckdb.database.active_readers import ActiveReaders, closed
from desktop_rag.store.duckdb.database.compaction import compact, is_wasteful, remove_unfinished
from desktop_rag.store.duckdb.database.connections import OPTIONS, Connection
from desktop_rag.store.duckdb.database.migrations import LATEST, migrate, version_of
from desktop_rag.store.duckdb.database.snapshot_cache import Look, Snapshot, SnapshotCache

log = logging.getLogger(__name__)

T = TypeVar("T")
Columns = dict[str, Sequence[Any] | NDArray[Any]]

# A small threshold keeps the write-ahead log short: less to replay after a crash.
_CORRUPT = re.compile(r"(?i)corrupt|checksum")
_CHECKPOINT_THRESHOLD = "16MB"
# Rows up to so many go as parameters.
_FEW = 4
# Numbers up to so many stand in the statement.
_FEW_NUMBERS = 32


class DamagedStoreError(AppError):
    """The library file cannot be read: not a lock, not a permission, but its content."""

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(
            "The library file is damaged.",
            f"{path}: {what} Nothing was changed. `desktop-rag doctor --repair` moves it aside and"
            " begins a new one; then add your folders again. Your own files are not affected.",
        )


def set_aside(path: Path) -> Path:
    """Move a damaged library file and its log out of the way; returns where it is now.

    Only for a file that nobody has open.
    """
    kept = path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
    path.rename(kept)
    log_file = path.with_name(path.name + ".wal")
    if log_file.exists():
        log_file.rename(kept.with_name(kept.name + ".wal"))
    return kept


class Database:
    """An open store file. Close it last: whoever still reads then gets an AppError."""

    def __init__(self, path: Path, *, memory_mb: int, backups: Path) -> None:
        """Open or create the file and bring its schema up to date.

        A file of a newer version, of another program, damaged, or held by another process is
        left untouched and reported as AppError.
        """
        self.path = path
        self.memory_mb = memory_mb
        with _mapping_open_errors(path):
            _refuse_foreign_file(path)
            remove_unfinished(path)
            self._connection = _open(path, memory_mb, backups)
            path.chmod(0o600)  # it holds the text of the documents
        self._queue: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._is_closed = False
        self._readers = ActiveReaders()
        self._known = SnapshotCache()
        self._closing = threading.Lock()
        self._lane = threading.Thread(target=self._run_lane, name="store-lane", daemon=True)
        self._lane.start()

    @contextmanager
    def read(self) -> Generator[Connection]:
        """A cursor of the caller's own, for reading. Not shared between threads."""
        with mapping_duckdb_errors(), self._readers.reading(self._connection) as cursor:
            yield cursor

    @contextmanager
    def snapshot(self) -> Generator[Snapshot]:
        """The library to which nothing happens, as it is now."""
        with self.read() as con:
            snapshot = Snapshot(con, self._known)
            try:
                yield snapshot
            finally:
                con.rollback()

    @contextmanager
    def beside(self) -> Generator[Connection]:
        """A cursor that makes tables nobody reads yet, while the lane goes on writing others.

        For long work only; what it made takes its place in a short `write`.
        """
        with self.read() as con:
            yield con

    def known(self, look: Look[T]) -> T:
        """What `look` finds, looked up anew only when the library has changed since."""
        found = self._known.found(look, self._known.changes)
        if found and not self._is_closed:
            return found.value
        with self.snapshot() as snapshot:
            return snapshot.known(look)

    def write(self, work: Callable[[Connection], T]) -> T:
        """Change the library: run `work(connection)` on the lane in one transaction.

        Returns once it is on disk. Whatever it raises rolls it back and is raised here.
        """
        return self._on_lane(work, is_library=True)

    def note(self, work: Callable[[Connection], T]) -> T:
        """As `write`, what is no part of the library: vectors, what was said. Nothing that is
        `known` may rest on it.
        """
        return self._on_lane(work, is_library=False)

    def _on_lane(self, work: Callable[[Connection], T], *, is_library: bool) -> T:
        result: Future[T] = Future()

        def run() -> None:
            try:
                result.set_result(self._in_transaction(work, is_library=is_library))
            except BaseException as error:
                result.set_exception(error)

        with self._closing:
            if self._is_closed:
                raise closed()
            self._queue.put(run)
        with mapping_duckdb_errors():
            return result.result()

    def close(self) -> None:
        """Finish the queued writes, interrupt who still reads, then close the file. Idempotent.

        When much of the file is free, it is copied into a smaller one first: a second or so for
        every 100 MB.
        """
        with self._closing:
            if not self._is_closed:
                self._is_closed = True
                self._queue.put(None)
        self._lane.join()

    def _run_lane(self) -> None:
        while (run := self._queue.get()) is not None:
            run()
        self._readers.dismiss()
        is_wasteful = self._is_wasteful()
        self._connection.close()
        if is_wasteful:
            compact(self.path, self.memory_mb)

    def _is_wasteful(self) -> bool:
        try:
            return is_wasteful(self._connection)
        except duckdb.Error as error:
            log.warning("the library file was not looked over: %s", _first_line(error))
            return False

    def _in_transaction(self, work: Callable[[Connection], T], *, is_library: bool) -> T:
        self._connection.begin()
        try:
            result = work(self._connection)
            # Until here nobody else sees any of it.
            with self._known.changing() if is_library else nullcontext():
                self._connection.commit()
        except BaseException:
            self._rollback()
            raise
        return result

    def _rollback(self) -> None:
        try:
            self._connection.rollback()
        except duckdb.TransactionException:
            # A commit that failed has already ended the transaction.
            log.info("nothing to roll back")


def one_of(column: str, values: Sequence[Any]) -> str:
    """SQL that asks whether a column holds one of the values, which are its parameters.

    Of a few this takes half as long as with a list that is taken apart, of one half of that.
    """
    if len(values) == 1:
        return f"{column} = ?"
    return f"{column} IN ({', '.join('?' * len(values)) or 'NULL'})"


def among(con: Connection, column: str, numbers: Iterable[int], kind: str = "BIGINT") -> str:
    """SQL that asks whether a column of a type holds one of these numbers. Until the next call.

    As rows they are found in half the time of a list, which is taken apart first.
    """
    numbers = list(numbers)
    if not numbers:
        return "false"
    if len(numbers) <= _FEW_NUMBERS:
        return f"{column} IN (VALUES {', '.join(f'({number}::{kind})' for number in numbers)})"
    con.register("wanted", {"number": np.array(numbers, kind.replace("BIGINT", "int64").lower())})
    return f"{column} IN (SELECT number FROM wanted)"


def insert(
    connection: Connection,
    table: str,
    columns: Columns,
    computed: Mapping[str, tuple[str, Callable[[str], str]]] | None = None,
) -> None:
    """Insert rows given as columns (name → sequence of equal length); none is fine.

    `computed` are further columns, each with the one it is made of and how, in SQL. Handing DuckDB
    whole columns is five times faster than `executemany` or list parameters; only of a few rows it
    is not.
    """
    count = len(next(iter(columns.values())))
    if not count:
        return
    given = list(columns)
    made = dict(computed or {})
    what = f"INSERT INTO {table} ({', '.join([*given, *made])})"
    if count <= _FEW and all(isinstance(values, list) for values in columns.values()):
        row = f"({', '.join([*'?' * len(given), *(sql('?') for _, sql in made.values())])})"
        values = [*columns.values(), *(columns[name] for name, _ in made.values())]
        parameters = [value for row in zip(*values, strict=True) for value in row]
        connection.execute(f"{what} VALUES {', '.join([row] * count)}", parameters)
        return
    # Not unregistered: that takes time, and the next insert takes its place.
    connection.register("incoming", {n: _as_array(values) for n, values in columns.items()})
    values = [*given, *(sql(name) for name, sql in made.values())]
    connection.execute(f"{what} SELECT {', '.join(values)} FROM incoming")


def _as_array(values: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    if isinstance(values, np.ndarray) and values.ndim == 1:
        return values
    if len(values) and isinstance(values[0], int | float | bool):
        array = np.asarray(values)
        # Of whole numbers on both sides of 2^63 NumPy would make floats, and lose their last bits.
        is_rounded = array.dtype.kind == "f" and all(isinstance(v, int) for v in values)
        return np.array(values, np.uint64) if is_rounded else array
    # NumPy would turn texts into a fixed-width array and vectors into a matrix.
    objects = np.empty(len(values), dtype=object)
    if len(values) and isinstance(values[0], str):
        objects[:] = values
        return objects
    for index, value in enumerate(values):
        objects[index] = value
    return objects


def _open(path: Path, memory_mb: int, backups: Path) -> Connection:
    # The log of a crash is replayed at open and obeys the memory limit, so the limit comes after.
    connection = duckdb.connect(
        str(path),
        config={**OPTIONS, "checkpoint_threshold": _CHECKPOINT_THRESHOLD},
    )
    try:
        migrate(connection)
        connection.execute("SET allowed_directories = [$1]", [str(backups)])
        connection.execute("SET enable_external_access = false")
        connection.execute(f"SET memory_limit = '{int(memory_mb)}MB'")
        connection.execute("SET preserve_insertion_order = false")
        connection.execute("SET lock_configuration = true")
    except BaseException:
        connection.close()
        raise
    return connection


def _refuse_foreign_file(path: Path) -> None:
    """Look at an existing file read-only first, so that one we must refuse stays untouched."""
    if not path.exists():
        return
    connection = duckdb.connect(str(path), read_only=True)
    try:
        found = version_of(connection)
    finally:
        connection.close()
    if found is None:
        raise AppError(
            "This database belongs to another program.",
            f"{path} was left as it is. Move it away, or choose another home folder.",
        )
    if found > LATEST:
        raise AppError(
            "The library was written by a newer version of the app.",
            f"{path} (version {found}, this app knows {LATEST}) was left as it is. "
            "Update the app to open it.",
        )


@contextmanager
def _mapping_open_errors(path: Path) -> Generator[None]:
    try:
        yield
    except duckdb.IOException as exc:
        raise _open_error(path, str(exc)) from exc
    except duckdb.Error as exc:
        raise DamagedStoreError(path, _first_line(exc)) from exc


def _open_error(path: Path, text: str) -> AppError:
    if holder := re.search(r"PID (\d+)", text):
        return AppError(
            "The library is in use by another process.",
            f"Process {holder.group(1)} holds {path}. Close it, or use its window.",
        )
    folder = path.parent
    if not os.access(path if path.exists() else folder, os.W_OK):
        return AppError("The library cannot be written.", f"You may not write to {path}.")
    return DamagedStoreError(path, text.splitlines()[0])


@contextmanager
def mapping_duckdb_errors() -> Generator[None]:
    """Turn what the disk or a damaged file did into AppError; a wrong query stays our bug."""
    try:
        yield
    except (duckdb.IOException, duckdb.OutOfMemoryException, duckdb.FatalException) as exc:
        raise AppError("The library file cannot be read or written.", _first_line(exc)) from exc
    except duckdb.TransactionException as exc:
        raise AppError(
            "A change could not be saved.",
            f"{_first_line(exc)} Check that the disk has free space.",
        ) from exc
    except (duckdb.ConnectionException, duckdb.InterruptException) as exc:
        raise closed() from exc
    except duckdb.Error as exc:
        # A failed checksum has no class of its own.
        if not _CORRUPT.search(str(exc)):
            raise
        raise DamagedStoreError(Path("The library"), _first_line(exc)) from exc


def _first_line(exc: BaseException) -> str:
    lines = str(exc).splitlines()
    return lines[0] if lines else type(exc).__name__
