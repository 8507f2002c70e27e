import pytest

from desktop_rag.store.contract.database import key_of
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.duckdb.database.database import Database
from desktop_rag.store.duckdb.search.index_cache import ENTRY_BYTES, PostingCache
from desktop_rag.store.duckdb.search.postings import read_postings_state, read_recent, read_sorted
from tests.stored_rows import put

WORDS = ("lamp", "gate", "wall")


@pytest.mark.everyday
def test_a_list_is_read_once_and_given_up_when_there_is_no_room(
    engine: Engine, database: Database
) -> None:
    for n in range(20):
        put(engine, f"{n}.txt", " ".join(WORDS))
    engine.upkeep.run()
    keys = [key_of(word) for word in WORDS]
    with database.snapshot() as snapshot:
        con, version = snapshot.con, snapshot.cached(read_postings_state).version
        size = read_sorted(con, keys)[keys[0]].nbytes
        lists = PostingCache(2 * (size + ENTRY_BYTES))
        first = lists.get(con, version, keys)
        # The first one had to make room for the last, which is still there.
        again = lists.get(con, version, keys[::-1])
        assert [again[key] is first[key] for key in keys] == [False, True, True]
        assert all(hits.chunk_ids.tolist() == list(range(1, 21)) for hits in again.values())


@pytest.mark.slow
def test_a_list_longer_than_the_room_is_given_all_the_same(
    engine: Engine, database: Database
) -> None:
    put(engine, "a.txt", "lamp")
    engine.upkeep.run()
    with database.snapshot() as snapshot:
        con, version = snapshot.con, snapshot.cached(read_postings_state).version
        key = key_of("lamp")
        found = PostingCache(0).get(con, version, [key])
        assert found[key].chunk_ids.tolist() == [1]


@pytest.mark.slow
def test_words_that_nobody_wrote_take_room_too(database: Database) -> None:
    with database.snapshot() as snapshot:
        con, version = snapshot.con, snapshot.cached(read_postings_state).version
        lists = PostingCache(2 * ENTRY_BYTES)
        first = lists.get(con, version, [1])
        lists.get(con, version, [2, 3])
        assert lists.get(con, version, [1])[1] is not first[1]


@pytest.mark.slow
def test_recent_postings_are_read_once_until_the_library_changes(
    engine: Engine, database: Database
) -> None:
    recent = PostingCache(10 * ENTRY_BYTES, read_recent, at_once=100)
    lamp, gate = key_of("lamp"), key_of("gate")
    put(engine, "a.txt", "lamp")
    with database.snapshot() as snapshot:
        con, changes = snapshot.con, snapshot.changes
        first = recent.get(con, changes, [lamp, gate])
        # Of other terms beside it, only those that are new are read.
        again = recent.get(con, changes, [gate, lamp, key_of("wall")])
        assert [again[key] is first[key] for key in (lamp, gate)] == [True, True]
        assert first[lamp].chunk_ids.tolist() == [1]
        assert recent.get(con, changes, [gate])[gate].chunk_ids.tolist() == []
        unknown = recent.get(con, None, [lamp])
        assert recent.get(con, None, [lamp])[lamp] is not unknown[lamp]
    put(engine, "b.txt", "lamp")
    with database.snapshot() as later:
        found = recent.get(later.con, later.changes, [lamp, gate])
        assert found[lamp].chunk_ids.tolist() == [1, 2]
