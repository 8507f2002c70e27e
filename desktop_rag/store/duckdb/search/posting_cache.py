"""The postings that questions asked for last, in memory: words come back. Any thread."""

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence

from desktop_rag.store.duckdb.database.database import Connection
from desktop_rag.store.duckdb.search.postings import Hits, Version, recent_hits, sorted_hits

# Planning takes as long as reading when there are more in a statement.
_AT_ONCE = 16
# What a list takes beside its numbers; those of unknown words have none.
ENTRY_BYTES = 1_000


class PostingCache:
    """Reads the sorted postings of a term whole, once until they are sorted anew.

    To look a few chunks up among many postings takes DuckDB longer than to read them all.
    """

    def __init__(self, most_bytes: int) -> None:
        """Together they take up to `most_bytes`; the longest unused are given up first."""
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._held: OrderedDict[tuple[Version, int], Hits] = OrderedDict()
        self._bytes = 0

    def of(self, con: Connection, version: Version, keys: Sequence[int]) -> dict[int, Hits]:
        """All sorted postings of each term, by chunk, as a snapshot has them."""
        found: dict[int, Hits] = {}
        with self._lock:
            for key in keys:
                if hits := self._held.get((version, key)):
                    self._held.move_to_end((version, key))
                    found[key] = hits
        lacking = [key for key in dict.fromkeys(keys) if key not in found]
        for first in range(0, len(lacking), _AT_ONCE):
            read = sorted_hits(con, lacking[first : first + _AT_ONCE])
            self._keep(version, read)
            found |= read
        return found

    def _keep(self, version: Version, read: Mapping[int, Hits]) -> None:
        with self._lock:
            for key, hits in read.items():
                if (version, key) not in self._held:
                    self._held[version, key] = hits
                    self._bytes += hits.nbytes + ENTRY_BYTES
            while self._bytes > self._most_bytes:
                _, dropped = self._held.popitem(last=False)
                self._bytes -= dropped.nbytes + ENTRY_BYTES


class RecentPostings:
    """The postings that came since the others were sorted, of the terms asked for last: a question
    asks for them three times.
    """

    def __init__(self) -> None:
        self._held: tuple[int, frozenset[int], dict[int, Hits]] | None = None

    def of(self, con: Connection, changes: int | None, keys: Sequence[int]) -> dict[int, Hits]:
        """Those of each term, as a snapshot after so many changes has them."""
        asked, held = frozenset(keys), self._held
        if held is not None and held[:2] == (changes, asked):
            return held[2]
        found = recent_hits(con, sorted(asked))
        if changes is not None:
            self._held = (changes, asked, found)
        return found
