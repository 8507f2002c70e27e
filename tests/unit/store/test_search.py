import math
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from desktop_rag.core.domain import DocumentState
from desktop_rag.store.database import Database
from desktop_rag.store.search import LexicalStore, VectorStore
from tests.unit.store.test_documents import Stores, add, document, indexed

TEXTS = ["the lamp is lit", "the lamp and the lens of the lamp", "gate", "the gate is shut"]


@pytest.fixture
def lexical(database: Database) -> LexicalStore:
    store = Stores(database)
    for number, text in enumerate(TEXTS):
        source = store.add_source(Path(f"/{number}"), f"collection {number % 2}")
        row = document(f"{number}.txt", source.source_id)
        add(store, row)
        store.settle([indexed(row, text)])
    return LexicalStore(database)


def reference_bm25(term: str) -> dict[int, float]:
    words = [text.split() for text in TEXTS]
    mean = sum(map(len, words)) / len(words)
    matching = sum(term in w for w in words)
    idf = math.log(1 + (len(words) - matching + 0.5) / (matching + 0.5))
    scores = {}
    for number, w in enumerate(words, start=1):
        if tf := w.count(term):
            scores[number] = idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * len(w) / mean))
    return scores


@pytest.mark.parametrize("term", ["lamp", "gate", "the"])
def test_bm25_is_that_of_the_formula(lexical: LexicalStore, term: str) -> None:
    assert dict(lexical.best([term], 10)) == pytest.approx(reference_bm25(term))


def test_terms_add_up_and_unknown_ones_add_nothing(lexical: LexicalStore) -> None:
    both = dict(lexical.best(["lamp", "gate", "unheard"], 10))
    assert both == pytest.approx(reference_bm25("lamp") | reference_bm25("gate"))
    assert lexical.best([], 10) == []


def test_scores_of_given_chunks_equal_their_scores_in_the_list(lexical: LexicalStore) -> None:
    assert lexical.scores(["the"], [2, 3]) == {2: dict(lexical.best(["the"], 10))[2]}


def test_a_collection_is_searched_alone(lexical: LexicalStore) -> None:
    assert [i for i, _ in lexical.best(["the"], 10, "collection 1")] == [2, 4]


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
    assert store.nearest(query, 10, "another collection") == []
    assert len(store.nearest(query, 10, "collection")) == 10


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
