from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.database import Database
from tests.stored_rows import put


def test_orphans_are_counted_and_purged(engine: Engine, database: Database) -> None:
    put(engine, "a.txt", "one", "two")
    documents = engine.documents
    database.write(lambda con: con.execute("UPDATE documents SET chunk_count = 3"))
    assert documents.count_inconsistent() == 1
    database.write(lambda con: con.execute("DELETE FROM documents"))
    assert documents.count_orphans() == 2
    assert documents.purge_orphans() == 2
    assert documents.count_orphans() == 0
