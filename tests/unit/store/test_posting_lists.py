from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.database import Database
from desktop_rag.store.posting_lists import PostingLists
from desktop_rag.store.postings import key_of, sorted_hits
from tests.stored_rows import put

WORDS = ("lamp", "gate", "wall")


def test_a_list_is_read_once_and_given_up_when_there_is_no_room(
    engine: Engine, database: Database
) -> None:
    for n in range(20):
        put(engine, f"{n}.txt", " ".join(WORDS))
    engine.upkeep.run()
    keys = [key_of(word) for word in WORDS]
    with database.snapshot() as con:
        size = sorted_hits(con, keys[0]).nbytes
        reader = PostingLists(2 * size).reader(con)
        first = [reader.of(key) for key in keys]
        # The first one had to make room for the last, which is still there.
        assert all(reader.of(key) is hits for key, hits in zip(keys[1:], first[1:], strict=True))
        again = reader.of(keys[0])
        assert again is not first[0]
        assert again.chunk_ids.tolist() == first[0].chunk_ids.tolist() == list(range(1, 21))


def test_a_list_longer_than_the_room_is_given_all_the_same(
    engine: Engine, database: Database
) -> None:
    put(engine, "a.txt", "lamp")
    engine.upkeep.run()
    with database.snapshot() as con:
        reader = PostingLists(0).reader(con)
        assert reader.of(key_of("lamp")).chunk_ids.tolist() == [1]
