"""The vectors of contents, in one table per model. Any thread; reads use a cursor of their own.

See packed_vectors.py for the stored form, model_store.py for the search.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from desktop_rag.store.contract.database import fetched
from desktop_rag.store.duckdb.database.bulk_rows import insert
from desktop_rag.store.duckdb.database.connections import Connection
from desktop_rag.store.duckdb.database.database import Database
from desktop_rag.store.duckdb.search.chunk_cache import ContentKeys, VectorTable, content_keys
from desktop_rag.store.duckdb.search.index_cache import IndexCache
from desktop_rag.store.sql.packed_vectors import (
    packed,
    packed_windows,
    sign_bits,
    unpacked,
    unpacked_windows,
)


class VectorStore:
    """The vectors of one model, by content hash."""

    def __init__(self, database: Database, table: VectorTable, cache: IndexCache) -> None:
        self._database = database
        self._table = table
        self._signs = cache.vectors(table).signs
        self.model_id = table.model_id

    def add(self, hashes: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Store unit vectors, shape (len(hashes), dimensions), of hashes without a vector."""
        bits = np.ascontiguousarray(sign_bits(vectors).T)
        columns: dict[str, Any] = {"content_hash": list(hashes), "vector": packed(vectors)}
        columns |= dict(zip(self._table.sign_columns, bits, strict=True))

        def work(con: Connection) -> ContentKeys:
            insert(con, self._table.name, columns)
            return content_keys(con, hashes)

        self._signs.add(self._database.write_uncached(work), bits)

    def missing(self, hashes: Sequence[str]) -> set[str]:
        """The content hashes that have no vector."""
        rows = fetched(
            self._database,
            "WITH given AS MATERIALIZED (SELECT DISTINCT unnest(?::UUID[]) AS content_hash)"
            f" FROM given ANTI JOIN {stored_among(self._table.name, 'given')}"
            " USING (content_hash)",
            [list(hashes)],
        )
        return {row[0].hex for row in rows}

    def stored(self, hashes: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """The unit vectors by content hash; absent for contents without one."""
        rows = self._rows("vector", hashes)
        vectors = unpacked([row for _, row in rows], self._table.dimensions)
        return dict(zip((key for key, _ in rows), vectors, strict=True))

    def _rows(self, column: str, hashes: Sequence[str]) -> list[tuple[str, bytes]]:
        """(content hash, packed value) of those that have one."""
        rows = fetched(
            self._database,
            f"SELECT content_hash, {column} FROM {self._table.name} WHERE content_hash IN"
            f" (SELECT unnest(?::UUID[])) AND {column} IS NOT NULL",
            [list(hashes)],
        )
        return [(key.hex, value) for key, value in rows]

    # --- windows -----------------------------------------------------------------------------

    def add_windows(self, hashes: Sequence[str], windows: Sequence[NDArray[np.float32]]) -> None:
        """Store the unit vectors of each content's windows; see the contract."""
        columns: dict[str, Any] = {
            "content_hash": list(hashes), "windows": [packed_windows(each) for each in windows]
        }  # fmt: skip
        self._database.write_uncached(lambda con: self._store_windows(con, columns))

    def _store_windows(self, con: Connection, columns: dict[str, Any]) -> None:
        """Replace rows without windows by rows with them."""
        table = self._table.name
        con.execute("CREATE TEMP TABLE with_windows (content_hash UUID, windows BLOB)")
        insert(con, "with_windows", columns)
        stored = f"content_hash, vector, {', '.join(self._table.sign_columns)}"
        con.execute(
            f"INSERT INTO {table} ({stored}, windows)"
            f" SELECT {stored}, w.windows FROM {table} JOIN with_windows w"
            f" USING (content_hash) WHERE {table}.windows IS NULL"
        )
        con.execute(
            f"DELETE FROM {table} WHERE windows IS NULL"
            " AND content_hash IN (SELECT content_hash FROM with_windows)"
        )
        con.execute("DROP TABLE with_windows")

    def stored_windows(self, hashes: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """The unit vectors of windows by content hash; absent where none were made yet."""
        dimensions = self._table.dimensions
        rows = self._rows("windows", hashes)
        return {key: unpacked_windows([value], dimensions) for key, value in rows}

    def window_counts(self) -> tuple[int, int]:
        """(contents with a vector, those of them without windows yet)."""
        sql = f"SELECT count(*), count(*) FILTER (windows IS NULL) FROM {self._table.name}"
        [(total, missing)] = fetched(self._database, sql)
        return int(total), int(missing)

    def drop_windows(self) -> None:
        """Remove all windows."""
        sql = f"UPDATE {self._table.name} SET windows = NULL"
        self._database.write_uncached(lambda con: con.execute(sql))


def stored_among(table: str, wanted: str) -> str:
    """SQL for the content hashes of a small table `wanted` that have a vector.

    A join with the whole table of vectors would build a hash table of all of it.
    """
    return (
        f"(SELECT content_hash FROM {table} WHERE content_hash IN"
        f" (SELECT content_hash FROM {wanted}))"
    )
