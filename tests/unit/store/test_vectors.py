from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from desktop_rag.core.domain import DocumentState
from desktop_rag.store.database import Database
from desktop_rag.store.scope import Scope
from desktop_rag.store.vectors import VectorStore
from tests.unit.store.test_documents import Stores, add, document, indexed


def unit_vectors(count: int, dimensions: int = 384) -> NDArray[np.float32]:
    vectors = np.random.default_rng(5).standard_normal((count, dimensions)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def with_vectors(database: Database, count: int) -> tuple[VectorStore, NDArray[np.float32]]:
    """`count` chunks of one document, chunk n (from 1) with vector n - 1."""
    store = Stores(database)
    source = store.add_source(Path("/s"), "collection")
    row = document("many.txt", source.source_id)
    add(store, row)
    item = indexed(row, *(f"text {n}" for n in range(count)))
    store.settle([item])
    vectors, store_of = unit_vectors(count), VectorStore(database, "model", 384)
    store_of.add([chunk.content_hash for chunk in item.chunks], vectors)
    return store_of, vectors


def test_the_nearest_are_those_of_the_exact_product(database: Database) -> None:
    store, vectors = with_vectors(database, 300)
    query = vectors[7]
    exact = np.argsort(-(vectors @ query))[:10] + 1
    found = store.nearest(query, 10)
    assert [chunk_id for chunk_id, _ in found] == exact.tolist()
    assert found[0][1] == pytest.approx(1.0, abs=1e-5)
    assert store.nearest(query, 10, Scope(("another collection",))) == []
    assert len(store.nearest(query, 10, Scope(("collection",)))) == 10


def test_similarities_are_exact(database: Database) -> None:
    store, vectors = with_vectors(database, 20)
    found = store.similarities(vectors[0], [1, 5, 999])
    assert found == pytest.approx({1: 1.0, 5: float(vectors[4] @ vectors[0])}, abs=1e-5)


def test_what_lacks_a_vector_is_handed_out_once_and_finishes_its_document(
    database: Database,
) -> None:
    store = Stores(database)
    row = document("a.txt")
    add(store, row)
    store.settle([indexed(row, "same", "same", "other")])
    vectors = VectorStore(database, "model", 384)
    missing = vectors.missing(10)
    assert sorted(text for _, _, text in missing) == ["other", "same"]
    assert vectors.counts() == (2, 2)
    vectors.add([missing[0][0]], unit_vectors(1))
    assert vectors.finish_documents() == []
    vectors.add([missing[1][0]], unit_vectors(1))
    assert vectors.finish_documents() == ["a.txt"]
    assert vectors.counts() == (2, 0)
    assert store.documents()[0].state is DocumentState.SEARCHABLE


def test_vectors_of_two_models_never_mix(database: Database) -> None:
    first, _ = with_vectors(database, 3)
    other = VectorStore(database, "another", 100)
    assert other.counts() == (3, 3)
    other.reopen_documents()
    other.add([row[0] for row in other.missing(10)], unit_vectors(3, 100))
    assert len(other.nearest(unit_vectors(1, 100)[0], 5)) == 3
    assert first.counts() == (3, 0)


def test_prune_drops_only_what_no_chunk_needs(database: Database) -> None:
    store, _ = with_vectors(database, 3)
    documents = Stores(database)
    documents.apply_changes(documents.documents()[0].source_id, [], {}, ["many.txt"])
    store.prune()
    with database.read() as con:
        assert con.execute("SELECT count(*) FROM vectors_1").fetchall() == [(0,)]


def test_the_best_window_of_a_passage_is_its_similarity(database: Database) -> None:
    store, _ = with_vectors(database, 3)
    windows = {text: unit_vectors(9)[3 * n : 3 * n + 3] for n, text in enumerate(["0", "1"])}
    by_text = {text.split()[1]: h for h, text in store.missing_windows(10)}
    store.add_windows(
        [by_text["0"], by_text["1"], by_text["2"]],
        [windows["0"], windows["1"], np.empty((0, 384), np.float32)],
    )
    assert (store.missing_windows(10), store.window_counts()) == ([], (3, 0))
    found = store.window_similarities(windows["0"][2], [1, 2, 3])
    expected = {1: 1.0, 2: float((windows["1"] @ windows["0"][2]).max())}
    # A byte a dimension keeps two places behind the point.
    assert found == pytest.approx(expected, abs=0.01)


def test_windows_wait_for_the_vector_of_their_passage(database: Database) -> None:
    store = Stores(database)
    row = document("a.txt")
    add(store, row)
    store.settle([indexed(row, "one", "two")])
    vectors = VectorStore(database, "model", 384)
    assert vectors.missing_windows(10) == []
    vectors.add([vectors.missing(1)[0][0]], unit_vectors(1))
    assert len(vectors.missing_windows(10)) == 1


def test_windows_go_with_their_passages(database: Database) -> None:
    store, _ = with_vectors(database, 3)
    store.add_windows(
        [h for h, _ in store.missing_windows(9)], list(unit_vectors(6).reshape(3, 2, -1))
    )
    documents = Stores(database)
    documents.apply_changes(documents.documents()[0].source_id, [], {}, ["many.txt"])
    store.prune()
    with database.read() as con:
        assert con.execute("SELECT count(*) FROM windows_1").fetchall() == [(0,)]


def test_work_on_some_collections_leaves_the_others_alone(database: Database) -> None:
    store = Stores(database)
    vectors = VectorStore(database, "model", 384)
    for name in ("a", "b"):
        source = store.add_source(Path(f"/{name}"), f"collection {name}")
        row = document(f"{name}.txt", source.source_id)
        add(store, row)
        store.settle([indexed(row, f"only {name}", "in both")])
    only_a = ["collection a"]
    missing = vectors.missing(10, only_a)
    assert sorted(text for _, _, text in missing) == ["in both", "only a"]
    assert (vectors.counts(only_a), vectors.counts()) == ((2, 2), (3, 3))
    vectors.add([row[0] for row in missing], unit_vectors(2))
    assert vectors.finish_documents(["collection b"]) == []
    assert vectors.finish_documents(only_a) == ["a.txt"]
    assert vectors.reopen_documents(only_a) == []
    vectors.prune(["collection b"])
    assert vectors.counts() == (3, 2)
    assert vectors.reopen_documents(["collection b"]) == []
    assert vectors.reopen_documents(only_a) == ["a.txt"]
    vectors.prune([])
    assert vectors.counts() == (3, 3)
