"""The postings that recent questions read, in memory: words come back. Any thread."""

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence

from desktop_rag.store.duckdb.database.database import Connection
from desktop_rag.store.duckdb.search.postings import (
    Version,
    read_recent,
    read_sorted,
)
from desktop_rag.store.sql.posting_lists import PostingList

# With more terms in one statement, planning takes as long as reading.
_TERMS_PER_STATEMENT = 16
# The overhead of an entry beside its arrays; the lists of unknown terms are empty.
ENTRY_BYTES = 1_000


class PostingCache:
    """The sorted postings of terms, whole, least recently used first out.

    DuckDB reads all postings of a term faster than it finds a few chunks among them.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._entries: OrderedDict[tuple[Version, int], PostingList] = OrderedDict()
        self._bytes = 0

    def clear(self) -> None:
        """Free the memory."""
        with self._lock:
            self._entries.clear()
            self._bytes = 0

    def get(self, con: Connection, version: Version, keys: Sequence[int]) -> dict[int, PostingList]:
        """All sorted postings of each term in a snapshot, ordered by chunk."""
        found: dict[int, PostingList] = {}
        with self._lock:
            for key in keys:
                if postings := self._entries.get((version, key)):
                    self._entries.move_to_end((version, key))
                    found[key] = postings
        missing = [key for key in dict.fromkeys(keys) if key not in found]
        for first in range(0, len(missing), _TERMS_PER_STATEMENT):
            read = read_sorted(con, missing[first : first + _TERMS_PER_STATEMENT])
            self._put(version, read)
            found |= read
        return found

    def _put(self, version: Version, read: Mapping[int, PostingList]) -> None:
        with self._lock:
            for key, postings in read.items():
                if (version, key) not in self._entries:
                    self._entries[version, key] = postings
                    self._bytes += postings.nbytes + ENTRY_BYTES
            while self._bytes > self._max_bytes:
                _, dropped = self._entries.popitem(last=False)
                self._bytes -= dropped.nbytes + ENTRY_BYTES


class RecentPostings:
    """The unsorted postings of the last set of terms: one question reads them three times."""

    def __init__(self) -> None:
        self._cached: tuple[int, frozenset[int], dict[int, PostingList]] | None = None

    def clear(self) -> None:
        """Free the memory."""
        self._cached = None

    def get(
        self, con: Connection, changes: int | None, keys: Sequence[int]
    ) -> dict[int, PostingList]:
        """The unsorted postings of each term in a snapshot with this change number."""
        asked, cached = frozenset(keys), self._cached
        if cached is not None and cached[:2] == (changes, asked):
            return cached[2]
        found = read_recent(con, sorted(asked))
        if changes is not None:
            self._cached = (changes, asked, found)
        return found
