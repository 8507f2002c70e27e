"""Merges the blocks of postings, so that a word stays a few rows; takes deleted chunks out.

Part by part: each is a transaction of its own, between which writers have their turn. What is in
the library is the same after each. Any thread.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from desktop_rag.store.postgres.database.server_connection import ServerConnection
from desktop_rag.store.postgres.database.server_database import ServerDatabase
from desktop_rag.store.postgres.documents.posting_blocks import (
    insert_blocks,
    numbers_of,
    packed_blocks,
    sizes_of,
)

# With fewer, a search reads all blocks quickly.
_MIN_POSTINGS = 200_000
_UNMERGED_SHARE = 0.15
_DELETED_SHARE = 0.15
# Blocks that one transaction replaces: writers wait for it, about a second.
_BLOCKS = 30_000
_BEFORE_ALL = -(1 << 63)
_DEAD = "SELECT coalesce(sum(last_chunk - first_chunk + 1), 0)::bigint FROM dead_chunks"


@dataclass(frozen=True, slots=True)
class _Due:
    """What there is to do: postings in blocks that came one by one, and deleted ranges."""

    unmerged: int
    dead: list[tuple[int, int]]


class PostingBlockMerge:
    """Merges the blocks when that is due."""

    def __init__(self, database: ServerDatabase) -> None:
        self._database = database

    def is_due(self) -> bool:
        """True when a fair share of the postings is unmerged, or of the chunks deleted."""
        with self._database.read() as con:
            [(merged, unmerged, dead)] = con.execute(
                f"SELECT merged, unmerged, ({_DEAD}) FROM posting_state"
            ).fetchall()
            if unmerged > max(_MIN_POSTINGS, _UNMERGED_SHARE * merged):
                return True
            if merged + unmerged <= _MIN_POSTINGS or not dead:
                return False
            [(chunks,)] = con.execute("SELECT count(*) FROM chunks").fetchall()
        return dead > _DELETED_SHARE * chunks

    def run(self) -> None:
        """Merge all blocks."""
        due = self._database.cached(_read_due)
        if not due.unmerged and not due.dead:
            return
        after: int | None = _BEFORE_ALL
        while after is not None:
            after = self._database.write_uncached(
                lambda con, a=after: _merge_part(con, a, due.dead)
            )
        self._database.write(lambda con: _finish(con, due))
        with self._database.outside_transactions() as connection:
            connection.execute("VACUUM (ANALYZE) posting_blocks")


def _read_due(con: ServerConnection) -> _Due:
    [(unmerged,)] = con.execute("SELECT unmerged FROM posting_state").fetchall()
    dead = con.execute(
        "SELECT first_chunk, last_chunk FROM dead_chunks ORDER BY first_chunk"
    ).fetchall()
    return _Due(int(unmerged), dead)


def _merge_part(con: ServerConnection, after: int, dead: list[tuple[int, int]]) -> int | None:
    """Merge the blocks of the next terms; the last of them, None when there are no more."""
    bounds = con.execute(
        "SELECT min(key), max(key), count(*) FROM (SELECT key FROM posting_blocks"
        f" WHERE key > ? ORDER BY key LIMIT {_BLOCKS}) next",
        [after],
    ).fetchall()
    [(first, last, count)] = bounds
    if not count:
        return None
    rows = con.rows_with_arrays(
        "SELECT key, first_chunk, packed FROM posting_blocks WHERE key BETWEEN ? AND ?"
        " ORDER BY key, first_chunk",
        [first, last],
    )
    parts = [packed for _, _, packed in rows]
    numbers, sizes = numbers_of(parts), sizes_of(parts)
    keys = np.repeat(np.array([row[0] for row in rows], np.int64), sizes)
    chunk_ids = np.repeat(np.array([row[1] for row in rows], np.int64), sizes) + (numbers >> 32)
    kept = _alive(chunk_ids, dead)
    blocks = packed_blocks(
        keys[kept], chunk_ids[kept], numbers[kept] >> 16 & 0xFFFF, numbers[kept] & 0xFFFF
    )
    if len(blocks.keys) < len(rows) or not kept.all():
        con.execute("DELETE FROM posting_blocks WHERE key BETWEEN ? AND ?", [first, last])
        insert_blocks(con, blocks)
    return int(last)


def _alive(chunk_ids: NDArray[np.int64], dead: list[tuple[int, int]]) -> NDArray[np.bool_]:
    """True for chunks in none of the ranges."""
    if not dead:
        return np.ones(len(chunk_ids), np.bool_)
    ranges = np.array(dead, np.int64)
    place = np.searchsorted(ranges[:, 0], chunk_ids, "right")
    return (place == 0) | (chunk_ids > ranges[np.maximum(place, 1) - 1, 1])


def _finish(con: ServerConnection, due: _Due) -> None:
    """Count what was done; lists in memory that hold deleted chunks are read anew."""
    for first, last in due.dead:
        con.execute(
            "DELETE FROM dead_chunks WHERE first_chunk = ? AND last_chunk = ?", [first, last]
        )
    con.execute(
        "UPDATE posting_state SET purges = purges + ?, unmerged = unmerged - ?,"
        " merged = (SELECT coalesce(sum(postings), 0) FROM posting_blocks) - (unmerged - ?)",
        [int(bool(due.dead)), due.unmerged, due.unmerged],
    )
