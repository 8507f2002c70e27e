"""Caches parts of the index in memory; `IndexCache` states how long each is valid. Any thread."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from desktop_rag.core.question import Readable
from desktop_rag.store.contract.database import key_of, readable_rows
from desktop_rag.store.contract.scope import (
    Dialect,
    LibraryStatistics,
    documents_in,
    read_statistics,
)
from desktop_rag.store.contract.search import Ids, PostingList, Scope
from desktop_rag.store.duckdb.database.connections import Connection
from desktop_rag.store.duckdb.database.database import Database
from desktop_rag.store.duckdb.database.reading import Snapshot
from desktop_rag.store.duckdb.search.chunk_cache import (
    CachedChunks,
    ChunkCache,
    ContentKeys,
    VectorRows,
    VectorTable,
    is_visible,
)
from desktop_rag.store.duckdb.search.postings import (
    PostingsState,
    Version,
    read_postings_state,
    read_recent,
    read_sorted,
)

_CHUNKS_OF = (
    " AND {column} IN (SELECT c.{column} FROM chunks c JOIN documents d USING (document_id)"
    " JOIN sources s USING (source_id) LEFT JOIN collections k USING (collection_id)"
    " WHERE {conditions})"
)
_HOLDING = (
    "SELECT chunk_id FROM (SELECT key, chunk_id FROM postings"
    " UNION ALL SELECT key, chunk_id FROM recent_postings)"
    " WHERE key IN (SELECT unnest(${name}::UBIGINT[]))"
)
_DIALECT = Dialect(
    among=lambda sql, name: f"{sql} IN (SELECT unnest(${name}))",
    below=lambda name: f"len(list_filter(${name}, lambda folder: starts_with(d.path, folder))) > 0",
    any_tag=lambda lines, fits: (
        f"len(list_filter(string_split({lines}, chr(10)), lambda tag: {fits})) > 0"
    ),
    ending="regexp_extract(d.path, '\\.([^./\\\\]+)$', 1)",
    collection="s.collection_id",
)
# Files attached to chats are few: without other conditions, they are excluded from everything.
_ATTACHED = "(SELECT document_id FROM documents JOIN sources USING (source_id) WHERE is_attached)"
_ATTACHED_CHUNKS = (
    "(SELECT unnest(range(first_chunk, last_chunk + 1)) FROM document_texts"
    f" WHERE document_id IN {_ATTACHED})"
)
_NOT_ATTACHED = {
    "document_id": f" AND document_id NOT IN {_ATTACHED}",
    "chunk_id": f" AND chunk_id NOT IN {_ATTACHED_CHUNKS}",
    "content_hash": " AND content_hash NOT IN (SELECT unnest($attached_only::UUID[]))",
}


def condition_of(
    scope: Scope, con: Connection, statistics: LibraryStatistics, column: str
) -> tuple[str, dict[str, Any]]:
    """SQL that begins with AND, and its parameters; empty when everything may be found.

    `column` belongs to the table chunks: chunk_id, content_hash or document_id.
    """
    conditions, parameters = documents_in(scope, _DIALECT, has_gone=statistics.has_gone)
    if scope.collection_ids is not None:
        conditions.append(_DIALECT.among("s.collection_id", "collections"))
        parameters["collections"] = list(scope.collection_ids)
    if scope.readable:
        condition, values = readable_rows(scope.readable, "s.collection_id", "d.document_id")
        conditions.append(condition)
        parameters |= values
    for n, word in enumerate((*scope.required, *scope.excluded)):
        negation = "" if n < len(scope.required) else "NOT "
        conditions.append(f"c.chunk_id {negation}IN ({_HOLDING.format(name=f'word{n}')})")
        parameters[f"word{n}"] = [key_of(term) for term in word]
    if scope.chunk_ids is not None:
        conditions.append("c.chunk_id IN (SELECT unnest($chunks::BIGINT[]))")
        parameters["chunks"] = list(scope.chunk_ids)
    if statistics.has_attached and not scope.attached:
        if not conditions:
            only = _attached_only(con) if column == "content_hash" else None
            return _NOT_ATTACHED[column], {} if only is None else {"attached_only": only}
        conditions.append("NOT s.is_attached")
    if not conditions:
        return "", {}
    return _CHUNKS_OF.format(column=column, conditions=" AND ".join(conditions)), parameters


def _attached_only(con: Connection) -> list[str]:
    """The contents that only attached files have.

    A query of its own: as a part of the search it would take several times as long.
    """
    attached = con.execute(
        f"SELECT chunk_id, content_hash::VARCHAR FROM chunks WHERE chunk_id IN {_ATTACHED_CHUNKS}"
    ).fetchall()
    hashes = {content_hash for _, content_hash in attached}
    elsewhere = con.execute(
        "SELECT DISTINCT content_hash::VARCHAR FROM chunks WHERE content_hash IN"
        " (SELECT unnest($hashes::UUID[])) AND chunk_id NOT IN (SELECT unnest($chunks::BIGINT[]))",
        {"hashes": list(hashes), "chunks": [chunk_id for chunk_id, _ in attached]},
    ).fetchall()
    return sorted(hashes - {row[0] for row in elsewhere})


# Parts of users who ask at the same time; a part of a million chunks takes eight megabytes.
_MOST_PARTS = 16


@dataclass(frozen=True, slots=True)
class ReadablePart:
    """The part of the library that a user may read: its chunks in ascending order, and statistics.

    Word weights and corrected spelling must not reveal what the rest contains.
    """

    chunk_ids: Ids
    statistics: LibraryStatistics


class ReadableParts:
    """Caches the parts that were used last, until the library changes."""

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
        """The part in a state of the library; not cached for a state without a number."""
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
    own = replace(
        statistics,
        languages={language: count for language, _, count in languages},
        indexed_documents=sum(indexed for _, indexed, _ in languages),
        chunk_count=len(lengths),
        terms=int(lengths.sum(dtype=np.int64)),
    )
    return ReadablePart(chunks["chunk_id"][kept], own)


# With more terms in one statement, planning takes as long as reading.
_TERMS_PER_STATEMENT = 16
# The overhead of an entry beside its arrays; the lists of unknown terms are empty.
ENTRY_BYTES = 1_000
# The unsorted ones are scanned once for all terms of a question.
_MOST_TERMS = 10_000
# The version of the sorted postings, or the number of a library state, None without a number.
State = Version | int | None
Read = Callable[[Connection, Sequence[int]], dict[int, PostingList]]


class PostingCache:
    """An LRU cache of the sorted postings of terms, or whatever `read` returns.

    DuckDB reads all postings of a term faster than it finds a few chunks among them.
    """

    def __init__(
        self, max_bytes: int, read: Read = read_sorted, at_once: int = _TERMS_PER_STATEMENT
    ) -> None:
        """Up to `at_once` terms are read together."""
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
        """All postings of each term in a snapshot, ordered by chunk."""
        if version is None:
            return self._read(con, sorted(set(keys)))
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


@dataclass(frozen=True, slots=True)
class _TermCounts:
    """Arrays of one length, ordered by key: a term appears once per run of sorted postings."""

    version: Version
    keys: NDArray[np.uint64]
    chunks: NDArray[np.uint32]


class DocumentFrequencies:
    """The document frequency of every term, twelve bytes each; read once per version."""

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


Bits = NDArray[np.int64]
# Vectors scanned per step: smaller blocks fit the processor's cache better, but each step waits
# for its turn among the threads.
_BLOCK = 131_072
# Every n-th vector is sampled to estimate the distance of the last candidate.
_SAMPLING = 64


@dataclass(frozen=True, slots=True)
class _Block:
    """Arrays by vector: the keys of the contents, and the bits, shape (words, vectors)."""

    contents: ContentKeys
    bits: NDArray[np.uint64]

    def distances(self, query: NDArray[np.uint64]) -> NDArray[np.uint16]:
        """The Hamming distance of each vector from the query."""
        differing = np.bitwise_count(self.bits ^ query[:, np.newaxis])
        return differing.sum(axis=0, dtype=np.uint16)


@dataclass(frozen=True, slots=True)
class BinaryVectorIndex:
    """Contents with the sign bits of their vectors; immutable. Half the CPU time of DuckDB."""

    blocks: tuple[_Block, ...] = ()

    def __len__(self) -> int:
        return sum(len(block.contents) for block in self.blocks)

    def extended(self, contents: ContentKeys, bits: Bits) -> "BinaryVectorIndex":
        """With further contents; bits from `sign_bits`, shape (words, vectors)."""
        new = _Block(contents, np.ascontiguousarray(bits).view(np.uint64))
        blocks = self.blocks
        if blocks and len(blocks[-1].contents) + len(contents) <= _BLOCK:
            *blocks, last = blocks
            new = _Block(
                np.concatenate([last.contents, new.contents]),
                np.concatenate([last.bits, new.bits], axis=1),
            )
        return BinaryVectorIndex((*blocks, *_split(new)))

    def nearest(self, query: Bits, limit: int) -> tuple[ContentKeys, Bits]:
        """Up to `limit` vectors at the smallest Hamming distance from the query, shape (words,).

        Returns their contents, and their bits, shape (vectors, words). Ties are deterministic.
        """
        if not len(self):
            return np.empty(0, np.uint64), np.empty((0, len(query)), np.int64)
        asked = query.view(np.uint64)
        distances = [block.distances(asked) for block in self.blocks]
        radius = _radius(np.concatenate(distances), limit)
        near = [np.flatnonzero(those <= radius) for those in distances]
        pairs = list(zip(self.blocks, near, strict=True))
        contents = np.concatenate([block.contents[rows] for block, rows in pairs])
        bits = np.concatenate([block.bits[:, rows] for block, rows in pairs], axis=1)
        far = np.concatenate([those[rows] for those, rows in zip(distances, near, strict=True)])
        order = np.lexsort((contents, far))[:limit]
        return contents[order], np.ascontiguousarray(bits[:, order].T).view(np.int64)


def _split(block: _Block) -> Iterator[_Block]:
    for begin in range(0, len(block.contents), _BLOCK):
        rows = slice(begin, begin + _BLOCK)
        yield _Block(block.contents[rows], np.ascontiguousarray(block.bits[:, rows]))


def _radius(distances: NDArray[np.uint16], limit: int) -> int:
    """A distance that includes at least `limit` vectors, if there are enough, and few more."""
    if len(distances) <= limit:
        return int(distances.max())
    sample = distances[::_SAMPLING]
    expected = limit / _SAMPLING
    # By chance the sample may hold too many of the nearest: add three standard deviations.
    rank = min(int(expected + 3 * expected**0.5) + 1, len(sample) - 1)
    radius = int(np.partition(sample, rank)[rank])
    if np.count_nonzero(distances <= radius) >= limit:
        return radius
    # The sample missed a cluster. Partitioning all distances takes as long as the rest together.
    return int(np.partition(distances, limit - 1)[limit - 1])


class SignBitCache:
    """The index of one table of vectors, as long as it fits into memory."""

    def __init__(self, max_vectors: int, read: Callable[[], tuple[ContentKeys, Bits]]) -> None:
        """`read` returns all vectors of the table in the form that `extended` takes."""
        self._max_vectors = max_vectors
        self._read = read
        self._building = threading.Lock()
        self._lock = threading.Lock()
        self._index: BinaryVectorIndex | None = None
        self._changes = 0

    def get(self, count: int) -> BinaryVectorIndex | None:
        """The index of all `count` vectors, None when they don't fit."""
        if count > self._max_vectors:
            return None
        with self._lock:
            index = self._index
        return index if index is not None else self._build()

    def add(self, contents: ContentKeys, bits: Bits) -> None:
        """Append vectors that were added to the table."""
        with self._lock:
            self._changes += 1
            if self._index is not None:
                index = self._index.extended(contents, bits)
                self._index = index if len(index) <= self._max_vectors else None

    def clear(self) -> None:
        """Forget the index, after vectors were removed from the table."""
        with self._lock:
            self._changes += 1
            self._index = None

    def _build(self) -> BinaryVectorIndex:
        with self._building:
            with self._lock:
                if self._index is not None:
                    return self._index
                changes = self._changes
            index = BinaryVectorIndex().extended(*self._read())
            with self._lock:
                # A change made meanwhile may be missing from it, or be in it twice later.
                if changes == self._changes:
                    self._index = index
            return index


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
        # One question reads them three times.
        self.recent = PostingCache(postings_bytes // _RECENT_PART, read_recent, _MOST_TERMS)
        self.parts = ReadableParts()
        database.release_listeners.append(self.release)

    def release(self) -> None:
        """Clear all caches, in place: they still have to follow changes of the library."""
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
