"""Reads vectors of a large table by cached row numbers. Any thread.

DuckDB takes longer to find a hundred contents among a million than to read their vectors.
"""

import threading
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from desktop_rag.store.contract.search import Ids
from desktop_rag.store.duckdb.database.bulk_rows import sql_in_numbers
from desktop_rag.store.duckdb.database.connections import Connection
from desktop_rag.store.duckdb.search.chunk_cache import Chunks, ContentKeys, content_key

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
