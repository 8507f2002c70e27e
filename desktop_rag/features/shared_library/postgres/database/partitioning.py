"""Brings the tables of an older library into partitions by collection. Inside a transaction.

Each table is made anew beside the old one and filled from it. Policies and grants, also those that
an administrator wrote, are read as statements before and run again after.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from psycopg import sql

from desktop_rag.features.shared_library.postgres.database.posting_blocks import (
    Numbers,
    divided,
    insert_blocks,
    place_in,
)
from desktop_rag.features.shared_library.postgres.database.rights import READER, restrict
from desktop_rag.features.shared_library.postgres.database.server_connection import (
    Own,
    ServerConnection,
)

# Tables in partitions by collection: all that grows with passages. Inside a transaction.
#
# The key is `collection_id`, the last column of each of these tables. A row without a collection,
# as
# the vector of a passage that is not stored yet, has the empty one. A statement that names its
# collections leaves the other partitions out.

# A search by meaning in all collections asks each: eight cost it twice as much, for the same recall.
PARTITIONS = 4
NOWHERE = ""


def create_partitions(connection: Own, table: str) -> None:
    """Create the partitions of a table, so that nobody reads one past the policies of the table."""
    for number, name in enumerate(partition_names(table)):
        share = f"MODULUS {PARTITIONS}, REMAINDER {number}"
        statement = f"CREATE TABLE {name} PARTITION OF {table} FOR VALUES WITH ({share})"
        connection.execute(statement.encode())
        # The policies of the table hold for statements about the table. Without one of its own, a
        # partition shows no row to a role that was granted all tables.
        connection.execute(f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY".encode())


def partition_names(table: str) -> list[str]:
    """The names of the partitions of a table."""
    return [f"{table}_p{number}" for number in range(PARTITIONS)]


def collections_of(con: ServerConnection, source_ids: Sequence[str]) -> list[str]:
    """The collection of each source; the empty one for a source that does not exist."""
    rows = con.execute(
        "SELECT source_id, collection_id FROM sources WHERE source_id = ANY (?::text[])",
        [list(set(source_ids))],
    ).fetchall()
    known = dict(rows)
    return [known.get(source_id, NOWHERE) for source_id in source_ids]


# Postings are taken apart so many blocks at a time.
_BLOCKS = 30_000
_COLLECTION = """collection_id text COLLATE pg_catalog."pg_c_utf8" NOT NULL DEFAULT ''"""
# The columns of each primary key before the collection, and what follows the key.
_KEYS = {
    "documents": ("document_id", ""),
    "document_texts": ("document_id", ""),
    "chunks": ("chunk_id", ""),
    "posting_blocks": ("key, first_chunk", "INCLUDE (last_chunk, postings)"),
    "dead_chunks": ("first_chunk", ""),
}
_INDEXES = (
    "CREATE INDEX ON documents (source_id)",
    "CREATE INDEX ON documents (parent_id) WHERE parent_id <> ''",
    "CREATE INDEX ON documents (state) WHERE state <> 'searchable'",
    "CREATE INDEX ON chunks (document_id)",
    "CREATE INDEX ON chunks (content_hash)",
    # A small collection in a large partition.
    "CREATE INDEX ON chunks (collection_id)",
)
# Where the collection of each row comes from. Vectors get a row for each collection.
_SOURCES = {
    "documents": "LEFT JOIN sources k USING (source_id) ORDER BY document_id",
    "document_texts": "LEFT JOIN documents k USING (document_id) ORDER BY first_chunk",
    "chunks": "LEFT JOIN documents k USING (document_id) ORDER BY chunk_id",
}
_OF_CONTENTS = (
    "JOIN (SELECT DISTINCT content_hash, collection_id FROM chunks) k USING (content_hash)"
)
# As before, but planned once for each connection: with partitions that takes longer than to run.
_RANGES = """CREATE OR REPLACE FUNCTION {name}() RETURNS int8multirange STABLE {rights}
    LANGUAGE plpgsql SET search_path FROM CURRENT AS $$ BEGIN {first} RETURN (
        SELECT coalesce(range_agg(int8range(t.first_chunk, t.last_chunk, '[]')), '{{}}')
        FROM document_texts t JOIN documents d USING (document_id, collection_id)
        WHERE t.last_chunk >= t.first_chunk AND d.state <> 'gone'{which}); END $$"""
_READABLE = """ AND (d.source_id = ANY ((SELECT readable_sources())::text[])
    OR d.document_id = ANY ((SELECT readable_documents())::text[]))"""
_FUNCTIONS = (
    _RANGES.format(name="readable_chunks", rights="SECURITY DEFINER", first="", which=_READABLE),
    # For a role with policies of its own, the chunks of the documents that those show.
    _RANGES.format(
        name="visible_chunks",
        rights="",
        first=f"IF pg_has_role(current_user, '{READER}', 'USAGE')"
        " THEN RETURN readable_chunks(); END IF;",
        which="",
    ),
)
# As before, with the collection: what is asked of one partition does not ask the others.
_VIEW = """CREATE VIEW postings WITH (security_barrier) AS
    SELECT b.key, b.first_chunk + (p.packed >> 32) AS chunk_id,
        ((p.packed >> 16) & 65535)::integer AS tf, (p.packed & 65535)::integer AS term_count,
        b.collection_id
    FROM posting_blocks b, unnest(b.packed) AS p(packed)
    WHERE CASE WHEN (SELECT row_security_active('chunks'::regclass::oid))
    THEN int8range(b.first_chunk, b.last_chunk, '[]') && (SELECT visible_chunks())
        AND b.first_chunk + (p.packed >> 32) <@ (SELECT visible_chunks())
    ELSE NOT b.first_chunk + (p.packed >> 32) <@ (SELECT coalesce(
        range_agg(int8range(first_chunk, last_chunk, '[]')), '{}') FROM dead_chunks) END"""


def partition_library(connection: Own, schema: str) -> None:
    """Put every table that grows with passages into partitions."""
    models = connection.execute("SELECT model_id FROM models ORDER BY model_id").fetchall()
    vectors = [f"vectors_{model_id:d}" for (model_id,) in models]
    grants = list(_grants(connection, schema, [*_KEYS, "postings", *vectors]))
    policies = list(_policies(connection, schema, but=vectors))
    _run(connection, _without_policies(connection, schema))
    _run(connection, ["DROP VIEW postings"])
    for table, (key, rest) in _KEYS.items():
        _create(connection, table, key, rest)
        if table in _SOURCES:
            _fill(connection, table, _SOURCES[table])
    _run(connection, _INDEXES)
    _divide_postings(connection)
    for table in vectors:
        _create(connection, table, "content_hash", "")
        _fill(connection, table, _OF_CONTENTS)
        _run(connection, [f"CREATE INDEX ON {table} (collection_id)"])
        restrict(connection, table, policy_of_vectors(table))
    _run(connection, [f"DROP TABLE {_old(table)}" for table in (*_KEYS, *vectors)])
    _run(connection, [*_FUNCTIONS, _VIEW, *policies, *grants])
    _run(connection, [f"ANALYZE {table}" for table in (*_KEYS, *vectors)])


def policy_of_vectors(table: str) -> str:
    """The condition by which a reader sees a vector: one of the chunks beside it can be read.

    OFFSET keeps the planner from reading every chunk of the library for it first.
    """
    return (
        f"EXISTS (SELECT 1 FROM chunks c WHERE c.content_hash = {table}.content_hash"
        f" AND c.collection_id = {table}.collection_id OFFSET 0)"
    )


def _old(table: str) -> str:
    return f"{table}_before"


def _create(connection: Own, table: str, key: str, rest: str) -> None:
    made = (
        f"CREATE TABLE {table} (LIKE {_old(table)} INCLUDING DEFAULTS INCLUDING GENERATED"
        f" INCLUDING STORAGE INCLUDING COMPRESSION, {_COLLECTION},"
        f" PRIMARY KEY ({key}, collection_id) {rest}) PARTITION BY HASH (collection_id)"
    )
    renamed = f"ALTER TABLE {table} RENAME TO {_old(table)}"
    _run(connection, [renamed, made, f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY"])
    create_partitions(connection, table)


def _fill(connection: Own, table: str, joined: str) -> None:
    rows = connection.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0"
        " AND NOT attisdropped AND attgenerated = ''",
        [_old(table)],
    ).fetchall()
    columns = [name for (name,) in rows]
    filled = (
        f"INSERT INTO {table} ({', '.join(columns)}, collection_id)"
        f" SELECT {', '.join(f'b.{name}' for name in columns)},"
        f" coalesce(k.collection_id, '') FROM {_old(table)} b {joined}"
    )
    _run(connection, [filled])


def _divide_postings(connection: Own) -> None:
    """Store the postings of each collection in blocks of its own; deleted chunks are left out."""
    spans = connection.execute(
        "SELECT first_chunk, last_chunk, collection_id FROM document_texts"
        " WHERE last_chunk >= first_chunk ORDER BY first_chunk"
    ).fetchall()
    ranges = np.array([row[:2] for row in spans], np.int64).reshape(-1, 2)
    names = sorted({row[2] for row in spans})
    numbers = {name: number for number, name in enumerate(names)}
    owners = np.array([numbers[row[2]] for row in spans] + [-1], np.int64)

    def owner_of(chunk_ids: Numbers) -> Numbers:
        # The last one is that of a chunk in no range.
        return owners[place_in(chunk_ids, ranges[:, 0], ranges[:, 1])]

    con = ServerConnection(connection)
    after: Sequence[object] = (-(1 << 63), -1)
    while rows := con.rows_with_arrays(
        f"SELECT key, first_chunk, packed FROM {_old('posting_blocks')}"
        f" WHERE (key, first_chunk) > (?, ?) ORDER BY key, first_chunk LIMIT {_BLOCKS}",
        after,
    ):
        for owner, blocks in divided(rows, owner_of).items():
            insert_blocks(con, blocks, names[owner])
        after = rows[-1][:2]
    connection.execute(
        "UPDATE posting_state SET purges = purges + 1, unmerged = 0,"
        " merged = (SELECT coalesce(sum(postings), 0) FROM posting_blocks)"
    )


# --- rights, as statements -----------------------------------------------------------------------


def _policies(connection: Own, schema: str, but: Sequence[str]) -> Iterator[str]:
    """The policies of the library; those of some tables are left out."""
    rows = connection.execute(
        "SELECT policyname, tablename, permissive, cmd, roles, qual, with_check FROM pg_policies"
        " WHERE schemaname = %s ORDER BY tablename, policyname",
        [schema],
    ).fetchall()
    for name, table, permissive, command, roles, shown, checked in rows:
        if table in but and name == "readable":
            continue
        whom = ", ".join("PUBLIC" if role == "public" else _quoted(role) for role in roles)
        yield (
            f"CREATE POLICY {_quoted(name)} ON {_quoted(table)} AS {permissive} FOR {command}"
            f" TO {whom}"
            + (f" USING ({shown})" if shown else "")
            + (f" WITH CHECK ({checked})" if checked else "")
        )


def _without_policies(connection: Own, schema: str) -> list[str]:
    rows = connection.execute(
        "SELECT policyname, tablename FROM pg_policies WHERE schemaname = %s", [schema]
    ).fetchall()
    return [f"DROP POLICY {_quoted(name)} ON {_quoted(table)}" for name, table in rows]


def _grants(connection: Own, schema: str, tables: Sequence[str]) -> Iterator[str]:
    """What other roles than the owner may do with these tables."""
    rows = connection.execute(
        "SELECT c.relname, r.rolname, a.privilege_type, a.is_grantable FROM pg_class c"
        " JOIN pg_namespace n ON n.oid = c.relnamespace, aclexplode(c.relacl) a"
        " LEFT JOIN pg_roles r ON r.oid = a.grantee"
        " WHERE n.nspname = %s AND c.relname = ANY (%s) AND a.grantee <> c.relowner",
        [schema, list(tables)],
    ).fetchall()
    for table, role, right, is_grantable in rows:
        yield (
            f"GRANT {right} ON {_quoted(table)} TO {_quoted(role) if role else 'PUBLIC'}"
            + (" WITH GRANT OPTION" if is_grantable else "")
        )


def _quoted(name: str) -> str:
    return sql.Identifier(name).as_string()


def _run(connection: Own, statements: Sequence[str]) -> None:
    for statement in statements:
        connection.execute(statement.encode())
