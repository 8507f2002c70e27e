"""Sizes, indexes, connections, replica and slow searches of a library on a server. Any thread."""

from desktop_rag.core.database.server_state import (
    Connections,
    IndexState,
    PartSize,
    PostingsState,
    ServerState,
    VectorIndex,
)
from desktop_rag.store.postgres.database.partitions import PARTITIONS
from desktop_rag.store.postgres.database.server_connection import ServerConnection
from desktop_rag.store.postgres.database.server_database import ServerDatabase
from desktop_rag.store.postgres.documents.collection_vectors import vector_table
from desktop_rag.store.postgres.search.server_vectors import (
    EXACT_BELOW,
    MOST_INDEXED_DIMENSIONS,
    index_name,
)
from desktop_rag.store.postgres.slow_statements import slow_statements

_SLOWEST = 20
_OTHER = "chats, settings and the rest"
# The part that a table belongs to, by the beginning of its name.
_PARTS = {
    "chunks": "passages",
    "document_texts": "texts of documents",
    "documents": "list of documents",
    "posting_blocks": "postings",
    "terms": "words",
    "vectors_": "vectors",
}


class PostgresWatch:
    """Looks at the server of one library."""

    def __init__(self, database: ServerDatabase) -> None:
        self._database = database

    def state(self) -> ServerState:
        """The server as it is now; nothing large is read."""
        searches, searched = self._database.search_times.slowest(_SLOWEST)
        replica = self._database.replica_state()
        with self._database.read() as con:
            [(server, vector)] = con.execute(
                "SELECT current_setting('server_version'), (SELECT extversion FROM pg_extension"
                " WHERE extname = 'vector')"
            ).fetchall()
            return ServerState(
                str(server).split(" ", maxsplit=1)[0],
                str(vector),
                _parts(con, self._database.schema),
                _indexes(con),
                _postings(con),
                _connections(con),
                replica,
                slow_statements(con.own, _SLOWEST),
                searches,
                searched,
            )


def _parts(con: ServerConnection, schema: str) -> tuple[PartSize, ...]:
    """The largest part first; texts that a table keeps aside count as the table."""
    rows = con.execute(
        "SELECT c.relname, greatest(c.reltuples, 0)::bigint, pg_table_size(c.oid),"
        " pg_indexes_size(c.oid) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE n.nspname = ? AND c.relkind = 'r'",
        [schema],
    ).fetchall()
    sums: dict[str, tuple[int, int, int]] = {}
    for name, *figures in rows:
        part = next((part for start, part in _PARTS.items() if name.startswith(start)), _OTHER)
        known = sums.get(part, (0, 0, 0))
        sums[part] = (known[0] + figures[0], known[1] + figures[1], known[2] + figures[2])
    parts = [PartSize(name, *figures) for name, figures in sums.items()]
    return tuple(sorted(parts, key=lambda p: (-p.table_bytes - p.index_bytes, p.name)))


def _indexes(con: ServerConnection) -> tuple[VectorIndex, ...]:
    rows = con.execute("SELECT model_id, name, dimensions FROM models ORDER BY model_id").fetchall()
    return tuple(_index(con, *row) for row in rows)


def _index(con: ServerConnection, model_id: int, model: str, dimensions: int) -> VectorIndex:
    table = vector_table(model_id)
    [(estimate, few)] = con.execute(
        "SELECT (SELECT sum(greatest(reltuples, 0)) FROM pg_partition_tree(to_regclass(?)) t"
        " JOIN pg_class c ON c.oid = t.relid WHERE t.isleaf),"
        f" (SELECT count(*) FROM (SELECT 1 FROM {table} LIMIT {EXACT_BELOW + 1}) few)",
        [table],
    ).fetchall()
    # The planner has no estimate before it looked at the table.
    vectors = int(few if few <= EXACT_BELOW else max(estimate, few))
    # The index of the table is ready when those of all partitions are.
    found = con.execute(
        "SELECT i.indisvalid, sum(pg_relation_size(t.relid)), count(*) FILTER (WHERE t.isleaf)"
        " FROM pg_index i, pg_partition_tree(i.indexrelid) t"
        " WHERE i.indexrelid = to_regclass(?) GROUP BY i.indisvalid",
        [index_name(table)],
    ).fetchone()
    size, built = (int(found[1]), int(found[2])) if found else (0, 0)
    building = con.execute(
        "SELECT blocks_done::float8 / nullif(blocks_total, 0) FROM pg_stat_progress_create_index"
        " WHERE relid IN (SELECT relid FROM pg_partition_tree(to_regclass(?)))"
        " AND datname = current_database()",
        [table],
    ).fetchone()
    if building:
        share = (built + (building[0] or 0)) / PARTITIONS
        return VectorIndex(model, dimensions, vectors, IndexState.BUILDING, share, size)
    if found is None:
        state = _state_without(int(few), dimensions)
    else:
        state = IndexState.READY if found[0] else IndexState.STALE
    return VectorIndex(model, dimensions, vectors, state, None, size)


def _state_without(vectors: int, dimensions: int) -> IndexState:
    if vectors <= EXACT_BELOW:
        return IndexState.NOT_NEEDED
    return IndexState.MISSING if dimensions <= MOST_INDEXED_DIMENSIONS else IndexState.IMPOSSIBLE


def _postings(con: ServerConnection) -> PostingsState:
    [(merged, unmerged, deleted)] = con.execute(
        "SELECT merged, unmerged, (SELECT coalesce(sum(last_chunk - first_chunk + 1), 0)::bigint"
        " FROM dead_chunks) FROM posting_state"
    ).fetchall()
    return PostingsState(int(merged), int(unmerged), int(deleted))


def _connections(con: ServerConnection) -> Connections:
    [(own, whole, most)] = con.execute(
        "SELECT count(*) FILTER (WHERE usename = session_user), count(*),"
        " current_setting('max_connections')::integer FROM pg_stat_activity"
        " WHERE backend_type = 'client backend'"
    ).fetchall()
    return Connections(int(own), int(whole), int(most))
