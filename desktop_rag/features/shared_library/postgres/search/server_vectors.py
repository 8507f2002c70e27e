"""The models, their vectors of contents in a table each, and the search over them, in a scope.

Vectors have half precision: an inner product of unit vectors is off by less than a thousandth.
Windows, of which there are many, take half a byte per dimension, see `packed_vectors.py`.
What somebody may read is no part of a scope: the transaction sees nothing else. Any thread.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from desktop_rag.core.question_scope import ScopeKind
from desktop_rag.features.shared_library.postgres.database.posting_blocks import (
    NO_BLOCKS,
    Numbers,
    copy_vectors,
    divided,
    half_vectors,
    insert_blocks,
    place_in,
    sizes_of,
)
from desktop_rag.features.shared_library.postgres.database.server_connection import (
    Own,
    ServerConnection,
)
from desktop_rag.features.shared_library.postgres.database.server_database import (
    ServerDatabase,
    ServerSnapshot,
)
from desktop_rag.features.shared_library.postgres.database.server_schema import (
    NOWHERE,
    create_partitions,
    policy_of_vectors,
    restrict,
)
from desktop_rag.features.shared_library.postgres.documents.server_content import (
    places_of,
    signed_key,
)
from desktop_rag.store.contract.scope import Conditions, Dialect, documents_in, read_statistics
from desktop_rag.store.contract.search import EVERYWHERE, Scope, Upkeep
from desktop_rag.store.contract.vectors import (
    ModelStore,
    VectorMatches,
    VectorSearch,
    VectorStore,
    best_windows,
    packed_windows,
    vector_table,
)

_HOLDING = "SELECT chunk_id FROM postings WHERE key = ANY (${name}::bigint[])"
_DIALECT = Dialect(
    among=lambda sql, name: f"{sql} = ANY (${name}::text[])",
    below=lambda name: (
        f"EXISTS (SELECT 1 FROM unnest(${name}::text[]) AS f(folder)"
        " WHERE starts_with(d.path, f.folder))"
    ),
    any_tag=lambda lines, fits: (
        f"EXISTS (SELECT 1 FROM unnest(string_split({lines}, chr(10))) AS tag WHERE {fits})"
    ),
    ending="substring(d.path from '\\.([^./\\\\]+)$')",
    collection="d.collection_id",
)


def collections_in(scope: Scope, snapshot: ServerSnapshot) -> tuple[str, ...] | None:
    """The only collections that the scope can include; None for all."""
    limits = [scope.collection_ids, collections_seen(snapshot)]
    if scope.about and all(item.kind is ScopeKind.COLLECTION for item in scope.about):
        limits.append(tuple(item.key for item in scope.about))
    given = [frozenset(each) for each in limits if each is not None]
    return tuple(sorted(frozenset.intersection(*given))) if given else None


def named(column: str, collections: Sequence[str] | None) -> tuple[str, dict[str, Any]]:
    """SQL that begins with AND, for rows of these collections, and its parameters.

    Lets the server skip the other partitions.
    """
    if collections is None:
        return "", {}
    parameters = {f"named{n}": each for n, each in enumerate(collections)}
    # One by one, since a prepared plan can't tell the partitions of an array.
    holes = ", ".join(f"${name}" for name in parameters)
    return (f" AND {column} IN ({holes})" if holes else " AND false"), parameters


def chunk_condition(scope: Scope, snapshot: ServerSnapshot) -> tuple[str, dict[str, Any]]:
    """SQL that begins with AND, for rows of `chunks`, and its parameters; empty without limits."""
    conditions, parameters = _of_documents(scope, snapshot)
    collections = collections_in(scope, snapshot)
    sql, names = named("chunks.collection_id", collections)
    among, _ = named("postings.collection_id", collections)
    parameters |= names
    if conditions:
        sql += (
            " AND (chunks.document_id, chunks.collection_id) IN"
            f" ({_documents('d.document_id, d.collection_id', conditions)})"
        )
    for n, word in enumerate((*scope.required, *scope.excluded)):
        negation = "" if n < len(scope.required) else "NOT "
        sql += f" AND {negation}chunks.chunk_id IN ({_HOLDING.format(name=f'word{n}')}{among})"
        parameters[f"word{n}"] = [signed_key(term) for term in word]
    if scope.chunk_ids is not None:
        sql += " AND chunks.chunk_id = ANY ($chunks::bigint[])"
        parameters["chunks"] = list(scope.chunk_ids)
    return sql, parameters


def document_condition(scope: Scope, snapshot: ServerSnapshot) -> tuple[str, dict[str, Any]]:
    """The same for rows of `documents` or their texts, with a chunk in the scope."""
    if scope.required or scope.excluded or scope.chunk_ids is not None:
        sql, parameters = chunk_condition(scope, snapshot)
        return f" AND document_id IN (SELECT document_id FROM chunks WHERE true{sql})", parameters
    conditions, parameters = _of_documents(scope, snapshot)
    sql, names = named("collection_id", collections_in(scope, snapshot))
    if conditions:
        sql += f" AND document_id IN ({_documents('d.document_id', conditions)})"
    return sql, parameters | names


def _documents(columns: str, conditions: Sequence[str]) -> str:
    return (
        f"SELECT {columns} FROM documents d JOIN sources s USING (source_id)"
        " LEFT JOIN collections k ON k.collection_id = d.collection_id"
        f" WHERE {' AND '.join(conditions)}"
    )


def _of_documents(scope: Scope, snapshot: ServerSnapshot) -> Conditions:
    """All conditions but that of the collections, which the rows name themselves."""
    statistics = snapshot.cached(read_statistics)
    conditions, parameters = documents_in(scope, _DIALECT, has_gone=statistics.has_gone)
    if statistics.has_attached and not scope.attached:
        conditions.append("NOT s.is_attached")
    return conditions, parameters


def read_collections(con: ServerConnection) -> tuple[str, ...]:
    """The collections with documents that the transaction sees."""
    rows = con.execute("SELECT DISTINCT collection_id FROM documents").fetchall()
    return tuple(sorted(row[0] for row in rows))


def collections_seen(snapshot: ServerSnapshot) -> tuple[str, ...] | None:
    """The only collections of which the snapshot sees documents; None where it sees all."""
    return snapshot.cached(read_collections) if snapshot.is_limited else None


# Up to so many chunks in the scope, all are compared: the index would visit as many.
EXACT_BELOW = 10_000
# Candidates in a search of an index: more find more, and take longer.
_EF_SEARCH = 400
# With a filter, the index goes on until enough rows pass it or it visited so many.
_MOST_VISITED = 200_000
# The visible chunks, by their index: with the policy alone, the server looks at every chunk. OFFSET
# keeps the planner from doing so here.
_VISIBLE = (
    "unnest(visible_chunks()) AS seen(span) CROSS JOIN LATERAL"
    " (SELECT c.chunk_id, c.document_id, c.content_hash, c.collection_id FROM chunks c"
    " WHERE c.chunk_id >= lower(seen.span) AND c.chunk_id < upper(seen.span){among} OFFSET 0)"
    " AS chunks"
)
# pgvector's limit for indexes of half precision.
MOST_INDEXED_DIMENSIONS = 4_000
# Rows up to this size fit into a page, without TOAST.
_PLAIN_BYTES = 7_000


def index_name(table: str) -> str:
    """The name of the index of a table of vectors."""
    return f"{table}_hnsw"


class ServerVectorStore(VectorStore):
    """The vectors of one model, by content hash."""

    def __init__(self, database: ServerDatabase, model_id: int, dimensions: int) -> None:
        super().__init__(database, model_id, dimensions)
        self._database = database

    def add(self, hashes: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Store unit vectors, shape (len(hashes), dimensions), of contents without a vector.

        Each goes to every collection that has the content.
        """

        def work(con: ServerConnection) -> None:
            places = places_of(con, "chunks", hashes)
            housed = {content_hash for content_hash, _ in places}
            places |= {(each, NOWHERE) for each in hashes if each not in housed}
            # Another process may have stored some meanwhile.
            places -= places_of(con, self.table, hashes)
            numbers = {content_hash: number for number, content_hash in enumerate(hashes)}
            for collection_id in sorted({place for _, place in places}):
                own = sorted(numbers[each] for each, place in places if place == collection_id)
                some = [hashes[number] for number in own]
                copy_vectors(con, self.table, some, vectors[own], collection_id)

        if len(hashes):
            self._database.write_uncached(work)

    def stored(self, hashes: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        rows = self.packed("vector", hashes, "halfvec_send(vector)")
        vectors = _unit(half_vectors([row for _, row in rows], self.dimensions))
        return dict(zip((key for key, _ in rows), vectors, strict=True))

    def add_windows(self, hashes: Sequence[str], windows: Sequence[NDArray[np.float32]]) -> None:
        values = [packed_windows(each) for each in windows]
        self._database.write_uncached(
            lambda con: con.execute(
                f"UPDATE {self.table} v SET windows = g.windows"
                " FROM unnest(?::uuid[], ?::bytea[]) AS g(content_hash, windows)"
                " WHERE v.content_hash = g.content_hash AND v.windows IS NULL",
                [list(hashes), values],
            )
        )

    def window_counts(self) -> tuple[int, int]:
        with self._database.read() as con:
            [(total, missing)] = con.execute(
                "SELECT count(*), count(*) FILTER (WHERE is_without)"
                " FROM (SELECT bool_or(windows IS NULL) AS is_without"
                f" FROM {self.table} GROUP BY content_hash) contents"
            ).fetchall()
        return int(total), int(missing)


class ServerVectorSearch(VectorSearch):
    """Search over the vectors of one model."""

    def __init__(self, database: ServerDatabase, model_id: int, dimensions: int) -> None:
        self._database = database
        self._table = vector_table(model_id)
        self._dimensions = dimensions

    def nearest(
        self, query: NDArray[np.float32], limit: int, scope: Scope = EVERYWHERE
    ) -> VectorMatches:
        with self._database.snapshot(scope.readable, search="meaning") as snapshot:
            condition, parameters = chunk_condition(scope, snapshot)
            values = parameters | {"query": _written(query)}
            collections = collections_in(scope, snapshot)
            evenness = self._evenness(snapshot)
            if evenness is None or self._is_small(snapshot, condition, parameters):
                among, _ = named("c.collection_id", collections)
                chunks = _VISIBLE.format(among=among) if snapshot.is_limited else "chunks"
                rows = self._compared(snapshot.con, condition, values, limit, chunks)
            else:
                among, _ = named("v.collection_id", collections)
                asked = evenness if collections is None else min(evenness, len(collections))
                _prepare_index(snapshot.con, limit, asked)
                rows = self._indexed(snapshot.con, condition, among, values, limit)
        return self._matches(query, rows)

    def compare(self, query: NDArray[np.float32], chunk_ids: Sequence[int]) -> VectorMatches:
        with self._database.read() as con:
            values = {"query": _written(query), "asked": list(chunk_ids)}
            condition = " AND chunks.chunk_id = ANY ($asked::bigint[])"
            rows = self._compared(con, condition, values, max(1, len(chunk_ids)))
        return self._matches(query, rows)

    def _evenness(self, snapshot: ServerSnapshot) -> float | None:
        """From 1, if a partition has all vectors, to the number of partitions, if all have as many.

        None when the index is not ready or there are few chunks.
        """
        if snapshot.cached(read_statistics).chunk_count <= EXACT_BELOW:
            return None
        row = snapshot.con.execute(
            "SELECT (SELECT sum(greatest(c.reltuples, 0)) / nullif(max(c.reltuples), 0)"
            " FROM pg_partition_tree(to_regclass(?)) t JOIN pg_class c ON c.oid = t.relid"
            " WHERE t.isleaf) FROM pg_index WHERE indisvalid AND indexrelid = to_regclass(?)",
            [self._table, index_name(self._table)],
        ).fetchone()
        return None if row is None else max(1.0, row[0] or 1.0)

    def _is_small(
        self, snapshot: ServerSnapshot, condition: str, parameters: Mapping[str, Any]
    ) -> bool:
        if not condition:
            return False
        [(count,)] = snapshot.con.execute(
            "SELECT count(*) FROM (SELECT 1 FROM chunks"
            f" WHERE true{condition} LIMIT {EXACT_BELOW + 1}) few",
            parameters,
        ).fetchall()
        return count <= EXACT_BELOW

    def _compared(
        self,
        con: ServerConnection,
        condition: str,
        values: Mapping[str, Any],
        limit: int,
        chunks: str = "chunks",
    ) -> list[tuple[Any, ...]]:
        """Compares every chunk in the scope.

        The sum keeps the index out, by whose order the search would end after a few rows.
        """
        return con.execute(
            "WITH nearest AS MATERIALIZED (SELECT chunk_id, content_hash, collection_id,"
            f" (v.vector <#> $query::halfvec) + 0 AS distance FROM {chunks}"
            f" JOIN {self._table} v USING (content_hash, collection_id) WHERE true{condition}"
            " ORDER BY distance, chunk_id LIMIT $limit::bigint)"
            " SELECT n.chunk_id, n.distance, halfvec_send(v.vector), v.windows"
            f" FROM nearest n JOIN {self._table} v USING (content_hash, collection_id)"
            " ORDER BY n.distance, n.chunk_id",
            {**values, "limit": limit},
        ).fetchall()

    def _indexed(
        self,
        con: ServerConnection,
        condition: str,
        among: str,
        values: Mapping[str, Any],
        limit: int,
    ) -> list[tuple[Any, ...]]:
        """Takes the nearest contents by the indexes, until enough have a chunk in the scope.

        `among` names the collections of the scope, so that other partitions are skipped.
        """
        return con.execute(
            "WITH nearest AS MATERIALIZED (SELECT content_hash, collection_id, vector, windows,"
            f" vector <#> $query::halfvec AS distance FROM {self._table} v"
            " WHERE EXISTS (SELECT 1 FROM chunks WHERE chunks.content_hash = v.content_hash"
            f" AND chunks.collection_id = v.collection_id{condition}){among}"
            f" ORDER BY vector <#> $query::halfvec LIMIT {limit:d})"
            " SELECT chunk_id, distance, halfvec_send(vector), windows FROM nearest"
            f" JOIN chunks USING (content_hash, collection_id) WHERE true{condition}"
            f" ORDER BY distance, chunk_id LIMIT {limit:d}",
            values,
        ).fetchall()

    def _matches(
        self, query: NDArray[np.float32], rows: Sequence[tuple[Any, ...]]
    ) -> VectorMatches:
        vectors = _unit(half_vectors([row[2] for row in rows], self._dimensions))
        return VectorMatches(
            [row[0] for row in rows],
            np.array([-row[1] for row in rows], np.float32),
            vectors,
            best_windows(query, [row[3] for row in rows]),
        )


def _prepare_index(con: ServerConnection, limit: int, partitions: float) -> None:
    """Make this transaction search the indexes of so many partitions, rather than sort."""
    # Each of several partitions has a part of the nearest.
    candidates = max(_EF_SEARCH, limit) / partitions
    con.own.execute(
        "SELECT set_config('hnsw.ef_search', %s, true),"
        " set_config('hnsw.iterative_scan', 'strict_order', true),"
        " set_config('hnsw.max_scan_tuples', %s, true), set_config('enable_sort', 'off', true),"
        " set_config('enable_hashjoin', 'off', true),"
        " set_config('enable_mergejoin', 'off', true)",
        [str(min(1_000, round(candidates))), str(_MOST_VISITED)],
    )


def _written(vector: NDArray[np.float32]) -> str:
    return f"[{','.join(map(repr, vector.astype(float).tolist()))}]"


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6)


class ServerModelStore(ModelStore):
    """The tables of vectors on a server."""

    def __init__(self, database: ServerDatabase) -> None:
        super().__init__(database)
        self._database = database

    def create_table(self, con: ServerConnection, model_id: int, dimensions: int) -> None:
        table = vector_table(model_id)
        plain = " STORAGE PLAIN" if 2 * dimensions < _PLAIN_BYTES else ""
        con.execute(
            f"CREATE TABLE {table} (content_hash uuid, vector halfvec({dimensions:d}){plain},"
            ' windows bytea STORAGE EXTERNAL, collection_id text COLLATE pg_catalog."pg_c_utf8",'
            " PRIMARY KEY (content_hash, collection_id)) PARTITION BY HASH (collection_id)"
        )
        create_partitions(con.own, table)
        con.execute(f"CREATE INDEX ON {table} (collection_id)")
        restrict(con.own, table, policy_of_vectors(table))

    def vectors_in(self, model_id: int, dimensions: int) -> ServerVectorStore:
        return ServerVectorStore(self._database, model_id, dimensions)

    def search_in(self, model_id: int, dimensions: int) -> ServerVectorSearch:
        return ServerVectorSearch(self._database, model_id, dimensions)

    def forget(self, model_ids: Collection[int]) -> None:
        """Nothing of them is in memory."""


# With fewer, a search reads all blocks quickly.
_MIN_POSTINGS = 200_000
_UNMERGED_SHARE = 0.15
_DELETED_SHARE = 0.15
# Blocks that one transaction replaces, while writers wait for about a second.
_BLOCKS = 30_000
_BEFORE_ALL = -(1 << 63)
_DEAD = "SELECT coalesce(sum(last_chunk - first_chunk + 1), 0)::bigint FROM dead_chunks"


@dataclass(frozen=True, slots=True)
class _Due:
    """The work to do: the number of unmerged postings, and the ranges of deleted chunks."""

    unmerged: int
    dead: list[tuple[int, int]]


def _read_due(con: ServerConnection) -> _Due:
    [(unmerged,)] = con.execute("SELECT unmerged FROM posting_state").fetchall()
    dead = con.execute(
        "SELECT first_chunk, last_chunk FROM dead_chunks ORDER BY first_chunk"
    ).fetchall()
    return _Due(int(unmerged), dead)


def _merge_part(con: ServerConnection, after: int, dead: list[tuple[int, int]]) -> int | None:
    """Merge the blocks of the next terms; returns the last of these, None at the end."""
    [(first, last, count)] = con.execute(
        "SELECT min(key), max(key), count(*) FROM (SELECT key FROM posting_blocks"
        f" WHERE key > ? ORDER BY key LIMIT {_BLOCKS}) next",
        [after],
    ).fetchall()
    if not count:
        return None
    rows = con.rows_with_arrays(
        "SELECT collection_id, key, first_chunk, packed FROM posting_blocks"
        " WHERE key BETWEEN ? AND ? ORDER BY key, first_chunk",
        [first, last],
    )
    by_collection: dict[str, list[tuple[int, int, bytes]]] = {}
    for collection_id, *block in rows:
        by_collection.setdefault(collection_id, []).append(tuple(block))
    for collection_id, own in by_collection.items():
        blocks = divided(own, lambda chunk_ids: _dead_below_zero(chunk_ids, dead)).get(0, NO_BLOCKS)
        stored = int(sizes_of([packed for _, _, packed in own]).sum())
        if len(blocks.keys) < len(own) or len(blocks.packed) < stored:
            con.execute(
                "DELETE FROM posting_blocks WHERE collection_id = ? AND key BETWEEN ? AND ?",
                [collection_id, first, last],
            )
            insert_blocks(con, blocks, collection_id)
    return int(last)


def _dead_below_zero(chunk_ids: Numbers, dead: list[tuple[int, int]]) -> Numbers:
    """0 for chunks in none of the ranges, -1 for the others."""
    ranges = np.array(dead, np.int64).reshape(-1, 2)
    return np.where(place_in(chunk_ids, ranges[:, 0], ranges[:, 1]) < 0, 0, -1)


def _finish(con: ServerConnection, due: _Due) -> None:
    """Update the counts; after a purge, lists in memory are read anew."""
    for first, last in due.dead:
        con.execute(
            "DELETE FROM dead_chunks WHERE first_chunk = ? AND last_chunk = ?", [first, last]
        )
    con.execute(
        "UPDATE posting_state SET purges = purges + ?, unmerged = unmerged - ?,"
        " merged = (SELECT coalesce(sum(postings), 0) FROM posting_blocks) - (unmerged - ?)",
        [int(bool(due.dead)), due.unmerged, due.unmerged],
    )


# The neighbours of each vector in the graph, and the candidates while it is built: with pgvector's
# default of 64, recall@10 is lower at the same speed.
_NEIGHBOURS = 16
_CANDIDATES = 128
_INDEX = f"hnsw (vector halfvec_ip_ops) WITH (m = {_NEIGHBOURS}, ef_construction = {_CANDIDATES})"
# The size of a vector in the graph while it is built, beside two bytes per dimension.
_LINK_BYTES = 600


class ServerUpkeep(Upkeep):
    """Does what the server does not do by itself, as vacuuming and analysing.

    It merges blocks, so that a word has few rows, and removes deleted chunks from them: in parts,
    each a transaction that changes no content, so that writers take turns. It builds missing
    indexes, which include rows written meanwhile.
    """

    def __init__(self, database: ServerDatabase) -> None:
        self._database = database

    def is_due(self) -> bool:
        return self._should_merge() or bool(self._without_index())

    def run(self) -> None:
        self._merge()
        for table, dimensions in self._without_index():
            with self._database.outside_transactions() as connection:
                allow_memory(connection, table, dimensions)
                _build_index(connection, table)
                for name in (table, "chunks", "documents"):
                    connection.execute(f"ANALYZE {name}".encode())

    def _should_merge(self) -> bool:
        """True when many of the postings are unmerged, or many of the chunks deleted."""
        with self._database.read() as con:
            [(merged, unmerged, dead)] = con.execute(
                f"SELECT merged, unmerged, ({_DEAD}) FROM posting_state"
            ).fetchall()
            if unmerged > max(_MIN_POSTINGS, _UNMERGED_SHARE * merged):
                return True
            if merged + unmerged <= _MIN_POSTINGS or not dead:
                return False
            [(chunks,)] = con.execute("SELECT count(*) FROM chunks").fetchall()
        return dead > _DELETED_SHARE * chunks

    def _merge(self) -> None:
        due = self._database.cached(_read_due)
        if not due.unmerged and not due.dead:
            return
        after: int | None = _BEFORE_ALL
        while after is not None:
            after = self._database.write_uncached(
                lambda con, a=after: _merge_part(con, a, due.dead)
            )
        self._database.write(lambda con: _finish(con, due))
        with self._database.outside_transactions() as connection:
            connection.execute("VACUUM (ANALYZE) posting_blocks")
            # The server analyses partitions by itself, but not their tables.
            connection.execute("ANALYZE documents, document_texts, chunks")

    def _without_index(self) -> list[tuple[str, int]]:
        """The tables of vectors that need an index, with their dimensions."""
        with self._database.read() as con:
            models = con.execute(
                "SELECT model_id, dimensions FROM models WHERE dimensions <= ?",
                [MOST_INDEXED_DIMENSIONS],
            ).fetchall()
            found: list[tuple[str, int]] = []
            for model_id, dimensions in models:
                table = vector_table(model_id)
                ready = con.execute(
                    "SELECT 1 FROM pg_index WHERE indisvalid AND indexrelid = to_regclass(?)",
                    [index_name(table)],
                ).fetchone()
                [(count,)] = con.execute(
                    f"SELECT count(*) FROM (SELECT 1 FROM {table} LIMIT {EXACT_BELOW + 1}) few"
                ).fetchall()
                if ready is None and count > EXACT_BELOW:
                    found.append((table, dimensions))
        return found


def allow_memory(connection: Own, table: str, dimensions: int) -> None:
    """Let index builds of this connection keep the whole graph in memory, which is much faster.

    At most half of `effective_cache_size`, unless `maintenance_work_mem` allows more already.
    """
    connection.execute(
        "SELECT set_config('maintenance_work_mem', greatest("
        " pg_size_bytes(current_setting('maintenance_work_mem')), least("
        " pg_size_bytes(current_setting('effective_cache_size')) / 2,"
        f" (SELECT count(*) FROM {table}) * %s)) / 1024 || 'kB', false)".encode(),
        [2 * dimensions + _LINK_BYTES],
    )


def _build_index(connection: Own, table: str) -> None:
    """Build missing indexes of partitions, and attach them to the index of the table.

    That index becomes valid, and is used, once it has all of them.
    """
    whole = index_name(table)
    connection.execute(
        f"CREATE INDEX IF NOT EXISTS {whole} ON ONLY {table} USING {_INDEX}".encode()
    )
    joined = connection.execute(
        "SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid"
        " WHERE i.inhparent = to_regclass(%s)",
        [whole],
    ).fetchall()
    known = {name for (name,) in joined}
    partitions = connection.execute(
        "SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid"
        " WHERE i.inhparent = to_regclass(%s) ORDER BY c.relname",
        [table],
    ).fetchall()
    for (partition,) in partitions:
        name = index_name(partition)
        if name in known:
            continue
        for statement in (
            # What an interrupted build left is never used.
            f"DROP INDEX CONCURRENTLY IF EXISTS {name}",
            f"CREATE INDEX CONCURRENTLY {name} ON {partition} USING {_INDEX}",
            f"ALTER INDEX {whole} ATTACH PARTITION {name}",
        ):
            connection.execute(statement.encode())
