"""Rights that the database itself enforces: what a reading transaction may see.

A search for somebody who may not read everything runs as a role without a login, under row-level
security: the transaction names the collections and documents, and one that names none sees nothing.
Whatever a statement forgets to ask, it gets no row of anything else.
"""

import json

from psycopg import sql

from desktop_rag.core.question import Readable
from desktop_rag.features.shared_library.postgres.database.server_connection import Own

# One role for all libraries of a server; its rights are those that each schema grants.
READER = "desktop_rag_reader"
_COLLECTIONS = "desktop_rag.collections"
_DOCUMENTS = "desktop_rag.documents"

# Run with the rights of their owner, once per statement. A setting that was never made, or ended
# with its transaction, is NULL or empty: then nothing is named.
_FUNCTIONS = f"""
CREATE FUNCTION named(setting text) RETURNS text[] STABLE LANGUAGE sql RETURN
    ARRAY(SELECT json_array_elements_text(
        coalesce(nullif(current_setting(setting, true), ''), '[]')::json));
CREATE FUNCTION readable_collections() RETURNS text[] STABLE LANGUAGE sql RETURN
    named('{_COLLECTIONS}');
CREATE FUNCTION readable_sources() RETURNS text[] STABLE SECURITY DEFINER LANGUAGE sql
    SET search_path FROM CURRENT AS $$
    SELECT coalesce(array_agg(source_id), '{{}}') FROM sources
    WHERE NOT is_attached AND collection_id = ANY (readable_collections()) $$;
CREATE FUNCTION readable_documents() RETURNS text[] STABLE SECURITY DEFINER LANGUAGE sql
    SET search_path FROM CURRENT AS $$
    SELECT coalesce(array_agg(document_id), '{{}}') FROM documents d
    JOIN sources s USING (source_id)
    WHERE document_id = ANY (named('{_DOCUMENTS}')) AND NOT s.is_attached $$;
CREATE FUNCTION readable_chunks() RETURNS int8multirange STABLE SECURITY DEFINER LANGUAGE sql
    SET search_path FROM CURRENT AS $$
    SELECT coalesce(range_agg(int8range(t.first_chunk, t.last_chunk, '[]')), '{{}}')
    FROM document_texts t JOIN documents d USING (document_id)
    WHERE t.last_chunk >= t.first_chunk AND d.state <> 'gone'
        AND (d.source_id = ANY (readable_sources()) OR d.document_id = ANY (readable_documents()))
    $$;
"""
_POLICIES = {
    "collections": "collection_id = ANY ((SELECT readable_collections())::text[])",
    "sources": (
        "source_id = ANY ((SELECT readable_sources())::text[])"
        " OR source_id IN (SELECT d.source_id FROM documents d)"
    ),
    "documents": (
        "state <> 'gone' AND (source_id = ANY ((SELECT readable_sources())::text[])"
        " OR document_id = ANY ((SELECT readable_documents())::text[]))"
    ),
    "document_texts": "document_id IN (SELECT d.document_id FROM documents d)",
    "chunks": "chunk_id <@ (SELECT readable_chunks())",
    "postings": "chunk_id <@ (SELECT readable_chunks())",
    "file_tags": "path IN (SELECT d.path FROM documents d)",
    # What they tell of the rest is counted by the postings and chunks that may be read.
    "terms": "true",
    "models": "true",
    "library_state": "true",
}


def create_rights(connection: Own, schema: str) -> None:
    """Create the role, its policies, and what it may read; inside a transaction."""
    known = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [READER]).fetchone()
    reader = sql.Identifier(READER)
    if known is None:
        connection.execute(sql.SQL("CREATE ROLE {} NOLOGIN").format(reader))
    connection.execute(sql.SQL("GRANT {} TO CURRENT_USER").format(reader))
    connection.execute(_FUNCTIONS.encode())
    usage = sql.SQL("GRANT USAGE ON SCHEMA {} TO {}")
    connection.execute(usage.format(sql.Identifier(schema), reader))
    for table, condition in _POLICIES.items():
        restrict(connection, table, condition)


def restrict(connection: Own, table: str, condition: str) -> None:
    """Let the reader see the rows of a table that meet a condition."""
    for statement in (
        f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY",
        f"CREATE POLICY readable ON {table} FOR SELECT TO {READER} USING ({condition})",
        f"GRANT SELECT ON {table} TO {READER}",
    ):
        connection.execute(statement.encode())


def become_reader(connection: Own, readable: Readable) -> None:
    """Let the rest of this transaction see what somebody may read, and nothing else."""
    connection.execute(
        "SELECT set_config('role', %s, true), set_config(%s, %s, true), set_config(%s, %s, true)",
        [
            READER,
            _COLLECTIONS, json.dumps(list(readable.collection_ids)),
            _DOCUMENTS, json.dumps(list(readable.document_ids)),
        ],
    )  # fmt: skip
