"""Opens the library file: to write, or so that nothing is written. One thread at a time."""

import logging
from pathlib import Path

import duckdb

from desktop_rag.core.errors import AppError
from desktop_rag.store.contract.inspection import NoLibraryError, NotReadableNowError
from desktop_rag.store.duckdb.database.checkpoints import NEVER
from desktop_rag.store.duckdb.database.connections import OPTIONS, Connection
from desktop_rag.store.duckdb.database.creation import create
from desktop_rag.store.duckdb.database.journal import FOLDER
from desktop_rag.store.duckdb.database.migrations import LATEST, migrate, version_of

log = logging.getLogger(__name__)


def open_to_write(path: Path, memory_mb: int, backups: Path) -> Connection:
    """Open an existing file and bring its schema up to date."""
    # Opening replays the log of a crash under the memory limit, so the limit is set afterwards.
    connection = duckdb.connect(
        str(path),
        config={**OPTIONS, "checkpoint_threshold": NEVER},
    )
    try:
        migrate(connection)
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
    found = _version_or_refuse(path)
    if found < LATEST:
        raise NotReadableNowError(
            "The library was written by an earlier version of the app.",
            "Start the app once: it brings the library up to date.",
        )
    # Without a folder for temporary files: nothing at all is written.
    connection = duckdb.connect(
        str(path),
        read_only=True,
        config={**OPTIONS, "temp_directory": "", "memory_limit": f"{memory_mb:d}MB"},
    )
    connection.execute("SET enable_external_access = false")
    connection.execute("SET preserve_insertion_order = false")
    return connection


def free_buffers(connection: Connection, memory_mb: int) -> None:
    """Free the blocks of the file that are kept in memory. Nobody may read or write meanwhile."""
    try:
        connection.execute("SET memory_limit = '1MB'")
    except duckdb.Error as error:
        log.info("the memory of the store was not freed: %s", error)
    finally:
        connection.execute(f"SET memory_limit = '{int(memory_mb)}MB'")


def create_or_refuse(path: Path) -> None:
    """Create the file, or refuse an existing one that is not ours or too new."""
    if path.exists():
        _version_or_refuse(path)
    else:
        create(path)


def _version_or_refuse(path: Path) -> int:
    """The version of the file, opened read-only, so that one we must refuse stays untouched."""
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
    return found
