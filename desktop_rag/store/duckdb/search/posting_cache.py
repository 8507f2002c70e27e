"""The postings that recent questions read, in memory: words come back. Any thread."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence

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
# The unsorted ones are scanned once for all terms of a question.
_MOST_TERMS = 10_000
# The version of the sorted postings, or the number of a library state.
State = Version | int
Read = Callable[[Connection, Sequence[int]], dict[int, PostingList]]


class PostingCache:
    """The sorted postings of terms, or what else `read` gives, whole, least recently used first
    out.

    DuckDB reads all postings of a term faster than it finds a few chunks among them.
    """

    def __init__(
        self, max_bytes: int, read: Read = read_sorted, at_once: int = _TERMS_PER_STATEMENT
    ) -> None:
        """As many terms as `at_once` says are read together."""
        self._max_bytes = max_bytes
        self._read = read
        self._at_once = at_once
        self._lock = threading.Lock()
        self._entries: OrderedDict[tuple[State, int], PostingList] = OrderedDict()
        self._bytes = 0

    def clear(self) -> None:
        """Free the memory."""
        with self._lock:
            self._entries.clear()
            self._bytes = 0

    def get(self, con: Connection, version: State, keys: Sequence[int]) -> dict[int, PostingList]:
        """All sorted postings of each term in a snapshot, ordered by chunk."""
        found: dict[int, PostingList] = {}
        with self._lock:
            for key in keys:
                if postings := self._entries.get((version, key)):
                    self._entries.move_to_end((version, key))
                    found[key] = postings
        missing = [key for key in dict.fromkeys(keys) if key not in found]
        for first in range(0, len(missing), self._at_once):
            read = self._read(con, missing[first : first + self._at_once])
            self._put(version, read)
            found |= read
        return found

    def _put(self, version: State, read: Mapping[int, PostingList]) -> None:
        with self._lock:
            for key, postings in read.items():
                if (version, key) not in self._entries:
                    self._entries[version, key] = postings
                    self._bytes += postings.nbytes + ENTRY_BYTES
            while self._bytes > self._max_bytes:
                _, dropped = self._entries.popitem(last=False)
                self._bytes -= dropped.nbytes + ENTRY_BYTES


class RecentPostings:
    """The unsorted postings of terms. One question reads them three times, and others beside it
    have words in common with it.
    """

    def __init__(self, max_bytes: int) -> None:
        self._lists = PostingCache(max_bytes, read_recent, at_once=_MOST_TERMS)

    def clear(self) -> None:
        """Free the memory."""
        self._lists.clear()

    def get(
        self, con: Connection, changes: int | None, keys: Sequence[int]
    ) -> dict[int, PostingList]:
        """The unsorted postings of each term in a snapshot with this change number."""
        if changes is None:
            return read_recent(con, sorted(set(keys)))
        return self._lists.get(con, changes, keys)
