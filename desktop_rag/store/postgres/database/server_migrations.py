"""The schema as numbered steps, each applied once, with a lock so that two programs that start at
once do not both apply it. Run when a library is opened.
"""

import time
import zlib
from collections.abc import Callable

from psycopg import sql

from desktop_rag.core.errors import AppError
from desktop_rag.store.postgres.database.partitioning import partition_library
from desktop_rag.store.postgres.database.rights import READER, create_rights
from desktop_rag.store.postgres.database.role_rights import create_role_rights
from desktop_rag.store.postgres.database.server_connection import Own
from desktop_rag.store.postgres.database.server_schema import FUNCTIONS, POSTING_BLOCKS, TABLES

# The first version with the collation pg_c_utf8, in the number that the server reports.
_LEAST_VERSION = 170_000
_LEAST_VECTOR = (0, 8)


def s001_first_schema(connection: Own, schema: str) -> None:
    """All tables, and what a role that may only read sees of them."""
    for statement in (*FUNCTIONS, *TABLES):
        connection.execute(statement.encode())
    create_rights(connection, schema)


def s002_posting_blocks(connection: Own, schema: str) -> None:
    """Put the postings of a term into blocks."""
    for statement in POSTING_BLOCKS:
        connection.execute(statement.encode())


def s003_rights_of_roles(connection: Own, _schema: str) -> None:
    """Let roles that log in themselves read a part, and hide the words of the rest from them."""
    create_role_rights(connection)


def s004_compression(connection: Own, _schema: str) -> None:
    """Compress texts of documents by LZ4, or not at all where the server lacks it.

    Its own way takes a quarter of the processor time of loading, and saves little of the space.
    """
    row = connection.execute(
        "SELECT 'lz4' = ANY (enumvals) FROM pg_settings WHERE name = 'default_toast_compression'"
    ).fetchone()
    kept = "COMPRESSION lz4" if row and row[0] else "STORAGE EXTERNAL"
    for column in ("text", "places"):
        statement = f"ALTER TABLE document_texts ALTER COLUMN {column} SET {kept}"
        connection.execute(statement.encode())


def s005_partitions(connection: Own, schema: str) -> None:
    """Put what grows with passages into partitions by collection."""
    partition_library(connection, schema)


STEPS: list[Callable[[Own, str], None]] = [
    s001_first_schema,
    s002_posting_blocks,
    s003_rights_of_roles,
    s004_compression,
    s005_partitions,
]
LATEST = len(STEPS)


def lock_number(schema: str) -> int:
    """The number of the advisory lock that a writer of this library holds."""
    return zlib.crc32(schema.encode())


def version_of(connection: Own, schema: str) -> int | None:
    """The version of a library; None without one."""
    known = connection.execute(
        "SELECT 1 FROM pg_tables WHERE schemaname = %s AND tablename = 'migrations'", [schema]
    ).fetchone()
    if known is None:
        return None
    row = connection.execute("SELECT max(version) FROM migrations").fetchone()
    return int(row[0]) if row and row[0] is not None else None


def migrate(connection: Own, schema: str) -> None:
    """Create or update the tables, all of it in one transaction.

    AppError when the server is too old, lacks pgvector, or has a library of a newer version.
    """
    _refuse_old_server(connection)
    with connection.transaction():
        # Roles belong to the server, so that two new libraries must not both create one.
        for name in (READER, schema):
            connection.execute("SELECT pg_advisory_xact_lock(%s)", [lock_number(name)])
        found = version_of(connection, schema) or 0
        if found > LATEST:
            raise AppError(
                "The library on the server is from a newer version of the app.",
                f"It has version {found}, this app knows {LATEST}. Update the app.",
            )
        if not found:
            connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(_name(schema)))
            connection.execute(
                "CREATE TABLE migrations (version integer, applied_at double precision)"
            )
        for version in range(found + 1, LATEST + 1):
            STEPS[version - 1](connection, schema)
            connection.execute("INSERT INTO migrations VALUES (%s, %s)", [version, time.time()])


def _refuse_old_server(connection: Own) -> None:
    if connection.info.server_version < _LEAST_VERSION:
        raise AppError(
            "The database server is too old.",
            "The library needs PostgreSQL 17 or newer with pgvector 0.8 or newer.",
        )
    row = connection.execute(
        "SELECT installed_version, default_version FROM pg_available_extensions"
        " WHERE name = 'vector'"
    ).fetchone()
    version = (row[0] or row[1]) if row else None
    if version is None or tuple(int(n) for n in version.split(".")[:2]) < _LEAST_VECTOR:
        raise AppError(
            "The database server has no pgvector, or an old one.",
            "Install pgvector 0.8 or newer on the server, as Debian's package"
            " postgresql-18-pgvector does.",
        )
    with connection.transaction():
        # Two libraries that are created at once would both create it.
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [lock_number("extension vector")])
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")


def _name(schema: str) -> sql.Identifier:
    return sql.Identifier(schema)
