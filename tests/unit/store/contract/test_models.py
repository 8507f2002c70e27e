"""Which vectors answer for which collection, and which are dropped."""

import numpy as np

from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.vectors import VectorStore

HASH = "0123456789abcdef" * 2


def fill(vectors: VectorStore, dimensions: int) -> VectorStore:
    """The vectors with one in them, so that it shows when they are dropped."""
    vectors.add([HASH], np.full((1, dimensions), dimensions**-0.5, np.float32))
    return vectors


def test_a_model_answers_for_the_collections_it_is_complete_for(engine: Engine) -> None:
    models = engine.models
    work, home = (engine.sources.add_collection(name).collection_id for name in ("Work", "Home"))
    assert models.answering() == {}
    first = models.vectors("minilm@1", 4, "")
    models.answer(first.model_id, [work, home])
    other = models.vectors("e5@2", 8, "models/e5")
    models.answer(other.model_id, [home])
    rows = models.answering()
    assert {i: (row.model_id, row.name, row.dimensions, row.spec) for i, row in rows.items()} == {
        work: (first.model_id, "minilm@1", 4, ""),
        home: (other.model_id, "e5@2", 8, "models/e5"),
    }


def test_a_model_may_be_found_elsewhere_from_now_on(engine: Engine) -> None:
    work = engine.sources.add_collection("Work").collection_id
    first = engine.models.vectors("minilm@1", 4, "old/folder")
    engine.models.answer(first.model_id, [work])
    assert engine.models.vectors("minilm@1", 4, "new/folder").model_id == first.model_id
    assert engine.models.vectors("minilm@1", 4).model_id == first.model_id
    assert engine.models.answering()[work].spec == "new/folder"


def test_vectors_of_one_name_and_two_lengths_are_kept_apart(engine: Engine) -> None:
    short, long = (engine.models.vectors("m@host", n, "x#m") for n in (4, 8))
    assert short.model_id != long.model_id
    fill(short, 4)
    assert long.missing([HASH]) == {HASH}
    assert engine.models.vectors("m@host", 4).missing([HASH]) == set()


def test_what_neither_answers_nor_is_being_made_is_dropped(engine: Engine) -> None:
    models = engine.models
    work = engine.sources.add_collection("Work").collection_id
    specs = {
        "old@1": "gone/folder",
        "replaced@2": "models/e5",
        "wanted@3": "models/e5",
        "unused@4": "models/other",
    }
    made = {name: fill(models.vectors(name, 4, spec), 4) for name, spec in specs.items()}
    models.answer(made["old@1"].model_id, [work])
    models.drop_unused({"models/e5"})
    kept = {name for name in specs if not models.vectors(name, 4).missing([HASH])}
    assert kept == {"old@1", "wanted@3"}
    assert models.answering()[work].name == "old@1"
