"""Partitions by collection, of all tables that grow with passages. Inside a transaction.

The key is `collection_id`, the last column of each of these tables; it is empty for vectors of
passages that are not stored yet. Statements that name collections skip the other partitions.
"""

from collections.abc import Sequence

from desktop_rag.features.shared_library.postgres.database.server_connection import (
    Own,
    ServerConnection,
)

# A search by meaning asks each: eight partitions double its cost, for the same recall.
PARTITIONS = 4
NOWHERE = ""


def create_partitions(connection: Own, table: str) -> None:
    """Create the partitions of a table, which can't be read past its policies."""
    for number, name in enumerate(partition_names(table)):
        share = f"MODULUS {PARTITIONS}, REMAINDER {number}"
        statement = f"CREATE TABLE {name} PARTITION OF {table} FOR VALUES WITH ({share})"
        connection.execute(statement.encode())
        # The policies of the table hold for statements about the table only. Without a policy, a
        # partition shows no row, even to a role that was granted all tables.
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


def policy_of_vectors(table: str) -> str:
    """The condition for reading a vector: a chunk with its content can be read."""
    # OFFSET keeps the planner from reading all chunks of the library first.
    return (
        f"EXISTS (SELECT 1 FROM chunks c WHERE c.content_hash = {table}.content_hash"
        f" AND c.collection_id = {table}.collection_id OFFSET 0)"
    )
