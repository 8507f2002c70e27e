"""Creates, migrates and repairs a library file, whose tables schema.sql defines.

A file is created completely or not at all: built under a temporary name, then linked. One that
DuckDB itself creates is unreadable when the process ends during the first writes. Of a damaged one,
which is kept under another name, a new library is built from what can still be read: lost precious
rows come from the journal, derived tables are copied whole, or built again from the person's files.
"""

import logging
import secrets
import shutil
import time
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from contextlib import suppress
from pathlib import Path

import duckdb

from desktop_rag.core.domain import RepairReport
from desktop_rag.store.contract.precious import (
    SCHEMA,
    SCHEMA_BEFORE,
    precious_tables,
    tables_of_features,
)
from desktop_rag.store.duckdb.database.connections import OPTIONS, Connection, roll_back
from desktop_rag.store.duckdb.database.journal import FOLDER

# Item n migrates a library from version n + 1 to n + 2. Each is run once, in a transaction.
STEPS: list[Callable[[Connection], None]] = []
# The `version_of` a library that is too old to be opened.
TOO_OLD = -1

_TABLES = Path(__file__).parents[1] / "schema.sql"
# The last version before 1 has the same tables, but a table of migrations.
_TO_FIRST = f"""
ALTER TABLE migrations RENAME TO library_version;
ALTER TABLE library_version DROP COLUMN applied_at;
DELETE FROM library_version WHERE version < {SCHEMA_BEFORE};
UPDATE library_version SET version = 1;
ALTER TABLE models DROP COLUMN is_answering;
"""
_INFIX = ".new-"
# A copy of an older library is kept for so long.
_COPY_S = 7 * 86_400.0


def version_of(
    connection: Connection, database: str = "", tables: AbstractSet[str] | None = None
) -> int | None:
    """The version of an open or attached file; 0 if empty, None if not ours, or TOO_OLD.

    `tables` are those `tables_in` it.
    """
    tables = tables_in(connection, database) if tables is None else tables
    prefix = f"{database}." if database else ""
    if "library_version" in tables:
        query = f"SELECT max(version) FROM {prefix}library_version"
    elif "migrations" in tables:
        query = f"SELECT max(version) FROM {prefix}migrations"
    else:
        return None if tables else 0
    [(version,)] = connection.execute(query).fetchall()
    if "library_version" in tables:
        return int(version or 0)
    return 1 if version == SCHEMA_BEFORE else TOO_OLD


def form_of(connection: Connection) -> tuple[int | None, bool]:
    """The `version_of` an open file, and whether it has the form from before version 1."""
    try:
        [(version,)] = connection.execute("SELECT max(version) FROM library_version").fetchall()
    except duckdb.CatalogException:
        tables = tables_in(connection)
        return version_of(connection, tables=tables), "migrations" in tables
    return int(version or 0), False


def tables_in(connection: Connection, database: str = "") -> set[str]:
    """The tables of the open file, or of an attached one; takes half as long as opening it."""
    rows = connection.execute(
        "SELECT table_name FROM duckdb_tables()"
        " WHERE database_name = coalesce(nullif(?, ''), current_database())",
        [database],
    ).fetchall()
    return {name for (name,) in rows}


def bring_up_to_date(connection: Connection) -> None:
    """Create the missing tables, in an empty file or one of an earlier version."""
    found, is_before_first = form_of(connection)
    connection.begin()
    try:
        if not found:
            connection.execute(_TABLES.read_text("utf-8"))
        elif is_before_first:
            connection.execute(_TO_FIRST)
        for version in range(found or SCHEMA, SCHEMA):
            STEPS[version - 1](connection)
            connection.execute("UPDATE library_version SET version = ?", [version + 1])
        for statements in tables_of_features():
            connection.execute(statements)
        connection.commit()
    except BaseException:
        roll_back(connection)
        raise


def keep_copy(path: Path) -> None:
    """Copy a closed library, with its log, before it is taken over; OSError on failure."""
    for file in (path.with_name(f"{path.name}.wal"), path):
        copy = _copy_of(path, file)
        if file.exists():
            unfinished = copy.with_name(f"{copy.name}{_INFIX}")
            try:
                shutil.copyfile(file, unfinished)
                unfinished.chmod(0o600)
                unfinished.replace(copy)
            finally:
                unfinished.unlink(missing_ok=True)


def drop_old_copy(path: Path) -> None:
    """Remove the copy of a library that was taken over more than a week ago."""
    for file in (path.with_name(f"{path.name}.wal"), path):
        with suppress(OSError):
            copy = _copy_of(path, file)
            if time.time() - copy.stat().st_mtime > _COPY_S:
                copy.unlink()


def _copy_of(path: Path, file: Path) -> Path:
    return path.with_name(file.name.replace(path.name, f"{path.name}.before", 1))


def create(path: Path) -> None:
    """Create an empty library of the latest version, unless the file exists.

    If two processes create one at once, both find the same file. duckdb.Error or OSError when the
    disk refuses; then there is no library file.
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
        bring_up_to_date(connection)
    finally:
        connection.close()


def remove_unbuilt(path: Path) -> None:
    """Remove the leftovers of interrupted creations."""
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
