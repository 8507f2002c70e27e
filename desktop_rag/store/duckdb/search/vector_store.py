"""The vectors of passages and the search over them. Any thread; reads take their own cursor.

The sign bits of a vector stand beside it: a scan of Hamming distances picks candidates, in a large
library inner products with the signs alone leave the better part of them, and those with the
vectors order these. The windows of a passage, a few sentences each, come later and are only looked
at for passages that are in the race. See packed_vectors.py for what is stored.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from desktop_rag.store.contract.scope import EVERYWHERE, Scope
from desktop_rag.store.contract.vectors import Compared
from desktop_rag.store.duckdb.database.database import Connection, Database, among, insert
from desktop_rag.store.duckdb.database.packed_vectors import (
    COLUMN,
    packed,
    packed_windows,
    sign_bits,
    signs,
    unpacked,
    unpacked_windows,
    window_bytes,
    words_of,
)
from desktop_rag.store.duckdb.search.binary_vector_index import CachedSignBits
from desktop_rag.store.duckdb.search.chunk_cache import (
    ChunkCache,
    Chunks,
    Contents,
    alive,
    content_key,
    content_keys,
)
from desktop_rag.store.duckdb.search.library_statistics import statistics_of
from desktop_rag.store.duckdb.search.postings import Ids, standing_of
from desktop_rag.store.duckdb.search.scope_sql import condition_of
from desktop_rag.store.duckdb.search.vector_rows import PackedRows, VectorRows

# Candidates of the Hamming scan, the second times the root of the number of vectors: enough for
# recall@10 ≥ .99 of exact on the sets we measure.
_NEAR = 1000
_NEAR_FACTOR = 2
# Of more than _NEAR so many are compared: each may lie in a block of its own.
_NEARER = 300
# Of the memory the setting grants, for the signs of all vectors: with 2 GB those of two million of
# 384 dimensions. Of more DuckDB puts the first in order.
_SIGNS_SHARE = 1 / 16
_WORD_BYTES = 8


class VectorStore:
    """The vectors of one model, by content hash."""

    def __init__(self, database: Database, model: str, dimensions: int, chunks: ChunkCache) -> None:
        """Find or make the model's own table, so that models never mix."""
        self._database = database
        self._chunks = chunks
        self._dimensions = dimensions
        self._words = words_of(dimensions)
        self._table = database.write(lambda con: _vector_table(con, model, dimensions))
        self._rows = VectorRows(self._table)
        most = int(
            _SIGNS_SHARE * 1_000_000 * database.memory_mb / (_WORD_BYTES * (1 + self._words))
        )
        self._signs = CachedSignBits(most, self._all_signs)
        self.model_id = int(self._table.removeprefix("vectors_"))

    def add(self, hashes: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Store unit vectors, shape (len(hashes), dimensions), of hashes that `missing` gave."""
        bits = np.ascontiguousarray(sign_bits(vectors).T)
        columns: dict[str, Any] = {"content_hash": list(hashes), "vector": packed(vectors)}
        columns |= dict(zip(self._bits, bits, strict=True))

        def work(con: Connection) -> Contents:
            insert(con, self._table, columns)
            return content_keys(con, hashes)

        self._signs.add(self._database.note(work), bits)

    def missing(
        self, limit: int, collection_ids: Sequence[str] | None = None
    ) -> list[tuple[str, str, str]]:
        """Up to `limit` (content hash, context, text) that have no vector yet, each hash once."""
        only, parameters = _of_collections(collection_ids)
        with self._database.read() as con:
            # First which, then their texts: or those of all the rows would be read.
            rows = con.execute(
                "SELECT content_hash, any_value(context), any_value(text) FROM chunks"
                " WHERE content_hash IN (SELECT DISTINCT content_hash FROM"
                f" (SELECT content_hash FROM chunks WHERE true{only})"
                f" ANTI JOIN {self._table} USING (content_hash) LIMIT {limit:d})"
                " GROUP BY content_hash",
                parameters,
            ).fetchall()
        return [(row[0].hex, row[1], row[2]) for row in rows]

    def lacking(self, hashes: Sequence[str]) -> set[str]:
        """Those of the content hashes that have no vector."""
        with self._database.read() as con:
            rows = con.execute(
                "WITH given AS MATERIALIZED (SELECT DISTINCT unnest(?::UUID[]) AS content_hash)"
                f" FROM given ANTI JOIN {_stored(self._table, 'given')} USING (content_hash)",
                [list(hashes)],
            ).fetchall()
        return {row[0].hex for row in rows}

    def counts(self, collection_ids: Sequence[str] | None = None) -> tuple[int, int]:
        """(distinct contents among the chunks, those of them without a vector)."""
        only, parameters = _of_collections(collection_ids)
        with self._database.read() as con:
            [(total, missing)] = con.execute(
                "SELECT count(DISTINCT content_hash), count(DISTINCT content_hash) FILTER"
                f" (content_hash NOT IN (SELECT content_hash FROM {self._table})) FROM chunks"
                f" WHERE true{only}",
                parameters,
            ).fetchall()
        return int(total), int(missing)

    def finish_documents(self, collection_ids: Sequence[str] | None = None) -> list[str]:
        """Mark the documents whose chunks all have vectors as searchable; returns their ids."""
        only, parameters = _of_collections(collection_ids)

        def work(con: Connection) -> list[str]:
            rows = con.execute(
                "WITH held AS MATERIALIZED (SELECT document_id, content_hash FROM chunks"
                " WHERE document_id IN (SELECT document_id FROM documents"
                f" WHERE state = 'searchable by words'{only}))"
                " UPDATE documents SET state = 'searchable' WHERE state = 'searchable by words'"
                " AND document_id NOT IN (SELECT document_id FROM held"
                f" ANTI JOIN {_stored(self._table, 'held')} USING (content_hash)){only}"
                " RETURNING document_id",
                parameters,
            ).fetchall()
            return [row[0] for row in rows]

        return self._database.write(work)

    def reopen_documents(self, collection_ids: Sequence[str] | None = None) -> list[str]:
        """Documents that lack vectors of this model are searchable by words only; their ids."""
        only, parameters = _of_collections(collection_ids)

        def work(con: Connection) -> list[str]:
            rows = con.execute(
                "UPDATE documents SET state = 'searchable by words' WHERE state = 'searchable'"
                " AND document_id IN (SELECT c.document_id FROM chunks c"
                f" ANTI JOIN {self._table} v USING (content_hash)){only} RETURNING document_id",
                parameters,
            ).fetchall()
            return [row[0] for row in rows]

        return self._database.write(work)

    def prune(self, collection_ids: Sequence[str] | None = None) -> None:
        """Drop vectors that no chunk (of these collections) needs any more, with their windows."""
        only, parameters = _of_collections(collection_ids)
        dead = f"content_hash NOT IN (SELECT content_hash FROM chunks WHERE true{only})"
        with self._database.read() as con:
            [(count,)] = con.execute(
                f"SELECT count(*) FROM {self._table} WHERE {dead}", parameters
            ).fetchall()
        if count:
            sql = f"DELETE FROM {self._table} WHERE {dead}"
            self._database.note(lambda con: con.execute(sql, parameters))
            self._signs.forget()

    def nearest(
        self, query: NDArray[np.float32], limit: int, scope: Scope = EVERYWHERE
    ) -> Compared:
        """The `limit` chunks most similar to a unit vector, best first."""
        with self._database.snapshot() as snapshot:
            con, facts = snapshot.con, snapshot.known(statistics_of)
            standing = snapshot.known(standing_of)
            contents = self._candidates(
                con, query, *condition_of(scope, con, facts, "content_hash")
            )
            found = self._chunks.of(con, facts, standing).having(contents)
            found = found.where(alive(found.chunk_ids, facts, standing))
            only, parameters = condition_of(scope, con, facts, "chunk_id")
            if only:
                inside = _inside(con, found.chunk_ids, only, parameters)
                found = found.where(np.isin(found.chunk_ids, inside))
            rows = self._rows.of(con, found)
        return self._best(query, limit, found, rows)

    def compared(self, query: NDArray[np.float32], chunk_ids: Sequence[int]) -> Compared:
        """Those of the chunks that have a vector, in any order."""
        with self._database.snapshot() as snapshot:
            con, facts = snapshot.con, snapshot.known(statistics_of)
            standing = snapshot.known(standing_of)
            held = self._chunks.of(con, facts, standing)
            found = held.of(np.unique(np.array(chunk_ids, np.int64)))
            found = found.where(alive(found.chunk_ids, facts, standing))
            rows = self._rows.of(con, found)
        return self._best(query, len(chunk_ids), found, rows)

    def _best(
        self, query: NDArray[np.float32], limit: int, chunks: Chunks, rows: PackedRows
    ) -> Compared:
        """The most similar of the chunks whose contents are among the rows."""
        places = rows.places_of(chunks.contents)
        chunk_ids, places = chunks.chunk_ids[places >= 0], places[places >= 0]
        vectors = unpacked(rows.vectors, self._dimensions)
        similar = np.vecdot(vectors, query)
        # Not put in order by DuckDB, which takes longer to get ready for it.
        first = np.lexsort((chunk_ids, -similar[places]))[:limit]
        chosen = places[first]
        windows = _best_windows(query, [rows.windows[place] for place in chosen])
        return Compared(chunk_ids[first].tolist(), similar[chosen], vectors[chosen], windows)

    def _candidates(
        self, con: Connection, query: NDArray[np.float32], only: str, parameters: dict[str, Any]
    ) -> Contents:
        """The contents that are compared."""
        [(count,)] = con.execute(f"SELECT count(*) FROM {self._table}").fetchall()
        limit = max(_NEAR, int(_NEAR_FACTOR * count**0.5))
        [bits] = sign_bits(query[np.newaxis, :])
        index = None if only else self._signs.of(count)
        if index is not None:
            contents, found = index.first(bits, limit)
        else:
            contents, found = self._first_by_signs(con, bits, limit, only, parameters)
        if len(contents) <= _NEAR:
            return contents
        # Not with `@`: the threads of a BLAS library go on spinning for a while when it is done.
        near = np.vecdot(signs(found, self._dimensions), query)
        return contents[np.argpartition(-near, _NEARER)[:_NEARER]]

    def _first_by_signs(
        self,
        con: Connection,
        query: NDArray[np.int64],
        limit: int,
        only: str,
        parameters: dict[str, Any],
    ) -> tuple[Contents, NDArray[np.int64]]:
        """As `SignIndex.first`, of those for which a condition holds."""
        # Small whole numbers, but added as floats: sums of integers are checked one by one.
        distance = " + ".join(f"bit_count(xor({b}, ${b}::BIGINT))::FLOAT" for b in self._bits)
        rows = con.execute(
            f"SELECT {self._keyed} FROM {self._table} WHERE true{only}"
            f" ORDER BY {distance}, rowid LIMIT {limit}",
            dict(zip(self._bits, query.tolist(), strict=True)) | parameters,
        ).fetchnumpy()
        return rows["content"], np.stack([rows[name] for name in self._bits], axis=1)

    def _all_signs(self) -> tuple[Contents, NDArray[np.int64]]:
        """Those of all vectors, now; bits of shape (words, vectors)."""
        with self._database.read() as con:
            rows = con.execute(f"SELECT {self._keyed} FROM {self._table}").fetchnumpy()
        return rows["content"], np.stack([rows[name] for name in self._bits])

    # --- windows -----------------------------------------------------------------------------

    def add_windows(self, hashes: Sequence[str], windows: Sequence[NDArray[np.float32]]) -> None:
        """Store the unit vectors of each content's windows, shape (windows, dimensions) or (0, …).

        Of hashes that `missing_windows` gave. A content with none is as similar as its vector.
        """
        columns: dict[str, Any] = {
            "content_hash": list(hashes), "windows": [packed_windows(those) for those in windows]
        }  # fmt: skip
        self._database.note(lambda con: self._store_windows(con, columns))

    def _store_windows(self, con: Connection, columns: dict[str, Any]) -> None:
        """Put rows with windows in the place of those without."""
        con.execute("CREATE TEMP TABLE with_windows (content_hash UUID, windows BLOB)")
        insert(con, "with_windows", columns)
        stored = f"content_hash, vector, {', '.join(self._bits)}"
        con.execute(
            f"INSERT INTO {self._table} ({stored}, windows)"
            f" SELECT {stored}, w.windows FROM {self._table} JOIN with_windows w"
            f" USING (content_hash) WHERE {self._table}.windows IS NULL"
        )
        con.execute(
            f"DELETE FROM {self._table} WHERE windows IS NULL"
            " AND content_hash IN (SELECT content_hash FROM with_windows)"
        )
        con.execute("DROP TABLE with_windows")

    def window_counts(self) -> tuple[int, int]:
        """(contents with a vector, those of them whose windows were not looked at)."""
        with self._database.read() as con:
            [(total, missing)] = con.execute(
                f"SELECT count(*), count(*) FILTER (windows IS NULL) FROM {self._table}"
            ).fetchall()
        return int(total), int(missing)

    def missing_windows(self, limit: int) -> list[tuple[str, str]]:
        """Up to `limit` (content hash, text) that have a vector and no windows yet."""
        with self._database.read() as con:
            rows = con.execute(
                "SELECT content_hash, any_value(text) FROM chunks WHERE content_hash IN"
                f" (SELECT content_hash FROM {self._table} SEMI JOIN chunks USING (content_hash)"
                f" WHERE windows IS NULL LIMIT {limit:d}) GROUP BY content_hash"
            ).fetchall()
        return [(row[0].hex, row[1]) for row in rows]

    def drop_windows(self) -> None:
        """Forget all windows; `missing_windows` gives their contents again."""
        self._database.note(lambda con: con.execute(f"UPDATE {self._table} SET windows = NULL"))

    @property
    def _bits(self) -> list[str]:
        return [f"b{k}" for k in range(self._words)]

    @property
    def _keyed(self) -> str:
        return f"{content_key('content_hash')} AS content, {', '.join(self._bits)}"


def _of_collections(collection_ids: Sequence[str] | None) -> tuple[str, dict[str, Any]]:
    """SQL that begins with AND, and its parameters; None is every collection."""
    if collection_ids is None:
        return "", {}
    condition = (
        " AND document_id IN (SELECT d.document_id FROM documents d JOIN sources s"
        " USING (source_id) WHERE s.collection_id IN (SELECT unnest($collections::VARCHAR[])))"
    )
    return condition, {"collections": list(collection_ids)}


def _stored(table: str, wanted: str) -> str:
    """SQL for the content hashes in a table of vectors among those of a few rows.

    A join with the whole table would put all of it into a hash table first.
    """
    return (
        f"(SELECT content_hash FROM {table} WHERE content_hash IN"
        f" (SELECT content_hash FROM {wanted}))"
    )


def _inside(con: Connection, chunk_ids: Ids, only: str, parameters: dict[str, Any]) -> Ids:
    """Those of the chunks for which a condition holds."""
    which = among(con, "chunk_id", chunk_ids.tolist())
    rows = con.execute(f"SELECT chunk_id FROM chunks WHERE {which}{only}", parameters)
    return rows.fetchnumpy()["chunk_id"]


def _best_windows(query: NDArray[np.float32], packed: Sequence[bytearray]) -> NDArray[np.float64]:
    """The similarity of the best of each one's packed windows, NaN where there are none."""
    best = np.full(len(packed), np.nan)
    held = [(n, windows) for n, windows in enumerate(packed) if windows]
    if held:
        vectors = unpacked_windows([windows for _, windows in held], len(query))
        similar = np.vecdot(vectors, query)
        sizes = [len(windows) // window_bytes(len(query)) for _, windows in held]
        best[[n for n, _ in held]] = np.maximum.reduceat(similar, np.cumsum([0, *sizes[:-1]]))
    return best


def _vector_table(con: Connection, model: str, dimensions: int) -> str:
    known = con.execute(
        "SELECT model_id FROM models WHERE name = ? AND dimensions = ?", [model, dimensions]
    ).fetchall()
    if known:
        return f"vectors_{known[0][0]}"
    [(number,)] = con.execute("SELECT coalesce(max(model_id), 0) + 1 FROM models").fetchall()
    con.execute(
        "INSERT INTO models (model_id, name, dimensions) VALUES (?, ?, ?)",
        [number, model, dimensions],
    )
    bits = ", ".join(f"b{k} BIGINT" for k in range(words_of(dimensions)))
    table = f"vectors_{number}"
    columns = f"content_hash UUID, vector {COLUMN}, {bits}, windows {COLUMN}"
    con.execute(f"CREATE TABLE {table} ({columns})")
    return table
