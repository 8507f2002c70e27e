"""R-10, R-11: the one file, its write lane, and libraries that are refused untouched."""

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.store.contract.precious import SCHEMA
from desktop_rag.store.duckdb.database.connections import Connection, insert
from desktop_rag.store.duckdb.database.database import Database

WAIT_S = 30.0


def open_again(path: Path) -> Database:
    return Database(path, memory_mb=256, backups=path.parent)


def count(connection: Connection) -> int:
    [(number,)] = connection.execute("SELECT count(*) FROM recent_postings").fetchall()
    return number


@pytest.mark.slow
def test_what_was_written_is_there_after_reopening(path: Path) -> None:
    first = open_again(path)
    first.write(
        lambda con: insert(con, "recent_postings", {"term": ["a"], "chunk_id": [1], "tf": [2]})
    )
    first.close()
    second = open_again(path)
    with second.read() as con:
        assert con.execute("SELECT term, chunk_id, tf FROM recent_postings").fetchall() == [
            ("a", 1, 2)
        ]
    second.close()


def test_a_failing_write_leaves_nothing_behind(database: Database) -> None:
    def work(con: Connection) -> None:
        insert(con, "recent_postings", {"term": ["a"], "chunk_id": [1], "tf": [2]})
        raise KeyError("bug")

    with pytest.raises(KeyError):
        database.write(work)
    with database.read() as con:
        assert count(con) == 0


def test_a_read_does_not_wait_for_a_write(database: Database) -> None:
    is_writing, may_end = threading.Event(), threading.Event()

    def work(con: Connection) -> None:
        insert(con, "recent_postings", {"term": ["a"], "chunk_id": [1], "tf": [2]})
        is_writing.set()
        may_end.wait(10)

    writer = threading.Thread(target=database.write, args=(work,))
    writer.start()
    is_writing.wait(10)
    with database.read() as con:
        before = count(con)
    may_end.set()
    writer.join()
    with database.read() as con:
        assert (before, count(con)) == (0, 1)


def test_writers_take_turns(database: Database) -> None:
    def work(con: Connection) -> None:
        insert(con, "recent_postings", {"term": ["a"], "chunk_id": [count(con)], "tf": [1]})

    writers = [threading.Thread(target=database.write, args=(work,)) for _ in range(20)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    with database.read() as con:
        rows = con.execute("SELECT chunk_id FROM recent_postings ORDER BY 1").fetchall()
    assert rows == [(number,) for number in range(20)]


@pytest.mark.parametrize(
    "statement",
    [
        "INSTALL fts",
        "LOAD vss",
        "ATTACH 'other.duckdb'",
        "COPY (SELECT 1) TO 'stolen.csv'",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SET enable_external_access = true",
    ],
)
def test_the_engine_can_reach_nothing_outside(database: Database, statement: str) -> None:
    with pytest.raises(duckdb.Error), database.read() as con:
        con.execute(statement)


@pytest.mark.slow
def test_a_newer_library_is_refused_untouched(path: Path) -> None:
    open_again(path).close()
    connection = duckdb.connect(str(path))
    connection.execute("UPDATE library_version SET version = ?", [SCHEMA + 1])
    connection.close()
    before = path.read_bytes()
    with pytest.raises(AppError, match="newer version"):
        open_again(path)
    assert path.read_bytes() == before


def test_a_database_of_another_program_is_refused_untouched(path: Path) -> None:
    connection = duckdb.connect(str(path))
    connection.execute("CREATE TABLE theirs (a INTEGER)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(AppError, match="another program"):
        open_again(path)
    assert path.read_bytes() == before


def scramble(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[: len(content) // 2] = b"\x5a" * (len(content) // 2)
    path.write_bytes(content)


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


@pytest.mark.parametrize("damage", [scramble, truncate])
def test_a_damaged_file_is_told_and_kept(path: Path, damage: Callable[[Path], None]) -> None:
    open_again(path).close()
    damage(path)
    before = path.read_bytes()
    with pytest.raises(AppError, match="damaged"):
        open_again(path)
    assert path.read_bytes() == before


@pytest.mark.slow
def test_a_second_process_is_told_who_holds_the_library(database: Database, path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from desktop_rag.core.errors import AppError\n"
        "from desktop_rag.store.duckdb.database.database import Database\n"
        "path = Path(sys.argv[1])\n"
        "try: Database(path, memory_mb=64, backups=path.parent)\n"
        "except AppError as error: print(error.title, error.hint)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    assert "in use by another process" in done.stdout
    assert "Process" in done.stdout


def test_after_closing_writes_and_reads_are_refused(database: Database) -> None:
    database.close()
    with pytest.raises(AppError, match="closed"):
        database.write(count)
    with pytest.raises(AppError, match="closed"), database.read() as con:
        count(con)


@pytest.mark.slow
def test_who_reads_when_it_is_closed_is_interrupted(database: Database, path: Path) -> None:
    is_reading = threading.Event()
    told: list[str] = []

    def read() -> None:
        try:
            with database.read() as con:
                is_reading.set()
                con.execute("SELECT count(*) FROM range(10_000_000_000_000)").fetchall()
        except AppError as error:
            told.append(error.title)

    reader = threading.Thread(target=read)
    reader.start()
    assert is_reading.wait(WAIT_S)
    database.close()
    reader.join(WAIT_S)
    assert told == ["The library is closed."]
    open_again(path).close()


def languages(con: Connection) -> list[tuple[str]]:
    return con.execute("SELECT language FROM documents").fetchall()


def add_document(con: Connection) -> None:
    con.execute("INSERT INTO documents (document_id, language) VALUES ('a', 'en')")


def test_what_is_known_is_looked_up_anew_when_the_library_has_changed(database: Database) -> None:
    assert database.cached(languages) == []
    assert database.cached(languages) is database.cached(languages)
    database.write(add_document)
    assert database.cached(languages) == [("en",)]


def test_what_was_said_leaves_the_library_as_it_is_known(database: Database) -> None:
    known = database.cached(languages)
    database.write_uncached(lambda con: con.execute("INSERT INTO models (name) VALUES ('a')"))
    assert database.cached(languages) is known


def test_while_a_change_is_made_the_library_is_known_as_it_was(database: Database) -> None:
    before = database.cached(languages)

    def work(con: Connection) -> None:
        add_document(con)
        assert database.cached(languages) is before

    database.write(work)
    assert database.cached(languages) == [("en",)]


def test_a_change_that_failed_leaves_what_is_known_right(database: Database) -> None:
    def work(con: Connection) -> None:
        add_document(con)
        raise KeyError("bug")

    before = database.cached(languages)
    with pytest.raises(KeyError):
        database.write(work)
    assert database.cached(languages) is before


def test_a_snapshot_begins_at_once(database: Database) -> None:
    with database.snapshot() as snapshot:
        database.write(add_document)
        assert languages(snapshot.con) == []
        assert database.cached(languages) == [("en",)]


def test_nothing_is_known_of_a_closed_library(path: Path) -> None:
    database = open_again(path)
    database.cached(languages)
    database.close()
    with pytest.raises(AppError):
        database.cached(languages)
