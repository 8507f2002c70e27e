"""Finds chunks by the vectors of one model. Any thread; reads use a cursor of their own.

A scan of Hamming distances over the sign bits picks candidates; in a large library inner products
with the signs alone narrow them down; inner products with the vectors rank what is left. Windows, a
few sentences each, are read for the chunks that are returned.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from desktop_rag.store.contract.scope import EVERYWHERE, Scope
from desktop_rag.store.contract.vectors import VectorMatches
from desktop_rag.store.duckdb.database.bulk_rows import sql_in_numbers
from desktop_rag.store.duckdb.database.database import Connection
from desktop_rag.store.duckdb.search.chunk_cache import Chunks, ContentKeys
from desktop_rag.store.duckdb.search.index_cache import IndexCache
from desktop_rag.store.duckdb.search.scope_sql import condition_of
from desktop_rag.store.duckdb.search.vector_rows import PackedRows
from desktop_rag.store.duckdb.search.vector_table import VectorTable
from desktop_rag.store.sql.packed_vectors import (
    sign_bits,
    signs,
    unpacked,
    unpacked_windows,
    window_bytes,
)
from desktop_rag.store.sql.posting_lists import Ids

# Candidates of the Hamming scan: at least the first, and the second times the square root of the
# number of vectors. Enough for recall@10 ≥ .99 of the exact order on the sets we measure.
_MIN_CANDIDATES = 1000
_CANDIDATE_FACTOR = 2
# More candidates than _MIN_CANDIDATES are narrowed down to this many: each vector that is read may
# lie in a block of its own.
_NARROWED = 300


class VectorSearch:
    """Search over the vectors of one model."""

    def __init__(self, table: VectorTable, cache: IndexCache) -> None:
        self._table = table
        self._cache = cache
        self._vectors = cache.vectors(table)

    def nearest(
        self, query: NDArray[np.float32], limit: int, scope: Scope = EVERYWHERE
    ) -> VectorMatches:
        """The `limit` chunks most similar to a unit vector, best first."""
        with self._cache.snapshot() as snapshot:
            con, statistics = snapshot.con, snapshot.statistics
            condition, parameters = condition_of(scope, con, statistics, "content_hash")
            part = snapshot.part(scope.readable) if scope.readable else None
            count = len(part.chunk_ids) if part else self._count(con)
            contents = self._candidates(con, query, count, condition, parameters)
            found = snapshot.chunks().with_contents(contents)
            found = found.where(snapshot.visible(found.chunk_ids))
            condition, parameters = condition_of(scope, con, statistics, "chunk_id")
            if condition:
                inside = _matching(con, found.chunk_ids, condition, parameters)
                found = found.where(np.isin(found.chunk_ids, inside))
            rows = self._vectors.rows.read(con, found)
        return self._ranked(query, limit, found, rows)

    def compare(self, query: NDArray[np.float32], chunk_ids: Sequence[int]) -> VectorMatches:
        """The given chunks that have a vector, in any order."""
        with self._cache.snapshot() as snapshot:
            found = snapshot.chunks().select(np.unique(np.array(chunk_ids, np.int64)))
            found = found.where(snapshot.visible(found.chunk_ids))
            rows = self._vectors.rows.read(snapshot.con, found)
        return self._ranked(query, len(chunk_ids), found, rows)

    def _ranked(
        self, query: NDArray[np.float32], limit: int, chunks: Chunks, rows: PackedRows
    ) -> VectorMatches:
        """The most similar of the chunks whose contents are among the rows."""
        places = rows.places_of(chunks.contents)
        chunk_ids, places = chunks.chunk_ids[places >= 0], places[places >= 0]
        vectors = unpacked(rows.vectors, self._table.dimensions)
        similarities = np.vecdot(vectors, query)
        # Sorted here: preparing the statement takes DuckDB longer.
        first = np.lexsort((chunk_ids, -similarities[places]))[:limit]
        chosen = places[first]
        windows = _best_windows(query, [rows.windows[place] for place in chosen])
        return VectorMatches(
            chunk_ids[first].tolist(), similarities[chosen], vectors[chosen], windows
        )

    def _candidates(
        self,
        con: Connection,
        query: NDArray[np.float32],
        count: int,
        condition: str,
        parameters: dict[str, Any],
    ) -> ContentKeys:
        """The contents whose vectors are compared, of `count` that may be found."""
        limit = max(_MIN_CANDIDATES, int(_CANDIDATE_FACTOR * count**0.5))
        [bits] = sign_bits(query[np.newaxis, :])
        index = None if condition else self._vectors.signs.get(count)
        if index is not None:
            contents, found = index.nearest(bits, limit)
        else:
            contents, found = self._nearest_by_signs(con, bits, limit, condition, parameters)
        if len(contents) <= _MIN_CANDIDATES:
            return contents
        # Not with `@`: the threads of a BLAS library keep spinning for a while afterwards.
        similarities = np.vecdot(signs(found, self._table.dimensions), query)
        return contents[np.argpartition(-similarities, _NARROWED)[:_NARROWED]]

    def _count(self, con: Connection) -> int:
        [(count,)] = con.execute(f"SELECT count(*) FROM {self._table.name}").fetchall()
        return count

    def _nearest_by_signs(
        self,
        con: Connection,
        query: NDArray[np.int64],
        limit: int,
        condition: str,
        parameters: dict[str, Any],
    ) -> tuple[ContentKeys, NDArray[np.int64]]:
        """The same as `BinaryVectorIndex.nearest`, for the contents that meet a condition."""
        columns = self._table.sign_columns
        # Added as floats: sums of integers are checked for overflow one by one.
        distance = " + ".join(f"bit_count(xor({b}, ${b}::BIGINT))::FLOAT" for b in columns)
        rows = con.execute(
            f"SELECT {self._table.keys_and_signs} FROM {self._table.name} WHERE true{condition}"
            f" ORDER BY {distance}, rowid LIMIT {limit}",
            dict(zip(columns, query.tolist(), strict=True)) | parameters,
        ).fetchnumpy()
        return rows["content"], np.stack([rows[name] for name in columns], axis=1)


def _matching(con: Connection, chunk_ids: Ids, condition: str, parameters: dict[str, Any]) -> Ids:
    """The chunks that meet a condition."""
    which = sql_in_numbers(con, "chunk_id", chunk_ids.tolist())
    rows = con.execute(f"SELECT chunk_id FROM chunks WHERE {which}{condition}", parameters)
    return rows.fetchnumpy()["chunk_id"]


def _best_windows(
    query: NDArray[np.float32], packed_rows: Sequence[bytearray]
) -> NDArray[np.float64]:
    """The similarity of each row's best window, NaN for rows without windows."""
    best = np.full(len(packed_rows), np.nan)
    filled = [(n, windows) for n, windows in enumerate(packed_rows) if windows]
    if filled:
        vectors = unpacked_windows([windows for _, windows in filled], len(query))
        similarities = np.vecdot(vectors, query)
        sizes = [len(windows) // window_bytes(len(query)) for _, windows in filled]
        begins = np.cumsum([0, *sizes[:-1]])
        best[[n for n, _ in filled]] = np.maximum.reduceat(similarities, begins)
    return best
