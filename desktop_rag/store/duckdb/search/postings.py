"""Postings as arrays: which chunks hold a term, and how often. Any thread, on an open cursor.

They stand in two tables: `postings`, sorted by the key of the term so that one is found without
reading the rest, and `recent_postings`, as they came. Once these are many they are sorted too and
become a run at the end of the others; `clustering.py` makes one of all runs. Both tables name a
term by the lower half of its MD5: a number is found five times faster than a text, and sorted it
takes no room.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from desktop_rag.store.duckdb.database.database import Connection

Ids = NDArray[np.integer]
Numbers = NDArray[np.float64]
Counts = NDArray[np.integer]
Version = tuple[int, int]
Number = TypeVar("Number", bound=np.number)

# So many postings, or this share of the sorted ones, are read over by a search in no time.
_LEAST_RUN = 250_000
_RUN_SHARE = 0.01
# Among the sizes of runs, what is left behind each time that all are made one.
SORTED_ANEW = 0
# Of a million postings half the bytes take half the time.
_HITS = "chunk_id::UINTEGER AS chunk_id, tf, term_count"


@dataclass(frozen=True, slots=True)
class Hits:
    """Where a word stands: arrays of one length, a row a chunk and term."""

    chunk_ids: Ids
    tf: Counts
    lengths: Counts

    def where(self, rows: NDArray[np.bool_] | Ids) -> "Hits":
        """Some of the rows."""
        return Hits(self.chunk_ids[rows], self.tf[rows], self.lengths[rows])

    def among(self, chunk_ids: Ids) -> "Hits":
        """Those in given chunks. Both in ascending order."""
        # Of another type it would convert all of its own.
        chunk_ids = chunk_ids.astype(self.chunk_ids.dtype)
        places = np.searchsorted(self.chunk_ids, chunk_ids)
        places = places[places < len(self.chunk_ids)]
        return self.where(places[self.chunk_ids[places] == chunk_ids[: len(places)]])

    @property
    def nbytes(self) -> int:
        """The memory it takes."""
        return self.chunk_ids.nbytes + self.tf.nbytes + self.lengths.nbytes


@lru_cache(maxsize=50_000)
def key_of(text: str) -> int:
    """The number of a term, or of another text that is looked for often."""
    digest = hashlib.md5(text.encode(), usedforsecurity=False).digest()
    return int.from_bytes(digest[8:], "little")


def sql_key(text: str) -> str:
    """SQL that says of a text what `key_of` does."""
    return f"md5_number_lower({text})"


@dataclass(frozen=True, slots=True)
class Standing:
    """How the postings stand in a snapshot.

    The `version` of the sorted ones is never used again for others. `dead` chunks are deleted,
    though there are sorted postings of them.
    """

    version: Version
    dead: Ids
    has_recent: bool

    @property
    def sorted_anew(self) -> int:
        """How many times all postings were sorted into one run."""
        return self.version[0]


def standing_of(con: Connection) -> Standing:
    """In one statement, as each takes longer than what it looks at here."""
    rows = con.execute(
        "SELECT 1 AS kind, size AS value FROM posting_runs"
        " UNION ALL SELECT 2, chunk_id FROM dead_chunks"
        " UNION ALL (SELECT 3, 0 FROM recent_postings LIMIT 1)"
    ).fetchnumpy()
    runs, dead, recent = (rows["value"][rows["kind"] == kind] for kind in (1, 2, 3))
    return Standing((int((runs == SORTED_ANEW).sum()), len(runs)), dead, bool(len(recent)))


def sorted_hits(con: Connection, keys: Sequence[int]) -> dict[int, Hits]:
    """All sorted postings of each term, by chunk. In one statement it takes half the time."""
    if len(keys) == 1:
        [key] = keys
        sql = f"SELECT {_HITS} FROM postings WHERE key = {key:d}"
        return {key: _hits(con.execute(sql).fetchnumpy())}
    each = [
        f"SELECT {n:d} AS n, {_HITS} FROM postings WHERE key = {key:d}"
        for n, key in enumerate(keys)
    ]
    rows = con.execute(" UNION ALL ".join(each)).fetchnumpy()
    return _by(rows, rows["n"], dict(enumerate(keys)))


def recent_hits(con: Connection, keys: Sequence[int]) -> dict[int, Hits]:
    """The postings of these terms that came since the others were sorted, by chunk."""
    rows = con.execute(
        f"SELECT key, {_HITS} FROM recent_postings"
        f" WHERE key IN ({', '.join(f'{key:d}' for key in keys) or 'NULL'})"
    ).fetchnumpy()
    return _by(rows, rows["key"], {np.uint64(key): key for key in keys})


def sort_recent(con: Connection, least: int = _LEAST_RUN) -> None:
    """Make a run of the recent postings once there are more than `least` and some. On the lane."""
    [(recent, others)] = con.execute(
        "SELECT (SELECT count(*) FROM recent_postings), (SELECT count(*) FROM postings)"
    ).fetchall()
    if recent <= max(least, _RUN_SHARE * others):
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
    # Deleted rows would be read over by every search until the next checkpoint.
    con.execute("CREATE OR REPLACE TABLE recent_postings AS FROM recent_postings LIMIT 0")


def joined(hits: Sequence[Hits]) -> Hits:
    """The hits of a word's terms as those of one."""
    if len(hits) == 1:
        return hits[0]
    if not hits:
        return Hits(*(np.empty(0, np.int64) for _ in range(3)))
    chunk_ids = np.concatenate([h.chunk_ids for h in hits])
    ids, tf = summed(chunk_ids, np.concatenate([h.tf.astype(np.int64) for h in hits]))
    _, first = np.unique(chunk_ids, return_index=True)
    return Hits(ids, tf, np.concatenate([h.lengths for h in hits])[first])


def summed(ids: Ids, values: NDArray[Number]) -> tuple[Ids, NDArray[Number]]:
    """Each different id once, ascending, and the sum of its values."""
    if not len(ids):
        return ids, values
    order = np.argsort(ids, kind="stable")  # fast: what is given is sorted piece by piece
    in_order = ids[order]
    begins = np.flatnonzero(np.concatenate(([True], in_order[1:] != in_order[:-1])))
    return in_order[begins], np.add.reduceat(values[order], begins)


def _by(rows: dict[str, Any], marks: NDArray[Any], keys: Mapping[Any, int]) -> dict[int, Hits]:
    """The hits of several keys, each row marked with what stands for its key."""
    found = Hits(rows["chunk_id"], rows["tf"], rows["term_count"])
    return {key: _in_order(found.where(marks == mark)) for mark, key in keys.items()}


def _hits(rows: dict[str, Any]) -> Hits:
    return _in_order(Hits(rows["chunk_id"], rows["tf"], rows["term_count"]))


def _in_order(hits: Hits) -> Hits:
    """By chunk: several threads read, so that pieces may come in any order."""
    ids = hits.chunk_ids
    return hits if bool((ids[1:] > ids[:-1]).all()) else hits.where(np.argsort(ids, kind="stable"))
