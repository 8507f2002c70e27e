import numpy as np
import pytest
from numpy.typing import NDArray

from desktop_rag.store.contract.vectors import sign_bits
from desktop_rag.store.duckdb.search import index_cache
from desktop_rag.store.duckdb.search.index_cache import BinaryVectorIndex

DIMENSIONS = 192
Bits = NDArray[np.int64]


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(3)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_cache, "_BLOCK", 1_000)


def filled(bits: Bits, step: int) -> BinaryVectorIndex:
    """The vectors with these bits, by their numbers, so many at a time."""
    index = BinaryVectorIndex()
    for first in range(0, len(bits), step):
        some = bits[first : first + step]
        contents = np.arange(first, first + len(some), dtype=np.uint64)
        index = index.extended(contents, some.T)
    return index


def nearest(bits: Bits, query: Bits, limit: int) -> list[int]:
    """As they must come: those that differ least, of equal ones the first."""
    differing = np.bitwise_count((bits ^ query).view(np.uint64)).sum(axis=1).tolist()
    return sorted(range(len(bits)), key=lambda n: (differing[n], n))[:limit]


@pytest.mark.parametrize("step", [1_700, 7, 10_000])
def test_the_first_are_those_whose_signs_differ_least(
    random: np.random.Generator, step: int
) -> None:
    bits = sign_bits(random.standard_normal((5_000, DIMENSIONS)).astype(np.float32))
    index = filled(bits, step)
    assert len(index) == 5_000
    for query in bits[:3]:
        contents, found = index.nearest(query, 200)
        assert contents.tolist() == nearest(bits, query, 200)
        assert np.array_equal(found, bits[contents.astype(int)])


def test_where_a_sample_misleads_all_are_looked_at(random: np.random.Generator) -> None:
    # Each sixty-fourth is near, and hardly another.
    towards = np.ones(DIMENSIONS, np.float32)
    vectors = random.standard_normal((6_400, DIMENSIONS)).astype(np.float32) - towards
    vectors[::64] += 3 * towards
    bits = sign_bits(vectors)
    [query] = sign_bits(towards[np.newaxis])
    contents, _ = filled(bits, 6_400).nearest(query, 300)
    assert contents.tolist() == nearest(bits, query, 300)


def test_there_may_be_fewer_than_wanted(random: np.random.Generator) -> None:
    bits = sign_bits(random.standard_normal((5, DIMENSIONS)).astype(np.float32))
    assert filled(bits, 2).nearest(bits[3], 10)[0].tolist() == nearest(bits, bits[3], 10)
    contents, found = BinaryVectorIndex().nearest(bits[0], 10)
    assert (len(contents), found.shape) == (0, (0, 3))
