"""Merges postings, and builds the index of vectors once there are many, beside reads and writes.

Any thread.
"""

from desktop_rag.store.postgres.database.server_connection import Own
from desktop_rag.store.postgres.database.server_database import ServerDatabase
from desktop_rag.store.postgres.documents.collection_vectors import vector_table
from desktop_rag.store.postgres.search.server_posting_merge import PostingBlockMerge
from desktop_rag.store.postgres.search.server_vectors import (
    EXACT_BELOW,
    MOST_INDEXED_DIMENSIONS,
    index_name,
)

# The graph of the index: neighbours of each vector, and candidates while it is built. With the
# default of 64 candidates, recall@10 is lower at the same speed.
_NEIGHBOURS = 16
_CANDIDATES = 128
_INDEX = f"hnsw (vector halfvec_ip_ops) WITH (m = {_NEIGHBOURS}, ef_construction = {_CANDIDATES})"
# What the graph takes for each vector while it is built, beside two bytes for each dimension.
_LINK_BYTES = 600


class ServerUpkeep:
    """What the server does not do by itself; it removes dead rows and counts the others."""

    def __init__(self, database: ServerDatabase) -> None:
        self._database = database
        self._merge = PostingBlockMerge(database)

    def is_due(self) -> bool:
        """True when many postings are unmerged, or a model has many vectors and no index."""
        return self._merge.is_due() or bool(self._without_index())

    def run(self) -> None:
        """Merge, and build what is missing; rows written meanwhile are in it too."""
        self._merge.run()
        for table, dimensions in self._without_index():
            with self._database.outside_transactions() as connection:
                allow_memory(connection, table, dimensions)
                _build_index(connection, table)
                for name in (table, "chunks", "documents"):
                    connection.execute(f"ANALYZE {name}".encode())

    def _without_index(self) -> list[tuple[str, int]]:
        """The tables of vectors that lack an index, with the dimensions of each."""
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
    """Let builds of this connection hold the whole graph: without, they take many times as long.

    At most half of what the server expects of the computer's memory for its files
    (`effective_cache_size`), unless `maintenance_work_mem` allows more already.
    """
    connection.execute(
        "SELECT set_config('maintenance_work_mem', greatest("
        " pg_size_bytes(current_setting('maintenance_work_mem')), least("
        " pg_size_bytes(current_setting('effective_cache_size')) / 2,"
        f" (SELECT count(*) FROM {table}) * %s)) / 1024 || 'kB', false)".encode(),
        [2 * dimensions + _LINK_BYTES],
    )


def _build_index(connection: Own, table: str) -> None:
    """Build the index of each partition that has none, and join them to that of the table.

    The latter is valid, and used, once it has all of them.
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
