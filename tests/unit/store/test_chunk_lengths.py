from desktop_rag.store.chunk_lengths import ChunkLengths
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.database import Database
from desktop_rag.store.facts import facts_of
from tests.stored_rows import put, remove


def held(lengths: ChunkLengths, database: Database) -> list[tuple[int, int, bool]]:
    with database.snapshot() as con:
        found = lengths.of(con, database.known(facts_of))
    arrays = (found.chunk_ids, found.terms, found.goes_on)
    return list(zip(*(array.tolist() for array in arrays), strict=True))


def test_what_came_since_is_read_too(engine: Engine, database: Database) -> None:
    lengths = ChunkLengths()
    assert held(lengths, database) == []
    put(engine, "a.txt", "the lamp", "is lit now")
    first = [(1, 2, False), (2, 3, True)]
    assert held(lengths, database) == first
    put(engine, "b.txt", "the gate")
    assert held(lengths, database) == [*first, (3, 2, False)]


def test_once_most_were_deleted_they_are_given_up(engine: Engine, database: Database) -> None:
    lengths = ChunkLengths()
    for name in ("a.txt", "b.txt", "c.txt"):
        put(engine, name, "the lamp")
    assert len(held(lengths, database)) == 3
    remove(engine, "a.txt")
    assert len(held(lengths, database)) == 3
    remove(engine, "b.txt")
    assert held(lengths, database) == [(3, 2, False)]
