"""Reads, sorts and merges postings: the chunks a term occurs in, and how often. Any thread.

There are two tables: `postings`, sorted by the key of the term so that one term is found without
reading the rest, and `recent_postings`, in order of arrival. Once there are many of these, they are
sorted and appended to the others as a run; once the runs are a fair share, all are merged. The key
of a term is the lower half of its MD5: a number is found five times faster than a text, and sorted
numbers compress to almost nothing. Functions run on an open cursor.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from desktop_rag.store.contract.search import Ids, PostingList, Upkeep
from desktop_rag.store.duckdb.database.connections import Connection
from desktop_rag.store.duckdb.database.database import Database

Version = tuple[int, int]

# SQL that is true for chunks of documents that are completely written.
FINISHED = (
    "NOT EXISTS (SELECT 1 FROM unfinished_content u"
    " WHERE chunk_id BETWEEN u.first_chunk AND u.last_chunk)"
)
# Below this number, or this share of the sorted ones, a search scans unsorted postings quickly.
_MIN_RUN = 250_000
_RUN_SHARE = 0.01
# Recorded among the sizes of runs once for each merge of all runs.
MERGED = 0
# Narrow types: reading a million postings takes time in proportion to their bytes.
_COLUMNS = "chunk_id::UINTEGER AS chunk_id, tf, term_count"


@dataclass(frozen=True, slots=True)
class PostingsState:
    """The state of the postings in a snapshot.

    `version` identifies the sorted postings for good: (merges, runs). `deleted` are chunks that
    still have sorted postings, and those of documents that are not completely written.
    """

    version: Version
    deleted: Ids
    has_recent: bool

    @property
    def merges(self) -> int:
        """The number of times all postings were merged into one run."""
        return self.version[0]


def read_postings_state(con: Connection) -> PostingsState:
    """Read the state in one statement: the overhead of each exceeds the work."""
    rows = con.execute(
        "SELECT 1 AS kind, size AS value FROM posting_runs"
        " UNION ALL SELECT 2, chunk_id FROM dead_chunks"
        " UNION ALL SELECT 2, unnest(range(first_chunk, last_chunk + 1)) FROM unfinished_content"
        " UNION ALL (SELECT 3, 0 FROM recent_postings LIMIT 1)"
    ).fetchnumpy()
    runs, deleted, recent = (rows["value"][rows["kind"] == kind] for kind in (1, 2, 3))
    return PostingsState((int((runs == MERGED).sum()), len(runs)), deleted, bool(len(recent)))


def read_sorted(con: Connection, keys: Sequence[int]) -> dict[int, PostingList]:
    """All sorted postings of each term, ordered by chunk. One statement takes half the time."""
    if len(keys) == 1:
        [key] = keys
        sql = f"SELECT {_COLUMNS} FROM postings WHERE key = {key:d}"
        return {key: _by_chunk(_posting_list(con.execute(sql).fetchnumpy()))}
    each = [
        f"SELECT {n:d} AS n, {_COLUMNS} FROM postings WHERE key = {key:d}"
        for n, key in enumerate(keys)
    ]
    rows = con.execute(" UNION ALL ".join(each)).fetchnumpy()
    return _split(rows, rows["n"], dict(enumerate(keys)))


def read_recent(con: Connection, keys: Sequence[int]) -> dict[int, PostingList]:
    """The unsorted postings of each term, ordered by chunk."""
    rows = con.execute(
        f"SELECT key, {_COLUMNS} FROM recent_postings"
        f" WHERE key IN ({', '.join(f'{key:d}' for key in keys) or 'NULL'})"
    ).fetchnumpy()
    return _split(rows, rows["key"], {np.uint64(key): key for key in keys})


def sort_recent(con: Connection, minimum: int = _MIN_RUN) -> None:
    """Sort the recent postings into a run once there are enough of them. On the write lane."""
    [(recent, others)] = con.execute(
        "SELECT (SELECT count(*) FROM recent_postings), (SELECT count(*) FROM postings)"
    ).fetchall()
    if recent <= max(minimum, _RUN_SHARE * others):
        return
    con.execute(
        "INSERT INTO postings SELECT key, chunk_id, tf, term_count FROM recent_postings"
        " ORDER BY key, chunk_id"
    )
    con.execute(
        "INSERT INTO terms SELECT key, term, count(*) FROM recent_postings"
        " GROUP BY key, term ORDER BY key"
    )
    con.execute("INSERT INTO posting_runs VALUES (?)", [recent])
    # Every search would scan deleted rows until the next checkpoint.
    con.execute("CREATE OR REPLACE TABLE recent_postings AS FROM recent_postings LIMIT 0")


def _split(
    rows: dict[str, Any], marks: NDArray[Any], keys: Mapping[Any, int]
) -> dict[int, PostingList]:
    """The postings by key; each row carries the mark of its key."""
    found = _posting_list(rows)
    return {key: _by_chunk(found.where(marks == mark)) for mark, key in keys.items()}


def _posting_list(rows: dict[str, Any]) -> PostingList:
    return PostingList(rows["chunk_id"], rows["tf"], rows["term_count"])


def _by_chunk(postings: PostingList) -> PostingList:
    """Ordered by chunk: DuckDB reads with several threads, so pieces arrive in any order."""
    ids = postings.chunk_ids
    is_ordered = bool((ids[1:] > ids[:-1]).all())
    return postings if is_ordered else postings.where(np.argsort(ids, kind="stable"))


# Below this size a search scans all rows quickly.
_MIN_ROWS = 200_000
_UNMERGED_SHARE = 0.15
_DELETED_SHARE = 0.15
_MERGED_COLUMNS = "SELECT key, chunk_id, tf, term_count"
_RUNS = "SELECT coalesce(sum(size), 0)::BIGINT FROM posting_runs"


@dataclass(frozen=True, slots=True)
class _Built:
    """The content of the new tables: the chunks up to the last id that were not deleted."""

    last_chunk_id: int
    deleted: list[int]
    in_runs: int  # the number of postings in runs


class PostingsMerge(Upkeep):
    """Merges all postings into one sorted run, so that searches stay fast.

    They are sorted into a new table while the old one answers; only the exchange takes the lane.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def is_due(self) -> bool:
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
        with self._database.read() as con:
            if con.execute("FROM unfinished_content LIMIT 1").fetchall():
                return
            built = _build(con)
        self._database.write(lambda lane: _exchange(lane, built))


def _build(con: Connection) -> _Built:
    con.begin()
    try:
        [(last_chunk_id, in_runs)] = con.execute(
            f"SELECT (SELECT coalesce(max(chunk_id), 0) FROM chunks), ({_RUNS})"
        ).fetchall()
        deleted = [row[0] for row in con.execute("SELECT chunk_id FROM dead_chunks").fetchall()]
        con.execute(
            f"CREATE OR REPLACE TABLE next_postings AS FROM ({_MERGED_COLUMNS} FROM postings"
            f" UNION ALL {_MERGED_COLUMNS} FROM recent_postings)"
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
        # The new tables lack a run made meanwhile; with so many writes they would not stay merged
        # for long, so leave it to the next time.
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
    # The highest id of all stays on the list, or it would be reused.
    con.execute(
        "DELETE FROM dead_chunks WHERE chunk_id IN (SELECT unnest(?)) AND chunk_id <"
        " (SELECT max(last) FROM (SELECT max(chunk_id) AS last FROM chunks"
        " UNION ALL SELECT max(chunk_id) FROM dead_chunks))",
        [built.deleted],
    )
