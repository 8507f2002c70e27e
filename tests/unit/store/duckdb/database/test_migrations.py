"""Every schema that was ever released opens and becomes the present one."""

from pathlib import Path

import duckdb
import numpy as np
import pytest

from desktop_rag.core.domain import DocumentState
from desktop_rag.store.contract.search import EVERYWHERE, NamedDocuments
from desktop_rag.store.contract.vectors import ROUNDING
from desktop_rag.store.duckdb.database.database import Database
from desktop_rag.store.duckdb.database.migrations import LATEST, MIGRATIONS
from desktop_rag.store.duckdb.duckdb_engine import engine_over
from tests.old_library import file_of_version


@pytest.mark.parametrize("version", [1])
def test_a_library_of_an_older_app_is_taken_over(path: Path, version: int) -> None:
    file_of_version(path, version)
    database = Database(path, memory_mb=256, backups=path.parent)
    engine = engine_over(database)
    [document] = engine.documents.documents()
    [chunk] = engine.documents.chunks("d")
    [source] = engine.sources.sources()
    database.close()
    assert (document.state, document.parent_id, document.readers) == (
        DocumentState.SEARCHABLE, "", 0,
    )  # fmt: skip
    assert (document.dated, document.tags) == ("", ())
    assert (chunk.text, chunk.context) == ("lighthouse", "a")
    assert source.links is None
    assert version < LATEST


def test_a_library_with_postings_by_term_is_taken_over(path: Path) -> None:
    file_of_version(path, 1)
    connection = duckdb.connect(str(path))
    for version in (2, 3):
        MIGRATIONS[version - 1](connection)
        connection.execute("INSERT INTO migrations VALUES (?, 0)", [version])
    connection.execute("UPDATE documents SET path = '/docs/GRÖSSE.txt'")
    connection.execute("INSERT INTO postings VALUES ('lighthous', 1, 1, 2)")
    connection.execute("INSERT INTO terms VALUES ('lighthous', 1)")
    connection.execute("INSERT INTO recent_postings VALUES ('keeper', 1, 1, 2)")
    connection.close()
    database = Database(path, memory_mb=256, backups=path.parent)
    engine = engine_over(database)
    for term in ("lighthous", "keeper"):
        assert [i for i, _ in engine.lexical.best([(term,)], 10)] == [1]
        assert engine.lexical.nearest_term(f"{term}x", 1) == term
    assert [chunk.text for chunk in engine.documents.chunks("d")] == ["lighthouse"]
    named = NamedDocuments(frozenset({"größe"}), 1, ("d",))
    assert engine.names.matching(["größe"], [], [], EVERYWHERE, 8) == ([named], 1)
    assert engine.documents.count_inconsistent() == 0
    database.close()


def test_a_library_with_vectors_of_floats_is_taken_over(path: Path) -> None:
    file_of_version(path, 1)
    connection = duckdb.connect(str(path))
    connection.execute("INSERT INTO models VALUES (1, 'small', 3), (2, 'unused', 2)")
    for model, size in ((1, 3), (2, 2)):
        columns = f"(content_hash UUID, embedding FLOAT[{size}], b0 UBIGINT)"
        connection.execute(f"CREATE TABLE vectors_{model} {columns}")
        connection.execute(f"CREATE TABLE windows_{model} (content_hash UUID, vectors BLOB)")
    # The signs of the vector, a bit each, from the first byte's highest on.
    content = "'00000000-0000-0000-0000-000000000001'"
    connection.execute(f"INSERT INTO vectors_1 VALUES ({content}, [0.6, -0.8, 0.0], 128)")
    windows = np.array([[0, 127, 0], [127, -127, 0]], np.int8).tobytes()
    connection.execute(f"INSERT INTO windows_1 VALUES ({content}, ?)", [windows])
    connection.close()
    database = Database(path, memory_mb=256, backups=path.parent)
    engine = engine_over(database)
    search = engine.models.search(engine.models.vectors("small", 3).model_id)
    query = np.array([0.6, -0.8, 0.0], np.float32)
    assert search.nearest(query, 5).ranking() == [(1, pytest.approx(1.0, abs=ROUNDING))]
    [window] = search.compare(query, [1]).window_similarities.tolist()
    assert window == pytest.approx(1.4 / 2**0.5, abs=2 * ROUNDING)
    unused = engine.models.vectors("unused", 2)
    assert engine.chunks.vector_counts(unused.model_id) == (1, 1)
    database.close()
