"""Merges all postings into one sorted run, so that searches stay fast. Any thread.

New postings are appended, and sorted in runs (see postings.py). Once these are a fair share of all,
everything is sorted into a new table while the old one keeps answering; only the exchange takes the
write lane.
"""

from dataclasses import dataclass

from desktop_rag.store.duckdb.database.connections import Connection
from desktop_rag.store.duckdb.database.database import Database
from desktop_rag.store.duckdb.search.postings import MERGED

# Below this size a search scans all rows quickly.
_MIN_ROWS = 200_000
_UNMERGED_SHARE = 0.15
_DELETED_SHARE = 0.15
_COLUMNS = "SELECT key, chunk_id, tf, term_count"
_RUNS = "SELECT coalesce(sum(size), 0)::BIGINT FROM posting_runs"


@dataclass(frozen=True, slots=True)
class _Built:
    """The content of the new tables: chunks up to `last_chunk_id` that were not `deleted`, and
    the number of postings that were `in_runs`.
    """

    last_chunk_id: int
    deleted: list[int]
    in_runs: int


class PostingsMerge:
    """Merges the postings when that is due."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def is_due(self) -> bool:
        """True when a fair share of the postings is unmerged, or of the chunks deleted."""
        with self._database.read() as con:
            [(rows, recent, in_runs, chunks, deleted)] = con.execute(
                "SELECT (SELECT count(*) FROM postings), (SELECT count(*) FROM recent_postings),"
                f" ({_RUNS}), (SELECT count(*) FROM chunks), (SELECT count(*) FROM dead_chunks)"
            ).fetchall()
        return recent + in_runs > max(_MIN_ROWS, _UNMERGED_SHARE * (rows - in_runs)) or (
            rows > _MIN_ROWS and deleted > _DELETED_SHARE * chunks
        )

    def run(self) -> None:
        """Merge all postings; what is written or deleted meanwhile keeps its effect.

        Not while a large document is being written, whose ids are lower than later ones.
        """
        with self._database.build_cursor() as con:
            if con.execute("FROM unfinished_content LIMIT 1").fetchall():
                return
            built = _build(con)
        self._database.write(lambda lane: _exchange(lane, built))


def _build(con: Connection) -> _Built:
    """Make the new tables."""
    con.begin()
    try:
        [(last_chunk_id, in_runs)] = con.execute(
            f"SELECT (SELECT coalesce(max(chunk_id), 0) FROM chunks), ({_RUNS})"
        ).fetchall()
        deleted = [row[0] for row in con.execute("SELECT chunk_id FROM dead_chunks").fetchall()]
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
    return _Built(last_chunk_id, deleted, in_runs)


def _exchange(con: Connection, built: _Built) -> None:
    [(in_runs,)] = con.execute(_RUNS).fetchall()
    if in_runs != built.in_runs:
        # A run that the new tables lack was made meanwhile. While so much is written they would
        # not stay merged for long: leave it to the next time.
        for table in ("postings", "terms"):
            con.execute(f"DROP TABLE next_{table}")
        return
    for table in ("postings", "terms"):
        con.execute(f"DROP TABLE {table}")
        con.execute(f"ALTER TABLE next_{table} RENAME TO {table}")
    con.execute("DELETE FROM posting_runs WHERE size <> ?", [MERGED])
    con.execute("INSERT INTO posting_runs VALUES (?)", [MERGED])
    # Every search would scan deleted rows until the next checkpoint.
    con.execute(
        "CREATE OR REPLACE TABLE recent_postings AS"
        f" SELECT * FROM recent_postings WHERE chunk_id > {built.last_chunk_id:d}"
    )
    # The highest id of all stays on the list, or it would be given to another chunk.
    con.execute(
        "DELETE FROM dead_chunks WHERE chunk_id IN (SELECT unnest(?)) AND chunk_id <"
        " (SELECT max(last) FROM (SELECT max(chunk_id) AS last FROM chunks"
        " UNION ALL SELECT max(chunk_id) FROM dead_chunks))",
        [built.deleted],
    )
