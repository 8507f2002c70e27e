"""Merges postings and builds the index of many vectors, beside reads and writes. Any thread."""

from dataclasses import dataclass

import numpy as np

from desktop_rag.features.shared_library.postgres.database.posting_blocks import (
    NO_BLOCKS,
    Numbers,
    divided,
    insert_blocks,
    place_in,
    sizes_of,
)
from desktop_rag.features.shared_library.postgres.database.server_connection import (
    Own,
    ServerConnection,
)
from desktop_rag.features.shared_library.postgres.database.server_database import ServerDatabase
from desktop_rag.features.shared_library.postgres.search.server_vectors import (
    EXACT_BELOW,
    MOST_INDEXED_DIMENSIONS,
    index_name,
)
from desktop_rag.store.contract.search import Upkeep
from desktop_rag.store.contract.vectors import vector_table

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
