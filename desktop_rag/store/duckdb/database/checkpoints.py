"""The write-ahead log: who may read it, and when it is written into the library file.

On the write lane only. The app decides the time, since DuckDB's own is the middle of a commit:
without room for it, all reads fail from then on until the file is opened again.
"""

import logging
import shutil
from pathlib import Path

import duckdb

from desktop_rag.core.files.private_files import close_to_others
from desktop_rag.store.duckdb.database.connections import Connection

log = logging.getLogger(__name__)

# A small log is quickly replayed after a crash.
_LOG_BYTES = 16_000_000
# A checkpoint writes what the log holds and the blocks around it, in part twice.
_LEAST_FREE_BYTES = 64_000_000
_FREE_PER_LOG_BYTE = 4
# What DuckDB is told in place of the size: its own checkpoints never come.
NEVER = "1TB"


class Checkpoints:
    """The checkpoints of one library file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._due_bytes = _LOG_BYTES

    def run_when_due(self, connection: Connection) -> None:
        """Write a long log into the file, if the disk has room for that.

        duckdb.FatalException when the room was gone meanwhile, or kept from this user by a quota:
        the connection is then of no more use. The next attempt comes when the log has grown.
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
        """Close the log to others, as the library file is: DuckDB makes it anew after a checkpoint.

        The mask of the process doesn't do: programs that use the package keep their own, and an
        export lifts ours for a moment.
        """
        close_to_others(_log_file(self._path))


def has_room(path: Path) -> bool:
    """True when the disk of the library file has room for a checkpoint."""
    needed = _LEAST_FREE_BYTES + _FREE_PER_LOG_BYTE * _log_bytes(path)
    return shutil.disk_usage(path.parent).free >= needed


def _log_bytes(path: Path) -> int:
    try:
        return _log_file(path).stat().st_size
    except FileNotFoundError:
        return 0


def _log_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.wal")
