"""Maps DuckDB's failures to AppErrors: damage, a fault of the disk or system, a closed library.

Only wrong bytes in the file are damage; a disk that is full, away or read-only is not (after
SQLite's distinction of IOERR, CANTOPEN, FULL, READONLY and CORRUPT). DuckDB has one class for all
of these, so the text of the error decides.
"""

import errno
import os
import re
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from desktop_rag.core.errors import AppError, DiskFullError
from desktop_rag.store.contract.inspection import NotReadableNowError
from desktop_rag.store.duckdb.database.active_readers import closed_error

_CORRUPT = re.compile(r"(?i)corrupt|checksum")
# DuckDB's errors for a file that is truncated, overwritten or no database.
_NOT_READABLE = re.compile(
    r"(?i)corrupt|checksum|could not read enough bytes|not a valid duckdb|deserializ|replaying wal"
)
_HOLDER = re.compile(r"PID (\d+)")
_TOO_MANY_FILES = "Too many files are open."
_NOT_WRITABLE = "The library cannot be written."
_DISK_AWAY = "The disk with the library does not respond."
_TITLES = {
    errno.EMFILE: _TOO_MANY_FILES,
    errno.ENFILE: _TOO_MANY_FILES,
    errno.EACCES: _NOT_WRITABLE,
    errno.EPERM: _NOT_WRITABLE,
    errno.EROFS: _NOT_WRITABLE,
    errno.EIO: "The disk reports a read or write error.",
    errno.ETIMEDOUT: _DISK_AWAY,
    errno.ESTALE: _DISK_AWAY,
    errno.ENXIO: _DISK_AWAY,
    errno.ENODEV: _DISK_AWAY,
    errno.ENOLCK: "The library cannot be locked.",
}
_FULL = (errno.ENOSPC, errno.EDQUOT)
_FULL_IN_WORDS = (*map(os.strerror, _FULL), "There is not enough space on the disk")
_HINTS = {
    _TOO_MANY_FILES: "Close other programs and try again.",
    _NOT_WRITABLE: "Check the permissions of the file, and that its disk is not read-only.",
    _DISK_AWAY: "Check the connection to the disk or server and try again.",
}


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


@contextmanager
def mapping_duckdb_errors() -> Generator[None]:
    """Turn failures of the disk or the file into AppError; a wrong query stays our bug."""
    try:
        yield
    except (duckdb.IOException, duckdb.OutOfMemoryException, duckdb.FatalException) as exc:
        if _is_full(exc):
            raise DiskFullError("The library file can't grow.") from exc
        if _NOT_READABLE.search(str(exc)):
            raise DamagedStoreError(Path("The library"), _first_line(exc)) from exc
        raise AppError("The library file cannot be read or written.", _first_line(exc)) from exc
    except duckdb.TransactionException as exc:
        if _is_full(exc):
            raise DiskFullError("A change could not be saved.") from exc
        raise AppError(
            "A change could not be saved.",
            f"{_first_line(exc)} Check that the disk has free space.",
        ) from exc
    except (duckdb.ConnectionException, duckdb.InterruptException) as exc:
        raise closed_error() from exc
    except duckdb.Error as exc:
        # DuckDB has no exception class for a failed checksum.
        if not _CORRUPT.search(str(exc)):
            raise
        raise DamagedStoreError(Path("The library"), _first_line(exc)) from exc


def _open_error(path: Path, exc: duckdb.Error) -> AppError:
    text = str(exc)
    if holder := _HOLDER.search(text):
        return NotReadableNowError(
            "The library is in use by another process.",
            f"Process {holder.group(1)} holds {path}. Close it, or use its window.",
        )
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        return AppError(_NOT_WRITABLE, f"You may not write to {path}.")
    if _is_full(exc):
        return DiskFullError(f"{path} was left as it is.")
    for number, title in _TITLES.items():
        if os.strerror(number) in text:
            hint = _HINTS.get(title, "Try again, and check the disk.")
            return AppError(title, f"{path}: {os.strerror(number)}. Nothing was changed. {hint}")
    if isinstance(exc, duckdb.IOException) and not _NOT_READABLE.search(text):
        return AppError("The library cannot be opened.", f"{_first_line(exc)} Nothing was changed.")
    return DamagedStoreError(path, _first_line(exc))


def _is_full(exc: duckdb.Error) -> bool:
    text = str(exc)
    return any(words in text for words in _FULL_IN_WORDS)


def _first_line(exc: BaseException) -> str:
    lines = str(exc).splitlines()
    return lines[0] if lines else type(exc).__name__
