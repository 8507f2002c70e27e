"""What every question asks of hundreds of chunks, in memory: to look them up among a million takes
DuckDB longer. Any thread.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from desktop_rag.store.duckdb.database.database import Connection
from desktop_rag.store.duckdb.search.library_statistics import LibraryStatistics
from desktop_rag.store.duckdb.search.postings import Ids, Standing

Contents = NDArray[np.uint64]
# So many chunks are put in order in a few milliseconds.
_PART = 65_536


def content_key(content_hash: str) -> str:
    """SQL for the number that a content goes by in memory.

    Of a million contents two have the same one with a chance of 1 in 40 million.
    """
    return f"hash({content_hash})"


def content_keys(con: Connection, hashes: Sequence[str]) -> Contents:
    """The numbers of these contents, in their order."""
    sql = f"SELECT list_transform(?::UUID[], lambda content: {content_key('content')})"
    [(keys,)] = con.execute(sql, [list(hashes)]).fetchall()
    return np.array(keys, np.uint64)


@dataclass(frozen=True, slots=True)
class Chunks:
    """Arrays of one length, by chunk in ascending order: its number of terms, whether it goes on
    with the document of the chunk before, the key of its content.
    """

    chunk_ids: NDArray[np.uint32]
    terms: NDArray[np.int32]
    goes_on: NDArray[np.bool_]
    contents: Contents

    def of(self, chunk_ids: Ids) -> "Chunks":
        """Those of these chunks that are here. Both in ascending order."""
        rows = np.searchsorted(self.chunk_ids, chunk_ids.astype(np.uint32))
        rows = rows[rows < len(self.chunk_ids)]
        return self.where(rows[self.chunk_ids[rows] == chunk_ids[: len(rows)]])

    def where(self, rows: NDArray[np.bool_] | Ids) -> "Chunks":
        """Some of the rows."""
        return Chunks(
            self.chunk_ids[rows], self.terms[rows], self.goes_on[rows], self.contents[rows]
        )

    @classmethod
    def joined(cls, some: Sequence["Chunks"]) -> "Chunks":
        """All of them, in their order."""
        return cls(
            np.concatenate([each.chunk_ids for each in some]),
            np.concatenate([each.terms for each in some]),
            np.concatenate([each.goes_on for each in some]),
            np.concatenate([each.contents for each in some]),
        )


class Part:
    """Chunks, found by number and by content."""

    def __init__(self, chunks: Chunks) -> None:
        self.chunks = chunks
        self._by_content = np.argsort(chunks.contents)

    def having(self, contents: Contents) -> Chunks:
        """Those with one of these contents, which are in ascending order."""
        held, order = self.chunks.contents, self._by_content
        begins = np.searchsorted(held, contents, "left", sorter=order)
        counts = np.searchsorted(held, contents, "right", sorter=order) - begins
        nth = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        return self.chunks.where(order[np.repeat(begins, counts) + nth])


@dataclass(frozen=True, slots=True)
class CachedChunks:
    """All chunks in ascending order, in parts: what is new would else take the time of all."""

    parts: tuple[Part, ...]

    @property
    def last(self) -> int:
        """The highest number."""
        held = self.parts[-1].chunks.chunk_ids
        return int(held[-1]) if len(held) else 0

    def of(self, chunk_ids: Ids) -> Chunks:
        """Those of these chunks that are here. Both in ascending order."""
        return Chunks.joined([part.chunks.of(chunk_ids) for part in self.parts])

    def having(self, contents: Contents) -> Chunks:
        """Those with one of these contents."""
        # In order, which spares most of the way to the next.
        asked = np.unique(contents)
        return Chunks.joined([part.having(asked) for part in self.parts])

    def followed_by(self, new: Chunks) -> "CachedChunks":
        """With others, whose numbers are all higher."""
        *parts, last = self.parts
        if len(last.chunks.chunk_ids) + len(new.chunk_ids) > _PART:
            return CachedChunks((*self.parts, Part(new)))
        return CachedChunks((*parts, Part(Chunks.joined([last.chunks, new]))))


class ChunkCache:
    """Reads them all once, and later those that came since: what is so of a chunk stays so, and no
    number is given to another one. A chunk takes 25 bytes.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: CachedChunks | None = None
        self._sorted_anew = 0

    def of(self, con: Connection, facts: LibraryStatistics, standing: Standing) -> CachedChunks:
        """All chunks of a snapshot that these two were found in.

        Others may be among them, see `alive`; those that went meanwhile may be missing.
        """
        with self._lock:
            if self._held is None or self._sorted_anew != standing.sorted_anew:
                # The dead are forgotten when postings are sorted anew.
                self._held = CachedChunks((Part(_newer(con, 0)),))
                self._sorted_anew = standing.sorted_anew
            if self._held.last < facts.last:
                self._held = self._held.followed_by(_newer(con, self._held.last))
            return self._held


def alive(chunk_ids: Ids, facts: LibraryStatistics, standing: Standing) -> NDArray[np.bool_]:
    """Which of the held chunks are in the snapshot that these two were found in: others are dead by
    its standing, or came later.
    """
    return (chunk_ids <= facts.last) & np.isin(chunk_ids, standing.dead, invert=True)


def _newer(con: Connection, last: int) -> Chunks:
    rows = con.execute(
        "SELECT chunk_id::UINTEGER AS chunk_id, term_count, position > 0 AS goes_on,"
        f" {content_key('content_hash')} AS content FROM chunks"
        f" WHERE chunk_id > {last:d} ORDER BY chunk_id"
    ).fetchnumpy()
    return Chunks(rows["chunk_id"], rows["term_count"], rows["goes_on"], rows["content"])
