"""Library-wide facts that every question needs; of what may be read, if that is a part of it."""

from dataclasses import dataclass

from desktop_rag.store.postgres.database.server_connection import ServerConnection


@dataclass(frozen=True, slots=True)
class ServerStatistics:
    """Facts about all documents and chunks that the transaction sees.

    `languages` of the documents, the most frequent first ("" is unknown). `indexed_documents` have
    chunks. `mean_length` is the mean number of terms in a chunk, 1 without chunks.
    """

    languages: tuple[str, ...]
    indexed_documents: int
    has_gone: bool
    has_attached: bool
    chunk_count: int
    mean_length: float


def read_statistics(con: ServerConnection) -> ServerStatistics:
    """Read them, once per state of the library: see `ServerSnapshot.cached`."""
    documents = con.execute(
        "SELECT language, count(*) FILTER (WHERE chunk_count > 0),"
        " count(*) FILTER (WHERE state = 'gone') FROM documents GROUP BY language"
        " ORDER BY count(*) DESC, language"
    ).fetchall()
    [(chunk_count, terms)] = con.execute(
        "SELECT count(*), coalesce(sum(term_count), 0)::bigint FROM chunks"
    ).fetchall()
    attached = con.execute("SELECT 1 FROM sources WHERE is_attached LIMIT 1").fetchall()
    return ServerStatistics(
        tuple(language for language, _, _ in documents),
        sum(indexed for _, indexed, _ in documents),
        any(gone for _, _, gone in documents),
        bool(attached),
        chunk_count,
        terms / chunk_count if terms else 1.0,
    )
