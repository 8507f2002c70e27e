from pathlib import Path

import numpy as np
import pytest

from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.scope import read_statistics
from desktop_rag.store.duckdb.database.database import Database
from desktop_rag.store.duckdb.duckdb_engine import engine_over
from desktop_rag.store.duckdb.search import chunk_cache
from desktop_rag.store.duckdb.search.chunk_cache import (
    CachedChunks,
    ChunkCache,
    Chunks,
    ChunkSegment,
    is_visible,
)
from desktop_rag.store.duckdb.search.index_cache import IndexCache
from desktop_rag.store.duckdb.search.lexical_store import DuckdbLexicalStore
from desktop_rag.store.duckdb.search.postings import read_postings_state
from tests.stored_rows import ids, put, remove


def listed(chunks: Chunks) -> list[tuple[int, int, bool]]:
    arrays = (chunks.chunk_ids, chunks.terms, chunks.continues)
    return list(zip(*(array.tolist() for array in arrays), strict=True))


def listed_now(chunks: ChunkCache, database: Database) -> list[tuple[int, int, bool]]:
    with database.snapshot() as snapshot:
        statistics, state = snapshot.cached(read_statistics), snapshot.cached(read_postings_state)
        found = chunks.get(snapshot.con, statistics, state).select(np.arange(1, 100))
        return listed(found.where(is_visible(found.chunk_ids, statistics, state)))


@pytest.mark.slow
def test_what_came_since_is_read_too(engine: Engine, database: Database) -> None:
    chunks = ChunkCache()
    assert listed_now(chunks, database) == []
    put(engine, "a.txt", "the lamp", "is lit now")
    first = [(1, 2, False), (2, 3, True)]
    assert listed_now(chunks, database) == first
    put(engine, "b.txt", "the gate")
    assert listed_now(chunks, database) == [*first, (3, 2, False)]


@pytest.mark.slow
def test_what_was_deleted_is_not_found_before_and_after_postings_are_sorted_anew(
    engine: Engine, database: Database
) -> None:
    chunks = ChunkCache()
    for name in ("a.txt", "b.txt", "c.txt"):
        put(engine, name, "the lamp")
    assert len(listed_now(chunks, database)) == 3
    remove(engine, "a.txt")
    assert [row[0] for row in listed_now(chunks, database)] == [2, 3]
    engine.upkeep.run()
    assert [row[0] for row in listed_now(chunks, database)] == [2, 3]


@pytest.mark.slow
def test_an_older_snapshot_does_not_see_what_came_later(engine: Engine, database: Database) -> None:
    chunks = ChunkCache()
    put(engine, "a.txt", "the lamp")
    with database.snapshot() as older:
        statistics, state = older.cached(read_statistics), older.cached(read_postings_state)
        put(engine, "b.txt", "the gate")
        assert len(listed_now(chunks, database)) == 2
        found = chunks.get(older.con, statistics, state).select(np.array([1, 2]))
        assert is_visible(found.chunk_ids, statistics, state).tolist() == [True, False]


@pytest.mark.everyday
def test_chunks_are_found_by_number_and_by_content_in_any_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(chunk_cache, "_SEGMENT", 5)
    random = np.random.default_rng(1)
    ids = np.cumsum(random.integers(1, 3, 40)).astype(np.uint32)
    contents = random.integers(0, 15, 40).astype(np.uint64)
    rows = Chunks(ids, np.arange(40, dtype=np.int32), ids % 2 == 0, contents)
    first, *others = np.split(np.arange(40), [0, 12, 13, 15, 19, 31])
    found = CachedChunks((ChunkSegment(rows.where(first)),))
    for some in others:
        found = found.extended(rows.where(some))
    assert len(found.segments) > 3
    assert found.last_chunk_id == ids[-1]
    asked = np.arange(int(ids[-1]) + 9)
    assert listed(found.select(asked)) == listed(rows)
    wanted = np.array([14, 3, 99, 0], np.uint64)
    having = found.with_contents(wanted)
    assert sorted(having.chunk_ids.tolist()) == ids[np.isin(contents, wanted)].tolist()
    assert all(
        contents[ids == i] == c for i, c in zip(having.chunk_ids, having.contents, strict=True)
    )


@pytest.mark.everyday
def test_the_numbers_of_deleted_chunks_are_not_given_again(path: Path) -> None:
    database = Database(path, memory_mb=256, backups=path.parent)
    engine = engine_over(database)
    put(engine, "a.txt", "the lamp")
    put(engine, "b.txt", "the gate is shut", "and so is the door")
    database.close()
    database = Database(path, memory_mb=256, backups=path.parent)
    engine = engine_over(database)
    warm = engine.lexical
    warm.scores([("lamp",)], [1, 2, 3])
    remove(engine, "b.txt")
    engine.upkeep.run()
    put(engine, "c.txt", "one lamp")
    put(engine, "d.txt", "a lamp of many more words")
    asked = sorted(ids(engine, "lamp").values())
    assert asked == [1, 4, 5]
    assert warm.scores([("lamp",)], asked) == DuckdbLexicalStore(
        database, IndexCache(database)
    ).scores([("lamp",)], asked)
    database.close()


@pytest.mark.slow
def test_a_deleted_chunk_has_no_score(engine: Engine) -> None:
    put(engine, "a.txt", "the lamp")
    put(engine, "b.txt", "the lamp")
    engine.upkeep.run()
    assert set(engine.lexical.scores([("lamp",)], [1, 2])) == {1, 2}
    remove(engine, "a.txt")
    assert set(engine.lexical.scores([("lamp",)], [1, 2])) == {2}
