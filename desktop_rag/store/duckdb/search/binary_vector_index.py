"""The sign bits of all vectors of a model, in memory: picking candidates here takes half the
processor time that DuckDB takes. Any thread.
"""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from desktop_rag.store.duckdb.search.chunk_cache import ContentKeys

Bits = NDArray[np.int64]
# Vectors scanned per step: smaller blocks fit the processor's cache better, but each step waits
# for its turn among the threads.
_BLOCK = 131_072
# Every n-th vector is sampled to estimate the distance of the last candidate.
_SAMPLING = 64


@dataclass(frozen=True, slots=True)
class _Block:
    """Arrays by vector: the keys of the contents, and the bits, shape (words, vectors)."""

    contents: ContentKeys
    bits: NDArray[np.uint64]

    def distances(self, query: NDArray[np.uint64]) -> NDArray[np.uint16]:
        """The Hamming distance of each vector from the query."""
        differing = np.bitwise_count(self.bits ^ query[:, np.newaxis])
        return differing.sum(axis=0, dtype=np.uint16)


@dataclass(frozen=True, slots=True)
class BinaryVectorIndex:
    """Contents with the sign bits of their vectors; immutable."""

    blocks: tuple[_Block, ...] = ()

    def __len__(self) -> int:
        return sum(len(block.contents) for block in self.blocks)

    def extended(self, contents: ContentKeys, bits: Bits) -> "BinaryVectorIndex":
        """With further contents; bits from `sign_bits`, shape (words, vectors)."""
        new = _Block(contents, np.ascontiguousarray(bits).view(np.uint64))
        blocks = self.blocks
        if blocks and len(blocks[-1].contents) + len(contents) <= _BLOCK:
            *blocks, last = blocks
            new = _Block(
                np.concatenate([last.contents, new.contents]),
                np.concatenate([last.bits, new.bits], axis=1),
            )
        return BinaryVectorIndex((*blocks, *_split(new)))

    def nearest(self, query: Bits, limit: int) -> tuple[ContentKeys, Bits]:
        """Up to `limit` vectors at the smallest Hamming distance from the query, shape (words,).

        Their contents, and their bits, shape (vectors, words). Ties are broken the same way each
        time.
        """
        if not len(self):
            return np.empty(0, np.uint64), np.empty((0, len(query)), np.int64)
        asked = query.view(np.uint64)
        distances = [block.distances(asked) for block in self.blocks]
        radius = _radius(np.concatenate(distances), limit)
        near = [np.flatnonzero(those <= radius) for those in distances]
        pairs = list(zip(self.blocks, near, strict=True))
        contents = np.concatenate([block.contents[rows] for block, rows in pairs])
        bits = np.concatenate([block.bits[:, rows] for block, rows in pairs], axis=1)
        far = np.concatenate([those[rows] for those, rows in zip(distances, near, strict=True)])
        order = np.lexsort((contents, far))[:limit]
        return contents[order], np.ascontiguousarray(bits[:, order].T).view(np.int64)


def _split(block: _Block) -> Iterator[_Block]:
    for begin in range(0, len(block.contents), _BLOCK):
        rows = slice(begin, begin + _BLOCK)
        yield _Block(block.contents[rows], np.ascontiguousarray(block.bits[:, rows]))


def _radius(distances: NDArray[np.uint16], limit: int) -> int:
    """A distance that includes at least `limit` vectors, if there are as many, and few more."""
    if len(distances) <= limit:
        return int(distances.max())
    sample = distances[::_SAMPLING]
    expected = limit / _SAMPLING
    # By chance the sample may hold too many of the nearest: add three standard deviations.
    rank = min(int(expected + 3 * expected**0.5) + 1, len(sample) - 1)
    radius = int(np.partition(sample, rank)[rank])
    if np.count_nonzero(distances <= radius) >= limit:
        return radius
    # The sample missed a cluster. Partitioning all distances takes as long as the rest together.
    return int(np.partition(distances, limit - 1)[limit - 1])


class SignBitCache:
    """The index of one table of vectors, as long as it fits into memory."""

    def __init__(self, max_vectors: int, read: Callable[[], tuple[ContentKeys, Bits]]) -> None:
        """`read` returns all vectors of the table in the form that `extended` takes."""
        self._max_vectors = max_vectors
        self._read = read
        self._building = threading.Lock()
        self._lock = threading.Lock()
        self._index: BinaryVectorIndex | None = None
        self._changes = 0

    def get(self, count: int) -> BinaryVectorIndex | None:
        """The index of all `count` vectors, None when they don't fit."""
        if count > self._max_vectors:
            return None
        with self._lock:
            index = self._index
        return index if index is not None else self._build()

    def add(self, contents: ContentKeys, bits: Bits) -> None:
        """Append vectors that were added to the table."""
        with self._lock:
            self._changes += 1
            if self._index is not None:
                index = self._index.extended(contents, bits)
                self._index = index if len(index) <= self._max_vectors else None

    def clear(self) -> None:
        """Forget the index, after vectors were removed from the table."""
        with self._lock:
            self._changes += 1
            self._index = None

    def _build(self) -> BinaryVectorIndex:
        with self._building:
            with self._lock:
                if self._index is not None:
                    return self._index
                changes = self._changes
            index = BinaryVectorIndex().extended(*self._read())
            with self._lock:
                # A change made meanwhile may be missing from it, or be in it twice later.
                if changes == self._changes:
                    self._index = index
            return index
