"""A search on a server finds what one in a file finds, whatever is in memory or merged."""

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.core.question import Readable
from desktop_rag.features.shared_library.postgres.database.server_database import ServerDatabase
from desktop_rag.features.shared_library.postgres.search.server_lexical_store import (
    PostingsInMemory,
)
from desktop_rag.store.contract.database import key_of
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.search import EVERYWHERE, Scope
from tests.engines import duckdb_in, postgres_in
from tests.stored_rows import collection_id, found, put, remove

WORDS = ("lamp", "gate", "keel", "dusk", "wick", "reef")
WEIGHTS = (60, 30, 12, 6, 3, 1)


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[Engine]:
    folder = tmp_path / "embedded"
    folder.mkdir()
    opened = duckdb_in(folder)
    yield opened
    opened.close()


@pytest.fixture
def other(engine: Engine, tmp_path: Path) -> Iterator[Engine]:
    """The same library in another process, as far as memory goes."""
    opened = postgres_in(tmp_path)
    yield opened
    opened.close()


def rows(engine: Engine, table: str) -> int:
    assert isinstance(engine.storage, ServerDatabase)
    with engine.storage.read() as con:
        [(count,)] = con.execute(f"SELECT count(*) FROM {table}").fetchall()
    return int(count)


def scopes_of(engine: Engine, *, is_merged: bool) -> list[Scope]:
    """Those of one reader; of all documents only where no weight counts deleted chunks."""
    reader = Scope(readable=Readable((collection_id(engine, "A"),), ("3.txt",)))
    limited = [replace(reader, excluded=(("gate",),)), replace(reader, required=(("dusk",),))]
    open_to_all = [EVERYWHERE, Scope(excluded=(("gate",),)), Scope(document_ids=("4.txt", "7.txt"))]
    return [reader, *limited, *(open_to_all if is_merged else [])]


def answers(engine: Engine, scopes: list[Scope]) -> list[list[tuple[str, object]]]:
    """What some searches find, as texts."""
    result: list[list[tuple[str, object]]] = []
    for scope in scopes:
        for words in ([("lamp",), ("wick",)], [("gate", "reef"), ("keel",)], [("dusk",)]):
            weights = engine.lexical.weigh(words, scope.readable)
            scores = dict(engine.lexical.best(weights, 12, scope))
            passages = engine.lexical.passages(scores)
            result.append([(p.text, pytest.approx(p.score, rel=1e-12)) for p in passages])
    return result


def test_both_engines_rank_alike_through_writes_deletions_and_maintenance(
    engine: Engine, other: Engine, embedded: Engine
) -> None:
    chance = random.Random(5)
    for number in range(40):
        texts = [
            " ".join(chance.choices(WORDS, WEIGHTS, k=chance.randint(3, 12))) + f" {number}-{n}"
            for n in range(3)
        ]
        gone = f"{chance.randrange(number)}.txt" if number and chance.random() < 0.3 else ""
        for each in (engine, embedded):
            put(each, f"{number}.txt", *texts, collection=chance_name(number))
            if gone:
                remove(each, gone)
            if number % 9 == 0:
                each.upkeep.run()
        if number > 3 and number % 3 == 0:
            is_merged = number % 9 == 0
            expected = answers(embedded, scopes_of(embedded, is_merged=is_merged))
            for each in (engine, other):
                assert answers(each, scopes_of(each, is_merged=is_merged)) == expected


def chance_name(number: int) -> str:
    return "A" if number % 3 else "B"


def test_maintenance_makes_few_rows_and_takes_deleted_chunks_out(engine: Engine) -> None:
    for n in range(8):
        put(engine, f"{n}.txt", "the lamp is lit", f"and number {n}")
    remove(engine, "2.txt", "5.txt")
    before = found(engine, "lamp")
    assert len(before) == 6
    assert (rows(engine, "posting_blocks WHERE postings > 5"), rows(engine, "dead_chunks")) == (
        0,
        2,
    )
    engine.upkeep.run()
    assert found(engine, "lamp") == before
    assert rows(engine, "dead_chunks") == 0
    assert rows(engine, "posting_blocks WHERE postings = 6") == len(
        ["the", "lamp", "is", "lit", "and", "number"]
    )
    assert engine.lexical.weigh([("lamp",)]).counts == (6,)


def test_small_libraries_are_not_merged(engine: Engine) -> None:
    put(engine, "a.txt", "the lamp is lit")
    assert not engine.upkeep.is_due()


def test_lists_in_memory_follow_what_others_write(engine: Engine, other: Engine) -> None:
    put(engine, "a.txt", "lamp one")
    assert found(other, "lamp") == ["lamp one"]
    put(engine, "b.txt", "lamp two")
    assert found(other, "lamp") == ["lamp one", "lamp two"]
    remove(engine, "a.txt")
    assert found(other, "lamp") == ["lamp two"]
    engine.upkeep.run()
    put(engine, "c.txt", "lamp three")
    assert found(other, "lamp") == ["lamp two", "lamp three"]
    other.storage.release()
    assert found(other, "lamp") == ["lamp two", "lamp three"]


def test_a_snapshot_that_is_overtaken_sees_no_newer_chunk(engine: Engine) -> None:
    put(engine, "a.txt", "lamp one")
    storage = engine.storage
    assert isinstance(storage, ServerDatabase)
    postings = PostingsInMemory(1_000_000)
    key = key_of("lamp")
    with storage.snapshot() as snapshot:
        put(engine, "b.txt", "lamp two")
        with storage.snapshot() as newer:
            assert len(postings.get(newer, [key])[key].chunk_ids) == 2
        assert len(postings.get(snapshot, [key])[key].chunk_ids) == 1


def test_a_purge_of_a_library_without_documents_leaves_nothing(engine: Engine) -> None:
    put(engine, "a.txt", "lamp")
    assert isinstance(engine.storage, ServerDatabase)
    engine.storage.write(lambda con: con.execute("DELETE FROM documents"))
    assert engine.inspection.repair().removed == 1
    assert rows(engine, "postings") == 0
    engine.upkeep.run()
    assert rows(engine, "posting_blocks") == 0
