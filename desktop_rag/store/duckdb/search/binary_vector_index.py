"""The sign bits of all vectors of a model, in memory: a scan of them picks candidates in half the
processor time that DuckDB takes. Any thread.
"""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from desktop_rag.store.duckdb.search.chunk_cache import Contents

Bits = NDArray[np.int64]
# So many vectors at a time: fewer stay nearer to the processor, but each step waits for its turn
# among the threads.
_BLOCK = 131_072
# One in so many tells how far the first of all are.
_SAMPLED = 64


@dataclass(frozen=True, slots=True)
class _Block:
    """Arrays by vector: the keys of the contents, and the bits, shape (words, vectors)."""

    contents: Contents
    bits: NDArray[np.uint64]

    def distances(self, query: NDArray[np.uint64]) -> NDArray[np.uint16]:
        """How many signs of each vector differ from those of the query."""
        differing = np.bitwise_count(self.bits ^ query[:, np.newaxis])
        return differing.sum(axis=0, dtype=np.uint16)


@dataclass(frozen=True, slots=True)
class BinaryVectorIndex:
    """Contents with their vectors' sign bits; it never changes."""

    blocks: tuple[_Block, ...] = ()

    def __len__(self) -> int:
        return sum(len(block.contents) for block in self.blocks)

    def followed_by(self, contents: Contents, bits: Bits) -> "BinaryVectorIndex":
        """With others; what `sign_bits` made of their vectors, shape (words, vectors)."""
        new = _Block(contents, np.ascontiguousarray(bits).view(np.uint64))
        blocks = self.blocks
        if blocks and len(blocks[-1].contents) + len(contents) <= _BLOCK:
            *blocks, last = blocks
            new = _Block(
                np.concatenate([last.contents, new.contents]),
                np.concatenate([last.bits, new.bits], axis=1),
            )
        return BinaryVectorIndex((*blocks, *_cut(new)))

    def first(self, query: Bits, limit: int) -> tuple[Contents, Bits]:
        """Up to `limit` vectors whose signs differ least from the query's, shape (words,): their
        contents, and their bits, shape (vectors, words). Of those as far away the same each time.
        """
        if not len(self):
            return np.empty(0, np.uint64), np.empty((0, len(query)), np.int64)
        asked = query.view(np.uint64)
        distances = [block.distances(asked) for block in self.blocks]
        reach = _reach(np.concatenate(distances), limit)
        near = [np.flatnonzero(those <= reach) for those in distances]
        pairs = list(zip(self.blocks, near, strict=True))
        contents = np.concatenate([block.contents[rows] for block, rows in pairs])
        bits = np.concatenate([block.bits[:, rows] for block, rows in pairs], axis=1)
        far = np.concatenate([those[rows] for those, rows in zip(distances, near, strict=True)])
        order = np.lexsort((contents, far))[:limit]
        return contents[order], np.ascontiguousarray(bits[:, order].T).view(np.int64)


def _cut(block: _Block) -> Iterator[_Block]:
    for begin in range(0, len(block.contents), _BLOCK):
        rows = slice(begin, begin + _BLOCK)
        yield _Block(block.contents[rows], np.ascontiguousarray(block.bits[:, rows]))


def _reach(distances: NDArray[np.uint16], limit: int) -> int:
    """A distance that at least `limit` are within, if there are so many, and hardly more."""
    if len(distances) <= limit:
        return int(distances.max())
    some = distances[::_SAMPLED]
    expected = limit / _SAMPLED
    # By chance they may hold too many of the nearest: three deviations more of them.
    place = min(int(expected + 3 * expected**0.5) + 1, len(some) - 1)
    reach = int(np.partition(some, place)[place])
    if np.count_nonzero(distances <= reach) >= limit:
        return reach
    # Those in between are of other subjects. To look at all takes as long as all the rest.
    return int(np.partition(distances, limit - 1)[limit - 1])


class CachedSignBits:
    """The index of a table of vectors, as long as there is room for it."""

    def __init__(self, most: int, read: Callable[[], tuple[Contents, Bits]]) -> None:
        """Of up to `most` vectors; `read` gives those there are, as `followed_by` takes them."""
        self._most = most
        self._read = read
        self._building = threading.Lock()
        self._lock = threading.Lock()
        self._index: BinaryVectorIndex | None = None
        self._changes = 0

    def of(self, count: int) -> BinaryVectorIndex | None:
        """The index of all vectors, None if there is no room for so many."""
        if count > self._most:
            return None
        with self._lock:
            index = self._index
        return index if index is not None else self._built()

    def add(self, contents: Contents, bits: Bits) -> None:
        """These were added to the table."""
        with self._lock:
            self._changes += 1
            if self._index is not None:
                index = self._index.followed_by(contents, bits)
                self._index = index if len(index) <= self._most else None

    def forget(self) -> None:
        """Some were removed from the table."""
        with self._lock:
            self._changes += 1
            self._index = None

    def _built(self) -> BinaryVectorIndex:
        with self._building:
            with self._lock:
                if self._index is not None:
                    return self._index
                changes = self._changes
            index = BinaryVectorIndex().followed_by(*self._read())
            with self._lock:
                # What changed meanwhile may not be in it, or be twice.
                if changes == self._changes:
                    self._index = index
            return index
