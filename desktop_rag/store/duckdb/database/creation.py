"""Creates a library file completely or not at all: built under a temporary name, then linked.

A file that DuckDB itself creates is unreadable when the process ends during the first writes.
"""

import secrets
from contextlib import suppress
from pathlib import Path

import duckdb

from desktop_rag.store.duckdb.database.connections import OPTIONS
from desktop_rag.store.duckdb.database.migrations import migrate

_INFIX = ".new-"


def create(path: Path) -> None:
    """Create an empty library of the latest version; an existing file stays as it is.

    When two processes create at once, one file wins and both find it. duckdb.Error or OSError
    when the disk refuses; then there is no library file.
    """
    remove_unbuilt(path)
    built = path.with_name(f"{path.name}{_INFIX}{secrets.token_hex(4)}")
    try:
        build_empty(built)
        built.chmod(0o600)
        _move_unless_taken(built, path)
    finally:
        remove_unbuilt(path)


def build_empty(path: Path) -> None:
    """Write an empty library of the latest version to a new file."""
    connection = duckdb.connect(str(path), config={**OPTIONS})
    try:
        migrate(connection)
    finally:
        connection.close()


def remove_unbuilt(path: Path) -> None:
    """Remove what an interrupted creation left."""
    for unfinished in path.parent.glob(f"{path.name}{_INFIX}*"):
        unfinished.unlink(missing_ok=True)


def _move_unless_taken(built: Path, path: Path) -> None:
    # A rename would replace the file that another process has just created and opened.
    with suppress(FileExistsError, FileNotFoundError):
        try:
            path.hardlink_to(built)
        except PermissionError:  # a file system without hard links
            if not path.exists():
                built.rename(path)
