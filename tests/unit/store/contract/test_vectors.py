from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from desktop_rag.core.domain import DocumentState
from desktop_rag.store.contract.chunks import Coverage
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.search import Scope
from desktop_rag.store.contract.vectors import EXACT_UP_TO, ROUNDING, VectorStore
from tests.stored_rows import collection_id, ids, put, ranking, remove, wait_again

pytestmark = pytest.mark.slow


DIMENSIONS = 100


def unit_vectors(count: int, dimensions: int = DIMENSIONS) -> NDArray[np.float32]:
    vectors = np.random.default_rng(5).standard_normal((count, dimensions)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def vectors_of(engine: Engine, model: str = "model") -> VectorStore:
    return engine.models.vectors(model, DIMENSIONS)


def embed(engine: Engine, vectors: VectorStore, by_text: dict[str, NDArray[np.float32]]) -> None:
    """Give what lacks one its vector."""
    rows = engine.chunks.without_vectors(vectors.model_id, 10_000)
    vectors.add([row[0] for row in rows], np.array([by_text[row[2]] for row in rows]))


def with_vectors(
    engine: Engine, count: int
) -> tuple[VectorStore, dict[str, NDArray[np.float32]], dict[str, int]]:
    """`count` chunks of one document; vector and chunk id by text."""
    texts = [f"text {n}" for n in range(count)]
    put(engine, "many.txt", *texts)
    by_text = dict(zip(texts, unit_vectors(count), strict=True))
    embed(engine, vectors_of(engine), by_text)
    return vectors_of(engine), by_text, ids(engine, "text")


def test_the_nearest_are_those_of_the_exact_product(engine: Engine) -> None:
    store, by_text, numbers = with_vectors(engine, EXACT_UP_TO)
    query = by_text["text 7"]
    exact = sorted(((float(v @ query), t) for t, v in by_text.items()), reverse=True)[:10]
    nearest = ranking(engine.models.search(store.model_id).nearest(query, 10))
    assert [i for i, _ in nearest][:5] == [numbers[text] for _, text in exact][:5]
    assert [s for _, s in nearest] == pytest.approx([s for s, _ in exact], abs=ROUNDING)
    assert (
        len(engine.models.search(store.model_id).nearest(query, 2 * EXACT_UP_TO).chunk_ids)
        == EXACT_UP_TO
    )


def test_deleted_documents_take_no_places_before_they_are_pruned(engine: Engine) -> None:
    store, by_text, numbers = with_vectors(engine, 20)
    query = by_text["text 7"]
    gone = [f"gone {n}" for n in range(80)]
    put(engine, "gone.txt", *gone)
    nearer = query + 0.1 * unit_vectors(len(gone))
    nearer /= np.linalg.norm(nearer, axis=1, keepdims=True)
    embed(engine, store, dict(zip(gone, nearer, strict=True)))
    assert not set(engine.models.search(store.model_id).nearest(query, 10).chunk_ids[1:]) & set(
        numbers.values()
    )
    remove(engine, "gone.txt")
    exact = sorted(numbers, key=lambda text: -float(by_text[text] @ query))
    assert engine.models.search(store.model_id).nearest(query, 10).chunk_ids[:5] == [
        numbers[text] for text in exact[:5]
    ]
    assert len(engine.models.search(store.model_id).nearest(query, 10).chunk_ids) == 10


def test_only_what_lies_in_the_scope_is_near(engine: Engine) -> None:
    put(engine, "a.txt", "text of both", "text of a", collection="A")
    put(engine, "b.txt", "text of both", "text of b", collection="B")
    by_text = dict(zip(["text of both", "text of a", "text of b"], unit_vectors(3), strict=True))
    store = vectors_of(engine)
    embed(engine, store, by_text)
    query = by_text["text of both"]

    def near(scope: Scope) -> list[str]:
        scores = dict(ranking(engine.models.search(store.model_id).nearest(query, 9, scope)))
        return [p.text for p in engine.lexical.passages(scores)]

    assert near(Scope()).count("text of both") == 2
    assert sorted(near(Scope((collection_id(engine, "A"),)))) == ["text of a", "text of both"]
    assert near(Scope(document_ids=("b.txt",)))[0] == "text of both"
    assert near(Scope(required=(("b",),))) == ["text of b"]
    assert near(Scope(collection_ids=())) == []


def test_of_equally_similar_chunks_the_one_stored_first_comes_first(engine: Engine) -> None:
    for name in ("z.txt", "b.txt", "a.txt"):
        put(engine, name, "text again")
    store = vectors_of(engine)
    [vector] = unit_vectors(1)
    embed(engine, store, {"text again": vector})
    nearest = engine.models.search(store.model_id).nearest(vector, 2).chunk_ids
    assert nearest == sorted(engine.models.search(store.model_id).nearest(vector, 10).chunk_ids)[:2]


def test_vectors_come_back_rounded_at_most(engine: Engine) -> None:
    store, by_text, numbers = with_vectors(engine, 20)
    put(engine, "copy.txt", "text 4", "text without a vector")
    found = engine.models.search(store.model_id).compare(
        by_text["text 0"], [*numbers.values(), 10**9]
    )
    assert sorted(found.chunk_ids) == sorted(numbers.values())
    rows = dict(zip(found.chunk_ids, found.vectors, strict=True))
    for text, chunk_id in numbers.items():
        assert float(rows[chunk_id] @ by_text[text]) == pytest.approx(1.0, abs=ROUNDING)
    [copy] = set(found.chunk_ids) - set(numbers.values()) or {numbers["text 4"]}
    assert rows[copy].tolist() == rows[numbers["text 4"]].tolist()


def test_a_vector_that_was_stored_meanwhile_is_kept(engine: Engine) -> None:
    store, by_text, numbers = with_vectors(engine, 3)
    put(engine, "more.txt", "another")
    rows = [*engine.documents.chunks("many.txt"), *engine.documents.chunks("more.txt")]
    hashes = [row.content_hash for row in rows if row.text in {"text 1", "another"}]
    store.add(hashes, np.array([by_text["text 2"], by_text["text 0"]]))
    nearest = ranking(engine.models.search(store.model_id).nearest(by_text["text 1"], 10))
    assert nearest[0][0] == numbers["text 1"]
    assert len(nearest) == 4


def test_chunks_without_a_vector_give_no_rows(engine: Engine) -> None:
    store, by_text, _ = with_vectors(engine, 1)
    for asked in ([], [10**9]):
        found = engine.models.search(store.model_id).compare(by_text["text 0"], asked)
        assert (found.chunk_ids, found.vectors.shape) == ([], (0, len(by_text["text 0"])))
        assert found.window_similarities.shape == (0,)


def test_what_lacks_a_vector_is_handed_out_once_and_finishes_its_document(engine: Engine) -> None:
    put(engine, "a.txt", "same", "same", "other")
    store = vectors_of(engine)
    missing = engine.chunks.without_vectors(store.model_id, 10)
    assert sorted((context, text) for _, context, text in missing) == [("", "other"), ("", "same")]
    assert len(engine.chunks.without_vectors(store.model_id, 1)) == 1
    hashes = [row[0] for row in missing]
    assert set(hashes) == {c.content_hash for c in engine.documents.chunks("a.txt")}
    assert engine.chunks.vector_counts(store.model_id) == (2, 2)
    store.add(hashes[:1], unit_vectors(1))
    assert store.missing(hashes) == {hashes[1]}
    assert engine.chunks.finish_documents(store.model_id) == []
    store.add(hashes[1:], unit_vectors(1))
    assert engine.chunks.finish_documents(store.model_id) == ["a.txt"]
    assert engine.chunks.finish_documents(store.model_id) == []
    assert (
        engine.chunks.vector_counts(store.model_id),
        engine.chunks.without_vectors(store.model_id, 10),
    ) == ((2, 0), [])
    assert engine.documents.documents()[0].state is DocumentState.SEARCHABLE


def test_vectors_of_a_content_serve_the_next_document_that_has_it(engine: Engine) -> None:
    store, _, _ = with_vectors(engine, 3)
    put(engine, "again.txt", "text 1", "new text")
    assert [text for _, _, text in engine.chunks.without_vectors(store.model_id, 10)] == [
        "new text"
    ]
    embed(engine, store, {"new text": unit_vectors(1)[0]})
    assert sorted(engine.chunks.finish_documents(store.model_id)) == ["again.txt", "many.txt"]


def test_a_document_stored_anew_waits_for_its_own_vectors(engine: Engine) -> None:
    store, _, _ = with_vectors(engine, 2)
    engine.chunks.finish_documents(store.model_id)
    wait_again(engine, "many.txt")
    assert engine.chunks.reopen_documents(store.model_id) == []
    remove(engine, "many.txt")
    put(engine, "many.txt", "text 0", "not embedded")
    assert engine.chunks.finish_documents(store.model_id) == []


def test_vectors_of_two_models_never_mix(engine: Engine) -> None:
    first, by_text, _ = with_vectors(engine, 3)
    other = vectors_of(engine, "another")
    assert engine.chunks.vector_counts(other.model_id) == (3, 3)
    assert engine.models.search(other.model_id).nearest(by_text["text 0"], 5).chunk_ids == []
    assert engine.chunks.finish_documents(first.model_id) == ["many.txt"]
    assert engine.chunks.reopen_documents(other.model_id) == ["many.txt"]
    embed(engine, other, {text: -vector for text, vector in by_text.items()})
    assert engine.models.search(first.model_id).nearest(by_text["text 0"], 1).similarities[
        0
    ] == pytest.approx(1.0, abs=ROUNDING)
    assert engine.models.search(other.model_id).nearest(by_text["text 0"], 3).similarities[
        -1
    ] == pytest.approx(-1.0, abs=ROUNDING)
    assert (
        engine.chunks.vector_counts(first.model_id)
        == engine.chunks.vector_counts(other.model_id)
        == (3, 0)
    )


def test_prune_drops_only_what_no_chunk_needs(engine: Engine) -> None:
    store, _, _ = with_vectors(engine, 3)
    hashes = [c.content_hash for c in engine.documents.chunks("many.txt")]
    put(engine, "kept.txt", "text 1")
    engine.chunks.prune_vectors(store.model_id)
    assert store.missing(hashes) == set()
    remove(engine, "many.txt")
    assert store.missing(hashes) == set()
    engine.chunks.prune_vectors(store.model_id)
    assert store.missing(hashes) == {hashes[0], hashes[2]}


def test_what_is_gone_for_now_keeps_its_vectors_and_is_not_near(engine: Engine) -> None:
    store, by_text, numbers = with_vectors(engine, 1)
    [row] = engine.documents.documents()

    def become(state: DocumentState, gone_at: float) -> None:
        change = {row.document_id: lambda d: replace(d, state=state, gone_at=gone_at)}
        engine.documents.apply_changes(row.source_id, [], change, [])

    become(DocumentState.GONE, 7.0)
    engine.chunks.prune_vectors(store.model_id)
    assert engine.models.search(store.model_id).nearest(by_text["text 0"], 5).chunk_ids == []
    become(DocumentState.SEARCHABLE, 0.0)
    assert engine.chunks.vector_counts(store.model_id) == (1, 0)
    assert engine.models.search(store.model_id).nearest(by_text["text 0"], 5).chunk_ids == list(
        numbers.values()
    )


def test_work_on_some_collections_leaves_the_others_alone(engine: Engine) -> None:
    store = vectors_of(engine)
    for name in ("A", "B"):
        put(engine, f"{name}.txt", f"only {name}", "in both", collection=name)
    only_a, only_b = (Coverage((collection_id(engine, name),)) for name in ("A", "B"))
    missing = engine.chunks.without_vectors(store.model_id, 10, only_a)
    assert sorted(text for _, _, text in missing) == ["in both", "only A"]
    assert (
        engine.chunks.vector_counts(store.model_id, only_a),
        engine.chunks.vector_counts(store.model_id),
        engine.chunks.vector_counts(store.model_id, Coverage(())),
    ) == ((2, 2), (3, 3), (0, 0))
    store.add([row[0] for row in missing], unit_vectors(2))
    assert engine.chunks.finish_documents(store.model_id, only_b) == []
    assert engine.chunks.finish_documents(store.model_id, only_a) == ["A.txt"]
    assert engine.chunks.reopen_documents(store.model_id, only_a) == []
    engine.chunks.prune_vectors(store.model_id, only_b)
    assert engine.chunks.vector_counts(store.model_id) == (3, 2)
    assert engine.chunks.reopen_documents(store.model_id, only_b) == []
    assert engine.chunks.reopen_documents(store.model_id, only_a) == ["A.txt"]
    engine.chunks.prune_vectors(store.model_id, Coverage(()))
    assert engine.chunks.vector_counts(store.model_id) == (3, 3)


def test_what_a_model_is_given_later_is_found_wherever_it_is_asked(engine: Engine) -> None:
    store, by_text, _ = with_vectors(engine, 20)
    query = by_text["text 7"]
    assert len(engine.models.search(store.model_id).nearest(query, 100).chunk_ids) == 20
    put(engine, "later.txt", "later 1", "text 7")
    [later] = unit_vectors(21)[20:]
    embed(engine, vectors_of(engine), {"later 1": later})
    for asked in (store.model_id, vectors_of(engine).model_id):
        search = engine.models.search(asked)
        assert len(search.nearest(query, 100).chunk_ids) == 22
        [first] = ids(engine, "later").values()
        assert search.nearest(later, 1).chunk_ids == [first]


def test_a_deleted_chunk_is_not_compared(engine: Engine) -> None:
    store, by_text, numbers = with_vectors(engine, 3)
    put(engine, "other.txt", "text 0", "other")
    [other] = unit_vectors(4)[3:]
    embed(engine, store, {"other": other})
    asked = [*numbers.values(), *ids(engine, "other").values()]
    assert sorted(
        engine.models.search(store.model_id).compare(by_text["text 0"], asked).chunk_ids
    ) == sorted(asked)
    remove(engine, "other.txt")
    assert sorted(
        engine.models.search(store.model_id).compare(by_text["text 0"], asked).chunk_ids
    ) == sorted(numbers.values())


def test_a_small_scope_in_a_large_library_is_searched_whole(engine: Engine) -> None:
    store, by_text, numbers = with_vectors(engine, 2 * EXACT_UP_TO)
    query = by_text["text 7"]
    put(engine, "far.txt", "far 0", "far 1", collection="Letters")
    embed(engine, store, {"far 0": -query, "far 1": -by_text["text 8"]})
    scope = Scope((collection_id(engine, "Letters"),))
    assert engine.models.search(store.model_id).nearest(query, 5).chunk_ids[0] == numbers["text 7"]
    assert set(engine.models.search(store.model_id).nearest(query, 5, scope).chunk_ids) == set(
        ids(engine, "far").values()
    )


def test_stored_vectors_are_copied_without_further_loss(engine: Engine) -> None:
    store, by_text, _ = with_vectors(engine, 20)
    hashes = [row[0] for row in engine.chunks.without_windows(store.model_id, 100)]
    read = store.stored([*hashes, "0" * 32])
    assert read.keys() == set(hashes)
    texts = dict(engine.chunks.without_windows(store.model_id, 100))
    for content_hash, vector in read.items():
        original = by_text[texts[content_hash]]
        assert float(vector @ original) == pytest.approx(1.0, abs=ROUNDING)
    other = vectors_of(engine, "copy")
    other.add(list(read), np.array(list(read.values())))
    again = other.stored(hashes)
    assert all(np.allclose(again[key], read[key], atol=1e-6) for key in hashes)
    assert store.stored([]) == {}


def test_every_model_is_listed(engine: Engine) -> None:
    first = vectors_of(engine)
    second = engine.models.vectors("other", 8, "a folder")
    rows = [(r.model_id, r.name, r.dimensions, r.spec) for r in engine.models.stored()]
    assert rows == [
        (first.model_id, "model", DIMENSIONS, ""),
        (second.model_id, "other", 8, "a folder"),
    ]
