"""Reads single vectors of a large table, knowing in memory in which row each of them stands: to
look for a hundred contents among a million takes DuckDB longer than to read their vectors. Any
thread.
"""

import threading
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from desktop_rag.store.duckdb.database.database import Connection, among
from desktop_rag.store.duckdb.search.chunk_cache import Chunks, Contents, content_key
from desktop_rag.store.duckdb.search.postings import Ids

# When more of all than this share were found elsewhere, it is looked where they are now.
_MOVED_SHARE = 1 / 8
_FEW = 1_000


@dataclass(frozen=True, slots=True)
class PackedRows:
    """Of some contents, each once, their keys, packed vectors and packed windows."""

    contents: Contents
    vectors: list[bytearray]
    windows: list[bytearray]

    def places_of(self, contents: Contents) -> NDArray[np.intp]:
        """Where each of the contents is, -1 for those that are not here."""
        if not len(self.contents):
            return np.full(len(contents), -1, np.intp)
        order = np.argsort(self.contents)
        found = np.searchsorted(self.contents, contents, sorter=order)
        places = order[np.minimum(found, len(order) - 1)]
        return np.where(self.contents[places] == contents, places, -1)

    def joined(self, others: "PackedRows") -> "PackedRows":
        """With those of others."""
        return PackedRows(
            np.concatenate([self.contents, others.contents]),
            self.vectors + others.vectors,
            self.windows + others.windows,
        )


class VectorRows:
    """The rows of one table of vectors."""

    def __init__(self, table: str) -> None:
        self._table = table
        self._lock = threading.Lock()
        self._places: _Places | None = None

    def of(self, con: Connection, chunks: Chunks) -> PackedRows:
        """Those of the chunks' contents; others may be among them."""
        contents, first = np.unique(chunks.contents, return_index=True)
        places = self._held(con)
        con.register("wanted_rows", {"place": places.of(contents)})
        rows, _ = self._read(con, "SELECT place FROM wanted_rows")
        lacking = rows.places_of(contents) < 0
        if not lacking.any():
            return rows
        # They have no vector yet, or it came meanwhile or has moved.
        whose = among(con, "chunk_id", chunks.chunk_ids[first[lacking]].tolist())
        found, stand = self._read(
            con,
            f"SELECT rowid FROM {self._table} WHERE content_hash IN"
            f" (SELECT content_hash FROM chunks WHERE {whose})",
        )
        places.moved(found.contents, stand, len(contents))
        return rows.joined(found)

    def _held(self, con: Connection) -> "_Places":
        with self._lock:
            if self._places is None or self._places.is_outdated:
                self._places = _Places.read(con, self._table)
            return self._places

    def _read(self, con: Connection, places: str) -> tuple[PackedRows, Ids]:
        """The rows with the numbers that SQL gives, and these numbers.

        By row number, or the vectors of all the rows around would be read too. In one statement: a
        checkpoint moves rows under a snapshot.
        """
        rows = con.execute(
            f"SELECT {content_key('content_hash')} AS content, rowid AS place, vector,"
            f" coalesce(windows, ''::BLOB) AS windows FROM {self._table}"
            f" WHERE rowid IN ({places})"
        ).fetchnumpy()
        packed = PackedRows(rows["content"], rows["vector"].tolist(), rows["windows"].tolist())
        return packed, rows["place"]


class _Places:
    """Where each content stood when that was looked up (twelve bytes a vector), and where some were
    found later.

    Rows move, so that what stands there now must be looked at.
    """

    def __init__(self, contents: Contents, rows: NDArray[np.uint32]) -> None:
        """Arrays of one length, in ascending order of the contents."""
        self._contents = contents
        self._rows = rows
        self._moved: dict[int, int] = {}
        self._most_moved = False

    @classmethod
    def read(cls, con: Connection, table: str) -> "_Places":
        """As they are now."""
        found = con.execute(
            f"SELECT {content_key('content_hash')} AS content, rowid::UINTEGER AS place"
            f" FROM {table} ORDER BY 1"
        ).fetchnumpy()
        return cls(found["content"], found["place"])

    @property
    def is_outdated(self) -> bool:
        """Whether many were found elsewhere, or most of those asked for at once."""
        many = max(_FEW, _MOVED_SHARE * len(self._contents))
        return self._most_moved or len(self._moved) > many

    def of(self, contents: Contents) -> Ids:
        """The rows of those of the contents that had a vector."""
        places = np.searchsorted(self._contents, contents)
        is_inside = places < len(self._contents)
        places, asked = places[is_inside], contents[is_inside]
        stood = self._rows[places[self._contents[places] == asked]]
        stand = [self._moved[content] for content in contents.tolist() if content in self._moved]
        return np.concatenate([stood.astype(np.int64), np.array(stand, np.int64)])

    def moved(self, contents: Contents, rows: Ids, asked: int) -> None:
        """Of so many asked for these were found elsewhere, in these rows."""
        self._moved |= zip(contents.tolist(), rows.tolist(), strict=True)
        self._most_moved |= len(contents) > asked / 2
