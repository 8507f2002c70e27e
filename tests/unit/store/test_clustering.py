from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.database import Database
from tests.stored_rows import put, remove


def test_what_was_deleted_leaves_the_postings_when_they_are_sorted(
    engine: Engine, database: Database
) -> None:
    counts = "SELECT (SELECT count(*) FROM dead_chunks), (SELECT count(*) FROM postings)"
    put(engine, "a.txt", "the lamp is lit")
    put(engine, "b.txt", "the gate is shut")
    engine.upkeep.run()
    remove(engine, "a.txt")
    with database.read() as con:
        assert con.execute(counts).fetchall() == [(1, 8)]
    engine.upkeep.run()
    with database.read() as con:
        assert con.execute(counts).fetchall() == [(0, 4)]


def test_small_libraries_are_not_sorted(engine: Engine) -> None:
    put(engine, "a.txt", "the lamp is lit")
    assert not engine.upkeep.is_due()
