"""The tables of a library, and the functions that its statements expect. Pure text.

Texts are compared by code points, whatever the locale of the database: every column has the
collation pg_c_utf8, which PostgreSQL has since version 17. Each library is a schema of its own.
"""

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
