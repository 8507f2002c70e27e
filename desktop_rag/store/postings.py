"""Postings as arrays: which chunks hold a term, and how often. Any thread, on an open cursor.

They stand in two tables: `postings`, sorted by the key of the term so that one is found without
reading the rest, and `recent_postings`, as they came. Once these are many they are sorted too and
become a run at the end of the others; `clustering.py` makes one of all runs. Both tables name a
term by the lower half of its MD5: a number is found five times faster than a text, and sorted it
takes no room.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from desktop_rag.store.database import Connection

Ids = NDArray[np.int64]
Numbers = NDArray[np.float64]

# So many postings, or this share of the sorted ones, are read over by a search in no time.
_LEAST_RUN = 250_000
_RUN_SHARE = 0.01
_KEYS = "key IN (SELECT unnest(?::UBIGINT[]))"
# Two statements: of a union DuckDB would read the whole vocabulary.
_SORTED_COUNTS = f"SELECT key, sum(chunks)::BIGINT FROM terms WHERE {_KEYS} GROUP BY key"
_RECENT_COUNTS = f"SELECT key, count(*) FROM recent_postings WHERE {_KEYS} GROUP BY key"


@dataclass(frozen=True, slots=True)
class Hits:
    """Where a word stands: arrays of one length, a row a chunk and term."""

    chunk_ids: Ids
    tf: Numbers
    lengths: Numbers

    def where(self, rows: NDArray[np.bool_]) -> "Hits":
        """Some of the rows."""
        return Hits(self.chunk_ids[rows], self.tf[rows], self.lengths[rows])


@lru_cache(maxsize=50_000)
def key_of(text: str) -> int:
    """The number of a term, or of another text that is looked for often."""
    digest = hashlib.md5(text.encode(), usedforsecurity=False).digest()
    return int.from_bytes(digest[8:], "little")


def sql_key(text: str) -> str:
    """SQL that says of a text what `key_of` does."""
    return f"md5_number_lower({text})"


def counts_of(con: Connection, keys: Sequence[int]) -> Counter[int]:
    """In how many chunks each term stands. Until postings are sorted anew, deleted ones count."""
    counts: Counter[int] = Counter()
    for sql in (_SORTED_COUNTS, _RECENT_COUNTS):
        counts.update(dict(con.execute(sql, [list(keys)]).fetchall()))
    return counts


def sorted_hits(con: Connection, key: int) -> Hits:
    """All sorted postings of a term, by chunk."""
    sql = f"SELECT chunk_id, tf, term_count FROM postings WHERE key = {key:d}"
    return _hits(con.execute(sql).fetchnumpy())


def recent_hits(con: Connection, keys: Sequence[int]) -> dict[int, Hits]:
    """The postings of these terms that came since the others were sorted."""
    return _by_key(con, f"FROM recent_postings WHERE key IN ({_listed(keys)})", keys)


def hits_among(con: Connection, keys: Sequence[int], chunk_ids: Ids) -> dict[int, Hits]:
    """Where these terms stand in given chunks."""
    con.register("wanted_chunks", {"wanted_id": chunk_ids})
    columns, which = "SELECT key, chunk_id, tf, term_count", f"WHERE key IN ({_listed(keys)})"
    return _by_key(
        con,
        f"FROM ({columns} FROM postings {which} UNION ALL {columns} FROM recent_postings {which})"
        " WHERE chunk_id IN (SELECT wanted_id FROM wanted_chunks)",
        keys,
    )


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
        return Hits(np.empty(0, np.int64), np.empty(0), np.empty(0))
    chunk_ids = np.concatenate([h.chunk_ids for h in hits])
    ids, tf = summed(chunk_ids, np.concatenate([h.tf for h in hits]))
    _, first = np.unique(chunk_ids, return_index=True)
    return Hits(ids, tf, np.concatenate([h.lengths for h in hits])[first])


def summed(ids: Ids, values: Numbers) -> tuple[Ids, Numbers]:
    """Each different id once, ascending, and the sum of its values."""
    if not len(ids):
        return ids, values
    order = np.argsort(ids, kind="stable")  # fast: what is given is sorted piece by piece
    in_order = ids[order]
    begins = np.flatnonzero(np.concatenate(([True], in_order[1:] != in_order[:-1])))
    return in_order[begins], np.add.reduceat(values[order], begins)


def _by_key(con: Connection, source: str, keys: Sequence[int]) -> dict[int, Hits]:
    rows = con.execute(f"SELECT key, chunk_id, tf, term_count {source}").fetchnumpy()
    found = _hits(rows)
    return {key: found.where(rows["key"] == np.uint64(key)) for key in keys}


def _hits(rows: dict[str, Any]) -> Hits:
    tf, lengths = rows["tf"].astype(np.float64), rows["term_count"].astype(np.float64)
    return Hits(rows["chunk_id"], tf, lengths)


def _listed(keys: Iterable[int]) -> str:
    return ", ".join(f"{key:d}" for key in keys) or "NULL"
