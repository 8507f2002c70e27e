"""The vectors of contents, in one table per model. Any thread; reads use a cursor of their own.

See packed_vectors.py for the stored form, model_store.py for the search.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from desktop_rag.store.contract.database import fetched
from desktop_rag.store.contract.vectors import VectorStore
from desktop_rag.store.duckdb.database.bulk_rows import insert
from desktop_rag.store.duckdb.database.connections import Connection
from desktop_rag.store.duckdb.database.database import Database
from desktop_rag.store.duckdb.search.chunk_cache import ContentKeys, VectorTable, content_keys
from desktop_rag.store.duckdb.search.index_cache import IndexCache
from desktop_rag.store.sql.packed_vectors import packed, packed_windows, sign_bits, unpacked


class DuckdbVectorStore(VectorStore):
    """The vectors of one model, by content hash."""

    def __init__(self, database: Database, table: VectorTable, cache: IndexCache) -> None:
        super().__init__(database, table.model_id, table.dimensions)
        self._database = database
        self._sign_columns = table.sign_columns
        self._signs = cache.vectors(table).signs

    def add(self, hashes: Sequence[str], vectors: NDArray[np.float32]) -> None:
        bits = np.ascontiguousarray(sign_bits(vectors).T)
        columns: dict[str, Any] = {"content_hash": list(hashes), "vector": packed(vectors)}
        columns |= dict(zip(self._sign_columns, bits, strict=True))

        def work(con: Connection) -> ContentKeys:
            insert(con, self.table, columns)
            return content_keys(con, hashes)

        self._signs.add(self._database.write_uncached(work), bits)

    def stored(self, hashes: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        rows = self.packed("vector", hashes)
        vectors = unpacked([row for _, row in rows], self.dimensions)
        return dict(zip((key for key, _ in rows), vectors, strict=True))

    # --- windows -----------------------------------------------------------------------------

    def add_windows(self, hashes: Sequence[str], windows: Sequence[NDArray[np.float32]]) -> None:
        columns: dict[str, Any] = {
            "content_hash": list(hashes), "windows": [packed_windows(each) for each in windows]
        }  # fmt: skip
        self._database.write_uncached(lambda con: self._store_windows(con, columns))

    def _store_windows(self, con: Connection, columns: dict[str, Any]) -> None:
        """Replace rows without windows by rows with them."""
        table = self.table
        con.execute("CREATE TEMP TABLE with_windows (content_hash UUID, windows BLOB)")
        insert(con, "with_windows", columns)
        stored = f"content_hash, vector, {', '.join(self._sign_columns)}"
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

    def window_counts(self) -> tuple[int, int]:
        sql = f"SELECT count(*), count(*) FILTER (windows IS NULL) FROM {self.table}"
        [(total, missing)] = fetched(self._database, sql)
        return int(total), int(missing)


def stored_among(table: str, wanted: str) -> str:
    """SQL for the content hashes of a small table `wanted` that have a vector.

    A join with the whole table of vectors would build a hash table of all of it.
    """
    return (
        f"(SELECT content_hash FROM {table} WHERE content_hash IN"
        f" (SELECT content_hash FROM {wanted}))"
    )
