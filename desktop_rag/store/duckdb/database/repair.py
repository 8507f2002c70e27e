"""Builds a new library from what can still be read of a damaged one. Nobody may have it open.

The damaged file is kept under another name. Lost precious rows come from the journal; derived
tables are copied whole, or built again from the person's files.
"""

import logging
import time
from pathlib import Path

import duckdb

from desktop_rag.core.domain import RepairReport
from desktop_rag.store.contract.kinds import precious_tables
from desktop_rag.store.contract.precious import SCHEMA
from desktop_rag.store.duckdb.database.connections import OPTIONS, Connection
from desktop_rag.store.duckdb.database.journal import FOLDER
from desktop_rag.store.duckdb.database.schema import create, tables_in, version_of

log = logging.getLogger(__name__)

_ABOUT_ITSELF = ("library_version", "migrations", "journal_state")
# DuckDB reads this many rows at once, so a damaged block costs all of them.
_READ_TOGETHER = 2048
_NEVER_REPLAYED = ".unreadable"


def repair(path: Path) -> RepairReport:
    """Put the library aside and build a new one from its readable parts.

    duckdb.Error or OSError when the disk refuses; the old file is kept in any case.
    """
    kept = set_aside(path)
    create(path)
    lost, has_index = 0, False
    connection = duckdb.connect(str(path), config={**OPTIONS})
    try:
        if _attached(connection, kept):
            lost = _copy_precious(connection)
            has_index = _copy_derived(connection)
        _replay_all(connection, path)
    finally:
        connection.close()
    return RepairReport(kept, lost, has_index)


def replay_journal(path: Path) -> None:
    """Have the next opening take everything from the journal. Nobody may have the file open."""
    connection = duckdb.connect(str(path), config={**OPTIONS})
    try:
        _replay_all(connection, path)
    finally:
        connection.close()


def set_aside(path: Path) -> Path:
    """Move a damaged library file and its log out of the way; returns its new path."""
    kept = path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
    path.rename(kept)
    log_file = path.with_name(path.name + ".wal")
    if log_file.exists():
        log_file.rename(kept.with_name(kept.name + ".wal"))
    return kept


def _attached(connection: Connection, kept: Path) -> bool:
    """Attach the damaged file as `old`, if necessary without its log; False if it is unreadable."""
    quoted = "'" + str(kept).replace("'", "''") + "'"
    log_file = kept.with_name(kept.name + ".wal")
    for _ in range(2):
        try:
            connection.execute(f"ATTACH {quoted} AS old (READ_ONLY)")
            return True
        except duckdb.Error as exc:
            log.info("the damaged library cannot be attached: %s", exc)
        if not log_file.exists():
            break
        log_file.rename(log_file.with_name(log_file.name + _NEVER_REPLAYED))
    return False


def _copy_precious(connection: Connection) -> int:
    """Copy the readable precious rows; returns the number of unreadable ones."""
    known, lost = tables_in(connection, "old"), 0
    for table in precious_tables():
        if table not in known:
            continue
        [(rows,)] = connection.execute(
            "SELECT estimated_size FROM duckdb_tables()"
            " WHERE database_name = 'old' AND table_name = ?",
            [table],
        ).fetchall()
        lost += _copy_rows(connection, table, 0, _last_row(connection, table, rows))
    return lost


def _last_row(connection: Connection, table: str, estimated: int) -> int:
    try:
        [(last,)] = connection.execute(f"SELECT max(rowid) FROM old.{table}").fetchall()
    except duckdb.Error:
        return estimated
    return -1 if last is None else int(last)


def _copy_rows(connection: Connection, table: str, first: int, last: int) -> int:
    """Copy the rows in this range of row ids, if necessary in parts; returns the number lost."""
    if last < first:
        return 0
    try:
        connection.execute(
            f"INSERT INTO {table} BY NAME"
            f" SELECT * FROM old.{table} WHERE rowid BETWEEN {first} AND {last}"
        )
    except duckdb.Error:
        if last - first < _READ_TOGETHER:
            return last - first + 1
        return sum(
            _copy_rows(connection, table, at, min(last, at + _READ_TOGETHER - 1))
            for at in range(first, last + 1, _READ_TOGETHER)
        )
    return 0


def _copy_derived(connection: Connection) -> bool:
    """Copy all derived tables, or nothing when a part can't be read."""
    connection.begin()
    try:
        if version_of(connection, "old") != SCHEMA:
            connection.rollback()
            return False
        present = tables_in(connection)
        for table in tables_in(connection, "old") - {*precious_tables(), *_ABOUT_ITSELF}:
            is_new = table not in present
            target = f"CREATE TABLE {table} AS" if is_new else f"INSERT INTO {table} BY NAME"
            connection.execute(f"{target} SELECT * FROM old.{table}")
        connection.commit()
    except duckdb.Error as exc:
        log.info("the index cannot be read and is built again: %s", exc)
        connection.rollback()
        return False
    return True


def _replay_all(connection: Connection, path: Path) -> None:
    """Have the next opening take everything from the journal, if there is one."""
    if not path.with_name(FOLDER).exists():
        return
    connection.execute("UPDATE journal_state SET generation = 0")
