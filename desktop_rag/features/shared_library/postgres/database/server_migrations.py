"""The schema as numbered steps, each applied once, with a lock so that two programs that start at
once do not both apply it. Run when a library is opened.
"""

import time
import zlib
from collections.abc import Callable

from psycopg import sql

from desktop_rag.core.errors import AppError
from desktop_rag.features.shared_library.postgres.database.partitioning import partition_library
from desktop_rag.features.shared_library.postgres.database.rights import READER, create_rights
from desktop_rag.features.shared_library.postgres.database.server_connection import Own

# The tables of a library, and the functions that its statements expect. Pure text.
#
# Texts are compared by code points, whatever the locale of the database: every column has the
# collation pg_c_utf8, which PostgreSQL has since version 17. Each library is a schema of its own.

_TEXT = 'text COLLATE pg_catalog."pg_c_utf8"'


def _with_types(statement: str) -> str:
    return statement.replace("TEXT", _TEXT).replace("DOUBLE", "double precision")


# The last column keeps the order of arrival, see precious_rows.py.
_ROWID = "rowid bigint GENERATED ALWAYS AS IDENTITY"

FUNCTIONS = [
    """CREATE FUNCTION nfc_normalize(given text) RETURNS text IMMUTABLE PARALLEL SAFE LANGUAGE sql
        RETURN normalize(given, NFC)""",
    """CREATE FUNCTION contains(whole text, part text) RETURNS boolean IMMUTABLE PARALLEL SAFE
        LANGUAGE sql RETURN strpos(whole, part) > 0""",
    """CREATE FUNCTION string_split(whole text, separator text) RETURNS text[] IMMUTABLE
        PARALLEL SAFE LANGUAGE sql RETURN string_to_array(whole, separator)""",
    """CREATE FUNCTION parse_filename(path text) RETURNS text IMMUTABLE PARALLEL SAFE
        LANGUAGE sql RETURN substring(path from '[^/]*$')""",
    """CREATE FUNCTION parse_dirpath(path text) RETURNS text IMMUTABLE PARALLEL SAFE
        LANGUAGE sql RETURN regexp_replace(path, '/[^/]*$', '')""",
    """CREATE FUNCTION plain_name(path text) RETURNS text IMMUTABLE PARALLEL SAFE LANGUAGE sql
        RETURN replace(replace(normalize(lower(parse_filename(path) COLLATE pg_catalog."pg_c_utf8"),
        NFC), 'ß', 'ss'), '\u03c2', '\u03c3')""",
    # The value that goes with the highest, or the lowest, number.
    """CREATE FUNCTION keep_highest(kept text[], value text, number bigint) RETURNS text[]
        IMMUTABLE LANGUAGE sql RETURN CASE WHEN kept IS NULL OR kept[1]::bigint < number
        THEN ARRAY[number::text, value] ELSE kept END""",
    """CREATE FUNCTION keep_lowest(kept text[], value text, number bigint) RETURNS text[]
        IMMUTABLE LANGUAGE sql RETURN CASE WHEN kept IS NULL OR kept[1]::bigint > number
        THEN ARRAY[number::text, value] ELSE kept END""",
    """CREATE FUNCTION kept_value(kept text[]) RETURNS text IMMUTABLE LANGUAGE sql
        RETURN kept[2]""",
    """CREATE AGGREGATE arg_max(text, bigint)
        (SFUNC = keep_highest, STYPE = text[], FINALFUNC = kept_value)""",
    """CREATE AGGREGATE arg_min(text, bigint)
        (SFUNC = keep_lowest, STYPE = text[], FINALFUNC = kept_value)""",
]

TABLES = [
    _with_types(statement)
    for statement in (
        # How often the library changed, and what can't be made again. Each write locks this row.
        "CREATE TABLE library_state (changes bigint, generation bigint)",
        "INSERT INTO library_state VALUES (0, 0)",
        f"""CREATE TABLE collections (
            collection_id TEXT, name TEXT, created_at DOUBLE, chunking TEXT DEFAULT '{{}}',
            embedder TEXT DEFAULT '', answering integer DEFAULT 0, intranet_hosts TEXT DEFAULT '',
            {_ROWID})""",
        f"""CREATE TABLE sources (
            source_id TEXT, collection_id TEXT, path TEXT, added_at DOUBLE,
            rules TEXT DEFAULT '{{}}', links TEXT DEFAULT '', refreshed_at DOUBLE DEFAULT 0,
            is_attached boolean DEFAULT false, base_address TEXT DEFAULT '',
            program TEXT DEFAULT '', {_ROWID})""",
        """CREATE TABLE documents (
            document_id TEXT PRIMARY KEY, source_id TEXT, path TEXT, title TEXT, format TEXT,
            size_bytes bigint, mtime_ns bigint, inode numeric(20), content_hash TEXT, state TEXT,
            reason TEXT, chunk_count integer, indexed_at DOUBLE, parent_id TEXT DEFAULT '',
            part TEXT DEFAULT '', url TEXT DEFAULT '', language TEXT DEFAULT '',
            chunking TEXT DEFAULT '', gone_at DOUBLE DEFAULT 0, readers integer DEFAULT 0,
            dated TEXT DEFAULT '', tags TEXT DEFAULT '',
            plain_name TEXT GENERATED ALWAYS AS (plain_name(path)) STORED)""",
        "CREATE INDEX ON documents (source_id)",
        "CREATE INDEX ON documents (parent_id) WHERE parent_id <> ''",
        "CREATE INDEX ON documents (state) WHERE state <> 'searchable'",
        """CREATE TABLE document_texts (
            document_id TEXT PRIMARY KEY, text TEXT, places TEXT,
            first_chunk bigint, last_chunk bigint)""",
        # Chunk ids only grow, so that a range of them lies together.
        "CREATE SEQUENCE chunk_numbers",
        """CREATE TABLE chunks (
            chunk_id bigint PRIMARY KEY, document_id TEXT, position integer, start_offset integer,
            end_offset integer, text TEXT, context TEXT, anchor TEXT, content_hash uuid,
            term_count integer)""",
        "CREATE INDEX ON chunks (document_id)",
        "CREATE INDEX ON chunks (content_hash)",
        # A term by its number; the length of the chunk saves looking it up.
        """CREATE TABLE postings (key bigint, chunk_id bigint, tf integer, term_count integer)""",
        "CREATE INDEX postings_by_key ON postings (key, chunk_id) INCLUDE (tf, term_count)",
        "CREATE INDEX postings_by_chunk ON postings USING brin (chunk_id)",
        "CREATE TABLE terms (key bigint PRIMARY KEY, term TEXT)",
        "CREATE INDEX ON terms (term)",
        f"CREATE TABLE file_tags (tagging_id TEXT, path TEXT, tags TEXT, {_ROWID})",
        """CREATE TABLE file_changes (noted_at DOUBLE, kind TEXT, document_id TEXT,
            source_id TEXT, name TEXT, reason TEXT)""",
        """CREATE TABLE web_pages (document_id TEXT, etag TEXT, last_modified TEXT,
            fetched_at DOUBLE, listed_in TEXT DEFAULT '')""",
        "CREATE TABLE crawl_reports (source_id TEXT, made_of TEXT)",
        """CREATE TABLE models (model_id integer, name TEXT, dimensions integer,
            folder TEXT DEFAULT '')""",
        f"""CREATE TABLE conversations (
            conversation_id TEXT, title TEXT, collection_id TEXT, created_at DOUBLE,
            updated_at DOUBLE, is_deleted boolean, is_pinned boolean DEFAULT false,
            assistant_id TEXT DEFAULT '', attachments TEXT DEFAULT '[]',
            change_number bigint DEFAULT 0, kept_by TEXT DEFAULT '', {_ROWID})""",
        f"""CREATE TABLE messages (
            message_id TEXT, conversation_id TEXT, position integer, role TEXT, text TEXT,
            created_at DOUBLE, state TEXT, model TEXT, is_excerpts boolean, seconds DOUBLE,
            error_title TEXT, error_hint TEXT, thinking TEXT, notes TEXT DEFAULT '',
            follow_ups TEXT DEFAULT '[]', claims TEXT DEFAULT '[]',
            is_own_knowledge boolean DEFAULT false, remembered TEXT DEFAULT '[]',
            attachments TEXT DEFAULT '[]', copy_of TEXT DEFAULT '', scope TEXT DEFAULT '{{}}',
            {_ROWID})""",
        "CREATE INDEX ON messages (conversation_id)",
        "CREATE INDEX ON messages (message_id)",
        f"""CREATE TABLE citations (
            message_id TEXT, n integer, document_id TEXT, path TEXT, title TEXT, anchor TEXT,
            text TEXT, score DOUBLE, quote TEXT, start_offset integer, end_offset integer,
            is_cited boolean, part TEXT DEFAULT '', url TEXT DEFAULT '', also_in TEXT DEFAULT '[]',
            is_nearest boolean DEFAULT false, query TEXT DEFAULT '', {_ROWID})""",
        "CREATE INDEX ON citations (message_id)",
        f"""CREATE TABLE feedback (number bigint, message_id TEXT, value TEXT, noted_at DOUBLE,
            {_ROWID})""",
        f"""CREATE TABLE assistants (assistant_id TEXT, made_of TEXT,
            is_deleted boolean DEFAULT false, {_ROWID})""",
        f"""CREATE TABLE interactions (
            interaction_id TEXT, conversation_id TEXT, assistant_id TEXT DEFAULT '',
            question TEXT, asked TEXT, answer TEXT, outcome TEXT, ended_at DOUBLE, model TEXT,
            has_several_steps boolean, embedder TEXT DEFAULT '', vector bytea,
            number bigint DEFAULT 0, {_ROWID})""",
        f"""CREATE TABLE attached_images (attachment_id TEXT, mime TEXT, data bytea,
            kept_at DOUBLE, {_ROWID})""",
        f"""CREATE TABLE evaluations (
            evaluation_id TEXT, kind TEXT, name TEXT, created_at DOUBLE, seconds DOUBLE,
            version TEXT, settings TEXT, results TEXT, queries TEXT, number bigint DEFAULT 0,
            {_ROWID})""",
        f"""CREATE TABLE standing_questions (question_id TEXT, made_of TEXT,
            state TEXT DEFAULT '{{}}', is_deleted boolean DEFAULT false, {_ROWID})""",
        f"""CREATE TABLE standing_runs (run_id TEXT, question_id TEXT, made_of TEXT,
            number bigint, {_ROWID})""",
        # A row for each document that is claimed, see server_claims.py.
        f"""CREATE TABLE experiments (record_id TEXT, kind TEXT, owner_id TEXT, made_of json,
            number bigint, {_ROWID})""",
        "CREATE TABLE document_claims (document_id TEXT PRIMARY KEY)",
    )
]

# Postings in blocks, see posting_blocks.py. `postings` is a row for each posting again, for
# statements that need no speed: who may read a part sees only what is in it, the others see what
# is not deleted. `posting_state` tells maintenance what there is to do.
POSTING_BLOCKS = [
    """CREATE TABLE posting_blocks (key bigint, first_chunk bigint, last_chunk bigint,
        postings integer, packed bigint[] STORAGE PLAIN)""",
    """INSERT INTO posting_blocks SELECT key, min(chunk_id), max(chunk_id), count(*),
        array_agg(((chunk_id - first_chunk) << 32) | (least(tf, 65535)::bigint << 16)
            | least(term_count, 65535)::bigint ORDER BY chunk_id)
        FROM (SELECT *, min(chunk_id) OVER (PARTITION BY key, block) AS first_chunk
            FROM (SELECT *, (row_number() OVER (PARTITION BY key ORDER BY chunk_id) - 1) / 240
                AS block FROM postings) numbered) begun
        GROUP BY key, block ORDER BY key, block""",
    """ALTER TABLE posting_blocks ADD PRIMARY KEY (key, first_chunk)
        INCLUDE (last_chunk, postings)""",
    "DROP TABLE postings",
    "CREATE TABLE dead_chunks (first_chunk bigint, last_chunk bigint)",
    "CREATE TABLE posting_state (purges bigint, merged bigint, unmerged bigint)",
    """INSERT INTO posting_state
        SELECT 0, coalesce(sum(postings), 0), 0 FROM posting_blocks""",
    """CREATE VIEW postings WITH (security_barrier) AS
        SELECT b.key, b.first_chunk + (p.packed >> 32) AS chunk_id,
            ((p.packed >> 16) & 65535)::integer AS tf, (p.packed & 65535)::integer AS term_count
        FROM posting_blocks b, unnest(b.packed) AS p(packed)
        WHERE CASE WHEN current_user = 'desktop_rag_reader'
        THEN int8range(b.first_chunk, b.last_chunk, '[]') && (SELECT readable_chunks())
            AND b.first_chunk + (p.packed >> 32) <@ (SELECT readable_chunks())
        ELSE NOT b.first_chunk + (p.packed >> 32) <@ (SELECT coalesce(
            range_agg(int8range(first_chunk, last_chunk, '[]')), '{}') FROM dead_chunks) END""",
    "GRANT SELECT ON postings TO desktop_rag_reader",
]


# Rights of roles that log in themselves and may read a part of the library.
#
# An administrator gives them with `let_read(role, names of collections)`. Such a role is a member
# of
# the reader, so that every policy for that one holds for it; but which collections it may read is
# a
# row of a table, never a setting of its session. Of the index of words it sees what is in its own
# passages: neither the blocks of postings, which hold those of others too, nor a word that occurs
# only elsewhere.

_TABLES = (
    """CREATE TABLE role_collections (role name, collection_id text COLLATE pg_catalog."pg_c_utf8",
        PRIMARY KEY (role, collection_id))""",
    # The role behind the login can't be changed by SET ROLE; the owner's is that of a server.
    """CREATE FUNCTION is_of_server() RETURNS boolean STABLE LANGUAGE sql RETURN
        pg_has_role(session_user, (SELECT relowner FROM pg_class
            WHERE oid = 'library_state'::regclass), 'MEMBER')""",
)
_FUNCTIONS = (
    """CREATE OR REPLACE FUNCTION readable_collections() RETURNS text[] STABLE SECURITY DEFINER
        LANGUAGE sql SET search_path FROM CURRENT AS $$
        SELECT CASE WHEN is_of_server() THEN named('desktop_rag.collections') ELSE
            ARRAY(SELECT collection_id FROM role_collections WHERE role = session_user) END $$""",
    """CREATE OR REPLACE FUNCTION readable_documents() RETURNS text[] STABLE SECURITY DEFINER
        LANGUAGE sql SET search_path FROM CURRENT AS $$
        SELECT coalesce(array_agg(document_id), '{}') FROM documents d
        JOIN sources s USING (source_id)
        WHERE document_id = ANY (CASE WHEN is_of_server() THEN named('desktop_rag.documents')
            ELSE '{}' END) AND NOT s.is_attached $$""",
    # For a role with policies of its own, the chunks of the documents that those show.
    f"""CREATE FUNCTION visible_chunks() RETURNS int8multirange STABLE LANGUAGE plpgsql
        SET search_path FROM CURRENT AS $$ BEGIN
        IF pg_has_role(current_user, '{READER}', 'USAGE') THEN RETURN readable_chunks(); END IF;
        RETURN (SELECT coalesce(range_agg(int8range(t.first_chunk, t.last_chunk, '[]')), '{{}}')
            FROM document_texts t JOIN documents d USING (document_id)
            WHERE t.last_chunk >= t.first_chunk AND d.state <> 'gone'); END $$""",
    """CREATE FUNCTION let_read(who name, VARIADIC names text[] DEFAULT '{}') RETURNS void
        LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
        DECLARE unknown text; BEGIN
        SELECT n INTO unknown FROM unnest(names) AS n
            WHERE NOT n COLLATE "C" IN (SELECT c.name FROM collections c);
        IF unknown IS NOT NULL THEN
            RAISE EXCEPTION 'there is no collection “%”', unknown; END IF;
        EXECUTE format('GRANT %I TO %I WITH INHERIT TRUE, SET FALSE', '%READER%', who);
        DELETE FROM role_collections WHERE role = who;
        INSERT INTO role_collections SELECT who, c.collection_id FROM collections c
            WHERE c.name = ANY (names COLLATE "C");
        UPDATE library_state SET changes = changes + 1; END $$""".replace("%READER%", READER),
    "REVOKE EXECUTE ON FUNCTION let_read FROM PUBLIC",
)
_POSTINGS = """CREATE OR REPLACE VIEW postings WITH (security_barrier) AS
    SELECT b.key, b.first_chunk + (p.packed >> 32) AS chunk_id,
        ((p.packed >> 16) & 65535)::integer AS tf, (p.packed & 65535)::integer AS term_count
    FROM posting_blocks b, unnest(b.packed) AS p(packed)
    WHERE CASE WHEN (SELECT row_security_active('chunks'::regclass::oid))
    THEN int8range(b.first_chunk, b.last_chunk, '[]') && (SELECT visible_chunks())
        AND b.first_chunk + (p.packed >> 32) <@ (SELECT visible_chunks())
    ELSE NOT b.first_chunk + (p.packed >> 32) <@ (SELECT coalesce(
        range_agg(int8range(first_chunk, last_chunk, '[]')), '{}') FROM dead_chunks) END"""
_POLICIES = (
    f"GRANT SELECT ON migrations TO {READER}",
    # Without a policy, a role under row-level security sees no row, whatever it was granted.
    "ALTER TABLE posting_blocks ENABLE ROW LEVEL SECURITY",
    "ALTER TABLE dead_chunks ENABLE ROW LEVEL SECURITY",
    "ALTER TABLE role_collections ENABLE ROW LEVEL SECURITY",
    # Restrictive: it holds beside policies that show all. A server asks for words it looked up.
    """CREATE POLICY occurring ON terms AS RESTRICTIVE FOR SELECT USING ((SELECT is_of_server())
        OR EXISTS (SELECT 1 FROM postings p WHERE p.key = terms.key))""",
)


def create_role_rights(connection: Own) -> None:
    """Create what gives roles rights, and hide from them what they may not read."""
    for statement in (*_TABLES, *_FUNCTIONS, _POSTINGS, *_POLICIES):
        connection.execute(statement.encode())


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
