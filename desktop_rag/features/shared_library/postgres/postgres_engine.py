"""The engine that keeps a library on a PostgreSQL server with pgvector. Any thread."""

from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain
from pathlib import Path

import psycopg

from desktop_rag.core.errors import AppError
from desktop_rag.core.paths import Home
from desktop_rag.core.server_state import (
    Connections,
    IndexState,
    PartSize,
    PostingsState,
    ServerState,
    VectorIndex,
)
from desktop_rag.features.shared_library.joined.shared_connection import OpenedShared
from desktop_rag.features.shared_library.postgres.database.server_connection import (
    Replica,
    ServerConnection,
)
from desktop_rag.features.shared_library.postgres.database.server_database import ServerDatabase
from desktop_rag.features.shared_library.postgres.database.server_schema import PARTITIONS
from desktop_rag.features.shared_library.postgres.documents.server_content import (
    ServerChunkStore,
    ServerClaims,
    ServerContent,
    misplaced,
    move_content,
)
from desktop_rag.features.shared_library.postgres.search.server_lexical_store import (
    ServerLexicalStore,
    ServerNameStore,
)
from desktop_rag.features.shared_library.postgres.search.server_vectors import (
    EXACT_BELOW,
    MOST_INDEXED_DIMENSIONS,
    ServerModelStore,
    ServerUpkeep,
    index_name,
)
from desktop_rag.features.shared_library.postgres.server_check import slow_statements
from desktop_rag.store.contract import inspection
from desktop_rag.store.contract.database import Entity
from desktop_rag.store.contract.engine import Engine, EngineOpener, assembled
from desktop_rag.store.contract.precious import Entry, Plan, PreciousStore
from desktop_rag.store.contract.precious_rows import (
    IMAGE,
    entries_of,
    images_of,
    insert_rows,
    keys_of,
    put_entries,
)
from desktop_rag.store.contract.vectors import vector_table
from desktop_rag.store.duckdb.tables.table_queries import TableQueries

_REFUSALS = (psycopg.DataError, psycopg.errors.DatatypeMismatch)


class ServerPreciousStore(PreciousStore):
    """Reads and merges the rows that can't be made again; the server backs up the index itself."""

    counting = "library_state"

    def __init__(self, database: ServerDatabase) -> None:
        super().__init__(database)
        self._database = database

    def read(self, take: Callable[[Entry], None], *, index: Path | None = None) -> None:
        if index:
            raise _no_index()
        with self._database.snapshot(of_primary=True) as snapshot:
            con = snapshot.con
            for entry in chain(entries_of(con), images_of(con)):
                take(entry)

    def merge(
        self, plan: Plan, images: Callable[[], Iterable[Entry]], index: Path | None = None
    ) -> int:
        if index:
            raise _no_index()
        changes: list[Entity] = []

        def work(con: ServerConnection) -> int:
            _put(con, plan(list(entries_of(con))), changes)
            # A source may have come back in another collection.
            move_content(con, misplaced(con))
            known, count = set(keys_of(con, IMAGE)), 0
            for image in images():
                if image.key not in known:
                    _put(con, [image], changes)
                    count += 1
            return count

        return self._database.write(work, changes=changes)


def _put(con: ServerConnection, entries: Iterable[Entry], changes: list[Entity]) -> None:
    put_entries(con, entries, insert_rows, _REFUSALS, changes)


def _no_index() -> AppError:
    return AppError(
        "The index of a library on a server can't be part of a backup.",
        "Back up the server itself, as with pg_dump; chats and settings can be backed up here.",
    )


# Documents, or their texts, in another collection than the source.
_ELSEWHERE = (
    "SELECT document_id FROM documents d JOIN sources s USING (source_id)"
    " WHERE d.collection_id <> s.collection_id"
    " UNION SELECT document_id FROM document_texts t JOIN documents d USING (document_id)"
    " WHERE t.collection_id <> d.collection_id"
)
_MISCOUNTED = (
    "documents d LEFT JOIN (SELECT document_id, collection_id, count(*) AS found FROM chunks"
    " GROUP BY document_id, collection_id) c USING (document_id, collection_id)"
    " WHERE chunk_count <> coalesce(found, 0)"
)
_RULES = (
    inspection.DOCUMENTS_OF_SOURCES,
    inspection.PARTS_OF_DOCUMENTS,
    inspection.PASSAGES_OF_DOCUMENTS,
    inspection.Rule("documents with other passages than counted", _MISCOUNTED),
    inspection.Rule(
        "postings without a passage",
        "(SELECT DISTINCT chunk_id FROM postings) p WHERE NOT EXISTS"
        " (SELECT 1 FROM chunks c WHERE c.chunk_id = p.chunk_id)",
    ),
    inspection.Rule("documents outside the collection of their folder", f"({_ELSEWHERE}) m"),
    inspection.SOURCES_OF_COLLECTIONS,
    inspection.MESSAGES_OF_CHATS,
)


class ServerInspection(inspection.Inspection):
    """Checks the rules of a library; writes only in `repair`."""

    def __init__(self, database: ServerDatabase, content: ServerContent) -> None:
        super().__init__(database)
        self._database = database
        self._content = content

    def discrepancies(self, may_go_on: Callable[[], bool]) -> list[inspection.Discrepancy]:
        with self._database.snapshot(of_primary=True) as snapshot:
            return inspection.broken(snapshot.con, _RULES, may_go_on)

    def waiting_contents(self) -> int:
        with self._database.snapshot(of_primary=True) as snapshot:
            con = snapshot.con
            models = con.execute("SELECT model_id FROM models").fetchall()
            lacking = "".join(
                f" AND NOT EXISTS (SELECT 1 FROM {vector_table(number)} v"
                " WHERE v.content_hash = chunks.content_hash)"
                for (number,) in models
            )
            contents = f"SELECT DISTINCT content_hash FROM chunks WHERE true{lacking}"
            return inspection.count_of(con, f"({contents}) c")

    def journal(self) -> inspection.JournalState:
        with self._database.read() as con:
            [(number,)] = con.execute("SELECT generation FROM library_state").fetchall()
        return inspection.JournalState(int(number), None)

    def repair(self) -> inspection.IndexRepair:

        def work(con: ServerConnection) -> inspection.IndexRepair:
            removed = con.execute(
                "DELETE FROM documents WHERE source_id NOT IN (SELECT source_id FROM sources)"
                " OR parent_id <> '' AND parent_id NOT IN (SELECT document_id FROM documents)"
            ).rowcount
            removed += self._content.purge_orphans(con)
            moved = [row[0] for row in con.execute(_ELSEWHERE).fetchall()]
            self._content.follow(con, moved)
            wrong = con.execute(
                f"SELECT coalesce(nullif(parent_id, ''), document_id) FROM {_MISCOUNTED}"
            ).fetchall()
            ids = sorted({document_id for (document_id,) in wrong})
            self._content.delete(con, ids)
            # Chunks outside the range of their document, or in another collection.
            con.execute("DELETE FROM chunks WHERE document_id = ANY (?::text[])", [ids])
            con.execute(
                "UPDATE documents SET state = 'waiting', chunk_count = 0"
                " WHERE document_id = ANY (?::text[])",
                [ids],
            )
            return inspection.IndexRepair(removed, len(ids))

        return self._database.write(work)


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


def _state(database: ServerDatabase) -> ServerState:
    """The server as it is now; nothing large is read."""
    searches, searched = database.search_times.slowest(_SLOWEST)
    replica = database.replica_state()
    with database.read() as con:
        [(server, vector)] = con.execute(
            "SELECT current_setting('server_version'), (SELECT extversion FROM pg_extension"
            " WHERE extname = 'vector')"
        ).fetchall()
        return ServerState(
            str(server).split(" ", maxsplit=1)[0], str(vector), _parts(con, database.schema),
            _indexes(con), _postings(con), _connections(con), replica,
            slow_statements(con.own, _SLOWEST), searches, searched,
        )  # fmt: skip


def _parts(con: ServerConnection, schema: str) -> tuple[PartSize, ...]:
    """The largest part first; the TOAST of a table counts as the table."""
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
    # The planner has no estimate before the first ANALYZE.
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
    if found is not None:
        state = IndexState.READY if found[0] else IndexState.STALE
    elif few <= EXACT_BELOW:
        state = IndexState.NOT_NEEDED
    else:
        is_possible = dimensions <= MOST_INDEXED_DIMENSIONS
        state = IndexState.MISSING if is_possible else IndexState.IMPOSSIBLE
    return VectorIndex(model, dimensions, vectors, state, None, size)


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


class PostgresOpener(EngineOpener):
    """Opens one library of a server; `library` is the name of its schema."""

    def __init__(self, address: str, library: str, replica: Replica | None = None) -> None:
        """`address` is a libpq connection string; passwords belong in its password file."""
        self._address = address
        self._library = library
        self._replica = replica

    def open(self, home: Home, memory_mb: int) -> Engine:
        return self._engine(home, self._database(), memory_mb)

    def open_to_read(self, home: Home, memory_mb: int) -> Engine:
        return self._engine(home, self._database(is_read_only=True), memory_mb)

    def open_shared(self, home: Home, memory_mb: int, connect_s: int) -> OpenedShared:
        """Open an existing library to be searched beside the own one; nothing in it changes."""
        database = ServerDatabase(
            self._address, self._library, is_read_only=True, connect_s=connect_s
        )
        try:
            engine = self._engine(home, database, memory_mb)
            return OpenedShared(engine, database.is_limited, database.break_off)
        except BaseException:
            database.close()
            raise

    def restore(self, home: Home) -> None:
        """There is no journal beside the library: the server has its own."""
        raise AppError(
            "A library on a server has no journal beside it.",
            "Whoever runs the server restores it from a backup of the server.",
        )

    def size_bytes(self, home: Home) -> int:
        database = ServerDatabase(self._address, self._library, is_read_only=True)
        try:
            return database.size_bytes()
        finally:
            database.close()

    def _database(self, *, is_read_only: bool = False) -> ServerDatabase:
        return ServerDatabase(
            self._address, self._library, is_read_only=is_read_only, replica=self._replica
        )

    def _engine(self, home: Home, database: ServerDatabase, memory_mb: int) -> Engine:
        content = ServerContent(database)
        return assembled(
            database,
            content,
            home.root,
            ServerClaims(database),
            chunks=ServerChunkStore(database),
            lexical=ServerLexicalStore(database, memory_mb),
            names=ServerNameStore(database),
            models=ServerModelStore(database),
            precious=ServerPreciousStore(database),
            tables=TableQueries(),
            upkeep=ServerUpkeep(database),
            inspection=ServerInspection(database, content),
            server=partial(_state, database),
        )
