"""The parts of the index that are kept in memory, and the rule that says when each is valid."""

import threading
from collections.abc import Collection, Generator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from desktop_rag.core.question import Readable
from desktop_rag.store.duckdb.database.database import Database
from desktop_rag.store.duckdb.database.snapshot_cache import Snapshot
from desktop_rag.store.duckdb.search.binary_vector_index import SignBitCache
from desktop_rag.store.duckdb.search.chunk_cache import CachedChunks, ChunkCache, is_visible
from desktop_rag.store.duckdb.search.document_frequencies import DocumentFrequencies
from desktop_rag.store.duckdb.search.library_statistics import LibraryStatistics, read_statistics
from desktop_rag.store.duckdb.search.posting_cache import PostingCache, RecentPostings
from desktop_rag.store.duckdb.search.postings import read_postings_state
from desktop_rag.store.duckdb.search.readable_part import ReadablePart, ReadableParts, read_part
from desktop_rag.store.duckdb.search.vector_rows import VectorRows
from desktop_rag.store.duckdb.search.vector_table import VectorTable
from desktop_rag.store.sql.posting_lists import Ids, PostingList

# Share of the memory limit for postings: with 2 GB, sixty words that occur in every fourth of a
# million chunks, at eight bytes a posting.
_POSTINGS_SHARE = 1 / 16
# Of that, for the few that are not sorted yet.
_RECENT_PART = 8
# Share of the memory limit for the sign bits of one model: with 2 GB, those of two million vectors
# of 384 dimensions. Beyond that, DuckDB picks the candidates.
_SIGNS_SHARE = 1 / 16
_WORD_BYTES = 8


class IndexCache:
    """Owns every part of the index that is kept in memory. One per open file; any thread.

    One rule: a search sees exactly the state of its snapshot, as if nothing were in memory. Each
    part is therefore valid for as long as what it was read from can't change:

    - Until a commit changes the library (`Database.write`): statistics, the state of the postings,
      the recent postings, the parts that somebody may read. They carry the change number of the
      state they were read in; a snapshot taken during a commit has no number, reads them itself and
      keeps nothing.
    - Until the sorted postings change (a new run, or a merge): posting lists and document
      frequencies. They carry the version of the postings, which is never used again.
    - Until a merge: chunks. A chunk never changes and its id is never used again, so new ones are
      only appended. Newer and deleted ones are masked by the snapshot, see `visible`; a merge
      clears the list of deleted chunks, so all are read again.
    - As long as the process adds and prunes the vectors: sign bits. Added ones are appended after
      their commit, pruning drops them all. They only pick candidates: what a snapshot doesn't
      contain is left out when chunks and vectors are read.
    - Never, but checked at each use: row numbers of vectors. A row that holds another content than
      expected is looked up again.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._vectors: dict[int, VectorCache] = {}
        self.chunks = ChunkCache()
        self.frequencies = DocumentFrequencies()
        postings_bytes = int(_POSTINGS_SHARE * 1_000_000 * database.memory_mb)
        self.postings = PostingCache(postings_bytes)
        self.recent = RecentPostings(postings_bytes // _RECENT_PART)
        self.parts = ReadableParts()
        database.let_go_listeners.append(self.let_go)

    def let_go(self) -> None:
        """Forget everything: the next search reads what it needs again.

        Emptied in place, as every part is told of changes as long as the file is open.
        """
        for part in (self.chunks, self.frequencies, self.postings, self.recent, self.parts):
            part.clear()
        with self._lock:
            vectors = list(self._vectors.values())
        for cache in vectors:
            cache.signs.clear()
            cache.rows.clear()

    @contextmanager
    def snapshot(self) -> "Generator[IndexSnapshot]":
        """The index as it is now, unaffected by later changes."""
        with self._database.snapshot() as snapshot:
            yield IndexSnapshot(snapshot, self)

    @property
    def statistics(self) -> LibraryStatistics:
        """The statistics of the library as it is now."""
        return self._database.cached(read_statistics)

    def part(self, readable: Readable) -> ReadablePart:
        """The part of the library, as it is now, that somebody may read."""
        with self.snapshot() as snapshot:
            return snapshot.part(readable)

    def vectors(self, table: VectorTable) -> "VectorCache":
        """The cached part of one model's vectors."""
        with self._lock:
            if table.model_id not in self._vectors:
                self._vectors[table.model_id] = VectorCache(self._database, table)
            return self._vectors[table.model_id]

    def clear_signs(self, model_id: int) -> None:
        """Forget the sign bits of a model, after some of its vectors were removed."""
        with self._lock:
            cache = self._vectors.get(model_id)
        if cache is not None:
            cache.signs.clear()

    def forget_models(self, model_ids: Collection[int]) -> None:
        """Forget models whose tables were dropped: their ids may be used again."""
        with self._lock:
            for model_id in model_ids:
                self._vectors.pop(model_id, None)


class VectorCache:
    """The cached part of one model's vectors: sign bits and row numbers."""

    def __init__(self, database: Database, table: VectorTable) -> None:
        bytes_per_vector = _WORD_BYTES * (1 + len(table.sign_columns))
        max_vectors = int(_SIGNS_SHARE * 1_000_000 * database.memory_mb / bytes_per_vector)

        def read() -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
            with database.read() as con:
                return table.read_signs(con)

        self.signs = SignBitCache(max_vectors, read)
        self.rows = VectorRows(table.name)


class IndexSnapshot:
    """The index at one moment, for one search: what is cached from memory, the rest from disk."""

    def __init__(self, snapshot: Snapshot, cache: IndexCache) -> None:
        self.con = snapshot.con
        self.statistics = snapshot.cached(read_statistics)
        self.postings_state = snapshot.cached(read_postings_state)
        self._changes = snapshot.changes
        self._cache = cache

    def part(self, readable: Readable) -> ReadablePart:
        """The part of the library that somebody may read."""

        def read() -> ReadablePart:
            return read_part(self.con, readable, self.statistics, self.postings_state)

        return self._cache.parts.get(readable, self._changes, read)

    def document_frequencies(self, keys: Sequence[int]) -> dict[int, int]:
        """The number of chunks each term occurs in by the sorted postings."""
        return self._cache.frequencies.counts(self.con, self.postings_state.version, keys)

    def sorted_postings(self, keys: Sequence[int]) -> dict[int, PostingList]:
        """All sorted postings of each term."""
        return self._cache.postings.get(self.con, self.postings_state.version, keys)

    def recent_postings(self, keys: Sequence[int]) -> dict[int, PostingList]:
        """The unsorted postings of each term; empty when there are none at all."""
        if not self.postings_state.has_recent:
            return {}
        return self._cache.recent.get(self.con, self._changes, keys)

    def chunks(self) -> CachedChunks:
        """All chunks; newer and deleted ones may be among them, see `visible`."""
        return self._cache.chunks.get(self.con, self.statistics, self.postings_state)

    def visible(self, chunk_ids: Ids) -> NDArray[np.bool_]:
        """True for those of the cached chunks that this snapshot contains."""
        return is_visible(chunk_ids, self.statistics, self.postings_state)
