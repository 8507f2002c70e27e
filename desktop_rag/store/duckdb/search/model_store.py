"""The embedding models, which of them answer for which collection, and the search by meaning.

Any thread; reads use a cursor of their own.
"""

import threading
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from desktop_rag.store.contract.bm25_ranking import Ids
from desktop_rag.store.contract.database import fetched
from desktop_rag.store.contract.search import EVERYWHERE, Scope
from desktop_rag.store.contract.vectors import ModelRow, VectorMatches
from desktop_rag.store.duckdb.database.bulk_rows import sql_in_numbers
from desktop_rag.store.duckdb.database.connections import Connection
from desktop_rag.store.duckdb.database.database import Database
from desktop_rag.store.duckdb.search.chunk_cache import (
    Chunks,
    ContentKeys,
    VectorTable,
    find,
    find_or_create,
    table_name,
)
from desktop_rag.store.duckdb.search.index_cache import IndexCache
from desktop_rag.store.duckdb.search.scope_sql import condition_of
from desktop_rag.store.duckdb.search.vector_rows import PackedRows
from desktop_rag.store.duckdb.search.vector_store import VectorStore
from desktop_rag.store.sql.packed_vectors import (
    sign_bits,
    signs,
    unpacked,
    unpacked_windows,
    window_bytes,
)

# Candidates of the Hamming scan: the factor times the square root of the number of vectors, and at
# least the minimum. Enough for recall@10 ≥ .99 of the exact order on the sets we measure.
_MIN_CANDIDATES = 1000
_CANDIDATE_FACTOR = 2
# More candidates than the minimum are narrowed down to this many, as each vector may be in a block
# of its own.
_NARROWED = 300


class VectorSearch:
    """Finds chunks by the vectors of one model.

    A scan of Hamming distances over the sign bits picks candidates; in a large library inner
    products with the signs narrow them down; inner products with the vectors rank the rest.
    Windows, a few sentences each, are read for the chunks that are returned.
    """

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
        """The contents whose vectors are compared, out of `count` in scope."""
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


class ModelStore:
    """The models that made vectors, and which of them answer."""

    def __init__(self, database: Database, cache: IndexCache) -> None:
        self._database = database
        self._cache = cache
        # Dropping a model must not overlap with opening one: ids are used again.
        self._lock = threading.Lock()
        self._tables: dict[tuple[str, int], VectorTable] = {}

    def vectors(self, name: str, dimensions: int, spec: str | None = None) -> VectorStore:
        """The vectors of a model; `spec`, if given, is where to find it from now on."""
        with self._lock:
            table = self._table(name, dimensions)
            vectors = VectorStore(self._database, table, self._cache)
        if spec is not None:
            self._database.write(
                lambda con: con.execute(
                    "UPDATE models SET folder = $1 WHERE model_id = $2 AND folder <> $1",
                    [spec, vectors.model_id],
                )
            )
        return vectors

    def _table(self, name: str, dimensions: int) -> VectorTable:
        if (name, dimensions) not in self._tables:
            # A library open for reading can't get new tables.
            with self._database.read() as con:
                known = find(con, name, dimensions)
            self._tables[name, dimensions] = known or self._database.write(
                lambda con: find_or_create(con, name, dimensions)
            )
        return self._tables[name, dimensions]

    def stored(self) -> list[ModelRow]:
        """Every model that has vectors here, by its number."""
        sql = "SELECT model_id, name, dimensions, folder FROM models ORDER BY model_id"
        return [ModelRow(*row) for row in fetched(self._database, sql)]

    def search(self, model_id: int) -> VectorSearch:
        """The search over the vectors of a model."""
        with self._lock:
            [table] = [each for each in self._tables.values() if each.model_id == model_id]
            return VectorSearch(table, self._cache)

    def answering(self) -> dict[str, ModelRow]:
        """Collection id → the model whose vectors answer; absent for a collection without any."""
        rows = fetched(
            self._database,
            "SELECT c.collection_id, m.model_id, m.name, m.dimensions, m.folder"
            " FROM collections c JOIN models m ON m.model_id = c.answering",
        )
        return {row[0]: ModelRow(*row[1:]) for row in rows}

    def answer(self, model_id: int, collection_ids: Sequence[str]) -> None:
        """Let the vectors of this model answer for these collections from now on."""
        self._database.write(
            lambda con: con.execute(
                "UPDATE collections SET answering = ? WHERE collection_id IN (SELECT unnest(?))",
                [model_id, list(collection_ids)],
            )
        )

    def drop_unused(self, wanted: Collection[str]) -> None:
        """Remove models, with their vectors, that neither answer nor are being filled."""

        def work(con: Connection) -> set[int]:
            rows = con.execute(
                "SELECT model_id, folder FROM models WHERE model_id NOT IN"
                " (SELECT answering FROM collections) ORDER BY model_id"
            ).fetchall()
            latest = {spec: model_id for model_id, spec in rows if spec in wanted}
            unused = {model_id for model_id, spec in rows if latest.get(spec) != model_id}
            for model_id in unused:
                con.execute(f"DROP TABLE IF EXISTS {table_name(model_id)}")
                con.execute("DELETE FROM models WHERE model_id = ?", [model_id])
            return unused

        with self._lock:
            dropped = self._database.write(work)
            self._cache.forget_models(dropped)
            self._tables = {
                key: table for key, table in self._tables.items() if table.model_id not in dropped
            }
