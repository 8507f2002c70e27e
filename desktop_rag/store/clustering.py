"""Keeps the postings sorted by term, so that searching stays fast as they grow. Any thread.

New postings are appended as they come. Once they are a fair share of all, everything is sorted
into a new table beside the old one, which goes on answering; only the exchange takes the lane.
"""

from desktop_rag.store.database import Connection, Database

# Below so many rows a search reads them all in no time.
_LEAST_ROWS = 200_000
_RECENT_SHARE = 0.15
_DEAD_SHARE = 0.15
_COLUMNS = "SELECT key, chunk_id, tf, term_count"


class PostingsClustering:
    """Sorts the postings anew when that is due."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def is_due(self) -> bool:
        """Whether a fair share of the postings is unsorted, or of chunks that are gone."""
        with self._database.read() as con:
            [(sorted_rows, recent, chunks, dead)] = con.execute(
                "SELECT (SELECT count(*) FROM postings), (SELECT count(*) FROM recent_postings),"
                " (SELECT count(*) FROM chunks), (SELECT count(*) FROM dead_chunks)"
            ).fetchall()
        return recent > max(_LEAST_ROWS, _RECENT_SHARE * sorted_rows) or (
            sorted_rows > _LEAST_ROWS and dead > _DEAD_SHARE * chunks
        )

    def run(self) -> None:
        """Sort all postings; what is written or deleted meanwhile keeps its effect."""
        with self._database.beside() as con:
            upto, dead = _build(con)
        self._database.write(lambda lane: _exchange(lane, upto, dead))


def _build(con: Connection) -> tuple[int, list[int]]:
    """Make the new tables; returns the last chunk in them and the dead ones left out."""
    con.begin()
    try:
        [(upto,)] = con.execute("SELECT coalesce(max(chunk_id), 0) FROM chunks").fetchall()
        dead = [row[0] for row in con.execute("SELECT chunk_id FROM dead_chunks").fetchall()]
        con.execute(
            f"CREATE OR REPLACE TABLE next_postings AS FROM ({_COLUMNS} FROM postings"
            f" UNION ALL {_COLUMNS} FROM recent_postings WHERE chunk_id <= {upto:d})"
            " WHERE chunk_id NOT IN (SELECT chunk_id FROM dead_chunks) ORDER BY key, chunk_id"
        )
        con.execute(
            "CREATE OR REPLACE TABLE next_terms AS SELECT key, term, chunks FROM"
            " (SELECT key, count(*) AS chunks FROM next_postings GROUP BY key) JOIN"
            " (SELECT DISTINCT key, term FROM (SELECT key, term FROM terms"
            " UNION ALL SELECT key, term FROM recent_postings)) USING (key) ORDER BY key"
        )
        con.commit()
    except BaseException:
        con.rollback()
        raise
    return upto, dead


def _exchange(con: Connection, upto: int, dead: list[int]) -> None:
    for table in ("postings", "terms"):
        con.execute(f"DROP TABLE {table}")
        con.execute(f"ALTER TABLE next_{table} RENAME TO {table}")
    # Deleted rows would be read over by every search until the next checkpoint.
    con.execute(
        "CREATE OR REPLACE TABLE recent_postings AS"
        f" SELECT * FROM recent_postings WHERE chunk_id > {upto:d}"
    )
    con.execute("DELETE FROM dead_chunks WHERE chunk_id IN (SELECT unnest(?))", [dead])
