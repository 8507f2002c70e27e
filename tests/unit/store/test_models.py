"""Which vectors answer for which collection, and which are dropped."""

from pathlib import Path

import duckdb
import numpy as np
import pytest

from desktop_rag.store.database import Database
from desktop_rag.store.migrations import MIGRATIONS
from desktop_rag.store.models import ModelStore
from desktop_rag.store.sources import SourceStore


@pytest.fixture
def models(database: Database) -> ModelStore:
    return ModelStore(database)


def names(database: Database) -> set[tuple[str, int]]:
    with database.read() as con:
        return set(con.execute("SELECT name, dimensions FROM models").fetchall())


def tables(database: Database) -> int:
    with database.read() as con:
        rows = con.execute("SHOW TABLES").fetchall()
    return sum(row[0].startswith(("vectors_", "windows_")) for row in rows)


def test_a_model_answers_for_the_collections_it_is_complete_for(
    database: Database, models: ModelStore
) -> None:
    sources = SourceStore(database)
    work, home = (sources.add_collection(name).collection_id for name in ("Work", "Home"))
    assert models.answering() == {}
    first = models.vectors("minilm@1", 4, "")
    models.answer(first.model_id, [work, home])
    other = models.vectors("e5@2", 8, "models/e5")
    models.answer(other.model_id, [home])
    rows = models.answering()
    assert {i: (row.name, row.dimensions, row.spec) for i, row in rows.items()} == {
        work: ("minilm@1", 4, ""),
        home: ("e5@2", 8, "models/e5"),
    }


def test_vectors_of_one_name_and_two_lengths_never_share_a_table(models: ModelStore) -> None:
    short, long = models.vectors("m@host", 4, "x#m"), models.vectors("m@host", 8, "x#m")
    assert short.model_id != long.model_id
    assert models.vectors("m@host", 4).model_id == short.model_id
    short.add(["0" * 32], np.ones((1, 4), np.float32))
    assert long.lacking(["0" * 32]) == {"0" * 32}


def test_what_neither_answers_nor_is_being_made_is_dropped(
    database: Database, models: ModelStore
) -> None:
    work = SourceStore(database).add_collection("Work").collection_id
    answering = models.vectors("old@1", 4, "gone/folder")
    models.answer(answering.model_id, [work])
    models.vectors("replaced@2", 4, "models/e5")
    models.vectors("wanted@3", 4, "models/e5")
    models.vectors("unused@4", 4, "models/other")
    models.drop_unused({"models/e5"})
    assert names(database) == {("old@1", 4), ("wanted@3", 4)}
    assert tables(database) == 4


def test_the_model_of_an_older_library_goes_on_answering(path: Path) -> None:
    connection = duckdb.connect(str(path))
    connection.execute("CREATE TABLE migrations (version INTEGER, applied_at DOUBLE)")
    for number in (0, 1):
        MIGRATIONS[number](connection)
        connection.execute("INSERT INTO migrations VALUES (?, 0)", [number + 1])
    connection.execute(
        "INSERT INTO collections (collection_id, name, created_at) VALUES ('c', 'Work', 1)"
    )
    connection.execute(
        "INSERT INTO models VALUES (1, 'a@1', 4, '', false), (2, 'b@2', 4, 'f', true)"
    )
    connection.close()
    database = Database(path, memory_mb=256, backups=path.parent)
    rows = ModelStore(database).answering()
    assert {i: (row.model_id, row.name, row.spec) for i, row in rows.items()} == {
        "c": (2, "b@2", "f")
    }
    database.close()
