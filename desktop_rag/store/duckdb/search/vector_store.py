"""The vectors of a library file, a table for each model, and the search by meaning in them.

Any thread; reads use a cursor of their own, writes take the lane. The tables of vectors are in the
same file as the chunks, so that a statement joins both.
"""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from desktop_rag.store.contract.chunks import ALL_CHUNKS, ChunkStore, Coverage
from desktop_rag.store.contract.database import fetched
from desktop_rag.store.contract.search import EVERYWHERE, Ids, Scope
from desktop_rag.store.contract.vectors import (
    ModelStore,
    VectorMatches,
    VectorSearch,
    VectorStore,
    best_windows,
    packed,
    packed_windows,
    sign_bits,
    signs,
    unpacked,
    vector_table,
)
from desktop_rag.store.duckdb.database.connections import Connection, insert, sql_in_numbers
from desktop_rag.store.duckdb.database.database import Database
from desktop_rag.store.duckdb.search.chunk_cache import (
    Chunks,
    ContentKeys,
    PackedRows,
    VectorTable,
    content_keys,
    create,
)
from desktop_rag.store.duckdb.search.index_cache import IndexCache, condition_of


class DuckdbVectorStore(VectorStore):
    """The vectors of one model, by content hash."""

    def __init__(self, database: Database, table: VectorTable, cache: IndexCache) -> None:
        super().__init__(database, table.model_id, table.dimensions)
        self._database = database
        self._sign_columns = table.sign_columns
        self._signs = cache.vectors(table).signs

    def add(self, hashes: Sequence[str], vectors: NDArray[np.float32]) -> None:
        def work(con: Connection) -> tuple[ContentKeys, NDArray[np.int64]]:
            # Another thread may have stored some meanwhile.
            known = {row[0].hex for row in con.execute(
                f"SELECT content_hash FROM {self.table} WHERE content_hash IN"
                " (SELECT unnest(?::UUID[]))",
                [list(hashes)],
            ).fetchall()}  # fmt: skip
            fresh = [n for n, each in enumerate(hashes) if each not in known]
            own, some = [hashes[n] for n in fresh], vectors[fresh]
            bits = np.ascontiguousarray(sign_bits(some).T)
            columns: dict[str, Any] = {"content_hash": own, "vector": packed(some)}
            insert(con, self.table, columns | dict(zip(self._sign_columns, bits, strict=True)))
            return content_keys(con, own), bits

        self._signs.add(*self._database.write_uncached(work))

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


# Candidates of the Hamming scan: the factor times the square root of the number of vectors, and at
# least the minimum. Enough for recall@10 ≥ .99 of the exact order on the sets we measure.
_MIN_CANDIDATES = 1000
_CANDIDATE_FACTOR = 2
# More candidates than the minimum are narrowed down to this many, as each vector may be in a block
# of its own.
_NARROWED = 300


class DuckdbVectorSearch(VectorSearch):
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
        windows = best_windows(query, [rows.windows[place] for place in chosen])
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


class DuckdbModelStore(ModelStore):
    """The tables of vectors in a file."""

    def __init__(self, database: Database, cache: IndexCache) -> None:
        super().__init__(database)
        self._database = database
        self._cache = cache

    def create_table(self, con: Connection, model_id: int, dimensions: int) -> None:
        create(con, VectorTable(model_id, dimensions))

    def vectors_in(self, model_id: int, dimensions: int) -> DuckdbVectorStore:
        return DuckdbVectorStore(self._database, VectorTable(model_id, dimensions), self._cache)

    def search_in(self, model_id: int, dimensions: int) -> DuckdbVectorSearch:
        return DuckdbVectorSearch(VectorTable(model_id, dimensions), self._cache)

    def forget(self, model_ids: Collection[int]) -> None:
        self._cache.forget_models(model_ids)


class DuckdbChunkStore(ChunkStore):
    """The chunks of all documents, compared with the vectors of one model."""

    in_collections = (
        " AND document_id IN (SELECT d.document_id FROM documents d JOIN sources s"
        " USING (source_id) WHERE s.collection_id IN (SELECT unnest($collections::VARCHAR[])))"
    )

    def __init__(self, database: Database, cache: IndexCache) -> None:
        super().__init__(database)
        self._cache = cache

    def without_vectors(
        self, model_id: int, limit: int, coverage: Coverage = ALL_CHUNKS
    ) -> list[tuple[str, str, str]]:
        condition, parameters = self.within(coverage)
        # First the hashes, then their texts: a plain query would read the texts of all rows.
        rows = fetched(
            self.database,
            "SELECT content_hash, any_value(context), any_value(text) FROM chunks"
            " WHERE content_hash IN (SELECT DISTINCT content_hash FROM"
            f" (SELECT content_hash FROM chunks WHERE true{condition})"
            f" ANTI JOIN {vector_table(model_id)} USING (content_hash) LIMIT {limit:d})"
            " GROUP BY content_hash",
            parameters,
        )
        return [(row[0].hex, row[1], row[2]) for row in rows]

    def finish_documents(self, model_id: int, coverage: Coverage = ALL_CHUNKS) -> list[str]:
        """From the waiting documents on: a join with all vectors takes much longer."""
        condition, parameters = self.within(coverage)
        # A join with the whole table of vectors would build a hash table of all of it.
        stored = (
            f"(SELECT content_hash FROM {vector_table(model_id)} WHERE content_hash IN"
            " (SELECT content_hash FROM candidates))"
        )
        return self.update_documents(
            "WITH candidates AS MATERIALIZED (SELECT document_id, content_hash FROM chunks"
            " WHERE document_id IN (SELECT document_id FROM documents"
            f" WHERE state = 'searchable by words'{condition}))"
            " UPDATE documents SET state = 'searchable' WHERE state = 'searchable by words'"
            " AND document_id NOT IN (SELECT document_id FROM candidates"
            f" ANTI JOIN {stored} USING (content_hash)){condition} RETURNING document_id",
            parameters,
        )

    def prune_vectors(self, model_id: int, coverage: Coverage = ALL_CHUNKS) -> bool:
        if is_pruned := super().prune_vectors(model_id, coverage):
            self._cache.clear_signs(model_id)
        return is_pruned
