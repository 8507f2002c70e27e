"""A library at rest frees its memory, and answers as before when somebody asks."""

from pathlib import Path

import pytest

from desktop_rag.app import Services
from desktop_rag.store.duckdb.database.database import Database
from desktop_rag.store.duckdb.duckdb_engine import database_of
from tests.indexed import index_texts

pytestmark = pytest.mark.slow

TEXTS = {f"{n}.md": f"# Letter {n}\n\nKeeper {n} wrote of lamp oil {n}." for n in range(20)}


def buffered_bytes(database: Database) -> int:
    with database.read() as con:
        [(used,)] = con.execute("SELECT sum(memory_usage_bytes) FROM duckdb_memory()").fetchall()
    return int(used)


def wait_for_the_lane(database: Database) -> None:
    """What was queued before is done."""
    database.write_uncached(lambda _: None)


def test_what_was_freed_is_loaded_again(services: Services, tmp_path: Path) -> None:
    index_texts(services, tmp_path / "letters", TEXTS)
    found = services.chat.search("lamp oil of keeper 7")
    database = database_of(services.engine)
    before = buffered_bytes(database)
    services.idle_memory.release()
    wait_for_the_lane(database)
    assert buffered_bytes(database) < before
    assert services.chat.search("lamp oil of keeper 7") == found
    services.idle_memory.release()
    services.idle_memory.prepare()
    assert services.chat.search("lamp oil of keeper 7") == found


def test_what_is_indexed_after_a_rest_is_found(services: Services, tmp_path: Path) -> None:
    folder = tmp_path / "letters"
    index_texts(services, folder, TEXTS)
    services.chat.search("lamp")
    services.idle_memory.release()
    (folder / "new.md").write_text("# Harpsichord\n\nA harpsichord came ashore.")
    services.library.sources.rescan()
    assert services.library.indexing.wait_until_idle(30)
    assert services.chat.search("harpsichord")[0].path.endswith("new.md")


def test_who_reads_meanwhile_is_not_disturbed(services: Services, tmp_path: Path) -> None:
    index_texts(services, tmp_path / "letters", TEXTS)
    database = database_of(services.engine)
    with database.read() as con:
        services.idle_memory.release()
        wait_for_the_lane(database)
        [(limit,)] = con.execute("SELECT current_setting('memory_limit')").fetchall()
        assert limit == "1.9 GiB"
        assert con.execute("SELECT count(*) FROM chunks").fetchall() == [(20,)]
