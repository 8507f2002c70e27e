-- What was fetched of each remote, and how far its listing came. In the words of DuckDB, which the
-- other engines translate; run whole at each opening.

CREATE TABLE IF NOT EXISTS remote_items (
    source_id VARCHAR, item_id VARCHAR, path VARCHAR, part VARCHAR, version VARCHAR, size BIGINT,
    document_id VARCHAR, page VARCHAR, readers VARCHAR
);

CREATE TABLE IF NOT EXISTS remote_parts (source_id VARCHAR, part VARCHAR, token VARCHAR);
