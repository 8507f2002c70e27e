"""Sorts all postings by term together, so that searching stays fast as they grow. Any thread.

New postings are appended as they come, and sorted in runs (see postings.py). Once those are a fair
share of all, everything is sorted into a new table beside the old one, which goes on answering;
only the exchange takes the lane.
"""

from dataclasses import dataclass

from desktop_rag.store.duckdb.database.database import Connection, Database
from desktop_rag.store.duckdb.search.postings import SORTED_ANEW

# Below so many rows a search reads them all in no time.
_LEAST_ROWS = 200_000
_APART_SHARE = 0.15
_DEAD_SHARE = 0.15
_COLUMNS = "SELECT key, chunk_id, tf, term_count"
_RUNS = "SELECT coalesce(sum(size), 0)::BIGINT FROM posting_runs"


@dataclass(frozen=True, slots=True)
class _Built:
    """What the new tables hold: chunks up to a number but the dead; the runs there were."""

    upto: int
    dead: list[int]
    in_runs: int


class PostingsMerge:
    """Sorts the postings anew when that is due."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def is_due(self) -> bool:
        """Whether a fair share of the postings stands apart, or of the chunks is gone."""
        with self._database.read() as con:
            [(rows, recent, in_runs, chunks, dead)] = con.execute(
                "SELECT (SELECT count(*) FROM postings), (SELECT count(*) FROM recent_postings),"
                f" ({_RUNS}), (SELECT count(*) FROM chunks), (SELECT count(*) FROM dead_chunks)"
            ).fetchall()
        return recent + in_runs > max(_LEAST_ROWS, _APART_SHARE * (rows - in_runs)) or (
            rows > _LEAST_ROWS and dead > _DEAD_SHARE * chunks
        )

    def run(self) -> None:
        """Sort all postings; what is written or deleted meanwhile keeps its effect."""
        with self._database.beside() as con:
            built = _build(con)
        self._database.write(lambda lane: _exchange(lane, built))


def _build(con: Connection) -> _Built:
    """Make the new tables."""
    con.begin()
    try:
        [(upto, in_runs)] = con.execute(
            f"SELECT (SELECT coalesce(max(chunk_id), 0) FROM chunks), ({_RUNS})"
        ).fetchall()
        dead = [row[0] for row in con.execute("SELECT chunk_id FROM dead_chunks").fetchall()]
        con.execute(
            f"CREATE OR REPLACE TABLE next_postings AS FROM ({_COLUMNS} FROM postings"
            f" UNION ALL {_COLUMNS} FROM recent_postings)"
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
    return _Built(upto, dead, in_runs)


def _exchange(con: Connection, built: _Built) -> None:
    [(in_runs,)] = con.execute(_RUNS).fetchall()
    if in_runs != built.in_runs:
        # A run was made meanwhile that the new tables lack: so much is being written that they
        # would not last. The next time will do.
        for table in ("postings", "terms"):
            con.execute(f"DROP TABLE next_{table}")
        return
    for table in ("postings", "terms"):
        con.execute(f"DROP TABLE {table}")
        con.execute(f"ALTER TABLE next_{table} RENAME TO {table}")
    con.execute("DELETE FROM posting_runs WHERE size <> ?", [SORTED_ANEW])
    con.execute("INSERT INTO posting_runs VALUES (?)", [SORTED_ANEW])
    # Deleted rows would be read over by every search until the next checkpoint.
    con.execute(
        "CREATE OR REPLACE TABLE recent_postings AS"
        f" SELECT * FROM recent_postings WHERE chunk_id > {built.upto:d}"
    )
    # But for the last number of all: it would be given to another chunk.
    con.execute(
        "DELETE FROM dead_chunks WHERE chunk_id IN (SELECT unnest(?)) AND chunk_id <"
        " (SELECT max(last) FROM (SELECT max(chunk_id) AS last FROM chunks"
        " UNION ALL SELECT max(chunk_id) FROM dead_chunks))",
        [built.dead],
    )
