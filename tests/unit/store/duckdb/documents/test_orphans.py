from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.duckdb.database.database import Database
from tests.stored_rows import count_inconsistent, count_orphans, found, put


def test_orphans_are_purged_also_when_nothing_tells_whose_they_are(
    engine: Engine, database: Database
) -> None:
    put(engine, "a.txt", "one", "two")
    put(engine, "b.txt", "one too")
    database.write(lambda con: con.execute("DELETE FROM documents WHERE document_id = 'a.txt'"))
    database.write(
        lambda con: con.execute("DELETE FROM document_texts WHERE document_id = 'a.txt'")
    )
    engine.inspection.repair()
    assert count_orphans(engine.documents) == 0
    assert found(engine, "one") == ["one too"]
    assert found(engine, "two") == []


def test_orphans_are_purged(engine: Engine, database: Database) -> None:
    put(engine, "a.txt", "one", "two")
    documents = engine.documents
    database.write(lambda con: con.execute("UPDATE documents SET chunk_count = 3"))
    assert count_inconsistent(documents) == 1
    database.write(lambda con: con.execute("DELETE FROM documents"))
    assert count_orphans(documents) == 2
    engine.inspection.repair()
    assert count_orphans(documents) == 0
