"""The schema, as numbered functions applied once each. Run at open, before the lane starts.

No PRIMARY KEY, UNIQUE or index: DuckDB's own indexes reached corrupt states on tables that change
(duckdb#23645, #23788). Rows are deleted and inserted, never updated in place where it matters; the
write lane keeps ids unique. Each model has a table of vectors of its own (see chunk_cache.py).
"""

import time
from collections.abc import Callable, Sequence
from typing import Any

import duckdb
import numpy as np

from desktop_rag.store.duckdb.database.connections import Connection
from desktop_rag.store.sql.packed_vectors import (
    COLUMN,
    packed,
    packed_windows,
    sign_bits,
    unpacked,
    words_of,
)

# Rewrites the vectors of a model in their packed form. Used by a migration, on its thread.

_FLOATS_PER_BATCH = 4_000_000


def repack(connection: Connection, table: str, windows: str | None, dimensions: int) -> None:
    """Rewrite a model's table in batches that fit into memory."""
    words = [f"b{k}" for k in range(words_of(dimensions))]
    kinds = {"content_hash": "UUID", "vector": COLUMN} | dict.fromkeys(words, "BIGINT")
    columns = ", ".join(f"{name} {kind}" for name, kind in (kinds | {"windows": COLUMN}).items())
    connection.execute(f"CREATE TABLE packed_{table} ({columns})")
    [(last,)] = connection.execute(f"SELECT coalesce(max(rowid), -1) FROM {table}").fetchall()
    found = f"SELECT v.*, w.vectors AS windows FROM {table} v LEFT JOIN {windows} w"
    found = (
        f"{found} USING (content_hash)" if windows else f"SELECT *, NULL AS windows FROM {table} v"
    )
    batch = max(1, _FLOATS_PER_BATCH // dimensions)
    for first in range(0, last + 1, batch):
        rows = connection.execute(
            f"{found} WHERE v.rowid BETWEEN {first} AND {first + batch - 1}"
        ).fetchall()
        if rows:
            _insert_packed(connection, f"packed_{table}", rows, dimensions)
    connection.execute(f"DROP TABLE {table}")
    connection.execute(f"ALTER TABLE packed_{table} RENAME TO {table}")
    if windows:
        connection.execute(f"DROP TABLE {windows}")


def _insert_packed(
    connection: Connection, table: str, rows: Sequence[tuple[Any, ...]], dimensions: int
) -> None:
    hashes, vectors = [row[0] for row in rows], np.array([row[1] for row in rows], np.float32)
    given = {"content_hash": hashes, "vector": packed(vectors)}
    given["windows"] = [
        None if row[-1] is None else packed_windows(unpacked([row[-1]], dimensions)) for row in rows
    ]
    columns: dict[str, Any] = {name: np.array([*v, None], object)[:-1] for name, v in given.items()}
    columns |= {f"b{k}": bits for k, bits in enumerate(np.ascontiguousarray(sign_bits(vectors).T))}
    connection.register("repacked", columns)
    names = ", ".join(columns)
    connection.execute(f"INSERT INTO {table} ({names}) SELECT {names} FROM repacked")
    connection.unregister("repacked")


def m001_first_schema(connection: Connection) -> None:
    """Collections, sources, documents, chunks, postings, models, conversations."""
    for statement in _FIRST_SCHEMA:
        connection.execute(statement)


def m002_places_parts_and_links(connection: Connection) -> None:
    """Documents inside documents, web pages, rules, chunk settings, places in texts."""
    for statement in _PLACES_PARTS_AND_LINKS:
        connection.execute(statement)


def m003_finer_retrieval(connection: Connection) -> None:
    """Models by collection, stored measurements."""
    for statement in _FINER_RETRIEVAL:
        connection.execute(statement)


def m004_scale(connection: Connection) -> None:
    """Postings by the key of a term, and the chunk range of each document."""
    for statement in _SCALE:
        connection.execute(statement)


def m005_quick_edits(connection: Connection) -> None:
    """Postings sorted in runs, and chunk ranges by the key of a document."""
    for statement in _QUICK_EDITS:
        connection.execute(statement)


def m006_pins_and_feedback(connection: Connection) -> None:
    """Pinned conversations, and a log of feedback."""
    connection.execute("ALTER TABLE conversations ADD COLUMN is_pinned BOOLEAN DEFAULT false")
    connection.execute(
        "CREATE TABLE feedback (number BIGINT, message_id VARCHAR, value VARCHAR, noted_at DOUBLE)"
    )


def m007_packed_vectors(connection: Connection) -> None:
    """A few bits per dimension instead of floats and bytes, see packed_vectors.py."""
    tables = {name for (name,) in connection.execute("SHOW TABLES").fetchall()}
    for number, dimensions in connection.execute(
        "SELECT model_id, dimensions FROM models"
    ).fetchall():
        if f"vectors_{number}" in tables:
            windows = f"windows_{number}" if f"windows_{number}" in tables else None
            repack(connection, f"vectors_{number}", windows, dimensions)


def m008_spans_beside_texts(connection: Connection) -> None:
    """Chunk ranges in the table of texts; documents and texts by the key of their id."""
    for statement in _SPANS_BESIDE_TEXTS:
        connection.execute(statement)


def m009_after_answers(connection: Connection) -> None:
    """The follow-up questions and checked claims of an answer, as JSON lists."""
    connection.execute("ALTER TABLE messages ADD COLUMN follow_ups VARCHAR DEFAULT '[]'")
    connection.execute("ALTER TABLE messages ADD COLUMN claims VARCHAR DEFAULT '[]'")


def m010_assistants(connection: Connection) -> None:
    """Assistants as JSON, the assistant of a conversation, answers without documents."""
    connection.execute(
        "CREATE TABLE assistants"
        " (assistant_id VARCHAR, made_of VARCHAR, is_deleted BOOLEAN DEFAULT false)"
    )
    connection.execute("ALTER TABLE conversations ADD COLUMN assistant_id VARCHAR DEFAULT ''")
    connection.execute("ALTER TABLE messages ADD COLUMN is_own_knowledge BOOLEAN DEFAULT false")


def m011_interactions(connection: Connection) -> None:
    """Remembered questions with their answers, and those shown to the model for an answer."""
    connection.execute(
        """CREATE TABLE interactions (
            interaction_id VARCHAR, conversation_id VARCHAR, assistant_id VARCHAR DEFAULT '',
            question VARCHAR, asked VARCHAR, answer VARCHAR, outcome VARCHAR, ended_at DOUBLE,
            model VARCHAR, has_several_steps BOOLEAN, embedder VARCHAR DEFAULT '', vector BLOB)"""
    )
    connection.execute("ALTER TABLE messages ADD COLUMN remembered VARCHAR DEFAULT '[]'")


def m012_queries_of_answers(connection: Connection) -> None:
    """The query over a table whose result was a source of an answer."""
    connection.execute("ALTER TABLE citations ADD COLUMN query VARCHAR DEFAULT ''")


def m013_attachments(connection: Connection) -> None:
    """Files and images attached to chats: JSON lists, sources, image data."""
    connection.execute("ALTER TABLE sources ADD COLUMN is_attached BOOLEAN DEFAULT false")
    for table in ("conversations", "messages"):
        connection.execute(f"ALTER TABLE {table} ADD COLUMN attachments VARCHAR DEFAULT '[]'")
    connection.execute(
        "CREATE TABLE attached_images (attachment_id VARCHAR, mime VARCHAR, data BLOB,"
        " kept_at DOUBLE)"
    )


def m014_copies_of_messages(connection: Connection) -> None:
    """The original of each message in a copied conversation."""
    connection.execute("ALTER TABLE messages ADD COLUMN copy_of VARCHAR DEFAULT ''")


def m015_front_matter(connection: Connection) -> None:
    """The date (ISO) and the tags (one a line) that a document states about itself."""
    for column in ("dated", "tags"):
        connection.execute(f"ALTER TABLE documents ADD COLUMN {column} VARCHAR DEFAULT ''")


def m016_orders_without_times(connection: Connection) -> None:
    """Numbers that only grow: after the clock was set back, times put new rows below old ones."""
    for table, column, id_column, time_column in (
        ("conversations", "change_number", "conversation_id", "updated_at"),
        ("interactions", "number", "interaction_id", "ended_at"),
        ("evaluations", "number", "evaluation_id", "created_at"),
    ):
        connection.execute(f"ALTER TABLE {table} ADD COLUMN {column} BIGINT DEFAULT 0")
        connection.execute(
            f"UPDATE {table} SET {column} = numbered.n FROM (SELECT {id_column} AS id,"
            f" row_number() OVER (ORDER BY {time_column}, {id_column}) AS n FROM {table}) numbered"
            f" WHERE {id_column} = numbered.id"
        )


def m017_journal(connection: Connection) -> None:
    """The number of the last change that the journal holds, see journal.py."""
    connection.execute("CREATE TABLE journal_state (generation BIGINT)")
    connection.execute("INSERT INTO journal_state VALUES (0)")


def m018_unfinished_content(connection: Connection) -> None:
    """The chunks of large documents that are being written, see staged_content.py."""
    connection.execute(
        "CREATE TABLE unfinished_content"
        " (document_id VARCHAR, first_chunk BIGINT, last_chunk BIGINT)"
    )


def m019_tags_of_files(connection: Connection) -> None:
    """The tags that the person gave to files (one a line), by path."""
    connection.execute("CREATE TABLE file_tags (tagging_id VARCHAR, path VARCHAR, tags VARCHAR)")


def m020_scopes_of_questions(connection: Connection) -> None:
    """The files, folders, links and collections that a question is about, as JSON."""
    connection.execute("ALTER TABLE messages ADD COLUMN scope VARCHAR DEFAULT '{}'")


def m021_changes_of_files(connection: Connection) -> None:
    """What happened to files in the last days: an extract for the eye, not needed by anything."""
    connection.execute(
        "CREATE TABLE file_changes (noted_at DOUBLE, kind VARCHAR, document_id VARCHAR,"
        " source_id VARCHAR, name VARCHAR, reason VARCHAR)"
    )


def m022_scheduled_questions(connection: Connection) -> None:
    """Questions that the app asks by itself, with their state, and the runs of each, as JSON."""
    connection.execute(
        "CREATE TABLE standing_questions (question_id VARCHAR, made_of VARCHAR,"
        " state VARCHAR DEFAULT '{}', is_deleted BOOLEAN DEFAULT false)"
    )
    connection.execute(
        "CREATE TABLE standing_runs"
        " (run_id VARCHAR, question_id VARCHAR, made_of VARCHAR, number BIGINT)"
    )


def m023_followed_links_and_mirrored_sites(connection: Connection) -> None:
    """Hosts of the local network (one a line), base addresses, entries of feeds, reports."""
    for table, column in (
        ("collections", "intranet_hosts"),
        ("sources", "base_address"),
        ("web_pages", "listed_in"),
    ):
        connection.execute(f"ALTER TABLE {table} ADD COLUMN {column} VARCHAR DEFAULT ''")
    connection.execute("CREATE TABLE crawl_reports (source_id VARCHAR, made_of VARCHAR)")


def m024_programs(connection: Connection) -> None:
    """The program that sends the documents of a source; the one that keeps a conversation."""
    connection.execute("ALTER TABLE sources ADD COLUMN program VARCHAR DEFAULT ''")
    connection.execute("ALTER TABLE conversations ADD COLUMN kept_by VARCHAR DEFAULT ''")


def m025_experiments(connection: Connection) -> None:
    """Sets of questions with their runs, answers and judgements, each as JSON."""
    connection.execute(
        "CREATE TABLE experiments (record_id VARCHAR, kind VARCHAR, owner_id VARCHAR,"
        " made_of VARCHAR, number BIGINT)"
    )


MIGRATIONS: list[Callable[[Connection], None]] = [
    m001_first_schema,
    m002_places_parts_and_links,
    m003_finer_retrieval,
    m004_scale,
    m005_quick_edits,
    m006_pins_and_feedback,
    m007_packed_vectors,
    m008_spans_beside_texts,
    m009_after_answers,
    m010_assistants,
    m011_interactions,
    m012_queries_of_answers,
    m013_attachments,
    m014_copies_of_messages,
    m015_front_matter,
    m016_orders_without_times,
    m017_journal,
    m018_unfinished_content,
    m019_tags_of_files,
    m020_scopes_of_questions,
    m021_changes_of_files,
    m022_scheduled_questions,
    m023_followed_links_and_mirrored_sites,
    m024_programs,
    m025_experiments,
]
LATEST = len(MIGRATIONS)


def version_of(connection: Connection) -> int | None:
    """The schema version of an open file: 0 when it is empty, None when it is not ours."""
    try:
        [(version,)] = connection.execute("SELECT max(version) FROM migrations").fetchall()
    except duckdb.CatalogException:
        return None if connection.execute("SHOW TABLES").fetchall() else 0
    return int(version or 0)


def migrate(connection: Connection) -> None:
    """Apply the missing steps, each with its version row in one transaction."""
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
    # A table of its own, so that a change of state does not rewrite the text.
    "CREATE TABLE document_texts (document_id VARCHAR, text VARCHAR)",
    # The text of a chunk is stored here too: a result list must not read whole documents.
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

_PLACES_PARTS_AND_LINKS = [
    "ALTER TABLE chunks RENAME heading TO context",
    # Settings of a kind are one JSON value: they are read and written together.
    "ALTER TABLE collections ADD COLUMN chunking VARCHAR DEFAULT '{}'",
    "ALTER TABLE sources ADD COLUMN rules VARCHAR DEFAULT '{}'",
    "ALTER TABLE sources ADD COLUMN links VARCHAR DEFAULT ''",
    "ALTER TABLE sources ADD COLUMN refreshed_at DOUBLE DEFAULT 0",
    "ALTER TABLE documents ADD COLUMN parent_id VARCHAR DEFAULT ''",
    "ALTER TABLE documents ADD COLUMN part VARCHAR DEFAULT ''",
    "ALTER TABLE documents ADD COLUMN url VARCHAR DEFAULT ''",
    "ALTER TABLE documents ADD COLUMN language VARCHAR DEFAULT ''",
    "ALTER TABLE documents ADD COLUMN chunking VARCHAR DEFAULT ''",
    "ALTER TABLE documents ADD COLUMN gone_at DOUBLE DEFAULT 0",
    # The version of the readers: newer ones may extract more from an unchanged file.
    "ALTER TABLE documents ADD COLUMN readers INTEGER DEFAULT 0",
    # The places in the text as JSON: with them chunks can be made again without the file.
    "ALTER TABLE document_texts ADD COLUMN places VARCHAR DEFAULT ''",
    "ALTER TABLE citations ADD COLUMN part VARCHAR DEFAULT ''",
    "ALTER TABLE citations ADD COLUMN url VARCHAR DEFAULT ''",
    # The model whose vectors answer until those of another one are complete.
    "ALTER TABLE models ADD COLUMN folder VARCHAR DEFAULT ''",
    "ALTER TABLE models ADD COLUMN is_answering BOOLEAN DEFAULT false",
    # The cache validators of a page, so that an unchanged one is not transferred again.
    """CREATE TABLE web_pages (
        document_id VARCHAR, etag VARCHAR, last_modified VARCHAR, fetched_at DOUBLE)""",
]

_FINER_RETRIEVAL = [
    # The model that embeds the documents of a collection; empty means that of the settings.
    "ALTER TABLE collections ADD COLUMN embedder VARCHAR DEFAULT ''",
    # Other places of a source, whether it is only the nearest, how the question was understood.
    "ALTER TABLE citations ADD COLUMN also_in VARCHAR DEFAULT '[]'",
    "ALTER TABLE citations ADD COLUMN is_nearest BOOLEAN DEFAULT false",
    "ALTER TABLE messages ADD COLUMN notes VARCHAR DEFAULT ''",
    # A measurement; settings, results and queries are JSON.
    """CREATE TABLE evaluations (
        evaluation_id VARCHAR, kind VARCHAR, name VARCHAR, created_at DOUBLE, seconds DOUBLE,
        version VARCHAR, settings VARCHAR, results VARCHAR, queries VARCHAR)""",
    # Postings are sorted by term from time to time; newer ones are in a table of their own. Each
    # has the length of its chunk, because looking it up costs more than reading it.
    "ALTER TABLE postings RENAME TO first_postings",
    """CREATE TABLE recent_postings AS SELECT p.term, p.chunk_id, p.tf,
        least(c.term_count, 65535)::USMALLINT AS term_count
        FROM first_postings p JOIN chunks c USING (chunk_id)""",
    "CREATE TABLE postings (term VARCHAR, chunk_id BIGINT, tf USMALLINT, term_count USMALLINT)",
    "DROP TABLE first_postings",
    # The vocabulary of the sorted postings, with the number of chunks that contain each term.
    "CREATE TABLE terms (term VARCHAR, chunks BIGINT)",
    # Chunks deleted since the postings were sorted. Their ids are never used again.
    "CREATE TABLE dead_chunks (chunk_id BIGINT)",
    # The model_id whose vectors answer for a collection until those of another are complete.
    "ALTER TABLE collections ADD COLUMN answering INTEGER DEFAULT 0",
    """UPDATE collections SET answering =
        coalesce((SELECT max(model_id) FROM models WHERE is_answering), 0)""",
]

_SCALE = [
    # A term is found by a numeric key, see postings.py: sorted numbers compress to almost nothing.
    "ALTER TABLE postings RENAME TO former_postings",
    """CREATE TABLE postings AS SELECT md5_number_lower(term) AS key, chunk_id, tf, term_count
        FROM former_postings ORDER BY key, chunk_id""",
    "DROP TABLE former_postings",
    "ALTER TABLE recent_postings RENAME TO former_postings",
    """CREATE TABLE recent_postings AS SELECT md5_number_lower(term) AS key, term, chunk_id, tf,
        term_count FROM former_postings""",
    "DROP TABLE former_postings",
    "ALTER TABLE terms RENAME TO former_terms",
    """CREATE TABLE terms AS SELECT md5_number_lower(term) AS key, term, chunks
        FROM former_terms ORDER BY key""",
    "DROP TABLE former_terms",
    # The chunks of a document have consecutive ids: the range is stored here.
    """CREATE TABLE chunk_ranges AS SELECT document_id, min(chunk_id) AS first_chunk,
        max(chunk_id) AS last_chunk FROM chunks GROUP BY document_id""",
    # The normalised file name for searching, see scope_sql.py.
    "ALTER TABLE documents ADD COLUMN plain_name VARCHAR DEFAULT ''",
    """UPDATE documents SET plain_name = replace(replace(
        nfc_normalize(lower(parse_filename(path))), 'ß', 'ss'), '\u03c2', '\u03c3')""",
]

_QUICK_EDITS = [
    # A document's chunks are found by a numeric key of its id, see postings.py.
    "ALTER TABLE chunk_ranges RENAME TO former_ranges",
    """CREATE TABLE chunk_ranges AS SELECT md5_number_lower(document_id) AS key, document_id,
        first_chunk, last_chunk FROM former_ranges""",
    "DROP TABLE former_ranges",
    # The sizes of the runs of postings that follow those sorted together.
    "CREATE TABLE posting_runs (size BIGINT)",
]

_SPANS_BESIDE_TEXTS = [
    "ALTER TABLE document_texts RENAME TO former_texts",
    """CREATE TABLE document_texts AS SELECT md5_number_lower(document_id) AS key, document_id,
        coalesce(text, '') AS text, coalesce(places, '') AS places,
        coalesce(first_chunk, 1) AS first_chunk, coalesce(last_chunk, 0) AS last_chunk
        FROM former_texts FULL JOIN chunk_ranges USING (document_id)""",
    "DROP TABLE former_texts",
    "DROP TABLE chunk_ranges",
    "ALTER TABLE documents ADD COLUMN key UBIGINT",
    "UPDATE documents SET key = md5_number_lower(document_id)",
]
