"""Reading rights that the database enforces.

A search for somebody who may not read everything runs as a role without login, under row-level
security: the transaction names the collections and documents that it may see. So no statement gets
any other row, whatever its conditions.
"""

import json

from psycopg import sql

from desktop_rag.core.question import Readable
from desktop_rag.features.shared_library.postgres.database.server_connection import Own

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
