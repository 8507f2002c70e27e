"""A library file gives back room that it no longer needs."""

from pathlib import Path

import numpy as np
import pytest

from desktop_rag.store.duckdb.database.connections import Connection, insert
from desktop_rag.store.duckdb.database.database import Database, compact

ROWS = 40_000
MB = 1_000_000


def fill(con: Connection) -> None:
    noise = np.random.default_rng(1).integers(0, 1 << 62, (8, ROWS))
    for part in noise:
        insert(con, "chunks", {"chunk_id": part, "term_count": np.zeros(ROWS, np.int64)})
        insert(con, "dead_chunks", {"chunk_id": part})


def filled(path: Path) -> Database:
    """An open library of some megabytes that nothing needs any more, and one row."""
    database = Database(path, memory_mb=256, backups=path.parent)
    for _ in range(8):
        database.write(fill)
    database.write(lambda con: con.execute("INSERT INTO collections (name) VALUES ('kept')"))
    for table in ("chunks", "dead_chunks"):
        database.write(lambda con, t=table: con.execute(f"DELETE FROM {t}"))
    return database


def names(path: Path) -> list[str]:
    database = Database(path, memory_mb=256, backups=path.parent)
    try:
        with database.read() as con:
            return [row[0] for row in con.execute("SELECT name FROM collections").fetchall()]
    finally:
        database.close()


@pytest.mark.slow
def test_a_file_that_is_mostly_free_is_smaller_when_it_was_closed(path: Path) -> None:
    database = filled(path)
    before = path.stat().st_size
    database.close()
    assert before > 20 * MB
    assert path.stat().st_size < 6 * MB
    assert path.stat().st_mode & 0o077 == 0
    assert names(path) == ["kept"]
    assert sorted(p.name for p in path.parent.iterdir()) == ["journal", path.name]


WORD = "zyzzogeton"


def with_deleted_text(path: Path) -> Database:
    """An open library, of which a text was deleted that is still in the file."""
    database = Database(path, memory_mb=256, backups=path.parent)
    text = f"INSERT INTO chunks (chunk_id, text) VALUES (1, '{WORD}'), (2, 'kept')"
    database.write(lambda con: con.execute(text))
    database.close()
    database = Database(path, memory_mb=256, backups=path.parent)
    database.write(lambda con: con.execute("DELETE FROM chunks WHERE chunk_id = 1"))
    database.holds_deleted_text = True
    assert WORD in on_disk(path)
    return database


def on_disk(path: Path) -> str:
    """All that the library file and the log beside it hold."""
    files = [file for file in path.parent.iterdir() if file.name.startswith(path.name)]
    return "".join(file.read_bytes().decode("latin-1") for file in files)


def texts(database: Database) -> list[str]:
    with database.read() as con:
        return [row[0] for row in con.execute("SELECT text FROM chunks").fetchall()]


def test_deleted_text_is_gone_from_the_file_at_rest(path: Path) -> None:
    database = with_deleted_text(path)
    database.release()
    database.write(lambda con: con.execute("INSERT INTO chunks (text) VALUES ('later')"))
    assert WORD not in on_disk(path)
    assert sorted(texts(database)) == ["kept", "later"]
    database.close()
    assert path.stat().st_mode & 0o077 == 0


def test_a_large_file_is_copied_at_rest_once_a_day_and_when_it_is_closed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("desktop_rag.store.duckdb.database.database._OFTEN_COPIED_BYTES", 0)
    database = with_deleted_text(path)
    database.release()
    database.write(lambda con: con.execute(f"UPDATE chunks SET text = '{WORD}'"))
    database.write(lambda con: con.execute("UPDATE chunks SET text = 'kept'"))
    database.holds_deleted_text = True
    before = path.stat().st_ino
    database.release()
    database.write(lambda con: con.execute("INSERT INTO chunks (text) VALUES ('later')"))
    assert path.stat().st_ino == before
    database.close()
    assert path.stat().st_ino != before
    assert WORD not in on_disk(path)


def test_deleted_text_is_gone_from_the_file_when_it_was_closed(path: Path) -> None:
    with_deleted_text(path).close()
    assert WORD not in on_disk(path)
    database = Database(path, memory_mb=256, backups=path.parent)
    assert texts(database) == ["kept"]
    database.close()


@pytest.mark.slow
def test_a_file_that_needs_its_room_is_not_copied(path: Path) -> None:
    database = Database(path, memory_mb=256, backups=path.parent)
    database.write(fill)
    database.close()
    inode = path.stat().st_ino
    assert names(path) == []
    assert path.stat().st_ino == inode


def test_a_copy_that_fails_leaves_the_file_as_it_is(path: Path) -> None:
    path.write_bytes(b"no library")
    compact(path, memory_mb=256)
    assert path.read_bytes() == b"no library"
    assert sorted(p.name for p in path.parent.iterdir()) == [path.name]


def test_what_an_interrupted_copy_left_goes_at_the_next_opening(path: Path) -> None:
    left = path.with_name(path.name + ".compact")
    left.write_bytes(b"half")
    assert names(path) == []
    assert not left.exists()
