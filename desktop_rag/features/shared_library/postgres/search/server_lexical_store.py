"""Finds chunks by words, and the passages of chunk ids, on a server. Any thread."""

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from desktop_rag.core.question import Readable
from desktop_rag.features.shared_library.postgres.database.server_connection import ServerConnection
from desktop_rag.features.shared_library.postgres.database.server_database import (
    ServerDatabase,
    ServerSnapshot,
)
from desktop_rag.features.shared_library.postgres.search.server_postings import (
    PostingsInMemory,
    read_state,
)
from desktop_rag.features.shared_library.postgres.search.server_scope import (
    chunk_condition,
    document_condition,
)
from desktop_rag.store.contract.database import key_of
from desktop_rag.store.contract.scope import Scope, read_statistics
from desktop_rag.store.contract.search import (
    Ids,
    LexicalStore,
    Numbers,
    PostingList,
    Weights,
    WordIndex,
    WordPostings,
    merged,
)

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
