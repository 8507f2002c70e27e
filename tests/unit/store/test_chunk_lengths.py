from pathlib import Path

from desktop_rag.store.chunk_lengths import ChunkLengths
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.database import Database
from desktop_rag.store.facts import facts_of
from desktop_rag.store.lexical import LexicalStore
from desktop_rag.store.opening import duckdb_engine
from tests.stored_rows import ids, put, remove


def held(lengths: ChunkLengths, database: Database) -> list[tuple[int, int, bool]]:
    with database.snapshot() as snapshot:
        found = lengths.of(snapshot.con, snapshot.known(facts_of))
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


def test_the_numbers_of_deleted_chunks_are_not_given_again(path: Path) -> None:
    database = Database(path, memory_mb=256, backups=path.parent)
    engine = duckdb_engine(database)
    put(engine, "a.txt", "the lamp")
    put(engine, "b.txt", "the gate is shut", "and so is the door")
    database.close()
    database = Database(path, memory_mb=256, backups=path.parent)
    engine = duckdb_engine(database)
    warm = engine.lexical
    warm.scores([("lamp",)], [1, 2, 3])
    remove(engine, "b.txt")
    engine.upkeep.run()
    put(engine, "c.txt", "one lamp")
    put(engine, "d.txt", "a lamp of many more words")
    asked = sorted(ids(engine, "lamp").values())
    assert asked == [1, 4, 5]
    assert warm.scores([("lamp",)], asked) == LexicalStore(database).scores([("lamp",)], asked)
    database.close()


def test_a_deleted_chunk_has_no_score(engine: Engine) -> None:
    put(engine, "a.txt", "the lamp")
    put(engine, "b.txt", "the lamp")
    engine.upkeep.run()
    assert set(engine.lexical.scores([("lamp",)], [1, 2])) == {1, 2}
    remove(engine, "a.txt")
    assert set(engine.lexical.scores([("lamp",)], [1, 2])) == {2}
