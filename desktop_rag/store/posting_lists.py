"""The postings that questions asked for last, in memory: words come back. Any thread."""

import threading
from collections import OrderedDict

from desktop_rag.store.database import Connection
from desktop_rag.store.postings import Hits, sorted_hits, state_of


class PostingLists:
    """Reads the sorted postings of a term whole, once until they are sorted anew.

    To look a few chunks up among many postings takes DuckDB longer than to read them all.
    """

    def __init__(self, most_bytes: int) -> None:
        """Together they take up to `most_bytes`; the longest unused are given up first."""
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._held: OrderedDict[tuple[tuple[int, int], int], Hits] = OrderedDict()
        self._bytes = 0

    def reader(self, con: Connection) -> "ListReader":
        """Gives the postings as a snapshot has them."""
        return ListReader(self, con)

    def find(self, place: tuple[tuple[int, int], int]) -> Hits | None:
        """What is held under (state of the postings, key)."""
        with self._lock:
            if place in self._held:
                self._held.move_to_end(place)
            return self._held.get(place)

    def keep(self, place: tuple[tuple[int, int], int], hits: Hits) -> None:
        """Hold it as long as there is room."""
        with self._lock:
            if place not in self._held:
                self._held[place] = hits
                self._bytes += hits.nbytes
            while self._bytes > self._most_bytes:
                _, dropped = self._held.popitem(last=False)
                self._bytes -= dropped.nbytes


class ListReader:
    """The postings of one snapshot."""

    def __init__(self, lists: PostingLists, con: Connection) -> None:
        self._lists = lists
        self._con = con
        self._state = state_of(con)

    def of(self, key: int) -> Hits:
        """All sorted postings of a term, by chunk."""
        place = (self._state, key)
        hits = self._lists.find(place)
        if hits is None:
            hits = sorted_hits(self._con, key)
            self._lists.keep(place, hits)
        return hits
