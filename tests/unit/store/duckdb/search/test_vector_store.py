import numpy as np

from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.duckdb.database.database import Database
from tests.stored_rows import put


def test_a_model_that_is_dropped_takes_its_tables_along(engine: Engine, database: Database) -> None:
    work = engine.sources.add_collection("Work").collection_id
    engine.models.answer(engine.models.vectors("answering@1", 4, "").model_id, [work])
    engine.models.vectors("unused@2", 4, "models/other")
    engine.models.drop_unused(set())
    with database.read() as con:
        tables = {row[0] for row in con.execute("SHOW TABLES").fetchall()}
        assert con.execute("SELECT name FROM models").fetchall() == [("answering@1",)]
    assert {table for table in tables if table.startswith("vectors_")} == {"vectors_1"}


def test_a_new_model_with_the_id_of_a_dropped_one_starts_afresh(engine: Engine) -> None:
    put(engine, "a.txt", "the lamp")
    dropped = engine.models.vectors("old@1", 4)
    [(content, _, _)] = engine.chunks.without_vectors(dropped.model_id, 1)
    dropped.add([content], np.full((1, 4), 0.5, np.float32))
    search = engine.models.search(dropped.model_id)
    assert search.nearest(np.full(4, 0.5, np.float32), 1).chunk_ids == [1]
    engine.models.drop_unused(set())
    longer = engine.models.vectors("new@2", 256)
    assert longer.model_id == dropped.model_id
    longer.add([content], np.full((1, 256), 1 / 16, np.float32))
    search = engine.models.search(longer.model_id)
    assert search.nearest(np.full(256, 1 / 16, np.float32), 1).chunk_ids == [1]
