"""What holds of the library as a whole, which every question needs to know. Any thread."""

from dataclasses import dataclass

from desktop_rag.store.duckdb.database.connections import Connection


@dataclass(frozen=True, slots=True)
class LibraryStatistics:
    """Of the documents their `languages`, the most frequent first ("" is unknown), how many have
    chunks (`filled`), whether some are `hidden`, being gone, or `attached` to a chat. Of the chunks
    their number, the `last` one's number, and the mean number of their terms, 1 without any.
    """

    languages: tuple[str, ...]
    filled: int
    hidden: bool
    attached: bool
    chunks: int
    last: int
    mean_length: float


def statistics_of(con: Connection) -> LibraryStatistics:
    """Look them up: a few milliseconds in a large library. See `Database.known`."""
    documents = con.execute(
        "SELECT language, count(*) FILTER (chunk_count > 0), count(*) FILTER (state = 'gone')"
        " FROM documents GROUP BY language ORDER BY count(*) DESC, language"
    ).fetchall()
    [(chunks, last, mean_length)] = con.execute(
        "SELECT count(*), coalesce(max(chunk_id), 0), avg(term_count) FROM chunks"
    ).fetchall()
    attached = con.execute("SELECT 1 FROM sources WHERE is_attached LIMIT 1").fetchall()
    return LibraryStatistics(
        tuple(language for language, _, _ in documents),
        sum(filled for _, filled, _ in documents),
        any(gone for _, _, gone in documents),
        bool(attached),
        chunks,
        last,
        mean_length or 1.0,
    )
