-- The tables of a library on a server, version 1, each library in a schema of its own. Features add
-- their tables, each from the schema.sql of its folder.
--
-- What stands here for something longer: VARCHAR is text that is compared by code points, whatever
-- the locale of the database (PostgreSQL has that collation since version 17); PACKED is the same,
-- compressed by LZ4 where the server can; DOUBLE is double precision; ROWID is a column that keeps
-- the order of arrival, see store/contract/precious_rows.py. The columns are described in the schema.sql
-- of the embedded engine; what is different here is said here.


-- Functions of the embedded engine that statements use.

CREATE FUNCTION nfc_normalize(given text) RETURNS text IMMUTABLE PARALLEL SAFE LANGUAGE sql
    RETURN normalize(given, NFC);
CREATE FUNCTION contains(whole text, part text) RETURNS boolean IMMUTABLE PARALLEL SAFE LANGUAGE sql
    RETURN strpos(whole, part) > 0;
CREATE FUNCTION string_split(whole text, separator text) RETURNS text[] IMMUTABLE PARALLEL SAFE
    LANGUAGE sql RETURN string_to_array(whole, separator);
CREATE FUNCTION parse_filename(path text) RETURNS text IMMUTABLE PARALLEL SAFE LANGUAGE sql
    RETURN substring(path from '[^/]*$');
CREATE FUNCTION parse_dirpath(path text) RETURNS text IMMUTABLE PARALLEL SAFE LANGUAGE sql
    RETURN regexp_replace(path, '/[^/]*$', '');
CREATE FUNCTION plain_name(path text) RETURNS text IMMUTABLE PARALLEL SAFE LANGUAGE sql
    RETURN replace(replace(normalize(lower(parse_filename(path) COLLATE pg_catalog."pg_c_utf8"),
        NFC), 'ß', 'ss'), 'ς', 'σ');
-- The value that goes with the highest, or the lowest, number.
CREATE FUNCTION keep_highest(kept text[], value text, number bigint) RETURNS text[] IMMUTABLE
    LANGUAGE sql RETURN CASE WHEN kept IS NULL OR kept[1]::bigint < number
        THEN ARRAY[number::text, value] ELSE kept END;
CREATE FUNCTION keep_lowest(kept text[], value text, number bigint) RETURNS text[] IMMUTABLE
    LANGUAGE sql RETURN CASE WHEN kept IS NULL OR kept[1]::bigint > number
        THEN ARRAY[number::text, value] ELSE kept END;
CREATE FUNCTION kept_value(kept text[]) RETURNS text IMMUTABLE LANGUAGE sql RETURN kept[2];
CREATE AGGREGATE arg_max(text, bigint)
    (SFUNC = keep_highest, STYPE = text[], FINALFUNC = kept_value);
CREATE AGGREGATE arg_min(text, bigint)
    (SFUNC = keep_lowest, STYPE = text[], FINALFUNC = kept_value);


-- How often the library changed, and what can't be made again. Each write locks this row.
CREATE TABLE library_state (changes bigint, generation bigint, version integer);
INSERT INTO library_state VALUES (0, 0, 1);


-- What exists only here.

CREATE TABLE collections (
    collection_id VARCHAR, name VARCHAR, created_at DOUBLE,
    chunking VARCHAR DEFAULT '{}', embedder VARCHAR DEFAULT '', answering integer DEFAULT 0,
    intranet_hosts VARCHAR DEFAULT '', ROWID
);

CREATE TABLE sources (
    source_id VARCHAR, collection_id VARCHAR, path VARCHAR, added_at DOUBLE,
    rules VARCHAR DEFAULT '{}', links VARCHAR DEFAULT '', refreshed_at DOUBLE DEFAULT 0,
    is_attached boolean DEFAULT false, base_address VARCHAR DEFAULT '',
    program VARCHAR DEFAULT '', ROWID
);

CREATE TABLE file_tags (tagging_id VARCHAR, path VARCHAR, tags VARCHAR, ROWID);

CREATE TABLE assistants (
    assistant_id VARCHAR, made_of VARCHAR, is_deleted boolean DEFAULT false, ROWID
);

CREATE TABLE conversations (
    conversation_id VARCHAR, title VARCHAR, collection_id VARCHAR, created_at DOUBLE,
    updated_at DOUBLE, is_deleted boolean, is_pinned boolean DEFAULT false,
    assistant_id VARCHAR DEFAULT '', attachments VARCHAR DEFAULT '[]',
    change_number bigint DEFAULT 0, kept_by VARCHAR DEFAULT '', ROWID
);

CREATE TABLE messages (
    message_id VARCHAR, conversation_id VARCHAR, position integer, role VARCHAR, text VARCHAR,
    created_at DOUBLE, state VARCHAR, model VARCHAR, is_excerpts boolean, seconds DOUBLE,
    error_title VARCHAR, error_hint VARCHAR, thinking VARCHAR, notes VARCHAR DEFAULT '',
    follow_ups VARCHAR DEFAULT '[]', claims VARCHAR DEFAULT '[]',
    is_own_knowledge boolean DEFAULT false, remembered VARCHAR DEFAULT '[]',
    attachments VARCHAR DEFAULT '[]', copy_of VARCHAR DEFAULT '', scope VARCHAR DEFAULT '{}', ROWID
);
CREATE INDEX ON messages (conversation_id);
CREATE INDEX ON messages (message_id);

CREATE TABLE citations (
    message_id VARCHAR, n integer, document_id VARCHAR, path VARCHAR, title VARCHAR,
    anchor VARCHAR, text VARCHAR, score DOUBLE, quote VARCHAR, start_offset integer,
    end_offset integer, is_cited boolean, part VARCHAR DEFAULT '', url VARCHAR DEFAULT '',
    also_in VARCHAR DEFAULT '[]', is_nearest boolean DEFAULT false, query VARCHAR DEFAULT '', ROWID
);
CREATE INDEX ON citations (message_id);

CREATE TABLE feedback (number bigint, message_id VARCHAR, value VARCHAR, noted_at DOUBLE, ROWID);

CREATE TABLE interactions (
    interaction_id VARCHAR, conversation_id VARCHAR, assistant_id VARCHAR DEFAULT '',
    question VARCHAR, asked VARCHAR, answer VARCHAR, outcome VARCHAR, ended_at DOUBLE,
    model VARCHAR, has_several_steps boolean, embedder VARCHAR DEFAULT '', vector bytea,
    number bigint DEFAULT 0, ROWID
);

CREATE TABLE attached_images (
    attachment_id VARCHAR, mime VARCHAR, data bytea, kept_at DOUBLE, ROWID
);


-- What can be made again from the files. All that grows with passages is in partitions by
-- collection, as is each model's table of vectors, see database/partitioning.py: there, a row
-- without a collection has the empty one.

CREATE TABLE documents (
    document_id VARCHAR, source_id VARCHAR, path VARCHAR, title VARCHAR, format VARCHAR,
    size_bytes bigint, mtime_ns bigint, inode numeric(20), content_hash VARCHAR, state VARCHAR,
    reason VARCHAR, chunk_count integer, indexed_at DOUBLE, parent_id VARCHAR DEFAULT '',
    part VARCHAR DEFAULT '', url VARCHAR DEFAULT '', language VARCHAR DEFAULT '',
    chunking VARCHAR DEFAULT '', gone_at DOUBLE DEFAULT 0, readers integer DEFAULT 0,
    dated VARCHAR DEFAULT '', tags VARCHAR DEFAULT '',
    plain_name VARCHAR GENERATED ALWAYS AS (plain_name(path)) STORED,
    collection_id VARCHAR NOT NULL DEFAULT '',
    PRIMARY KEY (document_id, collection_id)
) PARTITION BY HASH (collection_id);
CREATE INDEX ON documents (source_id);
CREATE INDEX ON documents (parent_id) WHERE parent_id <> '';
CREATE INDEX ON documents (state) WHERE state <> 'searchable';

-- PostgreSQL's own way to compress takes a quarter of the processor time of loading, and saves
-- little of the space.
CREATE TABLE document_texts (
    document_id VARCHAR, text PACKED, places PACKED, first_chunk bigint, last_chunk bigint,
    collection_id VARCHAR NOT NULL DEFAULT '',
    PRIMARY KEY (document_id, collection_id)
) PARTITION BY HASH (collection_id);

-- Chunk ids only grow, so that a range of them lies together.
CREATE SEQUENCE chunk_numbers;
CREATE TABLE chunks (
    chunk_id bigint, document_id VARCHAR, position integer, start_offset integer,
    end_offset integer, text VARCHAR, context VARCHAR, anchor VARCHAR, content_hash uuid,
    term_count integer,
    collection_id VARCHAR NOT NULL DEFAULT '',
    PRIMARY KEY (chunk_id, collection_id)
) PARTITION BY HASH (collection_id);
CREATE INDEX ON chunks (document_id);
CREATE INDEX ON chunks (content_hash);
CREATE INDEX ON chunks (collection_id); -- a small collection in a large partition

-- Postings in blocks, see database/posting_blocks.py.
CREATE TABLE posting_blocks (
    key bigint, first_chunk bigint, last_chunk bigint, postings integer,
    packed bigint[] STORAGE PLAIN,
    collection_id VARCHAR NOT NULL DEFAULT '',
    PRIMARY KEY (key, first_chunk, collection_id) INCLUDE (last_chunk, postings)
) PARTITION BY HASH (collection_id);

CREATE TABLE dead_chunks (
    first_chunk bigint, last_chunk bigint,
    collection_id VARCHAR NOT NULL DEFAULT '',
    PRIMARY KEY (first_chunk, collection_id)
) PARTITION BY HASH (collection_id);

-- Tells maintenance what there is to do.
CREATE TABLE posting_state (purges bigint, merged bigint, unmerged bigint);
INSERT INTO posting_state VALUES (0, 0, 0);

-- A word by its number.
CREATE TABLE terms (key bigint PRIMARY KEY, term VARCHAR);
CREATE INDEX ON terms (term);

CREATE TABLE models (
    model_id integer, name VARCHAR, dimensions integer, folder VARCHAR DEFAULT ''
);

CREATE TABLE web_pages (
    document_id VARCHAR, etag VARCHAR, last_modified VARCHAR, fetched_at DOUBLE,
    listed_in VARCHAR DEFAULT ''
);
CREATE TABLE crawl_reports (source_id VARCHAR, made_of VARCHAR);

CREATE TABLE file_changes (
    noted_at DOUBLE, kind VARCHAR, document_id VARCHAR, source_id VARCHAR, name VARCHAR,
    reason VARCHAR
);

-- A row for each document that is claimed, see documents/server_claims.py.
CREATE TABLE document_claims (document_id VARCHAR PRIMARY KEY);


-- What a reading transaction may see, see database/rights.py. A transaction of a server names the
-- collections and documents that somebody may read. A role that logs in itself may read what
-- `let_read` gave it, which an administrator runs: a row of a table, never a setting of its session.
-- Of the index of words it sees what is in its own passages: neither the blocks of postings, which
-- hold those of others too, nor a word that occurs only elsewhere.

CREATE TABLE role_collections (role name, collection_id VARCHAR, PRIMARY KEY (role, collection_id));

-- The role behind the login can't be changed by SET ROLE; the owner's is that of a server.
CREATE FUNCTION is_of_server() RETURNS boolean STABLE LANGUAGE sql RETURN
    pg_has_role(session_user,
        (SELECT relowner FROM pg_class WHERE oid = 'library_state'::regclass), 'MEMBER');

-- A setting that was never made, or ended with its transaction, is NULL or empty: then nothing is
-- named.
CREATE FUNCTION named(setting text) RETURNS text[] STABLE LANGUAGE sql RETURN
    ARRAY(SELECT json_array_elements_text(
        coalesce(nullif(current_setting(setting, true), ''), '[]')::json));

-- These run with the rights of their owner, once per statement.
CREATE FUNCTION readable_collections() RETURNS text[] STABLE SECURITY DEFINER LANGUAGE sql
    SET search_path FROM CURRENT AS $$
    SELECT CASE WHEN is_of_server() THEN named('desktop_rag.collections') ELSE
        ARRAY(SELECT collection_id FROM role_collections WHERE role = session_user) END $$;
CREATE FUNCTION readable_sources() RETURNS text[] STABLE SECURITY DEFINER LANGUAGE sql
    SET search_path FROM CURRENT AS $$
    SELECT coalesce(array_agg(source_id), '{}') FROM sources
    WHERE NOT is_attached AND collection_id = ANY (readable_collections()) $$;
CREATE FUNCTION readable_documents() RETURNS text[] STABLE SECURITY DEFINER LANGUAGE sql
    SET search_path FROM CURRENT AS $$
    SELECT coalesce(array_agg(document_id), '{}') FROM documents d JOIN sources s USING (source_id)
    WHERE document_id = ANY (CASE WHEN is_of_server() THEN named('desktop_rag.documents')
        ELSE '{}' END) AND NOT s.is_attached $$;
-- In plpgsql it is planned once for each connection, which with partitions takes longer than to run.
CREATE FUNCTION readable_chunks() RETURNS int8multirange STABLE SECURITY DEFINER LANGUAGE plpgsql
    SET search_path FROM CURRENT AS $$ BEGIN RETURN (
    SELECT coalesce(range_agg(int8range(t.first_chunk, t.last_chunk, '[]')), '{}')
    FROM document_texts t JOIN documents d USING (document_id, collection_id)
    WHERE t.last_chunk >= t.first_chunk AND d.state <> 'gone'
        AND (d.source_id = ANY ((SELECT readable_sources())::text[])
            OR d.document_id = ANY ((SELECT readable_documents())::text[]))); END $$;

-- For a role with policies of its own, the chunks of the documents that those show.
CREATE FUNCTION visible_chunks() RETURNS int8multirange STABLE LANGUAGE plpgsql
    SET search_path FROM CURRENT AS $$ BEGIN
    IF pg_has_role(current_user, 'desktop_rag_reader', 'USAGE') THEN RETURN readable_chunks(); END IF;
    RETURN (SELECT coalesce(range_agg(int8range(t.first_chunk, t.last_chunk, '[]')), '{}')
        FROM document_texts t JOIN documents d USING (document_id, collection_id)
        WHERE t.last_chunk >= t.first_chunk AND d.state <> 'gone'); END $$;

CREATE FUNCTION let_read(who name, VARIADIC names text[] DEFAULT '{}') RETURNS void
    LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
    DECLARE unknown text; BEGIN
    SELECT n INTO unknown FROM unnest(names) AS n
        WHERE NOT n COLLATE "C" IN (SELECT c.name FROM collections c);
    IF unknown IS NOT NULL THEN
        RAISE EXCEPTION 'there is no collection “%”', unknown; END IF;
    EXECUTE format('GRANT %I TO %I WITH INHERIT TRUE, SET FALSE', 'desktop_rag_reader', who);
    DELETE FROM role_collections WHERE role = who;
    INSERT INTO role_collections SELECT who, c.collection_id FROM collections c
        WHERE c.name = ANY (names COLLATE "C");
    UPDATE library_state SET changes = changes + 1; END $$;
REVOKE EXECUTE ON FUNCTION let_read FROM PUBLIC;

-- A row for each posting, for statements that need no speed: who may read a part sees only what is
-- in it, the others see what is not deleted. With the collection, so that what is asked of one
-- partition does not ask the others.
CREATE VIEW postings WITH (security_barrier) AS
    SELECT b.key, b.first_chunk + (p.packed >> 32) AS chunk_id,
        ((p.packed >> 16) & 65535)::integer AS tf, (p.packed & 65535)::integer AS term_count,
        b.collection_id
    FROM posting_blocks b, unnest(b.packed) AS p(packed)
    WHERE CASE WHEN (SELECT row_security_active('chunks'::regclass::oid))
    THEN int8range(b.first_chunk, b.last_chunk, '[]') && (SELECT visible_chunks())
        AND b.first_chunk + (p.packed >> 32) <@ (SELECT visible_chunks())
    ELSE NOT b.first_chunk + (p.packed >> 32) <@ (SELECT coalesce(
        range_agg(int8range(first_chunk, last_chunk, '[]')), '{}') FROM dead_chunks) END;

-- Without a policy, a role under row-level security sees no row, whatever it was granted.
ALTER TABLE collections ENABLE ROW LEVEL SECURITY;
ALTER TABLE sources ENABLE ROW LEVEL SECURITY;
ALTER TABLE documents ENABLE ROW LEVEL SECURITY;
ALTER TABLE document_texts ENABLE ROW LEVEL SECURITY;
ALTER TABLE chunks ENABLE ROW LEVEL SECURITY;
ALTER TABLE file_tags ENABLE ROW LEVEL SECURITY;
ALTER TABLE terms ENABLE ROW LEVEL SECURITY;
ALTER TABLE models ENABLE ROW LEVEL SECURITY;
ALTER TABLE library_state ENABLE ROW LEVEL SECURITY;
ALTER TABLE posting_blocks ENABLE ROW LEVEL SECURITY;
ALTER TABLE dead_chunks ENABLE ROW LEVEL SECURITY;
ALTER TABLE role_collections ENABLE ROW LEVEL SECURITY;

CREATE POLICY readable ON collections FOR SELECT TO desktop_rag_reader
    USING (collection_id = ANY ((SELECT readable_collections())::text[]));
CREATE POLICY readable ON sources FOR SELECT TO desktop_rag_reader
    USING (source_id = ANY ((SELECT readable_sources())::text[])
        OR source_id IN (SELECT d.source_id FROM documents d));
CREATE POLICY readable ON documents FOR SELECT TO desktop_rag_reader
    USING (state <> 'gone' AND (source_id = ANY ((SELECT readable_sources())::text[])
        OR document_id = ANY ((SELECT readable_documents())::text[])));
CREATE POLICY readable ON document_texts FOR SELECT TO desktop_rag_reader
    USING (document_id IN (SELECT d.document_id FROM documents d));
CREATE POLICY readable ON chunks FOR SELECT TO desktop_rag_reader
    USING (chunk_id <@ (SELECT readable_chunks()));
CREATE POLICY readable ON file_tags FOR SELECT TO desktop_rag_reader
    USING (path IN (SELECT d.path FROM documents d));
-- What these tell of the rest is counted by the postings and chunks that may be read.
CREATE POLICY readable ON terms FOR SELECT TO desktop_rag_reader USING (true);
CREATE POLICY readable ON models FOR SELECT TO desktop_rag_reader USING (true);
CREATE POLICY readable ON library_state FOR SELECT TO desktop_rag_reader USING (true);
-- Restrictive: it holds beside policies that show all. A server asks for words it looked up.
CREATE POLICY occurring ON terms AS RESTRICTIVE FOR SELECT
    USING ((SELECT is_of_server()) OR EXISTS (SELECT 1 FROM postings p WHERE p.key = terms.key));

GRANT SELECT ON collections, sources, documents, document_texts, chunks, postings, file_tags, terms,
    models, library_state TO desktop_rag_reader;
