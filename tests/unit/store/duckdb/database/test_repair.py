"""A repair keeps every row that can be read, and the index when all of it can."""

from contextlib import closing
from pathlib import Path

import pytest

from desktop_rag.store.contract.documents import TagStore
from desktop_rag.store.duckdb.database.connections import Connection
from desktop_rag.store.duckdb.database.database import Database
from desktop_rag.store.duckdb.database.schema import repair

ROWS = 8000
_WORDS = " ".join(f"word{n}" for n in range(40))


def opened(path: Path) -> Database:
    return Database(path, memory_mb=64, backups=path.parent)


def fill(con: Connection) -> None:
    # Incompressible, so that the texts fill many blocks.
    text = "(SELECT string_agg(md5(i * 1000 + j || ''), ' ') FROM range(40) r(j))"
    con.execute(
        "INSERT INTO messages (message_id, conversation_id, position, role, text)"
        f" SELECT 'm' || i, 'c', i, 'user', {text} FROM range({ROWS}) t(i)"
    )
    con.execute("INSERT INTO document_texts (document_id, text) VALUES ('d', ?)", [_WORDS])


def damage(path: Path, place: bytes = b"") -> None:
    """Flip a bit at these bytes, or in the middle of the file."""
    content = bytearray(path.read_bytes())
    at = content.find(place) if place else len(content) // 2
    assert at > 0
    content[at] ^= 1
    path.write_bytes(content)


def counts(path: Path) -> tuple[int, int]:
    with closing(opened(path)) as database, database.read() as con:
        [(messages,)] = con.execute("SELECT count(*) FROM messages").fetchall()
        [(texts,)] = con.execute("SELECT count(*) FROM document_texts").fetchall()
        return messages, texts


@pytest.mark.everyday
def test_only_the_rows_of_the_damaged_block_are_lost(tmp_path: Path) -> None:
    path = tmp_path / "library.duckdb"
    with closing(opened(path)) as database:
        database.write(fill)
    damage(path)
    report = repair(path)
    messages, texts = counts(path)
    assert 0 < report.lost_rows < ROWS / 2
    assert messages == ROWS - report.lost_rows
    assert (report.has_index, texts) == (True, 1)
    assert report.kept.exists()


@pytest.mark.slow
def test_a_damaged_index_is_built_again(tmp_path: Path) -> None:
    path = tmp_path / "library.duckdb"
    with closing(opened(path)) as database:
        database.write(fill)
    damage(path, b"word17")
    report = repair(path)
    assert (report.lost_rows, report.has_index) == (0, False)
    assert counts(path) == (ROWS, 0)


@pytest.mark.slow
def test_tags_of_files_are_kept_when_the_index_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "library.duckdb"
    with closing(opened(path)) as database:
        database.write(fill)
        database.write(
            lambda con: con.execute("INSERT INTO file_tags VALUES ('t', '/docs/a', 'roof')")
        )
    damage(path, b"word17")
    assert not repair(path).has_index
    with closing(opened(path)) as database:
        assert TagStore(database).given() == {Path("/docs/a"): ("roof",)}
