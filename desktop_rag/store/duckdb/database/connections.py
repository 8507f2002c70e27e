"""Connections to DuckDB, rows passed to it fast, and its failures as AppErrors.

Only wrong bytes in the file are damage; a disk that is full, away or read-only is not (after
SQLite's distinction of IOERR, CANTOPEN, FULL, READONLY and CORRUPT). DuckDB has one class for all
of these, so the text of the error decides. Any thread.
"""

import errno
import logging
import os
import re
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from desktop_rag.core.errors import DISK_ERROR_NUMBERS, AppError, LibraryHeldError, disk_error
from desktop_rag.store.contract.database import closed_error, first_line, sql_plain_name

log = logging.getLogger(__name__)

Connection = duckdb.DuckDBPyConnection
# Exceptions for a value that a column can't hold.
REFUSALS = (duckdb.ConversionException, duckdb.InvalidInputException)

# No extension is downloaded.
OPTIONS = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}


def roll_back(connection: Connection) -> None:
    """Roll the transaction back, unless a commit that failed has ended it, or the connection."""
    try:
        connection.rollback()
    except (duckdb.TransactionException, duckdb.FatalException):
        log.info("nothing to roll back")


def is_usable(connection: Connection) -> bool:
    """False once it is closed or after a fatal error: the file must be opened again."""
    try:
        connection.execute("SELECT 1").fetchall()
    except duckdb.Error:
        return False
    return True


_CORRUPT = re.compile(r"(?i)corrupt|checksum")
# DuckDB's errors for a file that is truncated, overwritten or no database.
_NOT_READABLE = re.compile(
    r"(?i)corrupt|checksum|could not read enough bytes|not a valid duckdb|deserializ|replaying wal"
)
_HOLDER = re.compile(r"PID (\d+)")
_NOT_SYNCED = "fsync failed"
_FULL_ON_WINDOWS = "There is not enough space on the disk"


class DamagedStoreError(AppError):
    """The bytes of the library file are wrong; not a matter of locks, permissions or the disk."""

    def __init__(self, path: Path, detail: str) -> None:
        super().__init__(
            "The library file is damaged.",
            f"{path}: {detail} Nothing was changed. `desktop-rag doctor --repair` saves what can be"
            " read and restores your chats; your own files are not affected.",
        )


@contextmanager
def mapping_open_errors(path: Path) -> Generator[None]:
    """Turn failures to open the library into AppError."""
    try:
        yield
    except duckdb.Error as exc:
        raise _open_error(path, exc) from exc
    except OSError as exc:
        raise disk_error(exc.errno, _left(path)) from exc


@contextmanager
def mapping_duckdb_errors() -> Generator[None]:
    """Turn failures of the disk or the file into AppError; a wrong query stays our bug."""
    try:
        yield
    except (duckdb.IOException, duckdb.OutOfMemoryException, duckdb.FatalException) as exc:
        if number := _number_of(exc):
            raise disk_error(number, "The library file is as it was.") from exc
        if _NOT_READABLE.search(str(exc)):
            raise DamagedStoreError(Path("The library"), first_line(exc)) from exc
        raise AppError("The library file cannot be read or written.", first_line(exc)) from exc
    except duckdb.TransactionException as exc:
        detail = "A change could not be saved."
        raise disk_error(_number_of(exc), detail) from exc
    except (duckdb.ConnectionException, duckdb.InterruptException) as exc:
        raise closed_error() from exc
    except duckdb.Error as exc:
        # DuckDB has no exception class for a failed checksum.
        if not _CORRUPT.search(str(exc)):
            raise
        raise DamagedStoreError(Path("The library"), first_line(exc)) from exc


def _open_error(path: Path, exc: duckdb.Error) -> AppError:
    text = str(exc)
    if holder := _HOLDER.search(text):
        return LibraryHeldError(
            "The library is in use by another process.",
            f"Process {holder.group(1)} holds {path}. Close it, or use its window.",
        )
    if number := _number_of(exc):
        return disk_error(number, _left(path))
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        return disk_error(errno.EACCES, _left(path))
    if isinstance(exc, duckdb.IOException) and not _NOT_READABLE.search(text):
        return AppError("The library cannot be opened.", f"{first_line(exc)} Nothing was changed.")
    if isinstance(exc, duckdb.FatalException) and not _NOT_READABLE.search(text):
        return disk_error(None, f"{first_line(exc)} {_left(path)}")
    return DamagedStoreError(path, first_line(exc))


def _left(path: Path) -> str:
    return f"{path} was left as it is."


def _number_of(exc: duckdb.Error) -> int:
    """The number of `errno` that the error was made of, 0 if there is none."""
    text = str(exc)
    if _FULL_ON_WINDOWS in text:
        return errno.ENOSPC
    if _NOT_SYNCED in text:  # DuckDB doesn't say why
        return errno.EIO
    return next((number for number in DISK_ERROR_NUMBERS if os.strerror(number) in text), 0)


Columns = dict[str, Sequence[Any] | NDArray[Any]]

# At most this many rows are passed as parameters.
_FEW_ROWS = 4
# Rows whose values are in memory as parameters at a time.
_ROWS_TOGETHER = 1000
# At most this many numbers are written into the statement.
_FEW_NUMBERS = 32
# Derived columns by table: the column each is made of, and the SQL.
DERIVED: Mapping[str, Mapping[str, tuple[str, Callable[[str], str]]]] = {
    "documents": {
        "plain_name": ("path", sql_plain_name),
        "key": ("document_id", lambda column: f"md5_number_lower({column})"),
    }
}


def sql_in_numbers(con: Connection, column: str, numbers: Iterable[int]) -> str:
    """SQL that is true when a column equals one of the numbers; valid until the next call.

    A table of numbers is twice as fast as unnest() of a list.
    """
    numbers = list(numbers)
    if not numbers:
        return "false"
    if len(numbers) <= _FEW_NUMBERS:
        return f"{column} IN (VALUES {', '.join(f'({number}::BIGINT)' for number in numbers)})"
    con.register("wanted", {"number": np.array(numbers, np.int64)})
    return f"{column} IN (SELECT number FROM wanted)"


def insert(
    connection: Connection,
    table: str,
    columns: Columns,
    computed: Mapping[str, tuple[str, Callable[[str], str]]] | None = None,
) -> None:
    """Insert rows given as columns of equal length by name, possibly none.

    `computed` are further columns: the given column each is made of, and a function from its name
    to SQL. Except for a few rows, whole columns are five times faster than `executemany`.
    """
    count = len(next(iter(columns.values())))
    if not count:
        return
    given = list(columns)
    made = dict(computed or {})
    target = f"INSERT INTO {table} ({', '.join([*given, *made])})"
    if count <= _FEW_ROWS and all(isinstance(values, list) for values in columns.values()):
        row = f"({', '.join([*'?' * len(given), *(sql('?') for _, sql in made.values())])})"
        values = [*columns.values(), *(columns[name] for name, _ in made.values())]
        parameters = [value for row in zip(*values, strict=True) for value in row]
        connection.execute(f"{target} VALUES {', '.join([row] * count)}", parameters)
        return
    # Not unregistered: that takes time, and the next insert replaces it.
    connection.register("incoming", {n: _as_array(values) for n, values in columns.items()})
    values = [*given, *(sql(name) for name, sql in made.values())]
    connection.execute(f"{target} SELECT {', '.join(values)} FROM incoming")


def insert_rows(
    con: Connection, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]
) -> None:
    """Insert rows of Python values, each converted to the type of its column.

    A list for each column is twelve times faster than a parameter for each value, and unlike whole
    columns it doesn't guess types from the first values.
    """
    described = con.execute(
        "SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = ?", [table]
    )
    types = dict(described.fetchall())
    lists = ", ".join(f"unnest(?::{types[name]}[], max_depth := 1)" for name in columns)
    sql = f"INSERT INTO {table} ({', '.join(columns)}) SELECT {lists}"
    for at in range(0, len(rows), _ROWS_TOGETHER):
        part = rows[at : at + _ROWS_TOGETHER]
        con.execute(sql, [list(values) for values in zip(*part, strict=True)])


def _as_array(values: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    if isinstance(values, np.ndarray) and values.ndim == 1:
        return values
    if len(values) and isinstance(values[0], int | float | bool):
        array = np.asarray(values)
        # NumPy turns integers on both sides of 2^63 into floats, which lose the last bits.
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
