"""The postings that questions asked for last, in memory: words come back. Any thread."""

import threading
from collections import OrderedDict

from desktop_rag.store.database import Connection
from desktop_rag.store.postings import Hits, Version, sorted_hits


class PostingLists:
    """Reads the sorted postings of a term whole, once until they are sorted anew.

    To look a few chunks up among many postings takes DuckDB longer than to read them all.
    """

    def __init__(self, most_bytes: int) -> None:
        """Together they take up to `most_bytes`; the longest unused are given up first."""
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._held: OrderedDict[tuple[Version, int], Hits] = OrderedDict()
        self._bytes = 0

    def of(self, con: Connection, version: Version, key: int) -> Hits:
        """All sorted postings of a term, by chunk, as a snapshot has them."""
        place = (version, key)
        with self._lock:
            if hits := self._held.get(place):
                self._held.move_to_end(place)
                return hits
        hits = sorted_hits(con, key)
        with self._lock:
            if place not in self._held:
                self._held[place] = hits
                self._bytes += hits.nbytes
            while self._bytes > self._most_bytes:
                _, dropped = self._held.popitem(last=False)
                self._bytes -= dropped.nbytes
        return hits
