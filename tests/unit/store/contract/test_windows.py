import math
from collections.abc import Iterable

import numpy as np
import pytest
from numpy.typing import NDArray

from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.vectors import VectorStore
from tests.stored_rows import put, remove
from tests.unit.store.contract.test_vectors import (
    DIMENSIONS,
    embed,
    unit_vectors,
    vectors_of,
    with_vectors,
)


def similarities(
    engine: Engine, store: VectorStore, query: NDArray[np.float32], chunk_ids: Iterable[int]
) -> dict[int, float]:
    """Of the best window of each chunk that has windows."""
    found = engine.models.search(store.model_id).compare(query, list(chunk_ids))
    pairs = zip(found.chunk_ids, found.window_similarities.tolist(), strict=True)
    return {chunk_id: similar for chunk_id, similar in pairs if not math.isnan(similar)}


@pytest.mark.slow
def test_the_best_window_of_a_passage_is_its_similarity(engine: Engine) -> None:
    store, _, numbers = with_vectors(engine, 3)
    windows = {"text 0": unit_vectors(6)[:3], "text 1": unit_vectors(6)[3:]}
    none = np.empty((0, DIMENSIONS), np.float32)
    rows = engine.chunks.without_windows(store.model_id, 10)
    store.add_windows([h for h, _ in rows], [windows.get(text, none) for _, text in rows])
    assert (engine.chunks.without_windows(store.model_id, 10), store.window_counts()) == (
        [],
        (3, 0),
    )
    query = windows["text 0"][2]
    best = float((windows["text 1"] @ query).max())
    expected = {numbers["text 0"]: 1.0, numbers["text 1"]: best}
    assert similarities(engine, store, query, numbers.values()) == pytest.approx(expected, abs=0.01)


def test_windows_wait_for_the_vector_of_their_passage(engine: Engine) -> None:
    put(engine, "a.txt", "one", "two")
    store = vectors_of(engine)
    assert (engine.chunks.without_windows(store.model_id, 10), store.window_counts()) == (
        [],
        (0, 0),
    )
    store.add([engine.chunks.without_vectors(store.model_id, 1)[0][0]], unit_vectors(1))
    assert len(engine.chunks.without_windows(store.model_id, 10)) == 1
    assert store.window_counts() == (1, 1)


@pytest.mark.slow
def test_windows_go_with_their_passages(engine: Engine) -> None:
    store, by_text, _ = with_vectors(engine, 3)
    hashes = [content_hash for content_hash, _ in engine.chunks.without_windows(store.model_id, 9)]
    store.add_windows(hashes, list(unit_vectors(6).reshape(3, 2, -1)))
    remove(engine, "many.txt")
    engine.chunks.prune_vectors(store.model_id)
    put(engine, "again.txt", *by_text)
    embed(engine, store, by_text)
    assert store.window_counts() == (3, 3)


@pytest.mark.slow
def test_windows_that_were_dropped_are_missing_again(engine: Engine) -> None:
    store, by_text, numbers = with_vectors(engine, 2)
    rows = engine.chunks.without_windows(store.model_id, 9)
    store.add_windows([content_hash for content_hash, _ in rows], [unit_vectors(2)] * 2)
    store.drop_windows()
    assert (engine.chunks.vector_counts(store.model_id), store.window_counts()) == ((2, 0), (2, 2))
    assert sorted(engine.chunks.without_windows(store.model_id, 9)) == sorted(rows)
    assert similarities(engine, store, by_text["text 0"], numbers.values()) == {}


def test_windows_of_two_models_never_mix(engine: Engine) -> None:
    store, by_text, numbers = with_vectors(engine, 1)
    other = vectors_of(engine, "another")
    embed(engine, other, by_text)
    store.add_windows([engine.chunks.without_windows(store.model_id, 1)[0][0]], [unit_vectors(2)])
    assert (store.window_counts(), other.window_counts()) == ((1, 0), (1, 1))
    assert similarities(engine, other, by_text["text 0"], numbers.values()) == {}


def test_stored_windows_can_be_copied(engine: Engine) -> None:
    store, _, _ = with_vectors(engine, 3)
    made, empty, unmade = (key for key, _ in engine.chunks.without_windows(store.model_id, 9))
    windows = unit_vectors(2)
    none = np.empty((0, DIMENSIONS), np.float32)
    store.add_windows([made, empty], [windows, none])
    read = store.stored_windows([made, empty, unmade])
    assert read.keys() == {made, empty}
    assert read[empty].shape == (0, DIMENSIONS)
    assert np.einsum("ij,ij->i", read[made], windows) == pytest.approx(1.0, abs=0.02)
