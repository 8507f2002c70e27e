"""The postings of words that a transaction may see, with a cache in memory. Any thread.

The postings of a chunk never change and chunk ids only grow, so that a cached list is extended by
what is new. Deleted chunks stay in a list until maintenance purges them from the blocks, after
which lists are read anew. For readers of a part of the library the server selects the postings;
such lists are valid for one state of the library.
"""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from desktop_rag.features.shared_library.postgres.database.posting_blocks import (
    MAX_COUNT,
    numbers_of,
    signed,
    unpacked,
    unsigned,
)
from desktop_rag.features.shared_library.postgres.database.server_connection import ServerConnection
from desktop_rag.features.shared_library.postgres.database.server_database import ServerSnapshot
from desktop_rag.features.shared_library.postgres.search.server_scope import collections_seen, named
from desktop_rag.store.contract.search import Ids, PostingList

# The size of an entry beside its arrays; the lists of unknown terms are empty.
_ENTRY_BYTES = 1_000
# Ids below this one fit into four bytes.
_NARROW = 1 << 32


@dataclass(frozen=True, slots=True)
class PostingState:
    """The last chunk with postings in a snapshot, and the ranges of deleted chunks."""

    purges: int
    last_chunk: int
    dead_firsts: Ids
    dead_lasts: Ids


def read_state(con: ServerConnection) -> PostingState:
    """Read the state, once per state of the library."""
    [(purges, last_chunk)] = con.execute(
        "SELECT purges, (SELECT coalesce(max(chunk_id), 0) FROM chunks) FROM posting_state"
    ).fetchall()
    dead = con.execute(
        "SELECT first_chunk, last_chunk FROM dead_chunks ORDER BY first_chunk"
    ).fetchall()
    ranges = np.array(dead, np.int64).reshape(-1, 2)
    return PostingState(int(purges), int(last_chunk), ranges[:, 0], ranges[:, 1])


@dataclass(frozen=True, slots=True)
class _Entry:
    """A list of postings of chunks up to `known_to`, valid for the state `mark`."""

    mark: object
    known_to: int
    postings: PostingList


class PostingsInMemory:
    """Posting lists of terms, least recently used first out."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._entries: OrderedDict[tuple[Any, int], _Entry] = OrderedDict()
        self._bytes = 0

    def clear(self) -> None:
        """Free the memory."""
        with self._lock:
            self._entries.clear()
            self._bytes = 0

    def get(self, snapshot: ServerSnapshot, keys: Sequence[int]) -> dict[int, PostingList]:
        """The postings of each term that the snapshot sees, ordered by chunk."""
        if snapshot.is_limited:
            return self._readable(snapshot, keys)
        state = snapshot.cached(read_state)
        known = self._known(None, keys, state.purges)
        for known_to in {_known_to(known, key) for key in keys} - {state.last_chunk}:
            behind = [key for key in set(keys) if _known_to(known, key) == known_to]
            if known_to < state.last_chunk:
                for key, rest in _read(snapshot.con, behind, known_to).items():
                    entry = known.get(key)
                    whole = _joined(entry.postings, rest) if entry else rest
                    if state.last_chunk < _NARROW:
                        ids = whole.chunk_ids.astype(np.uint32, copy=False)
                        whole = PostingList(ids, whole.tf, whole.lengths)
                    known[key] = _Entry(state.purges, state.last_chunk, whole)
                    self._put(None, key, known[key])
        return {key: _up_to(known[key], state.last_chunk) for key in keys}

    def counts(self, snapshot: ServerSnapshot, keys: Sequence[int]) -> dict[int, int]:
        """The number of chunks of each term; deleted ones count until the next maintenance."""
        if snapshot.is_limited:
            return {key: len(p.chunk_ids) for key, p in self._readable(snapshot, keys).items()}
        state = snapshot.cached(read_state)
        known = self._known(None, keys, state.purges)
        found = {
            key: len(entry.postings.chunk_ids)
            for key, entry in known.items()
            if entry.known_to == state.last_chunk
        }
        if missing := [signed(key) for key in set(keys) if key not in found]:
            rows = snapshot.con.execute(
                "SELECT key, sum(postings)::bigint FROM posting_blocks"
                " WHERE key = ANY (?::bigint[]) GROUP BY key",
                [missing],
            ).fetchall()
            found |= {unsigned(key): int(count) for key, count in rows}
        return {key: found.get(key, 0) for key in keys}

    def _readable(self, snapshot: ServerSnapshot, keys: Sequence[int]) -> dict[int, PostingList]:
        known = self._known(snapshot.who, keys, snapshot.changes)
        if missing := [key for key in set(keys) if key not in known]:
            for key, postings in _read_visible(snapshot, missing).items():
                known[key] = _Entry(snapshot.changes, 0, postings)
                self._put(snapshot.who, key, known[key])
        return {key: known[key].postings for key in keys}

    def _known(self, who: object, keys: Sequence[int], mark: object) -> dict[int, _Entry]:
        found: dict[int, _Entry] = {}
        with self._lock:
            for key in keys:
                entry = self._entries.get((who, key))
                if entry is not None and entry.mark == mark:
                    self._entries.move_to_end((who, key))
                    found[key] = entry
        return found

    def _put(self, who: object, key: int, entry: _Entry) -> None:
        with self._lock:
            if replaced := self._entries.pop((who, key), None):
                self._bytes -= replaced.postings.nbytes + _ENTRY_BYTES
            self._entries[who, key] = entry
            self._bytes += entry.postings.nbytes + _ENTRY_BYTES
            while self._bytes > self._max_bytes:
                _, dropped = self._entries.popitem(last=False)
                self._bytes -= dropped.postings.nbytes + _ENTRY_BYTES


def _known_to(known: dict[int, _Entry], key: int) -> int:
    return known[key].known_to if key in known else -1


def _read(con: ServerConnection, keys: Sequence[int], above: int) -> dict[int, PostingList]:
    """The postings of each term in chunks above this one."""
    rows = con.rows_with_arrays(
        "SELECT key, first_chunk, packed FROM posting_blocks"
        " WHERE key = ANY (?::bigint[]) AND last_chunk > ?",
        [[signed(key) for key in keys], above],
    )
    blocks: dict[int, list[tuple[int, bytes]]] = {signed(key): [] for key in keys}
    for key, first, packed in rows:
        blocks[key].append((first, packed))
    found: dict[int, PostingList] = {}
    for key in keys:
        own = sorted(blocks[signed(key)])
        postings = unpacked([first for first, _ in own], [packed for _, packed in own])
        # Blocks of several collections overlap.
        if np.any(postings.chunk_ids[1:] < postings.chunk_ids[:-1]):
            postings = postings.where(np.argsort(postings.chunk_ids))
        found[key] = postings.where(postings.chunk_ids > above) if above > 0 else postings
    return found


def _read_visible(snapshot: ServerSnapshot, keys: Sequence[int]) -> dict[int, PostingList]:
    """The postings of each term in chunks that the transaction may read."""
    among, collections = named("collection_id", collections_seen(snapshot))
    rows = snapshot.con.rows_with_arrays(
        "SELECT key, array_agg(chunk_id), array_agg(tf::bigint << 16 | term_count) FROM postings"
        f" WHERE key = ANY ($keys::bigint[]){among} GROUP BY key",
        {"keys": [signed(key) for key in keys], **collections},
    )
    found = {key: unpacked([], []) for key in keys}
    for key, ids, counts in rows:
        numbers = numbers_of([counts])
        postings = PostingList(
            numbers_of([ids]),
            (numbers >> 16).astype(np.uint16),
            (numbers & MAX_COUNT).astype(np.uint16),
        )
        found[unsigned(key)] = postings.where(np.argsort(postings.chunk_ids))
    return found


def _joined(first: PostingList, rest: PostingList) -> PostingList:
    if not len(rest.chunk_ids):
        return first
    return PostingList(
        np.concatenate([first.chunk_ids, rest.chunk_ids]),
        np.concatenate([first.tf, rest.tf]),
        np.concatenate([first.lengths, rest.lengths]),
    )


def _up_to(entry: _Entry, last_chunk: int) -> PostingList:
    """The part of a list that an older snapshot sees."""
    if entry.known_to <= last_chunk:
        return entry.postings
    end = int(np.searchsorted(entry.postings.chunk_ids, last_chunk, "right"))
    return entry.postings.where(np.arange(end))
