"""When the write-ahead log is written into the library file. On the write lane only.

The app decides it, since DuckDB does it in the middle of a commit: without room for it, all reads
fail from then on until the file is opened again.
"""

import logging
import shutil
from pathlib import Path

import duckdb

from desktop_rag.store.duckdb.database.connections import Connection

log = logging.getLogger(__name__)

# A small log is quickly replayed after a crash.
_LOG_BYTES = 16_000_000
# A checkpoint writes what the log holds and the blocks around it, in part twice.
_LEAST_FREE_BYTES = 64_000_000
_FREE_PER_LOG_BYTE = 4
# What DuckDB is told in place of the size: its own checkpoints never come.
NEVER = "1TB"


def checkpoint_when_due(connection: Connection, path: Path) -> None:
    """Write a long log into the file, if the disk has room for that.

    duckdb.FatalException when the room was gone meanwhile: the connection is then of no more use.
    """
    size = _log_bytes(path)
    if size < _LOG_BYTES or not has_room(path):
        return
    try:
        connection.execute("CHECKPOINT")
    except duckdb.TransactionException:
        log.info("a table is being built: the log grows until that is done")


def has_room(path: Path) -> bool:
    """True when the disk of the library file has room for a checkpoint."""
    needed = _LEAST_FREE_BYTES + _FREE_PER_LOG_BYTE * _log_bytes(path)
    return shutil.disk_usage(path.parent).free >= needed


def _log_bytes(path: Path) -> int:
    log_file = path.with_name(f"{path.name}.wal")
    try:
        return log_file.stat().st_size
    except FileNotFoundError:
        return 0
