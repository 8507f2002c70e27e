"""What is remembered of the library is what a look at it finds."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from desktop_rag.core.domain import DocumentState
from desktop_rag.core.parsed import ChunkSettings
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.scope import read_statistics
from desktop_rag.store.duckdb.database.connections import Connection
from desktop_rag.store.duckdb.database.database import Database
from desktop_rag.store.duckdb.database.reading import ActiveReaders, Snapshot, SnapshotCache
from desktop_rag.store.duckdb.search.postings import read_postings_state, sort_recent
from tests.stored_rows import (
    add,
    add_source,
    collection_id,
    document,
    indexed,
    put,
    remove,
    wait_again,
)


def gone(engine: Engine, name: str) -> None:
    [row] = engine.documents.get([name])
    change = {name: lambda d: replace(d, state=DocumentState.GONE)}
    assert engine.documents.apply_changes(row.source_id, [], change, [])


def attach(engine: Engine) -> None:
    engine.sources.add_attached(Path("/docs/now.txt"), collection_id(engine, "Papers"))


def attach_and_forget(engine: Engine) -> None:
    attach(engine)
    engine.attachments.purge(before=time.time() + 1)


def settle_in_another_language(engine: Engine) -> None:
    [row] = engine.documents.get(["b.txt"])
    engine.documents.settle([indexed(replace(row, language="de"), "die Lampe ist an")])


def recut(engine: Engine) -> None:
    [row] = engine.documents.get(["b.txt"])
    assert engine.documents.recut(indexed(row, "the gate", "is", "shut"))


def forget_source(engine: Engine) -> None:
    [row] = engine.documents.get(["a.txt"])
    engine.sources.remove_source(row.source_id)


def forget_collection(engine: Engine) -> None:
    engine.sources.remove_collection(collection_id(engine, "Others"))


def collections(con: Connection) -> list[tuple[Any, ...]]:
    return con.execute("FROM collections ORDER BY ALL").fetchall()


LOOKS = (read_statistics, read_postings_state, collections)
CHANGES: dict[str, Callable[[Engine], object]] = {
    "a file is found": lambda engine: add(engine, document("new.txt")),
    "a file is read": lambda engine: put(engine, "new.txt", "a lamp", "and another"),
    "a file is read anew": settle_in_another_language,
    "a file is cut anew": recut,
    "a file waits": lambda engine: wait_again(engine, "a.txt"),
    "a file is gone": lambda engine: gone(engine, "a.txt"),
    "a file is removed": lambda engine: remove(engine, "a.txt"),
    "a file is attached": attach,
    "an attached file is forgotten": attach_and_forget,
    "a folder is added": lambda engine: add_source(engine, "folder"),
    "a folder is removed": forget_source,
    "a collection is added": lambda engine: engine.sources.add_collection("More"),
    "a collection has another name": lambda engine: engine.sources.rename_collection(
        collection_id(engine, "Papers"), "Letters"
    ),
    "a collection is cut in another way": lambda engine: engine.sources.set_chunking(
        collection_id(engine, "Papers"), ChunkSettings(max_tokens=100)
    ),
    "a collection has another model": lambda engine: engine.sources.set_embedder(
        collection_id(engine, "Papers"), "another"
    ),
    "a collection is removed": forget_collection,
    "postings are sorted": lambda engine: engine.upkeep.run(),
}


@pytest.fixture
def filled(engine: Engine, database: Database) -> Engine:
    put(engine, "a.txt", "the lamp is lit", "the gate is shut")
    put(engine, "b.txt", "the wall", collection="Others")
    database.write(lambda con: sort_recent(con, minimum=0))
    put(engine, "c.txt", "another lamp")
    remove(engine, "c.txt")
    return engine


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
def test_each_change_of_the_library_is_known(
    filled: Engine, database: Database, change: Callable[[Engine], object]
) -> None:
    with database.snapshot() as before:
        known_before = all_known(before)
        change(filled)
        with database.snapshot() as after:
            assert all_known(after) == looked_up(after.con)
        assert all_known(before) == known_before == looked_up(before.con)


def all_known(snapshot: Snapshot) -> list[str]:
    return [repr(snapshot.cached(look)) for look in LOOKS]


def looked_up(con: Connection) -> list[str]:
    return [repr(look(con)) for look in LOOKS]


@pytest.mark.everyday
def test_vectors_change_nothing_that_is_known(filled: Engine, database: Database) -> None:
    vectors = filled.models.vectors("some-model", 3)
    known = database.cached(read_statistics)
    contents = [content for content, _, _ in filled.chunks.without_vectors(vectors.model_id, 10)]
    vectors.add(contents, np.eye(3, dtype=np.float32)[: len(contents)])
    vectors.add_windows(contents, [np.eye(3, dtype=np.float32)] * len(contents))
    filled.chunks.prune_vectors(vectors.model_id)
    assert database.cached(read_statistics) is known


@pytest.mark.slow
def test_at_rest_nothing_is_known(filled: Engine, database: Database) -> None:
    known = database.cached(read_statistics)
    filled.storage.release()
    found = database.cached(read_statistics)
    assert found is not known
    assert repr(found) == repr(known)


@pytest.mark.slow
def test_after_a_change_things_are_known_again(filled: Engine, database: Database) -> None:
    remove(filled, "a.txt")
    assert database.cached(read_statistics) is database.cached(read_statistics)


@pytest.mark.everyday
def test_a_commit_that_failed_has_ended() -> None:
    known = SnapshotCache()
    with pytest.raises(KeyError), known.changing():
        raise KeyError("full disk")
    assert known.changes is not None


def documents(con: Connection) -> int:
    return con.execute("SELECT count(*) FROM documents").fetchall()[0][0]


@pytest.mark.slow
def test_what_is_known_fits_each_snapshot_while_the_library_changes(database: Database) -> None:
    wrong: list[tuple[int, int]] = []
    is_done = threading.Event()

    def look() -> None:
        while not is_done.is_set():
            with database.snapshot() as snapshot:
                known, found = snapshot.cached(documents), documents(snapshot.con)
            if known != found:
                wrong.append((known, found))

    readers = [threading.Thread(target=look) for _ in range(3)]
    for reader in readers:
        reader.start()
    try:
        for n in range(200):
            database.write(
                lambda con, n=n: con.execute(f"INSERT INTO documents (document_id) VALUES ('{n}')")
            )
    finally:
        is_done.set()
        for reader in readers:
            reader.join()
    assert not wrong
    assert database.cached(documents) == 200


def test_no_reader_waits_while_another_opens_its_cursor() -> None:
    readers, is_begun, may_end = ActiveReaders(), threading.Event(), threading.Event()
    with closing(duckdb.connect()) as connection, ThreadPoolExecutor() as pool:

        def slow() -> duckdb.DuckDBPyConnection:
            is_begun.set()
            assert may_end.wait(10)
            return connection

        def one(open_connection: Callable[[], duckdb.DuckDBPyConnection]) -> object:
            with readers.cursor(open_connection) as cursor:
                return cursor.execute("SELECT 1").fetchall()

        first = pool.submit(one, slow)
        assert is_begun.wait(10)
        assert pool.submit(one, lambda: connection).result(5) == [(1,)]
        may_end.set()
        assert first.result(10) == [(1,)]
        readers.interrupt_all()
