"""Keeps vectors and content in the collections they belong to. Inside a transaction.

A model makes the vector of a content once; each further collection with the content gets a copy.
The vector of a content that no chunk has yet is kept without a collection.
"""

from collections.abc import Collection, Iterable, Sequence
from itertools import groupby
from operator import itemgetter

import numpy as np

from desktop_rag.features.shared_library.postgres.database.posting_blocks import (
    Numbers,
    divided,
    insert_blocks,
    place_in,
)
from desktop_rag.features.shared_library.postgres.database.server_connection import ServerConnection
from desktop_rag.features.shared_library.postgres.database.server_schema import NOWHERE
from desktop_rag.store.contract.vectors import vector_table

# A content hash and a collection.
Place = tuple[str, str]


def tables_of(con: ServerConnection) -> list[str]:
    """The tables of all models."""
    rows = con.execute("SELECT model_id FROM models ORDER BY model_id").fetchall()
    return [vector_table(model_id) for (model_id,) in rows]


def places_of(con: ServerConnection, table: str, hashes: Collection[str]) -> set[Place]:
    """The collections of these contents in a table with both columns."""
    rows = con.execute(
        f"SELECT DISTINCT content_hash, collection_id FROM {table}"
        " WHERE content_hash = ANY (?::uuid[])",
        [list(hashes)],
    ).fetchall()
    return {(content_hash.hex, collection_id) for content_hash, collection_id in rows}


def copy_to_places(
    con: ServerConnection, tables: Sequence[str], wanted: Iterable[Place]
) -> set[str]:
    """Copy vectors of other collections to these places; returns the contents that got one."""
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


# Blocks that are divided at a time.
_BLOCKS = 30_000
_BEFORE_ALL = (-(1 << 63), -1)


def misplaced(con: ServerConnection) -> list[str]:
    """The documents whose row is in another collection than their source."""
    rows = con.execute(
        "SELECT document_id FROM documents d JOIN sources s USING (source_id)"
        " WHERE d.collection_id <> s.collection_id"
    ).fetchall()
    return [document_id for (document_id,) in rows]


def move_content(con: ServerConnection, document_ids: Sequence[str]) -> None:
    """Move the content of documents into the collection of their source.

    Chunks keep their numbers, so that searches under way still find their passages, and posting
    lists in memory stay right.
    """
    ids = list(document_ids)
    con.execute(
        "UPDATE documents d SET collection_id = s.collection_id FROM sources s"
        " WHERE d.document_id = ANY (?::text[]) AND s.source_id = d.source_id"
        " AND d.collection_id <> s.collection_id",
        [ids],
    )
    rows = con.execute(
        "SELECT t.collection_id, d.collection_id, t.document_id, t.first_chunk, t.last_chunk"
        " FROM document_texts t JOIN documents d USING (document_id)"
        " WHERE t.document_id = ANY (?::text[]) AND t.collection_id <> d.collection_id"
        " ORDER BY 1, 2, 4",
        [ids],
    ).fetchall()
    for (before, after), moved in groupby(rows, key=itemgetter(0, 1)):
        own = list(moved)
        _move_rows(con, [row[2] for row in own], before, after)
        spans = [(first, last) for *_, first, last in own if first <= last]
        if spans:
            _move_postings(con, np.array(spans, np.int64), before, after)


def _move_rows(con: ServerConnection, ids: list[str], before: str, after: str) -> None:
    for table in ("document_texts", "chunks"):
        con.execute(
            f"UPDATE {table} SET collection_id = ?"
            " WHERE collection_id = ? AND document_id = ANY (?::text[])",
            [after, before, ids],
        )
    rows = con.execute(
        "SELECT DISTINCT content_hash FROM chunks"
        " WHERE collection_id = ? AND document_id = ANY (?::text[])",
        [after, ids],
    ).fetchall()
    # The vectors of the former collection stay until pruned: other documents may need them.
    copy_to_places(con, tables_of(con), ((row[0].hex, after) for row in rows))


def _move_postings(con: ServerConnection, spans: Numbers, before: str, after: str) -> None:
    """Move the postings of these ranges of chunks to blocks of another collection."""
    firsts, lasts = spans[:, 0], spans[:, 1]

    def is_moved(chunk_ids: Numbers) -> Numbers:
        return (place_in(chunk_ids, firsts, lasts) >= 0).astype(np.int64)

    ranges = "{" + ",".join(f"[{first},{last}]" for first, last in spans.tolist()) + "}"
    done: tuple[int, int] = _BEFORE_ALL
    while rows := con.rows_with_arrays(
        "SELECT key, first_chunk, packed FROM posting_blocks WHERE collection_id = ?"
        " AND (key, first_chunk) > (?, ?)"
        " AND int8range(first_chunk, last_chunk, '[]') && ?::int8multirange"
        f" ORDER BY key, first_chunk LIMIT {_BLOCKS}",
        [before, *done, ranges],
    ):
        done = rows[-1][:2]
        con.execute(
            "DELETE FROM posting_blocks b USING unnest(?::bigint[], ?::bigint[])"
            " AS g(key, first_chunk) WHERE b.collection_id = ?"
            " AND b.key = g.key AND b.first_chunk = g.first_chunk",
            [[row[0] for row in rows], [row[1] for row in rows], before],
        )
        for moves, blocks in divided(rows, is_moved).items():
            insert_blocks(con, blocks, after if moves else before)
