"""In how many chunks each term stands, in memory: that comes before all else. Any thread."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from desktop_rag.store.duckdb.database.database import Connection
from desktop_rag.store.duckdb.search.postings import Version


@dataclass(frozen=True, slots=True)
class _Terms:
    """Arrays of one length, by key: those of the terms, once for each run, and their chunks."""

    version: Version
    keys: NDArray[np.uint64]
    chunks: NDArray[np.uint32]


class DocumentFrequencies:
    """Reads the counts of all terms once until postings are sorted: twelve bytes a term."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: _Terms | None = None

    def counts(self, con: Connection, version: Version, keys: Sequence[int]) -> dict[int, int]:
        """In how many chunks each term stands by the sorted postings, as a snapshot has them.

        Until they are sorted anew, deleted chunks count.
        """
        with self._lock:
            if self._held is None or self._held.version != version:
                self._held = _read(con, version)
            held = self._held
        wanted = np.array(keys, np.uint64)
        begins = np.searchsorted(held.keys, wanted, "left").tolist()
        ends = np.searchsorted(held.keys, wanted, "right").tolist()
        return {
            key: int(held.chunks[begin:end].sum())
            for key, begin, end in zip(keys, begins, ends, strict=True)
        }


def _read(con: Connection, version: Version) -> _Terms:
    rows = con.execute(
        "SELECT key, chunks::UINTEGER AS chunks FROM terms ORDER BY key"
    ).fetchnumpy()
    return _Terms(version, rows["key"], rows["chunks"])
