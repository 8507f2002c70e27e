"""Shrinks a library file that is mostly free space. Run when the store closes.

DuckDB reuses free blocks, but only cuts off those at the end of the file. So the content is copied
into a new file, which replaces the old one atomically.
"""

import logging
from pathlib import Path

import duckdb

from desktop_rag.store.duckdb.database.connections import OPTIONS, Connection

log = logging.getLogger(__name__)


# A file is compacted when it is this many times as large as its content, and wastes this much.
_MAX_RATIO = 1.45
_MIN_WASTE_BYTES = 16_000_000
_SUFFIX = ".compact"


def is_wasteful(connection: Connection) -> bool:
    """True when much of the open file is free or taken by deleted rows."""
    connection.execute("CHECKPOINT")
    [(block_bytes, total, used)] = connection.execute(
        "SELECT block_size, total_blocks, used_blocks FROM pragma_database_size()"
    ).fetchall()
    needed = used * _live_share(connection)
    return total > _MAX_RATIO * needed and (total - needed) * block_bytes > _MIN_WASTE_BYTES


def compact(path: Path, memory_mb: int) -> None:
    """Replace a closed file by a copy without free space; it stays as it is when that fails."""
    fresh = path.with_name(path.name + _SUFFIX)
    remove_unfinished(path)
    try:
        _copy(path, fresh, memory_mb)
        fresh.chmod(0o600)
        fresh.replace(path)
    except (duckdb.Error, OSError) as error:
        log.info("the library file keeps its size: %s", error)
    finally:
        remove_unfinished(path)


def remove_unfinished(path: Path) -> None:
    """Remove the files of an interrupted copy. No copy may be running."""
    for suffix in (_SUFFIX, f"{_SUFFIX}.wal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _live_share(connection: Connection) -> float:
    """The share of rows that are not deleted, in the largest tables."""
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
        config={
            **OPTIONS,
            "memory_limit": f"{memory_mb:d}MB",
            "temp_directory": f"{fresh}.temp",
        }
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
