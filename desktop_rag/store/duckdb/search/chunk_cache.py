"""Caches each chunk's length, neighbours and content, and the row numbers of vectors. Any thread.

DuckDB takes longer to look up hundreds of chunks among a million.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from desktop_rag.store.contract.scope import LibraryStatistics
from desktop_rag.store.contract.search import Ids
from desktop_rag.store.contract.vectors import COLUMN, vector_table, words_of
from desktop_rag.store.duckdb.database.connections import Connection, sql_in_numbers
from desktop_rag.store.duckdb.search.postings import PostingsState

ContentKeys = NDArray[np.uint64]
# A segment of this size is sorted in a few milliseconds.
_SEGMENT = 65_536


def content_key(content_hash: str) -> str:
    """SQL for the number that represents a content hash in memory.

    The probability that two of a million contents share a number is 1 in 40 million.
    """
    return f"hash({content_hash})"


def content_keys(con: Connection, hashes: Sequence[str]) -> ContentKeys:
    """The keys of these content hashes, in their order."""
    sql = f"SELECT list_transform(?::UUID[], lambda content: {content_key('content')})"
    [(keys,)] = con.execute(sql, [list(hashes)]).fetchall()
    return np.array(keys, np.uint64)


@dataclass(frozen=True, slots=True)
class Chunks:
    """Arrays of one length, by ascending chunk id."""

    chunk_ids: NDArray[np.uint32]
    terms: NDArray[np.int32]  # their number
    continues: NDArray[np.bool_]  # True where the chunk before belongs to the same document
    contents: ContentKeys

    def select(self, chunk_ids: Ids) -> "Chunks":
        """The rows of the given chunks, without unknown ones. Both in ascending order."""
        rows = np.searchsorted(self.chunk_ids, chunk_ids.astype(np.uint32))
        rows = rows[rows < len(self.chunk_ids)]
        return self.where(rows[self.chunk_ids[rows] == chunk_ids[: len(rows)]])

    def where(self, rows: NDArray[np.bool_] | Ids) -> "Chunks":
        """The selected rows."""
        return Chunks(
            self.chunk_ids[rows], self.terms[rows], self.continues[rows], self.contents[rows]
        )

    @classmethod
    def concatenated(cls, parts: Sequence["Chunks"]) -> "Chunks":
        """All of them, in their order."""
        return cls(
            np.concatenate([part.chunk_ids for part in parts]),
            np.concatenate([part.terms for part in parts]),
            np.concatenate([part.continues for part in parts]),
            np.concatenate([part.contents for part in parts]),
        )


class ChunkSegment:
    """Chunks indexed by id and by content."""

    def __init__(self, chunks: Chunks) -> None:
        self.chunks = chunks
        self._by_content = np.argsort(chunks.contents)

    def with_contents(self, contents: ContentKeys) -> Chunks:
        """The chunks with one of these contents, which are in ascending order."""
        own, order = self.chunks.contents, self._by_content
        begins = np.searchsorted(own, contents, "left", sorter=order)
        counts = np.searchsorted(own, contents, "right", sorter=order) - begins
        nth = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        return self.chunks.where(order[np.repeat(begins, counts) + nth])


@dataclass(frozen=True, slots=True)
class CachedChunks:
    """All chunks by ascending id, in segments, so that a new chunk doesn't copy all."""

    segments: tuple[ChunkSegment, ...]

    @property
    def last_chunk_id(self) -> int:
        """The highest chunk id, 0 without chunks."""
        chunk_ids = self.segments[-1].chunks.chunk_ids
        return int(chunk_ids[-1]) if len(chunk_ids) else 0

    def select(self, chunk_ids: Ids) -> Chunks:
        """The rows of the given chunks, without unknown ones. Both in ascending order."""
        return Chunks.concatenated([each.chunks.select(chunk_ids) for each in self.segments])

    def with_contents(self, contents: ContentKeys) -> Chunks:
        """The chunks with one of these contents."""
        # In ascending order the binary search stays in the processor's cache.
        ordered = np.unique(contents)
        return Chunks.concatenated([each.with_contents(ordered) for each in self.segments])

    def extended(self, new: Chunks) -> "CachedChunks":
        """With new chunks, whose ids are all higher."""
        *segments, last = self.segments
        if len(last.chunks.chunk_ids) + len(new.chunk_ids) > _SEGMENT:
            return CachedChunks((*self.segments, ChunkSegment(new)))
        return CachedChunks((*segments, ChunkSegment(Chunks.concatenated([last.chunks, new]))))


class ChunkCache:
    """Reads all chunks once and later only new ones: chunks never change, ids are never reused.

    A chunk takes 25 bytes.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cached: CachedChunks | None = None
        self._merges = 0

    def clear(self) -> None:
        """Free the memory."""
        with self._lock:
            self._cached = None

    def get(
        self, con: Connection, statistics: LibraryStatistics, state: PostingsState
    ) -> CachedChunks:
        """The chunks of a snapshot with these statistics and postings.

        They may include newer and deleted ones (see `is_visible`), and lack some deleted since.
        """
        with self._lock:
            if self._cached is None or self._merges != state.merges:
                # A merge clears the list of deleted chunks, so none of them may stay here.
                self._cached = CachedChunks((ChunkSegment(_read_after(con, 0)),))
                self._merges = state.merges
            if self._cached.last_chunk_id < statistics.last_chunk_id:
                new = _read_after(con, self._cached.last_chunk_id)
                self._cached = self._cached.extended(new)
            return self._cached


def is_visible(
    chunk_ids: Ids, statistics: LibraryStatistics, state: PostingsState
) -> NDArray[np.bool_]:
    """True for the cached chunks in the snapshot with these statistics and postings."""
    return (chunk_ids <= statistics.last_chunk_id) & np.isin(chunk_ids, state.deleted, invert=True)


def _read_after(con: Connection, last_chunk_id: int) -> Chunks:
    rows = con.execute(
        "SELECT chunk_id::UINTEGER AS chunk_id, term_count, position > 0 AS continues,"
        f" {content_key('content_hash')} AS content FROM chunks"
        f" WHERE chunk_id > {last_chunk_id:d} ORDER BY chunk_id"
    ).fetchnumpy()
    return Chunks(rows["chunk_id"], rows["term_count"], rows["continues"], rows["content"])


@dataclass(frozen=True, slots=True)
class VectorTable:
    """The table with the vectors of one model.

    A row is a content, its vector and windows, and the sign bits of the vector in columns of 64.
    """

    model_id: int
    dimensions: int

    @property
    def name(self) -> str:
        """Its name in SQL."""
        return vector_table(self.model_id)

    @property
    def sign_columns(self) -> list[str]:
        """The columns of the sign bits."""
        return [f"b{k}" for k in range(words_of(self.dimensions))]

    @property
    def keys_and_signs(self) -> str:
        """SQL that selects the key of the content and its sign bits."""
        return f"{content_key('content_hash')} AS content, {', '.join(self.sign_columns)}"

    def read_signs(self, con: Connection) -> tuple[ContentKeys, NDArray[np.int64]]:
        """The contents of all vectors and their sign bits, shape (words, vectors)."""
        rows = con.execute(f"SELECT {self.keys_and_signs} FROM {self.name}").fetchnumpy()
        return rows["content"], np.stack([rows[name] for name in self.sign_columns])


def create(con: Connection, table: VectorTable) -> None:
    """Create the table of a model, inside a transaction."""
    bits = ", ".join(f"{name} BIGINT" for name in table.sign_columns)
    con.execute(
        f"CREATE TABLE {table.name} (content_hash UUID, vector {COLUMN}, {bits}, windows {COLUMN})"
    )


# Once this share of all rows has moved, and more than a few, all row numbers are read again.
_MOVED_SHARE = 1 / 8
_FEW = 1_000


@dataclass(frozen=True, slots=True)
class PackedRows:
    """The keys of some contents, each once, with their packed vectors and packed windows."""

    contents: ContentKeys
    vectors: list[bytearray]
    windows: list[bytearray]

    def places_of(self, contents: ContentKeys) -> NDArray[np.intp]:
        """The index of each of the contents, -1 for missing ones."""
        if not len(self.contents):
            return np.full(len(contents), -1, np.intp)
        order = np.argsort(self.contents)
        found = np.searchsorted(self.contents, contents, sorter=order)
        places = order[np.minimum(found, len(order) - 1)]
        return np.where(self.contents[places] == contents, places, -1)

    def concatenated(self, others: "PackedRows") -> "PackedRows":
        """With further rows."""
        return PackedRows(
            np.concatenate([self.contents, others.contents]),
            self.vectors + others.vectors,
            self.windows + others.windows,
        )


class VectorRows:
    """The rows of one table of vectors. Row numbers are hints: each row read is checked."""

    def __init__(self, table: str) -> None:
        self._table = table
        self._lock = threading.Lock()
        self._numbers: _RowNumbers | None = None

    def clear(self) -> None:
        """Free the memory."""
        with self._lock:
            self._numbers = None

    def read(self, con: Connection, chunks: Chunks) -> PackedRows:
        """The rows of the chunks' contents; others may be among them."""
        contents, first = np.unique(chunks.contents, return_index=True)
        numbers = self._row_numbers(con)
        con.register("wanted_rows", {"place": numbers.of(contents)})
        rows, _ = self._read(con, "SELECT place FROM wanted_rows")
        missing = rows.places_of(contents) < 0
        if not missing.any():
            return rows
        # They have no vector yet, or got one meanwhile, or their row has moved.
        owners = sql_in_numbers(con, "chunk_id", chunks.chunk_ids[first[missing]].tolist())
        found, places = self._read(
            con,
            f"SELECT rowid FROM {self._table} WHERE content_hash IN"
            f" (SELECT content_hash FROM chunks WHERE {owners})",
        )
        numbers.record_moved(found.contents, places, len(contents))
        return rows.concatenated(found)

    def _row_numbers(self, con: Connection) -> "_RowNumbers":
        with self._lock:
            if self._numbers is None or self._numbers.is_outdated:
                self._numbers = _RowNumbers.read(con, self._table)
            return self._numbers

    def _read(self, con: Connection, places: str) -> tuple[PackedRows, Ids]:
        """The rows whose numbers the SQL selects, and these numbers.

        By row number, or DuckDB would read the vectors of all rows around. In one statement, as
        checkpoints move rows even within a snapshot.
        """
        rows = con.execute(
            f"SELECT {content_key('content_hash')} AS content, rowid AS place, vector,"
            f" coalesce(windows, ''::BLOB) AS windows FROM {self._table}"
            f" WHERE rowid IN ({places})"
        ).fetchnumpy()
        packed = PackedRows(rows["content"], rows["vector"].tolist(), rows["windows"].tolist())
        return packed, rows["place"]


class _RowNumbers:
    """The row number of each content when all were read, and the numbers of rows moved since.

    Twelve bytes a vector.
    """

    def __init__(self, contents: ContentKeys, rows: NDArray[np.uint32]) -> None:
        """Arrays of one length, in ascending order of the contents."""
        self._contents = contents
        self._rows = rows
        self._moved: dict[int, int] = {}
        self._most_moved = False

    @classmethod
    def read(cls, con: Connection, table: str) -> "_RowNumbers":
        """Read the numbers of the whole table."""
        found = con.execute(
            f"SELECT {content_key('content_hash')} AS content, rowid::UINTEGER AS place"
            f" FROM {table} ORDER BY 1"
        ).fetchnumpy()
        return cls(found["content"], found["place"])

    @property
    def is_outdated(self) -> bool:
        """True when many rows have moved, or most of those that one question read."""
        many = max(_FEW, _MOVED_SHARE * len(self._contents))
        return self._most_moved or len(self._moved) > many

    def of(self, contents: ContentKeys) -> Ids:
        """The row numbers of the contents that had a vector."""
        places = np.searchsorted(self._contents, contents)
        is_inside = places < len(self._contents)
        places, asked = places[is_inside], contents[is_inside]
        original = self._rows[places[self._contents[places] == asked]]
        moved = [self._moved[content] for content in contents.tolist() if content in self._moved]
        return np.concatenate([original.astype(np.int64), np.array(moved, np.int64)])

    def record_moved(self, contents: ContentKeys, rows: Ids, asked: int) -> None:
        """Record contents found in other rows; `asked` contents were read at once."""
        self._moved |= zip(contents.tolist(), rows.tolist(), strict=True)
        self._most_moved |= len(contents) > asked / 2
