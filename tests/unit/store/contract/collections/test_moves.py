"""Documents that come into another collection, by their source or by their file, lose nothing."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from desktop_rag.core.domain import DocumentState
from desktop_rag.core.question import Readable
from desktop_rag.core.terms import term_counts
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.search import EVERYWHERE, Scope
from desktop_rag.store.contract.vectors import VectorStore
from tests.stored_rows import (
    add,
    add_source,
    collection_id,
    count_inconsistent,
    document,
    found,
    indexed,
    put,
    ranking,
    remove,
)
from tests.unit.store.contract.test_vectors import embed, unit_vectors, vectors_of

pytestmark = pytest.mark.slow


def in_collection(engine: Engine, name: str) -> Scope:
    return Scope((collection_id(engine, name),))


def near(
    engine: Engine, store: VectorStore, query: NDArray[np.float32], scope: Scope = EVERYWHERE
) -> list[str]:
    """The texts of what is near, the nearest first."""
    near_it = ranking(engine.models.search(store.model_id).nearest(query, 20, scope))
    return [p.text for p in engine.lexical.passages(dict(near_it))]


def move_file(engine: Engine, document_id: str, source_id: str) -> None:
    """The effect of a scan on a file that lies below another source now."""
    change = {document_id: lambda d: replace(d, source_id=source_id)}
    engine.documents.apply_changes(source_id, [], change, [])


def with_model(engine: Engine, *texts: str) -> tuple[VectorStore, dict[str, NDArray[np.float32]]]:
    """A model that has a vector of each text, which are stored."""
    by_text = dict(zip(texts, unit_vectors(len(texts)), strict=True))
    store = vectors_of(engine)
    embed(engine, store, by_text)
    return store, by_text


def test_a_source_takes_its_passages_into_another_collection(engine: Engine) -> None:
    row = put(engine, "a.txt", "lamp one", "lamp two", collection="A")
    put(engine, "b.txt", "lamp three", collection="B")
    store, by_text = with_model(engine, "lamp one", "lamp two", "lamp three")
    engine.sources.set_collection(row.source_id, collection_id(engine, "B"))
    a, b = in_collection(engine, "A"), in_collection(engine, "B")
    query = by_text["lamp two"]
    for scope in (EVERYWHERE, b, Scope(readable=Readable(b.collection_ids or ()))):
        assert sorted(found(engine, "lamp", scope)) == ["lamp one", "lamp three", "lamp two"]
        assert near(engine, store, query, scope)[0] == "lamp two"
        assert len(near(engine, store, query, scope)) == 3
    for scope in (a, Scope(readable=Readable(a.collection_ids or ()))):
        assert found(engine, "lamp", scope) == near(engine, store, query, scope) == []
    assert engine.documents.text("a.txt") == "lamp one lamp two"
    assert [c.text for c in engine.documents.chunks("a.txt")] == ["lamp one", "lamp two"]
    assert count_inconsistent(engine.documents) == 0
    assert sorted(engine.chunks.finish_documents(store.model_id)) == ["a.txt", "b.txt"]


def test_a_source_that_comes_back_is_where_it_was(engine: Engine) -> None:
    row = put(engine, "a.txt", "lamp one", "lamp two", collection="A")
    put(engine, "b.txt", "lamp three", collection="B")
    store, by_text = with_model(engine, "lamp one", "lamp two", "lamp three")
    for name in ("B", "A", "B", "A"):
        engine.sources.set_collection(row.source_id, collection_id(engine, name))
    assert found(engine, "lamp", in_collection(engine, "A")) == ["lamp one", "lamp two"]
    assert near(engine, store, by_text["lamp one"], in_collection(engine, "B")) == ["lamp three"]
    engine.upkeep.run()
    engine.chunks.prune_vectors(store.model_id)
    assert found(engine, "lamp", in_collection(engine, "A")) == ["lamp one", "lamp two"]
    assert near(engine, store, by_text["lamp one"])[0] == "lamp one"
    remove(engine, "a.txt")
    assert found(engine, "lamp") == ["lamp three"]


def test_a_file_takes_what_is_inside_it_along(engine: Engine) -> None:
    row = document("mail.eml", add_source(engine, "a", "A"))
    add(engine, row)
    inside = replace(document("part"), part="notes.txt", parent_id="mail.eml")
    outcome = replace(indexed(row, "lamp of mail"), parts=(indexed(inside, "lamp inside"),))
    engine.documents.settle([outcome])
    put(engine, "other.txt", "lamp that stays", collection="A")
    store, by_text = with_model(engine, "lamp of mail", "lamp inside", "lamp that stays")
    move_file(engine, "mail.eml", add_source(engine, "b", "B"))
    b = in_collection(engine, "B")
    assert sorted(found(engine, "lamp", b)) == ["lamp inside", "lamp of mail"]
    assert near(engine, store, by_text["lamp inside"], b)[0] == "lamp inside"
    assert found(engine, "lamp", in_collection(engine, "A")) == ["lamp that stays"]
    assert count_inconsistent(engine.documents) == 0


def test_numbers_of_passages_stay_on_the_way(engine: Engine) -> None:
    """Whoever has found them and reads them after the move finds them."""
    row = put(engine, "a.txt", "lamp one", "lamp two", collection="A")
    put(engine, "b.txt", "lamp", collection="B")
    scores = dict(engine.lexical.best([("lamp",)], 9, in_collection(engine, "A")))
    engine.sources.set_collection(row.source_id, collection_id(engine, "B"))
    assert {p.text for p in engine.lexical.passages(scores)} == {"lamp one", "lamp two"}


def test_a_content_of_two_collections_is_found_in_the_one_that_is_left(engine: Engine) -> None:
    for name in ("A", "B"):
        put(engine, f"{name}.txt", "lamp of both", f"lamp of {name}", collection=name)
    store, by_text = with_model(engine, "lamp of both", "lamp of A", "lamp of B")
    query = by_text["lamp of both"]
    assert near(engine, store, query).count("lamp of both") == 2
    remove(engine, "A.txt")
    engine.chunks.prune_vectors(store.model_id)
    assert near(engine, store, query).count("lamp of both") == 1
    assert near(engine, store, query, in_collection(engine, "B"))[0] == "lamp of both"
    assert near(engine, store, query, in_collection(engine, "A")) == []
    assert engine.chunks.vector_counts(store.model_id) == (2, 0)


def test_a_content_that_comes_into_a_second_collection_brings_its_vector(engine: Engine) -> None:
    put(engine, "a.txt", "lamp", collection="A")
    store, by_text = with_model(engine, "lamp")
    windows = unit_vectors(2)
    [(content_hash, _)] = engine.chunks.without_windows(store.model_id, 5)
    store.add_windows([content_hash], [windows])
    put(engine, "b.txt", "lamp", collection="B")
    b = in_collection(engine, "B")
    nearest = engine.models.search(store.model_id).nearest(by_text["lamp"], 5, b)
    assert len(nearest.chunk_ids) == 1
    assert not np.isnan(nearest.window_similarities).any()
    assert engine.chunks.without_vectors(store.model_id, 9) == []
    assert store.window_counts() == (1, 0)
    assert sorted(engine.chunks.finish_documents(store.model_id)) == ["a.txt", "b.txt"]


def test_vectors_that_are_made_before_their_passages_are_found_with_them(engine: Engine) -> None:
    put(engine, "a.txt", "lamp and gate", collection="A")
    store, _ = with_model(engine, "lamp and gate")
    [row] = engine.documents.get(["a.txt"])
    engine.chunks.finish_documents(store.model_id)
    [row] = engine.documents.get(["a.txt"])
    new = indexed(row, "lamp", "gate")
    made = unit_vectors(2)
    store.add([chunk.content_hash for chunk in new.chunks], made)
    # Meanwhile the folder goes to another collection.
    other = engine.sources.add_collection("B").collection_id
    engine.sources.set_collection(row.source_id, other)
    counts = tuple(term_counts(chunk.text) for chunk in new.chunks)
    assert engine.documents.recut(
        replace(new, document=replace(row, chunk_count=2), term_counts=counts)
    )
    assert near(engine, store, made[0], Scope((other,)))[0] == "lamp"
    assert sorted(found(engine, "lamp", Scope((other,)))) == ["lamp"]
    assert engine.chunks.finish_documents(store.model_id) == ["a.txt"]
    assert engine.documents.get(["a.txt"])[0].state is DocumentState.SEARCHABLE
