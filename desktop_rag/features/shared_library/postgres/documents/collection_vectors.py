"""The vectors of contents, a row for each collection that has the content. Inside a transaction.

A model makes the vector of a content once; every further collection gets a copy. The vector of a
content that no chunk has yet is kept without a collection until one comes.
"""

from collections.abc import Collection, Iterable, Sequence

from desktop_rag.features.shared_library.postgres.database.partitions import NOWHERE
from desktop_rag.features.shared_library.postgres.database.server_connection import ServerConnection

# A content hash and a collection.
Place = tuple[str, str]


def vector_table(model_id: int) -> str:
    """The name of a model's table."""
    return f"vectors_{model_id:d}"


def tables_of(con: ServerConnection) -> list[str]:
    """The tables of all models."""
    rows = con.execute("SELECT model_id FROM models ORDER BY model_id").fetchall()
    return [vector_table(model_id) for (model_id,) in rows]


def places_of(con: ServerConnection, table: str, hashes: Collection[str]) -> set[Place]:
    """Where these contents are in a table with the columns of a content and a collection."""
    rows = con.execute(
        f"SELECT DISTINCT content_hash, collection_id FROM {table}"
        " WHERE content_hash = ANY (?::uuid[])",
        [list(hashes)],
    ).fetchall()
    return {(content_hash.hex, collection_id) for content_hash, collection_id in rows}


def copy_to_places(
    con: ServerConnection, tables: Sequence[str], wanted: Iterable[Place]
) -> set[str]:
    """Give contents their vector in these collections where another has it; those that got one."""
    wanted, copied = set(wanted), set[str]()
    for table in tables:
        known = places_of(con, table, {content_hash for content_hash, _ in wanted})
        have_any = {content_hash for content_hash, _ in known}
        missing = sorted(place for place in wanted - known if place[0] in have_any)
        if not missing:
            continue
        con.execute(
            f"INSERT INTO {table} (content_hash, collection_id, vector, windows)"
            " SELECT DISTINCT ON (g.content_hash, g.collection_id)"
            " g.content_hash, g.collection_id, v.vector, v.windows"
            f" FROM unnest(?::uuid[], ?::text[]) AS g(content_hash, collection_id) JOIN {table} v"
            " ON v.content_hash = g.content_hash"
            " ORDER BY g.content_hash, g.collection_id, v.windows IS NULL",
            [[content_hash for content_hash, _ in missing], [place for _, place in missing]],
        )
        con.execute(
            f"DELETE FROM {table} WHERE collection_id = ? AND content_hash = ANY (?::uuid[])",
            [NOWHERE, [content_hash for content_hash, place in missing if place != NOWHERE]],
        )
        copied |= {content_hash for content_hash, _ in missing}
    return copied
