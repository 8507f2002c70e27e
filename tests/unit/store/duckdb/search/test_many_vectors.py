"""In a large library the signs of the vectors tell which of all are compared."""

from typing import Any, NoReturn

import numpy as np
import pytest
from numpy.typing import NDArray

from desktop_rag.store.duckdb.database.connections import Columns, Connection, insert
from desktop_rag.store.duckdb.database.database import Database
from desktop_rag.store.duckdb.search import chunk_cache, index_cache
from desktop_rag.store.duckdb.search.index_cache import BinaryVectorIndex, IndexCache
from desktop_rag.store.duckdb.search.vector_store import (
    DuckdbChunkStore,
    DuckdbModelStore,
    DuckdbVectorSearch,
)

DIMENSIONS = 64
LARGE = 50_000
# DuckDB reads pieces of 122,880 rows.
SEVERAL_PIECES = 400_000
MANY = 1_000


class Vectors:
    """The vectors of one model: stored, searched and pruned over one cache."""

    def __init__(self, database: Database) -> None:
        cache = IndexCache(database)
        models = DuckdbModelStore(database, cache)
        self.store = models.vectors("model", DIMENSIONS)
        self.search = models.search(self.store.model_id)
        self.chunks = DuckdbChunkStore(database, cache)


def fill(database: Database, vectors: NDArray[np.float32]) -> Vectors:
    """Chunks 1, 2, 3 … with these vectors."""
    made = Vectors(database)
    hashes = [f"{n + 1:032x}" for n in range(len(vectors))]
    made.store.add(hashes, vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
    ids = np.arange(1, len(vectors) + 1)
    ones = np.ones_like(ids)
    columns: Columns = {"chunk_id": ids, "position": ones, "term_count": ones}
    columns["content_hash"] = hashes
    database.write(lambda con: insert(con, "chunks", columns))
    return made


def exact(vectors: NDArray[np.float32], query: NDArray[np.float32], limit: int) -> set[int]:
    similar = vectors @ query / np.linalg.norm(vectors, axis=1)
    return {int(place) + 1 for place in np.argsort(-similar)[:limit]}


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(3)


@pytest.mark.slow
def test_the_nearest_of_many_are_found(database: Database, random: np.random.Generator) -> None:
    # Subjects, as passages have them: of vectors without any none is near.
    subjects = random.standard_normal((500, DIMENSIONS))
    noise = 0.5 * random.standard_normal((LARGE, DIMENSIONS))
    vectors = (subjects[random.integers(0, 500, LARGE)] + noise).astype(np.float32)
    model = fill(database, vectors)
    found = 0
    for subject in subjects[:20].astype(np.float32):
        query = subject / np.linalg.norm(subject)
        found += len(set(model.search.nearest(query, 10).chunk_ids) & exact(vectors, query, 10))
    assert found >= 0.99 * 200


@pytest.mark.slow
def test_a_question_has_the_same_nearest_each_time(
    database: Database, random: np.random.Generator
) -> None:
    # Several threads read so many, and many differ in as many signs as the last that is compared.
    vectors = random.standard_normal((SEVERAL_PIECES, DIMENSIONS)).astype(np.float32)
    model = fill(database, vectors)
    query = vectors[7] / np.linalg.norm(vectors[7])
    found = [model.search.nearest(query, MANY).chunk_ids for _ in range(10)]
    assert all(ids == found[0] for ids in found)


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def never(*_: object) -> NoReturn:
    raise AssertionError("this is not the way")


@pytest.mark.slow
def test_as_many_as_fit_are_scanned_in_memory_and_more_by_the_database(
    database: Database, random: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = random.standard_normal((LARGE, DIMENSIONS)).astype(np.float32)
    memory = fill(database, vectors)
    query = unit(vectors[3])
    with monkeypatch.context() as patch:
        patch.setattr(DuckdbVectorSearch, "_nearest_by_signs", never)
        nearest = memory.search.nearest(query, 5).chunk_ids
    monkeypatch.setattr(index_cache, "_SIGNS_SHARE", 1e-6)
    monkeypatch.setattr(BinaryVectorIndex, "nearest", never)
    other = Vectors(database)
    # Of equally far ones at the end of the candidates either takes its own.
    assert other.search.nearest(query, 5).chunk_ids == nearest


def test_pruned_modeltake_no_places(database: Database, random: np.random.Generator) -> None:
    vectors = random.standard_normal((3 * MANY, DIMENSIONS)).astype(np.float32)
    query = unit(vectors[0])
    vectors[: 2 * MANY] = query + 0.1 * vectors[: 2 * MANY]
    model = fill(database, vectors)
    assert max(model.search.nearest(query, 10).chunk_ids) <= 2 * MANY

    def delete(con: Connection) -> None:
        con.execute("DELETE FROM chunks WHERE chunk_id <= ?", [2 * MANY])
        con.execute("INSERT INTO dead_chunks SELECT range FROM range(1, ?)", [2 * MANY + 1])

    database.write(delete)
    model.chunks.prune_vectors(model.store.model_id)
    rest = vectors[2 * MANY :]
    assert set(model.search.nearest(query, 10).chunk_ids) == {
        2 * MANY + i for i in exact(rest, query, 10)
    }


def test_what_is_added_while_all_are_read_is_found(
    database: Database, random: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    *vectors, late = unit(random.standard_normal((101, DIMENSIONS)).astype(np.float32))
    model = fill(database, np.array(vectors))
    hashes = ["f" * 32]
    columns: Columns = {"chunk_id": [101], "position": [0], "term_count": [1]}
    database.write(lambda con: insert(con, "chunks", columns | {"content_hash": hashes}))
    extended = BinaryVectorIndex.extended

    def extended_late(index: BinaryVectorIndex, *more: NDArray[Any]) -> BinaryVectorIndex:
        monkeypatch.setattr(BinaryVectorIndex, "extended", extended)
        model.store.add(hashes, late[np.newaxis])
        return index.extended(*more)

    monkeypatch.setattr(BinaryVectorIndex, "extended", extended_late)
    model.search.nearest(late, 1)
    assert model.search.nearest(late, 1).chunk_ids == [101]


@pytest.mark.slow
def test_modelthat_moved_are_still_compared(
    database: Database, random: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = unit(random.standard_normal((LARGE, DIMENSIONS)).astype(np.float32))
    model = fill(database, vectors)
    query = vectors[-1]
    chosen = list(range(1, LARGE, 5))
    before = model.search.compare(query, [*chosen, *chosen[:3]])
    assert sorted(before.chunk_ids) == chosen
    nearest = model.search.nearest(query, 20)
    # Rows with windows take the place of those without, at the end; what is free there is used.
    some = range(1, 30_001)
    model.store.add_windows([f"{n:032x}" for n in some], [vectors[n - 1 : n] for n in some])
    for turn in range(3):
        if turn == 2:
            # It is known by now where they are.
            monkeypatch.setattr(chunk_cache, "sql_in_numbers", never)
        after = model.search.compare(query, chosen)
        assert after.chunk_ids == before.chunk_ids
        assert np.array_equal(after.vectors, before.vectors)
        assert np.isfinite(after.window_similarities).sum() == 6_000
        assert model.search.nearest(query, 20).chunk_ids == nearest.chunk_ids
