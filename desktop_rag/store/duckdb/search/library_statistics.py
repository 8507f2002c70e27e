"""Library-wide facts that every question needs, cached until a commit changes them. Any thread."""

from dataclasses import dataclass

from desktop_rag.store.duckdb.database.connections import Connection


@dataclass(frozen=True, slots=True)
class LibraryStatistics:
    """Facts about all documents and chunks.

    `languages` of the documents, the most frequent first ("" is unknown). `indexed_documents` have
    chunks. `has_gone` and `has_attached` are True when some document is gone or some source is
    attached to a chat. `mean_length` is the mean number of terms in a chunk, 1 without chunks.
    """

    languages: tuple[str, ...]
    indexed_documents: int
    has_gone: bool
    has_attached: bool
    chunk_count: int
    last_chunk_id: int
    mean_length: float


def read_statistics(con: Connection) -> LibraryStatistics:
    """Read them: a few milliseconds in a large library, so go through `Database.cached`."""
    documents = con.execute(
        "SELECT language, count(*) FILTER (chunk_count > 0), count(*) FILTER (state = 'gone')"
        " FROM documents GROUP BY language ORDER BY count(*) DESC, language"
    ).fetchall()
    [(chunk_count, last_chunk_id, mean_length)] = con.execute(
        "SELECT count(*), coalesce(max(chunk_id), 0), avg(term_count) FROM chunks"
    ).fetchall()
    attached = con.execute("SELECT 1 FROM sources WHERE is_attached LIMIT 1").fetchall()
    return LibraryStatistics(
        tuple(language for language, _, _ in documents),
        sum(indexed for _, indexed, _ in documents),
        any(gone for _, _, gone in documents),
        bool(attached),
        chunk_count,
        last_chunk_id,
        mean_length or 1.0,
    )
