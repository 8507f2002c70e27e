"""Library-wide facts that every question needs, cached until a commit changes them. Any thread."""

from collections.abc import Mapping
from dataclasses import dataclass

from desktop_rag.store.duckdb.database.connections import Connection


@dataclass(frozen=True, slots=True)
class LibraryStatistics:
    """Facts about all documents and chunks.

    `languages` has the number of documents in each, the most frequent first ("" is unknown).
    `indexed_documents` have chunks. `has_gone` and `has_attached` are True when some document is
    gone or some source is attached to a chat. `terms` is the number of terms in all chunks.
    """

    languages: Mapping[str, int]
    indexed_documents: int
    has_gone: bool
    has_attached: bool
    chunk_count: int
    last_chunk_id: int
    terms: int


def read_statistics(con: Connection) -> LibraryStatistics:
    """Read them: a few milliseconds in a large library, so go through `Database.cached`."""
    documents = con.execute(
        "SELECT language, count(*) FILTER (chunk_count > 0), count(*) FILTER (state = 'gone'),"
        " count(*) FROM documents GROUP BY language ORDER BY count(*) DESC, language"
    ).fetchall()
    [(chunk_count, last_chunk_id, terms)] = con.execute(
        "SELECT count(*), coalesce(max(chunk_id), 0), coalesce(sum(term_count), 0)::BIGINT"
        " FROM chunks"
    ).fetchall()
    attached = con.execute("SELECT 1 FROM sources WHERE is_attached LIMIT 1").fetchall()
    return LibraryStatistics(
        {language: count for language, _, _, count in documents},
        sum(indexed for _, indexed, _, _ in documents),
        any(gone for _, _, gone, _ in documents),
        bool(attached),
        chunk_count,
        last_chunk_id,
        terms,
    )
