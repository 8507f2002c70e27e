"""Library-wide facts that every question needs; of what may be read, if that is a part of it."""

from collections.abc import Mapping
from dataclasses import dataclass

from desktop_rag.features.shared_library.postgres.database.server_connection import ServerConnection
from desktop_rag.features.shared_library.postgres.database.server_database import ServerSnapshot
from desktop_rag.features.shared_library.postgres.search.server_scope import Visible


@dataclass(frozen=True, slots=True)
class ServerStatistics:
    """Facts about all documents and chunks that the transaction sees.

    `languages` has the number of documents in each, the most frequent first ("" is unknown).
    `indexed_documents` have chunks. `terms` is the number of terms in all chunks.
    """

    languages: Mapping[str, int]
    indexed_documents: int
    has_gone: bool
    has_attached: bool
    chunk_count: int
    terms: int


def read_statistics(con: ServerConnection) -> ServerStatistics:
    """Read them, once per state of the library: see `ServerSnapshot.cached`."""
    documents = con.execute(
        "SELECT language, count(*) FILTER (WHERE chunk_count > 0),"
        " count(*) FILTER (WHERE state = 'gone'), count(*) FROM documents GROUP BY language"
        " ORDER BY count(*) DESC, language"
    ).fetchall()
    [(chunk_count, terms)] = con.execute(
        "SELECT count(*), coalesce(sum(term_count), 0)::bigint FROM chunks"
    ).fetchall()
    attached = con.execute("SELECT 1 FROM sources WHERE is_attached LIMIT 1").fetchall()
    return ServerStatistics(
        {language: count for language, _, _, count in documents},
        sum(indexed for _, indexed, _, _ in documents),
        any(gone for _, _, gone, _ in documents),
        bool(attached),
        chunk_count,
        terms,
    )


def read_collections(con: ServerConnection) -> tuple[str, ...]:
    """The collections with documents that the transaction sees."""
    rows = con.execute("SELECT DISTINCT collection_id FROM documents").fetchall()
    return tuple(sorted(row[0] for row in rows))


def visible_in(snapshot: ServerSnapshot) -> Visible:
    """What conditions have to leave out; for somebody who may read a part, the part."""
    statistics = snapshot.cached(read_statistics)
    return Visible(statistics.has_gone, statistics.has_attached, collections_seen(snapshot))


def collections_seen(snapshot: ServerSnapshot) -> tuple[str, ...] | None:
    """The only collections of which the snapshot sees documents; None where it sees all."""
    return snapshot.cached(read_collections) if snapshot.is_limited else None
