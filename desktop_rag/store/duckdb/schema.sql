-- The tables of a library in a DuckDB file, version 1. Features add their own, each from the
-- schema.sql of its folder.
--
-- No PRIMARY KEY, UNIQUE or index: DuckDB's own indexes reached corrupt states on tables that
-- change (duckdb#23645, #23788). Rows are deleted and inserted, never updated in place where it
-- matters; the write lane keeps ids unique. Each model has a table of vectors besides, see
-- search/chunk_cache.py.

CREATE TABLE library_version (version INTEGER);
INSERT INTO library_version VALUES (1);

-- The number of the last change that the journal holds, see database/journal.py.
CREATE TABLE journal_state (generation BIGINT);
INSERT INTO journal_state VALUES (0);


-- What exists only here. Settings and values that are read and written together are JSON.

CREATE TABLE collections (
    collection_id VARCHAR, name VARCHAR, created_at DOUBLE,
    chunking VARCHAR DEFAULT '{}',
    embedder VARCHAR DEFAULT '',       -- the model for its documents; empty: that of the settings
    answering INTEGER DEFAULT 0,       -- the model_id that answers until another one is complete
    intranet_hosts VARCHAR DEFAULT ''  -- one a line
);

CREATE TABLE sources (
    source_id VARCHAR, collection_id VARCHAR, path VARCHAR, added_at DOUBLE,
    rules VARCHAR DEFAULT '{}',
    links VARCHAR DEFAULT '',
    refreshed_at DOUBLE DEFAULT 0,
    is_attached BOOLEAN DEFAULT false, -- to a chat
    base_address VARCHAR DEFAULT '',   -- of a mirrored site
    program VARCHAR DEFAULT ''         -- which sends its documents
);

-- The tags that the person gave to files, one a line.
CREATE TABLE file_tags (tagging_id VARCHAR, path VARCHAR, tags VARCHAR);

CREATE TABLE assistants (
    assistant_id VARCHAR, made_of VARCHAR, is_deleted BOOLEAN DEFAULT false
);

CREATE TABLE conversations (
    conversation_id VARCHAR, title VARCHAR, collection_id VARCHAR, created_at DOUBLE,
    updated_at DOUBLE, is_deleted BOOLEAN,
    is_pinned BOOLEAN DEFAULT false,
    assistant_id VARCHAR DEFAULT '',
    attachments VARCHAR DEFAULT '[]',
    change_number BIGINT DEFAULT 0,    -- only grows: a clock may be set back
    kept_by VARCHAR DEFAULT ''         -- the program whose conversation it is
);

CREATE TABLE messages (
    message_id VARCHAR, conversation_id VARCHAR, position INTEGER, role VARCHAR, text VARCHAR,
    created_at DOUBLE, state VARCHAR, model VARCHAR, is_excerpts BOOLEAN, seconds DOUBLE,
    error_title VARCHAR, error_hint VARCHAR, thinking VARCHAR,
    notes VARCHAR DEFAULT '',          -- how the question was understood
    follow_ups VARCHAR DEFAULT '[]',
    claims VARCHAR DEFAULT '[]',
    is_own_knowledge BOOLEAN DEFAULT false,
    remembered VARCHAR DEFAULT '[]',   -- earlier answers that the model was shown
    attachments VARCHAR DEFAULT '[]',
    copy_of VARCHAR DEFAULT '',        -- the original, in a copied conversation
    scope VARCHAR DEFAULT '{}'
);

CREATE TABLE citations (
    message_id VARCHAR, n INTEGER, document_id VARCHAR, path VARCHAR, title VARCHAR,
    anchor VARCHAR, text VARCHAR, score DOUBLE, quote VARCHAR, start_offset INTEGER,
    end_offset INTEGER, is_cited BOOLEAN,
    part VARCHAR DEFAULT '',
    url VARCHAR DEFAULT '',
    also_in VARCHAR DEFAULT '[]',
    is_nearest BOOLEAN DEFAULT false,
    query VARCHAR DEFAULT ''           -- over a table, whose result was the source
);

-- A log: the last that was said counts.
CREATE TABLE feedback (number BIGINT, message_id VARCHAR, value VARCHAR, noted_at DOUBLE);

CREATE TABLE interactions (
    interaction_id VARCHAR, conversation_id VARCHAR, assistant_id VARCHAR DEFAULT '',
    question VARCHAR, asked VARCHAR, answer VARCHAR, outcome VARCHAR, ended_at DOUBLE,
    model VARCHAR, has_several_steps BOOLEAN,
    embedder VARCHAR DEFAULT '', vector BLOB,
    number BIGINT DEFAULT 0
);

CREATE TABLE attached_images (
    attachment_id VARCHAR, mime VARCHAR, data BLOB, kept_at DOUBLE
);


-- What can be made again from the person's files.

CREATE TABLE documents (
    document_id VARCHAR, source_id VARCHAR, path VARCHAR, title VARCHAR, format VARCHAR,
    size_bytes BIGINT, mtime_ns BIGINT, inode UBIGINT, content_hash VARCHAR, state VARCHAR,
    reason VARCHAR, chunk_count INTEGER, indexed_at DOUBLE,
    parent_id VARCHAR DEFAULT '',      -- the document it is inside, as `part`
    part VARCHAR DEFAULT '',
    url VARCHAR DEFAULT '',
    language VARCHAR DEFAULT '',
    chunking VARCHAR DEFAULT '',
    gone_at DOUBLE DEFAULT 0,
    readers INTEGER DEFAULT 0,         -- their version: newer ones may extract more
    plain_name VARCHAR DEFAULT '',     -- the file name for searching, see contract/database.py
    key UBIGINT,                       -- of the id, see search/postings.py
    dated VARCHAR DEFAULT '',          -- what it states about itself: its date (ISO), and
    tags VARCHAR DEFAULT ''            -- its tags, one a line
);

-- Apart from the documents, so that a change of state does not rewrite the text. The chunks of a
-- document have consecutive ids. With the places, as JSON, chunks can be made again without the
-- file.
CREATE TABLE document_texts (
    key UBIGINT, document_id VARCHAR, text VARCHAR, places VARCHAR, first_chunk BIGINT,
    last_chunk BIGINT
);

-- With their texts: a list of results must not read whole documents.
CREATE TABLE chunks (
    chunk_id BIGINT, document_id VARCHAR, position INTEGER, start_offset INTEGER,
    end_offset INTEGER, text VARCHAR, context VARCHAR, anchor VARCHAR, content_hash UUID,
    term_count INTEGER
);

-- The chunks of large documents that are being written, see documents/staged_content.py.
CREATE TABLE unfinished_content (document_id VARCHAR, first_chunk BIGINT, last_chunk BIGINT);

-- Postings are sorted by the key of their term from time to time, see search/postings.py; newer
-- ones are in a table of their own. Each has the length of its chunk, which costs less to read than
-- to look up.
CREATE TABLE postings (key UBIGINT, chunk_id BIGINT, tf USMALLINT, term_count USMALLINT);
CREATE TABLE recent_postings (
    key UBIGINT, term VARCHAR, chunk_id BIGINT, tf USMALLINT, term_count USMALLINT
);
-- The words of sorted postings, with the number of chunks that have each.
CREATE TABLE terms (key UBIGINT, term VARCHAR, chunks BIGINT);
-- The sizes of the runs of postings that follow those sorted together.
CREATE TABLE posting_runs (size BIGINT);
-- Chunks deleted since the postings were sorted. Their ids are never used again.
CREATE TABLE dead_chunks (chunk_id BIGINT);

CREATE TABLE models (
    model_id INTEGER, name VARCHAR, dimensions INTEGER, folder VARCHAR DEFAULT ''
);

-- What lets a server say that a page is unchanged, and the feed that lists it.
CREATE TABLE web_pages (
    document_id VARCHAR, etag VARCHAR, last_modified VARCHAR, fetched_at DOUBLE,
    listed_in VARCHAR DEFAULT ''
);
CREATE TABLE crawl_reports (source_id VARCHAR, made_of VARCHAR);

-- What happened to files in the last days, for the eye only.
CREATE TABLE file_changes (
    noted_at DOUBLE, kind VARCHAR, document_id VARCHAR, source_id VARCHAR, name VARCHAR,
    reason VARCHAR
);
