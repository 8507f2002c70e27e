"""Documents that change their collection while others search, and what that leaves behind."""

import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from desktop_rag.features.shared_library.postgres.database.server_database import ServerDatabase
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.precious import Entry
from tests.engines import postgres_in
from tests.stored_rows import add_source, collection_id, found, put, ranked
from tests.unit.store.contract.collections.test_moves import (
    in_collection,
    move_file,
    near,
    with_model,
)

DOCUMENTS, MOVES = 6, 12


def rows(engine: Engine, statement: str) -> list[tuple[object, ...]]:
    assert isinstance(engine.storage, ServerDatabase)
    with engine.storage.read() as con:
        return con.execute(statement).fetchall()


def fill(engine: Engine) -> list[str]:
    """Documents with words of their own and in common, in two sources of two collections."""
    texts: list[str] = []
    source = add_source(engine, "moving", "A")
    add_source(engine, "staying", "B")
    for n in range(DOCUMENTS):
        some = [f"lamp {n} {part}" for part in ("one", "two")]
        row = put(engine, f"{n}.txt", *some, collection="A" if n % 2 else "B")
        if n % 2:
            move_file(engine, row.document_id, source)
        texts += some
    return texts


def move_source(engine: Engine, name: str) -> None:
    [moving] = [s for s in engine.sources.sources() if s.path.name == "moving"]
    engine.sources.set_collection(moving.source_id, collection_id(engine, name))


def move_files(engine: Engine, name: str) -> None:
    place = "moving" if name == "A" else "staying"
    [source] = [s for s in engine.sources.sources() if s.path.name == place]
    for n in range(1, DOCUMENTS, 2):
        move_file(engine, f"{n}.txt", source.source_id)


@pytest.mark.parametrize("move", [move_source, move_files])
def test_searches_beside_a_move_find_everything(
    engine: Engine, tmp_path: Path, move: Callable[[Engine, str], None]
) -> None:
    texts = fill(engine)
    store, by_text = with_model(engine, *texts)
    query = by_text[texts[0]]
    missing: list[set[str]] = []
    searches = 0
    is_over = threading.Event()

    def search(reader: Engine) -> None:
        nonlocal searches
        while True:
            is_last = is_over.is_set()
            for got in (ranked(reader, [("lamp",)]), near(reader, store, query)):
                missing.append(set(texts) - set(got))
                searches += 1
            if is_last:
                return

    with closing(postgres_in(tmp_path)) as other:
        other.models.vectors("model", len(query))
        threads = [threading.Thread(target=search, args=(each,)) for each in (engine, other)]
        for thread in threads:
            thread.start()
        for n in range(MOVES):
            move(engine, "AB"[n % 2 - 1])
        is_over.set()
        for thread in threads:
            thread.join()
    assert searches >= 4
    assert not any(missing)
    assert engine.inspection.discrepancies(lambda: True) == []


def test_a_move_leaves_nothing_behind_but_vectors_that_are_pruned(engine: Engine) -> None:
    fill(engine)
    store, _ = with_model(engine, *found(engine, "lamp"))
    before = rows(engine, "SELECT key, chunk_id, tf, term_count FROM postings ORDER BY 1, 2")
    move_source(engine, "B")
    b = collection_id(engine, "B")
    for table in ("documents", "document_texts", "chunks", "posting_blocks"):
        assert rows(engine, f"SELECT DISTINCT collection_id FROM {table}") == [(b,)], table
    assert (
        rows(engine, "SELECT key, chunk_id, tf, term_count FROM postings ORDER BY 1, 2") == before
    )
    engine.chunks.prune_vectors(store.model_id)
    assert rows(engine, "SELECT DISTINCT collection_id FROM vectors_1") == [(b,)]
    assert rows(engine, "SELECT count(*) FROM vectors_1") == [(2 * DOCUMENTS,)]


def test_lists_in_memory_are_right_after_a_move_and_its_maintenance(
    engine: Engine, tmp_path: Path
) -> None:
    fill(engine)
    with closing(postgres_in(tmp_path)) as other:
        expected = ranked(other, [("lamp",), ("one",)])
        move_files(engine, "B")
        assert ranked(other, [("lamp",), ("one",)]) == expected
        other.storage.release()
        assert ranked(other, [("lamp",), ("one",)]) == expected
        engine.upkeep.run()
        assert ranked(other, [("lamp",), ("one",)]) == expected
        put(engine, "late.txt", "lamp late", collection="A")
        assert len(ranked(other, [("lamp",)])) == 2 * DOCUMENTS + 1


def test_a_vector_that_a_collection_lacks_is_copied_by_the_queue(engine: Engine) -> None:
    for name in ("A", "B"):
        put(engine, f"{name}.txt", "lamp", collection=name)
    store, by_text = with_model(engine, "lamp")
    b = in_collection(engine, "B")
    assert isinstance(engine.storage, ServerDatabase)
    engine.storage.write(
        lambda con: con.execute(
            "DELETE FROM vectors_1 WHERE collection_id = ?", [collection_id(engine, "B")]
        )
    )
    assert near(engine, store, by_text["lamp"], b) == []
    assert engine.chunks.finish_documents(store.model_id) == ["A.txt"]
    assert engine.chunks.vector_counts(store.model_id) == (1, 0)
    assert engine.chunks.without_vectors(store.model_id, 9) == []
    assert near(engine, store, by_text["lamp"], b) == ["lamp"]
    assert engine.chunks.finish_documents(store.model_id) == ["B.txt"]


def test_two_that_embed_the_same_content_store_it_once(engine: Engine) -> None:
    put(engine, "a.txt", "lamp", collection="A")
    store, by_text = with_model(engine, "lamp")
    [content_hash] = [c.content_hash for c in engine.documents.chunks("a.txt")]
    store.add([content_hash], np.array([by_text["lamp"]]))
    assert rows(engine, "SELECT count(*) FROM vectors_1") == [(1,)]


def test_a_source_that_a_backup_puts_elsewhere_takes_its_documents_along(engine: Engine) -> None:
    row = put(engine, "a.txt", "lamp", collection="A")
    engine.sources.add_collection("B")
    b = collection_id(engine, "B")

    def plan(present: Sequence[Entry]) -> Sequence[Entry]:
        [source] = [e for e in present if (e.kind, e.key) == ("source", row.source_id)]
        [values] = source.rows["sources"]
        return [replace(source, rows={"sources": [{**values, "collection_id": b}]})]

    engine.precious.merge(plan, list)
    assert found(engine, "lamp", in_collection(engine, "B")) == ["lamp"]
    assert engine.inspection.discrepancies(lambda: True) == []


def test_documents_in_the_wrong_collection_are_noticed_and_brought_back(engine: Engine) -> None:
    put(engine, "a.txt", "lamp", collection="A")
    engine.sources.add_collection("B")
    b = collection_id(engine, "B")
    assert isinstance(engine.storage, ServerDatabase)
    engine.storage.write(lambda con: con.execute("UPDATE sources SET collection_id = ?", [b]))
    [wrong] = engine.inspection.discrepancies(lambda: True)
    assert (wrong.what, wrong.count) == ("documents outside the collection of their folder", 1)
    engine.inspection.repair()
    assert engine.inspection.discrepancies(lambda: True) == []
    assert found(engine, "lamp", in_collection(engine, "B")) == ["lamp"]
