"""How long each chunk is, in memory, as every question asks that of hundreds. Any thread."""

import threading
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from desktop_rag.store.database import Connection
from desktop_rag.store.facts import LibraryFacts
from desktop_rag.store.postings import Ids


@dataclass(frozen=True, slots=True)
class Lengths:
    """Arrays of one length, by chunk: its number of terms, and whether it goes on with the document
    of the chunk before.
    """

    chunk_ids: NDArray[np.uint32]
    terms: NDArray[np.int32]
    goes_on: NDArray[np.bool_]

    def among(self, chunk_ids: Ids) -> "Lengths":
        """Those of given chunks. Both in ascending order."""
        places = np.searchsorted(self.chunk_ids, chunk_ids.astype(np.uint32))
        places = places[places < len(self.chunk_ids)]
        places = places[self.chunk_ids[places] == chunk_ids[: len(places)]]
        return Lengths(self.chunk_ids[places], self.terms[places], self.goes_on[places])


class ChunkLengths:
    """Reads them all once, and later those that came since: what is so of a chunk stays so, and no
    number is given to another one.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held = _none()

    def of(self, con: Connection, facts: LibraryFacts) -> Lengths:
        """Those of all chunks of a snapshot with these facts.

        Deleted ones may be among them, and those that went meanwhile may be missing.
        """
        with self._lock:
            if len(self._held.chunk_ids) > 2 * facts.chunks:
                # Most are deleted.
                self._held = _none()
            held = self._held
            last = int(held.chunk_ids[-1]) if len(held.chunk_ids) else 0
            if last < facts.last:
                new = _newer(con, last)
                self._held = Lengths(
                    np.concatenate([held.chunk_ids, new.chunk_ids]),
                    np.concatenate([held.terms, new.terms]),
                    np.concatenate([held.goes_on, new.goes_on]),
                )
            return self._held


def _none() -> Lengths:
    return Lengths(np.empty(0, np.uint32), np.empty(0, np.int32), np.empty(0, np.bool_))


def _newer(con: Connection, last: int) -> Lengths:
    rows = con.execute(
        "SELECT chunk_id::UINTEGER AS chunk_id, term_count, position > 0 AS goes_on FROM chunks"
        f" WHERE chunk_id > {last:d} ORDER BY chunk_id"
    ).fetchnumpy()
    return Lengths(rows["chunk_id"], rows["term_count"], rows["goes_on"])
