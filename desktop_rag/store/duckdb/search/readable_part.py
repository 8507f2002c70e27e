"""The part of the library that somebody may read, with its own statistics. Any thread.

Whoever may read a part must not learn from the weights of words, or from corrected spelling, what
stands in the rest.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from desktop_rag.core.question import Readable
from desktop_rag.store.contract.scope import Scope
from desktop_rag.store.duckdb.database.connections import Connection
from desktop_rag.store.duckdb.search.library_statistics import LibraryStatistics
from desktop_rag.store.duckdb.search.postings import PostingsState
from desktop_rag.store.duckdb.search.scope_sql import condition_of
from desktop_rag.store.sql.posting_lists import Ids

# Parts of users who ask at the same time; a part of a million chunks takes eight megabytes.
_MOST_PARTS = 16


@dataclass(frozen=True, slots=True)
class ReadablePart:
    """The chunks of a part in ascending order, and its statistics as in `LibraryStatistics`."""

    chunk_ids: Ids
    terms: int
    languages: Mapping[str, int]
    indexed_documents: int


class ReadableParts:
    """Keeps the parts that were asked for last, each for as long as the library is the same."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._changes = 0
        self._parts: OrderedDict[Readable, ReadablePart] = OrderedDict()

    def clear(self) -> None:
        """Free the memory."""
        with self._lock:
            self._parts.clear()

    def get(
        self, readable: Readable, changes: int | None, read: Callable[[], ReadablePart]
    ) -> ReadablePart:
        """The part in a state of the library; one without a number is read and not kept."""
        if changes is None:
            return read()
        with self._lock:
            if changes != self._changes:
                self._changes = changes
                self._parts.clear()
            if known := self._parts.get(readable):
                self._parts.move_to_end(readable)
                return known
        part = read()
        with self._lock:
            if changes == self._changes:
                self._parts[readable] = part
                while len(self._parts) > _MOST_PARTS:
                    self._parts.popitem(last=False)
        return part


def read_part(
    con: Connection, readable: Readable, statistics: LibraryStatistics, state: PostingsState
) -> ReadablePart:
    """Read the chunks of a part and its statistics."""
    condition, parameters = condition_of(Scope(readable=readable), con, statistics, "document_id")
    chunks = con.execute(
        f"SELECT chunk_id, term_count FROM chunks WHERE true{condition} ORDER BY chunk_id",
        parameters,
    ).fetchnumpy()
    kept = np.isin(chunks["chunk_id"], state.deleted, invert=True)
    lengths = chunks["term_count"][kept]
    languages = con.execute(
        "SELECT language, count(*) FILTER (chunk_count > 0), count(*) FROM documents"
        f" WHERE true{condition} GROUP BY language ORDER BY count(*) DESC, language",
        parameters,
    ).fetchall()
    return ReadablePart(
        chunks["chunk_id"][kept],
        int(lengths.sum(dtype=np.int64)),
        {language: count for language, _, count in languages},
        sum(indexed for _, indexed, _ in languages),
    )
