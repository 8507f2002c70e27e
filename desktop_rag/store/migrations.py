"""The schema, as numbered functions applied once each. Run at open, before the lane starts.

No PRIMARY KEY, UNIQUE or index: DuckDB's own indexes reached corrupt states on tables that change
(duckdb#23645, #23788). Rows are deleted and inserted, never updated in place where it matters;
the write lane is what keeps ids unique. A table of vectors is made for each model (see search.py).
"""

import time
from collections.abc import Callable

import duckdb

Connection = duckdb.DuckDBPyConnection


def m001_first_schema(connection: Connection) -> None:
    """Collections, sources, documents, chunks, postings, models, conversations."""
    for statement in _FIRST_SCHEMA:
        connection.execute(statement)


MIGRATIONS: list[Callable[[Connection], None]] = [m001_first_schema]
LATEST = len(MIGRATIONS)


def version_of(connection: Connection) -> int | None:
    """The schema version of an open file: 0 when it is empty, None when it is not ours."""
    tables = {row[0] for row in connection.execute("SHOW TABLES").fetchall()}
    if not tables:
        return 0
    if "migrations" not in tables:
        return None
    [(version,)] = connection.execute("SELECT max(version) FROM migrations").fetchall()
    return int(version or 0)


def migrate(connection: Connection) -> None:
    """Apply what is missing, each step with its version row in one transaction."""
    for version in range((version_of(connection) or 0) + 1, LATEST + 1):
        connection.begin()
        try:
            if version == 1:
                connection.execute("CREATE TABLE migrations (version INTEGER, applied_at DOUBLE)")
            MIGRATIONS[version - 1](connection)
            connection.execute("INSERT INTO migrations VALUES (?, ?)", [version, time.time()])
            connection.commit()
        except BaseException:
            connection.rollback()
            raise


_FIRST_SCHEMA = [
    """CREATE TABLE collections (
        collection_id VARCHAR, name VARCHAR, created_at DOUBLE)""",
    """CREATE TABLE sources (
        source_id VARCHAR, collection_id VARCHAR, path VARCHAR, added_at DOUBLE)""",
    """CREATE TABLE documents (
        document_id VARCHAR, source_id VARCHAR, path VARCHAR, title VARCHAR, format VARCHAR,
        size_bytes BIGINT, mtime_ns BIGINT, inode UBIGINT, content_hash VARCHAR,
        state VARCHAR, reason VARCHAR, chunk_count INTEGER, indexed_at DOUBLE)""",
    # Apart from the documents, so that a change of state does not rewrite the text.
    "CREATE TABLE document_texts (document_id VARCHAR, text VARCHAR)",
    # The text of a chunk stands here too: a result list must not read whole documents.
    """CREATE TABLE chunks (
        chunk_id BIGINT, document_id VARCHAR, position INTEGER, start_offset INTEGER,
        end_offset INTEGER, text VARCHAR, heading VARCHAR, anchor VARCHAR,
        content_hash UUID, term_count INTEGER)""",
    "CREATE TABLE postings (term VARCHAR, chunk_id BIGINT, tf USMALLINT)",
    "CREATE TABLE models (model_id INTEGER, name VARCHAR, dimensions INTEGER)",
    """CREATE TABLE conversations (
        conversation_id VARCHAR, title VARCHAR, collection_id VARCHAR,
        created_at DOUBLE, updated_at DOUBLE, is_deleted BOOLEAN)""",
    """CREATE TABLE messages (
        message_id VARCHAR, conversation_id VARCHAR, position INTEGER, role VARCHAR,
        text VARCHAR, created_at DOUBLE, state VARCHAR, model VARCHAR, is_excerpts BOOLEAN,
        seconds DOUBLE, error_title VARCHAR, error_hint VARCHAR, thinking VARCHAR)""",
    """CREATE TABLE citations (
        message_id VARCHAR, n INTEGER, document_id VARCHAR, path VARCHAR, title VARCHAR,
        anchor VARCHAR, text VARCHAR, score DOUBLE, quote VARCHAR, start_offset INTEGER,
        end_offset INTEGER, is_cited BOOLEAN)""",
]
