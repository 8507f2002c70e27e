"""The document frequency of every term, in memory: a search needs it first. Any thread."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from desktop_rag.store.duckdb.database.database import Connection
from desktop_rag.store.duckdb.search.postings import Version


@dataclass(frozen=True, slots=True)
class _TermCounts:
    """Arrays of one length, ordered by key: a term appears once per run of sorted postings."""

    version: Version
    keys: NDArray[np.uint64]
    chunks: NDArray[np.uint32]


class DocumentFrequencies:
    """Reads all counts once per version of the sorted postings: twelve bytes a term."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cached: _TermCounts | None = None

    def clear(self) -> None:
        """Free the memory."""
        with self._lock:
            self._cached = None

    def counts(self, con: Connection, version: Version, keys: Sequence[int]) -> dict[int, int]:
        """The number of chunks each term occurs in by the sorted postings of a snapshot.

        Deleted chunks count until the next merge.
        """
        with self._lock:
            if self._cached is None or self._cached.version != version:
                self._cached = _read(con, version)
            cached = self._cached
        wanted = np.array(keys, np.uint64)
        begins = np.searchsorted(cached.keys, wanted, "left").tolist()
        ends = np.searchsorted(cached.keys, wanted, "right").tolist()
        return {
            key: int(cached.chunks[begin:end].sum())
            for key, begin, end in zip(keys, begins, ends, strict=True)
        }


def _read(con: Connection, version: Version) -> _TermCounts:
    rows = con.execute(
        "SELECT key, chunks::UINTEGER AS chunks FROM terms ORDER BY key"
    ).fetchnumpy()
    return _TermCounts(version, rows["key"], rows["chunks"])
