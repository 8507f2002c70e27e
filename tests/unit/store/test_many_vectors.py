"""In a large library a sample of the vectors tells which of all are compared."""

import numpy as np
import pytest
from numpy.typing import NDArray

from desktop_rag.store.database import Database, insert
from desktop_rag.store.packed_vectors import sign_bits
from desktop_rag.store.sign_sample import SignSample, distances
from desktop_rag.store.vectors import SAMPLED_FROM, VectorStore

DIMENSIONS = 64
BESIDE = 10_000
# DuckDB reads pieces of 122,880 rows.
SEVERAL_PIECES = 400_000
MANY = 1_000


def fill(database: Database, vectors: NDArray[np.float32]) -> VectorStore:
    """Chunks 1, 2, 3 … with these vectors."""
    store = VectorStore(database, "model", DIMENSIONS)
    hashes = [f"{n + 1:032x}" for n in range(len(vectors))]
    store.add(hashes, vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
    ids = np.arange(1, len(vectors) + 1)
    database.write(lambda con: insert(con, "chunks", {"chunk_id": ids, "content_hash": hashes}))
    return store


def exact(vectors: NDArray[np.float32], query: NDArray[np.float32], limit: int) -> set[int]:
    similar = vectors @ query / np.linalg.norm(vectors, axis=1)
    return {int(place) + 1 for place in np.argsort(-similar)[:limit]}


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(3)


def test_the_nearest_of_many_are_found(database: Database, random: np.random.Generator) -> None:
    # Subjects, as passages have them: of vectors without any none is near.
    subjects = random.standard_normal((500, DIMENSIONS))
    noise = 0.5 * random.standard_normal((SAMPLED_FROM, DIMENSIONS))
    vectors = (subjects[random.integers(0, 500, SAMPLED_FROM)] + noise).astype(np.float32)
    store = fill(database, vectors)
    found = 0
    for subject in subjects[:20].astype(np.float32):
        query = subject / np.linalg.norm(subject)
        found += len(set(store.nearest(query, 10).chunk_ids) & exact(vectors, query, 10))
    assert found >= 0.99 * 200


def test_when_the_sample_misleads_all_are_put_in_order_and_another_is_drawn(
    database: Database, random: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[SignSample] = []
    reach = SignSample.reach

    def noted(sample: SignSample, query: NDArray[np.int64], share: float) -> int:
        asked.append(sample)
        return reach(sample, query, share)

    monkeypatch.setattr(SignSample, "reach", noted)
    towards = np.ones(DIMENSIONS, np.float32) / DIMENSIONS**0.5
    noise = 0.05 * random.standard_normal((SAMPLED_FROM + BESIDE, DIMENSIONS))
    vectors = (noise - towards).astype(np.float32)
    vectors[:BESIDE] += 2 * towards
    store = fill(database, vectors)
    assert set(store.nearest(towards, 10).chunk_ids) <= set(range(1, BESIDE + 1))
    # What the sample says is near goes; the rest is as far away as can be.
    database.write(lambda con: con.execute("DELETE FROM chunks WHERE chunk_id <= ?", [BESIDE]))
    store.prune()
    nearest = store.nearest(towards, 10)
    assert len(nearest.chunk_ids) == 10
    assert nearest.similar.max() < 0
    store.nearest(towards, 10)
    assert asked[0] is asked[1] is not asked[2]


def test_a_question_has_the_same_nearest_each_time(
    database: Database, random: np.random.Generator
) -> None:
    # Several threads read so many, and many differ in as many signs as the last that is compared.
    vectors = random.standard_normal((SEVERAL_PIECES, DIMENSIONS)).astype(np.float32)
    store = fill(database, vectors)
    query = vectors[7] / np.linalg.norm(vectors[7])
    found = [store.nearest(query, MANY).chunk_ids for _ in range(10)]
    assert all(ids == found[0] for ids in found)


def test_a_sample_that_another_question_gives_up_tells_this_one_all_the_same(
    database: Database, random: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = random.standard_normal((SAMPLED_FROM, DIMENSIONS)).astype(np.float32)
    store = fill(database, vectors)
    still_fits = SignSample.still_fits

    def given_up(sample: SignSample, count: int) -> bool:
        monkeypatch.setattr(store, "_sample", None)
        return still_fits(sample, count)

    monkeypatch.setattr(SignSample, "still_fits", given_up)
    query = vectors[0] / np.linalg.norm(vectors[0])
    assert [store.nearest(query, 1).chunk_ids for _ in range(2)] == [[1], [1]]


def test_a_sample_tells_how_far_a_share_of_all_is(random: np.random.Generator) -> None:
    vectors = random.standard_normal((SAMPLED_FROM, DIMENSIONS)).astype(np.float32)
    bits = sign_bits(vectors)
    sample = SignSample(SAMPLED_FROM, bits[: SignSample.ROWS])
    for row in range(20):
        inside = int((distances(bits, bits[row]) <= sample.reach(bits[row], 0.01)).sum())
        assert 0.01 * SAMPLED_FROM <= inside < 0.06 * SAMPLED_FROM
    assert sample.still_fits(SAMPLED_FROM + 1)
    assert not sample.still_fits(3 * SAMPLED_FROM)
    assert not sample.still_fits(SAMPLED_FROM // 3)
