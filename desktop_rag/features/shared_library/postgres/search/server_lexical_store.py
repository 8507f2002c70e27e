"""Finds chunks by words, and documents by the names of their files, on a server. Any thread.

The postings of a chunk never change and chunk ids only grow, so that a cached list is extended by
what is new. Deleted chunks stay in a list until maintenance purges them from the blocks, after
which lists are read anew. For readers of a part of the library the server selects the postings;
such lists are valid for one state of the library.

The server finds names that contain a part; whether its position counts is decided here, since
PostgreSQL's regular expressions know fewer classes of letters.
"""

import threading
import unicodedata
from collections import OrderedDict
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import md5
from typing import Any

import numpy as np
from numpy.typing import NDArray

from desktop_rag.core.question import Readable
from desktop_rag.features.shared_library.postgres.database.posting_blocks import (
    MAX_COUNT,
    numbers_of,
    signed,
    unpacked,
    unsigned,
)
from desktop_rag.features.shared_library.postgres.database.server_connection import ServerConnection
from desktop_rag.features.shared_library.postgres.database.server_database import (
    ServerDatabase,
    ServerSnapshot,
)
from desktop_rag.features.shared_library.postgres.search.server_vectors import (
    chunk_condition,
    collections_seen,
    document_condition,
    named,
)
from desktop_rag.store.contract.database import edits, key_of, plain, squeezed, stem
from desktop_rag.store.contract.scope import read_statistics
from desktop_rag.store.contract.search import (
    Ids,
    LexicalStore,
    NamedDocuments,
    NameStore,
    Numbers,
    PostingList,
    Scope,
    Weights,
    WordIndex,
    WordPostings,
    merged,
)

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


# The share of the memory limit for postings, of eight bytes each: with 2 GB, sixty words that occur
# in every fourth of a million chunks.
_POSTINGS_SHARE = 1 / 16
_Ranges = tuple[Ids, Ids]


@dataclass(frozen=True, slots=True)
class _AllowedChunks:
    """The chunks that a search by words may find; None means no limit."""

    inside: _Ranges | None
    dead: _Ranges | None
    holding: tuple[Ids, ...]
    without: tuple[Ids, ...]

    @classmethod
    def of(
        cls, snapshot: ServerSnapshot, scope: Scope, postings: PostingsInMemory
    ) -> "_AllowedChunks":
        """The chunks of a scope that the snapshot sees."""
        holding = [_holding(snapshot, word, postings) for word in scope.required]
        if scope.chunk_ids is not None:
            holding.append(np.unique(np.array(scope.chunk_ids, np.int64)))
        state = None if snapshot.is_limited else snapshot.cached(read_state)
        has_dead = state is not None and len(state.dead_firsts) > 0
        return cls(
            _documents(snapshot, scope),
            (state.dead_firsts, state.dead_lasts) if state is not None and has_dead else None,
            tuple(holding),
            tuple(_holding(snapshot, word, postings) for word in scope.excluded),
        )

    def only(self, postings: PostingList) -> PostingList:
        """The postings in these chunks."""
        if self.inside is not None:
            postings = postings.where(_within(postings.chunk_ids, self.inside))
        if self.dead is not None:
            postings = postings.where(~_within(postings.chunk_ids, self.dead))
        for ids in self.holding:
            postings = postings.where(np.isin(postings.chunk_ids, ids))
        for ids in self.without:
            postings = postings.where(np.isin(postings.chunk_ids, ids, invert=True))
        return postings


def _within(ids: Ids, ranges: _Ranges) -> NDArray[np.bool_]:
    """True for ids in one of the ranges, which are ordered and disjoint."""
    firsts, lasts = ranges
    if not len(firsts):
        return np.zeros(len(ids), np.bool_)
    place = np.searchsorted(firsts, ids, "right")
    return (place > 0) & (ids <= lasts[np.maximum(place, 1) - 1])


def _holding(snapshot: ServerSnapshot, word: Sequence[str], postings: PostingsInMemory) -> Ids:
    """The chunks with one of the terms."""
    found = postings.get(snapshot, [key_of(term) for term in word])
    return merged(list(found.values())).chunk_ids


def _documents(snapshot: ServerSnapshot, scope: Scope) -> _Ranges | None:
    """The chunks of the documents in a scope, whatever their words; None for all."""
    whole = replace(scope, required=(), excluded=(), chunk_ids=None)
    condition, parameters = document_condition(whole, snapshot)
    if not condition:
        return None
    rows = snapshot.con.execute(
        "SELECT first_chunk, last_chunk FROM document_texts"
        f" WHERE last_chunk >= first_chunk{condition} ORDER BY first_chunk",
        parameters,
    ).fetchall()
    ranges = np.array(rows, np.int64).reshape(-1, 2)
    return ranges[:, 0], ranges[:, 1]


class ServerWordIndex(WordIndex):
    """The words that a transaction sees."""

    def __init__(self, snapshot: ServerSnapshot, postings: PostingsInMemory) -> None:
        self.con = snapshot.con
        self.statistics = snapshot.cached(read_statistics)
        self._snapshot = snapshot
        self._postings = postings

    def counts(self, keys: Sequence[int]) -> Mapping[int, int]:
        return self._postings.counts(self._snapshot, keys)

    def postings(self, weights: Weights) -> WordPostings:
        def read(keys: Sequence[int]) -> dict[int, list[PostingList]]:
            found = self._postings.get(self._snapshot, keys)
            return {key: [postings] for key, postings in found.items()}

        return WordPostings(weights, read)

    def allowed(self, scope: Scope) -> Callable[[PostingList], PostingList]:
        return _AllowedChunks.of(self._snapshot, scope, self._postings).only

    def lengths(self, chunk_ids: Ids) -> tuple[Ids, Numbers, NDArray[np.bool_]]:
        rows = self.con.execute(
            "SELECT chunk_id, term_count, position > 0 FROM chunks"
            " WHERE chunk_id = ANY (?::bigint[]) ORDER BY chunk_id",
            [chunk_ids.tolist()],
        ).fetchall()
        ids, lengths, continues = zip(*rows, strict=True) if rows else ((), (), ())
        return np.array(ids, np.int64), np.array(lengths, np.float64), np.array(continues, np.bool_)

    def condition(self, scope: Scope) -> tuple[str, dict[str, Any]]:
        return chunk_condition(scope, self._snapshot)


class ServerLexicalStore(LexicalStore):
    """Ranks chunks by the words of a question."""

    chunks_with_documents = "chunks JOIN documents USING (document_id, collection_id)"

    def __init__(self, database: ServerDatabase, memory_mb: int) -> None:
        super().__init__(database)
        self._database = database
        self._postings = PostingsInMemory(int(_POSTINGS_SHARE * 1_000_000 * memory_mb))
        database.release_listeners.append(self._postings.clear)

    @contextmanager
    def index(
        self, readable: Readable | None = None, search: str = ""
    ) -> Generator[ServerWordIndex]:
        with self._database.snapshot(readable, search=search) as snapshot:
            yield ServerWordIndex(snapshot, self._postings)

    def among(
        self, con: ServerConnection, chunk_ids: Collection[int]
    ) -> tuple[str, dict[str, Any]]:
        return "chunk_id = ANY ($asked::bigint[])", {"asked": list(chunk_ids)}


_LEAST_SPELLED = 3
_MANY_CHARS = 12


def words_in(name: str) -> str:
    """The words of a name, each surrounded by spaces."""
    kept = (c if unicodedata.category(c)[0] in "LMN" else " " for c in name)
    return f" {' '.join(''.join(kept).split())} "


def split_words(written: str) -> str:
    """A name with spaces between lower and upper case and around numbers."""
    given = unicodedata.normalize("NFC", written)
    parts: list[str] = []
    for n, c in enumerate(given):
        before, after = given[n - 1 : n], given[n + 1 : n + 2]
        starts = (_is(before, "Ll") and _is(c, "Lu")) or (
            _is(before, "Lu") and _is(c, "Lu") and _is(after, "Ll")
        )
        is_digit, was_digit = c in "0123456789", bool(before) and before in "0123456789"
        if n and (starts or is_digit != was_digit):
            parts.append(" ")
        parts.append(c)
    return "".join(parts)


def _is(char: str, category: str) -> bool:
    return bool(char) and unicodedata.category(char) == category


class ServerNameStore(NameStore):
    """The names of the documents."""

    day = "to_char(to_timestamp(mtime_ns / 1000000000), 'YYYY-MM-DD DD.MM.YYYY')"

    def __init__(self, database: ServerDatabase) -> None:
        self._database = database

    def matching(
        self,
        words: Collection[str],
        beginnings: Collection[str],
        pieces: Collection[str],
        scope: Scope,
        limit: int,
    ) -> tuple[list[NamedDocuments], int]:
        endings: dict[str | None, Collection[str]] = {" ": words, "": beginnings, None: pieces}
        wanted = [(part, plain(part), end) for end, parts in endings.items() for part in parts]
        with self._database.snapshot(scope.readable, search="file names") as snapshot:
            total = snapshot.cached(read_statistics).indexed_documents
            if not wanted:
                return [], total
            condition, parameters = document_condition(scope, snapshot)
            rows = snapshot.con.execute(
                "SELECT document_id, parse_filename(path), plain_name FROM documents"
                " WHERE chunk_count > 0 AND EXISTS"
                " (SELECT 1 FROM unnest($sought::text[]) AS s(part)"
                f" WHERE strpos(plain_name, s.part) > 0){condition} ORDER BY document_id",
                parameters | {"sought": [sought for _, sought, _ in wanted]},
            ).fetchall()
        groups: dict[frozenset[str], list[str]] = {}
        for document_id, written, name in rows:
            held = frozenset(p for p, sought, end in wanted if _holds(written, name, sought, end))
            if held:
                groups.setdefault(held, []).append(document_id)
        return [
            NamedDocuments(parts, len(ids), tuple(ids[:limit])) for parts, ids in groups.items()
        ], total

    def spelled_in(self, text: str, scope: Scope, limit: int) -> list[tuple[str, str]]:
        wanted = squeezed(plain(text))
        found: list[tuple[int, str, str]] = []
        for document_id, path, name in self._names(scope):
            spelled = stem(name)
            if len(spelled) >= _LEAST_SPELLED and spelled in wanted:
                found.append((-len(spelled), path, document_id))
        return [(document_id, path) for _, path, document_id in sorted(found)[:limit]]

    def spelled_like(self, name: str, scope: Scope, limit: int) -> list[tuple[str, str]]:
        most = 2 if sum(map(str.isalnum, name)) >= _MANY_CHARS else 1
        wanted = squeezed(plain(name))
        found: list[tuple[int, str, str]] = []
        for document_id, path, known in self._names(scope):
            slips = edits(squeezed(known), wanted, most)
            if slips <= most:
                found.append((slips, path, document_id))
        return [(document_id, path) for _, path, document_id in sorted(found)[:limit]]

    def fingerprint(self, scope: Scope) -> str:
        sql = "SELECT path, part, url, content_hash FROM documents WHERE state <> 'gone'"
        rows = self.rows(scope, lambda condition: (sql + condition, {}))
        mixed = 0
        for row in rows:
            digest = md5("\x1f".join(row).encode(), usedforsecurity=False).digest()
            mixed ^= int.from_bytes(digest[8:], "little")
        return f"{len(rows)}-{mixed:016x}"

    def _names(self, scope: Scope) -> list[Any]:
        sql = "SELECT document_id, path, plain_name FROM documents WHERE url = ''"
        return self.rows(scope, lambda condition: (sql + condition, {}))

    def rows(
        self, scope: Scope, statement: Callable[[str], tuple[str, dict[str, Any]]]
    ) -> list[Any]:
        with self._database.snapshot(scope.readable) as snapshot:
            condition, parameters = document_condition(scope, snapshot)
            sql, values = statement(condition)
            return snapshot.con.execute(sql, parameters | values).fetchall()


def _holds(written: str, name: str, sought: str, ending: str | None) -> bool:
    """Whether a part occurs in the name at a position that counts."""
    if sought not in name:
        return False
    if ending is None or f" {sought}{ending}" in words_in(name):
        return True
    return f" {sought}{ending}" in words_in(plain(split_words(written)))
