"""The tables of a library on a server, which schema.sql describes: made, partitioned, and guarded.

They are made when a library is opened, under a lock, so that of two programs one does it. All that
grow with passages are partitioned by their last column, `collection_id`, which is empty for vectors
of passages that are not stored yet: statements that name collections skip the other partitions.

A search for somebody who may not read everything runs as a role without login, under row-level
security: the transaction names the collections and documents that it may see. So no statement gets
any other row, whatever its conditions.
"""

import json
import re
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

from psycopg import sql

from desktop_rag.core.errors import AppError
from desktop_rag.core.question import Readable
from desktop_rag.features.shared_library.postgres.database.server_connection import (
    Own,
    ServerConnection,
)
from desktop_rag.store.contract.precious import tables_of_features

# One role for all libraries of a server; each schema grants it rights.
READER = "desktop_rag_reader"
_COLLECTIONS = "desktop_rag.collections"
_DOCUMENTS = "desktop_rag.documents"


def create_reader(connection: Own, schema: str) -> None:
    """Create the role and let it use the schema; inside a transaction."""
    known = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [READER]).fetchone()
    reader = sql.Identifier(READER)
    if known is None:
        connection.execute(sql.SQL("CREATE ROLE {} NOLOGIN").format(reader))
    connection.execute(sql.SQL("GRANT {} TO CURRENT_USER").format(reader))
    usage = sql.SQL("GRANT USAGE ON SCHEMA {} TO {}")
    connection.execute(usage.format(sql.Identifier(schema), reader))


def restrict(connection: Own, table: str, condition: str) -> None:
    """Let the reader see the rows of a table that meet a condition."""
    for statement in (
        f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY",
        f"CREATE POLICY readable ON {table} FOR SELECT TO {READER} USING ({condition})",
        f"GRANT SELECT ON {table} TO {READER}",
    ):
        connection.execute(statement.encode())


def become_reader(connection: Own, readable: Readable) -> None:
    """Limit the rest of this transaction to what somebody may read."""
    connection.execute(
        "SELECT set_config('role', %s, true), set_config(%s, %s, true), set_config(%s, %s, true)",
        [
            READER,
            _COLLECTIONS, json.dumps(list(readable.collection_ids)),
            _DOCUMENTS, json.dumps(list(readable.document_ids)),
        ],
    )  # fmt: skip


# A search by meaning asks each: eight partitions double its cost, for the same recall.
PARTITIONS = 4
NOWHERE = ""


def create_partitions(connection: Own, table: str) -> None:
    """Create the partitions of a table, which can't be read past its policies."""
    for number, name in enumerate(partition_names(table)):
        share = f"MODULUS {PARTITIONS}, REMAINDER {number}"
        statement = f"CREATE TABLE {name} PARTITION OF {table} FOR VALUES WITH ({share})"
        connection.execute(statement.encode())
        # The policies of the table hold for statements about the table only. Without a policy, a
        # partition shows no row, even to a role that was granted all tables.
        connection.execute(f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY".encode())


def partition_names(table: str) -> list[str]:
    """The names of the partitions of a table."""
    return [f"{table}_p{number}" for number in range(PARTITIONS)]


def collections_of(con: ServerConnection, source_ids: Sequence[str]) -> list[str]:
    """The collection of each source; the empty one for a source that does not exist."""
    rows = con.execute(
        "SELECT source_id, collection_id FROM sources WHERE source_id = ANY (?::text[])",
        [list(set(source_ids))],
    ).fetchall()
    known = dict(rows)
    return [known.get(source_id, NOWHERE) for source_id in source_ids]


def policy_of_vectors(table: str) -> str:
    """The condition for reading a vector: a chunk with its content can be read."""
    # OFFSET keeps the planner from reading all chunks of the library first.
    return (
        f"EXISTS (SELECT 1 FROM chunks c WHERE c.content_hash = {table}.content_hash"
        f" AND c.collection_id = {table}.collection_id OFFSET 0)"
    )


# The step at index n updates a library from version n + 1 to n + 2; once, in a transaction.
STEPS: list[Callable[[Own], None]] = []
LATEST = 1 + len(STEPS)
# What `version_of` returns for a library that is too old to be opened.
TOO_OLD = -1

_TABLES = Path(__file__).parents[1] / "schema.sql"
_PARTITIONED = ("documents", "document_texts", "chunks", "posting_blocks", "dead_chunks")
# The last library before version 1 has the same tables, and this number of migrations.
_BEFORE = 5
_TO_FIRST = """
ALTER TABLE library_state ADD COLUMN version integer;
UPDATE library_state SET version = 1;
DROP TABLE migrations;
"""
_TEXT, _COLLATED = "text", 'COLLATE pg_catalog."pg_c_utf8"'
_ROWID = "rowid bigint GENERATED ALWAYS AS IDENTITY"
# The first version with the collation pg_c_utf8, in the number that the server reports.
LEAST_VERSION = 170_000
LEAST_VECTOR = (0, 8)


def lock_number(schema: str) -> int:
    """The number of the advisory lock for writers of this library."""
    return zlib.crc32(schema.encode())


def version_of(connection: Own, schema: str) -> int | None:
    """The version of a library; None without one, TOO_OLD for one from before the first release."""
    rows = connection.execute(
        "SELECT table_name FROM information_schema.columns WHERE table_schema = %s"
        " AND table_name IN ('library_state', 'migrations') AND column_name = 'version'",
        [schema],
    ).fetchall()
    tables = {name for (name,) in rows}
    if not tables:
        return None
    if "library_state" in tables:
        row = connection.execute("SELECT version FROM library_state").fetchone()
        return int(row[0]) if row else None
    row = connection.execute("SELECT max(version) FROM migrations").fetchone()
    return 1 if row and row[0] == _BEFORE else TOO_OLD


def bring_up_to_date(connection: Own, schema: str) -> None:
    """Create or update the tables in one transaction.

    AppError when the server is too old, lacks pgvector, or has a library of another version.
    """
    _refuse_old_server(connection)
    with connection.transaction():
        # Roles belong to the server: two new libraries must not both create one.
        for name in (READER, schema):
            connection.execute("SELECT pg_advisory_xact_lock(%s)", [lock_number(name)])
        found = version_of(connection, schema)
        refuse_other_version(found)
        if found is None:
            _create(connection, schema)
        elif _has_migrations(connection, schema):
            connection.execute(_TO_FIRST.encode())
        for version in range(found or LATEST, LATEST):
            STEPS[version - 1](connection)
            connection.execute("UPDATE library_state SET version = %s", [version + 1])
        for statements in tables_of_features():
            # These rows can't be made again: the order of arrival is kept.
            kept = statements.replace("\n);", ",\n    ROWID\n);")
            connection.execute(translated(connection, kept).encode())


def refuse_other_version(found: int | None) -> None:
    """AppError for a library from before the first version, or of a newer app."""
    if found == TOO_OLD:
        raise AppError(
            "The library on the server was written by an app from before the first release.",
            "Remove its schema from the database, and copy a library there: desktop-rag copy.",
        )
    if found is not None and found > LATEST:
        raise AppError(
            "The library on the server is from a newer version of the app.",
            f"It has version {found}, this app knows {LATEST}. Update the app.",
        )


def _create(connection: Own, schema: str) -> None:
    connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(schema)))
    create_reader(connection, schema)
    connection.execute(translated(connection, _TABLES.read_text("utf-8")).encode())
    for table in _PARTITIONED:
        create_partitions(connection, table)


def _has_migrations(connection: Own, schema: str) -> bool:
    query = "SELECT 1 FROM pg_tables WHERE schemaname = %s AND tablename = 'migrations'"
    return connection.execute(query, [schema]).fetchone() is not None


def translated(connection: Own, statements: str) -> str:
    """Statements with PostgreSQL's types for the short names in schema.sql."""
    row = connection.execute(
        "SELECT 'lz4' = ANY (enumvals) FROM pg_settings WHERE name = 'default_toast_compression'"
    ).fetchone()
    packed = "COMPRESSION lz4" if row and row[0] else "STORAGE EXTERNAL"
    words = {
        "VARCHAR": f"{_TEXT} {_COLLATED}",
        "PACKED": f"{_TEXT} {packed} {_COLLATED}",
        "DOUBLE": "double precision",
        "ROWID": _ROWID,
    }
    code = re.sub(r"--[^\n]*", "", statements)
    return re.sub(rf"\b({'|'.join(words)})\b", lambda found: words[found[1]], code)


def _refuse_old_server(connection: Own) -> None:
    if connection.info.server_version < LEAST_VERSION:
        raise AppError(
            "The database server is too old.",
            "The library needs PostgreSQL 17 or newer with pgvector 0.8 or newer.",
        )
    row = connection.execute(
        "SELECT installed_version, default_version FROM pg_available_extensions"
        " WHERE name = 'vector'"
    ).fetchone()
    version = (row[0] or row[1]) if row else None
    if version is None or tuple(int(n) for n in version.split(".")[:2]) < LEAST_VECTOR:
        raise AppError(
            "The database server has no pgvector, or an old one.",
            "Install pgvector 0.8 or newer on the server, as Debian's package"
            " postgresql-18-pgvector does.",
        )
    with connection.transaction():
        # Two libraries that are created at once would both create it.
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [lock_number("extension vector")])
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
