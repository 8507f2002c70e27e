"""Tables in partitions by collection: all that grows with passages. Inside a transaction.

The key is `collection_id`, the last column of each of these tables. A row without a collection, as
the vector of a passage that is not stored yet, has the empty one. A statement that names its
collections leaves the other partitions out.
"""

from collections.abc import Sequence

from desktop_rag.features.shared_library.postgres.database.server_connection import (
    Own,
    ServerConnection,
)

# A search by meaning in all collections asks each: eight cost it twice, for the same recall.
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


def policy_of_vectors(table: str) -> str:
    """The condition by which a reader sees a vector: one of the chunks beside it can be read.

    OFFSET keeps the planner from reading every chunk of the library for it first.
    """
    return (
        f"EXISTS (SELECT 1 FROM chunks c WHERE c.content_hash = {table}.content_hash"
        f" AND c.collection_id = {table}.collection_id OFFSET 0)"
    )
