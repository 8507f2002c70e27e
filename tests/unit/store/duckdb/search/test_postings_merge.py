from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from typing import TypeVar

import pytest

from desktop_rag.store.contract.database import Entity
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.duckdb.database.connections import Connection
from desktop_rag.store.duckdb.database.database import Database
from desktop_rag.store.duckdb.search.postings import (
    MERGED,
    PostingsMerge,
    read_postings_state,
    sort_recent,
)
from tests.stored_rows import found, put, remove

T = TypeVar("T")


@pytest.mark.everyday
def test_what_was_deleted_leaves_the_postings_when_they_are_sorted(
    engine: Engine, database: Database
) -> None:
    counts = "SELECT (SELECT count(*) FROM dead_chunks), (SELECT count(*) FROM postings)"
    put(engine, "a.txt", "the lamp is lit")
    put(engine, "b.txt", "the gate is shut")
    engine.upkeep.run()
    remove(engine, "a.txt")
    with database.read() as con:
        assert con.execute(counts).fetchall() == [(1, 8)]
    engine.upkeep.run()
    with database.read() as con:
        assert con.execute(counts).fetchall() == [(0, 4)]


@pytest.mark.slow
def test_small_libraries_are_not_sorted(engine: Engine) -> None:
    put(engine, "a.txt", "the lamp is lit")
    assert not engine.upkeep.is_due()


def rows(database: Database, table: str) -> int:
    with database.read() as con:
        [(count,)] = con.execute(f"SELECT count(*) FROM {table}").fetchall()
    return count


def runs(database: Database) -> int:
    return rows(database, f"posting_runs WHERE size <> {MERGED}")


@pytest.mark.slow
def test_recent_postings_become_a_run_and_the_runs_one(engine: Engine, database: Database) -> None:
    for n in range(3):
        put(engine, f"{n}.txt", "the lamp is lit", f"and number {n}")
        before = [engine.lexical.best([("lamp",), ("number",)], 9), found(engine, "number")]
        database.write(lambda con: sort_recent(con, minimum=0))
        assert rows(database, "recent_postings") == 0
        assert [engine.lexical.best([("lamp",), ("number",)], 9), found(engine, "number")] == before
    assert runs(database) == 3
    remove(engine, "1.txt")
    engine.upkeep.run()
    assert runs(database) == 0
    assert len(found(engine, "number")) == 2
    assert engine.lexical.weigh([("number",)]).counts == (2,)


class Interrupted(Database):
    """Does something else before a write, once."""

    def __init__(self, database: Database, first: Callable[[], object]) -> None:
        self._opened = database
        self._first = [first]

    @contextmanager
    def read(self) -> Generator[Connection]:
        with self._opened.read() as con:
            yield con

    def write(self, work: Callable[[Connection], T], *, changes: Iterable[Entity] = ()) -> T:
        while self._first:
            self._first.pop()()
        return self._opened.write(work, changes=changes)


@pytest.mark.slow
def test_a_run_made_while_all_is_sorted_is_not_lost(engine: Engine, database: Database) -> None:
    put(engine, "a.txt", "the lamp is lit")

    def store_another() -> None:
        put(engine, "b.txt", "the lamp is out")
        database.write(lambda con: sort_recent(con, minimum=0))

    PostingsMerge(Interrupted(database, store_another)).run()
    assert len(found(engine, "lamp")) == 2
    engine.upkeep.run()
    assert len(found(engine, "lamp")) == 2
    assert runs(database) == 0


@pytest.mark.everyday
def test_no_two_versions_of_the_sorted_postings_look_alike(
    engine: Engine, database: Database
) -> None:
    versions: list[tuple[int, int]] = []

    def record() -> None:
        with database.read() as con:
            versions.append(read_postings_state(con).version)

    record()
    for n in range(3):
        # As many come as go: the sizes are the same each time.
        put(engine, f"{n}.txt", "the lamp is lit")
        database.write(lambda con: sort_recent(con, minimum=0))
        record()
        remove(engine, f"{n}.txt")
        engine.upkeep.run()
        record()
    assert len(set(versions)) == len(versions)
