import pytest

from desktop_rag.store.contract.database import key_of
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.duckdb.database.database import Database
from desktop_rag.store.duckdb.database.reading import Snapshot
from desktop_rag.store.duckdb.search.index_cache import DocumentFrequencies
from desktop_rag.store.duckdb.search.postings import read_postings_state, sort_recent
from tests.stored_rows import put

LAMP, GATE, NOBODYS = (key_of(word) for word in ("lamp", "gate", "nobody"))


def counts(vocabulary: DocumentFrequencies, snapshot: Snapshot) -> tuple[int, ...]:
    version = snapshot.cached(read_postings_state).version
    found = vocabulary.counts(snapshot.con, version, [LAMP, NOBODYS, GATE])
    return tuple(found[key] for key in (LAMP, GATE, NOBODYS))


def sort(database: Database) -> None:
    database.write(lambda con: sort_recent(con, minimum=0))


@pytest.mark.slow
def test_a_term_is_counted_in_all_runs_of_its_snapshot(engine: Engine, database: Database) -> None:
    vocabulary = DocumentFrequencies()
    with database.snapshot() as empty:
        assert counts(vocabulary, empty) == (0, 0, 0)
        put(engine, "a.txt", "the lamp", "the lamp and the gate")
        sort(database)
        with database.snapshot() as first:
            assert counts(vocabulary, first) == (2, 1, 0)
            put(engine, "b.txt", "no lamp")
            sort(database)
            with database.snapshot() as second:
                assert counts(vocabulary, second) == (3, 1, 0)
            engine.upkeep.run()
            with database.snapshot() as all_in_one:
                assert counts(vocabulary, all_in_one) == (3, 1, 0)
            # What is held is of a later one.
            assert counts(vocabulary, first) == (2, 1, 0)
        assert counts(vocabulary, empty) == (0, 0, 0)


def test_what_is_held_is_not_read_again(engine: Engine, database: Database) -> None:
    vocabulary = DocumentFrequencies()
    put(engine, "a.txt", "the lamp")
    engine.upkeep.run()
    with database.snapshot() as snapshot:
        version = snapshot.cached(read_postings_state).version
        assert vocabulary.counts(snapshot.con, version, [LAMP]) == {LAMP: 1}
    # Its cursor is closed now.
    assert vocabulary.counts(snapshot.con, version, [LAMP]) == {LAMP: 1}
