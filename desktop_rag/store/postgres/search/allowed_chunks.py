"""The chunks that a search by words may find, as ranges of ids. On an open snapshot."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from desktop_rag.store.contract.scope import Scope
from desktop_rag.store.postgres.database.server_database import ServerSnapshot
from desktop_rag.store.postgres.search.server_postings import PostingsInMemory, read_state
from desktop_rag.store.postgres.search.server_scope import document_condition
from desktop_rag.store.postgres.search.server_statistics import visible_in
from desktop_rag.store.sql.posting_lists import Ids, PostingList, merged
from desktop_rag.store.sql.text_sql import key_of

_Ranges = tuple[Ids, Ids]


@dataclass(frozen=True, slots=True)
class AllowedChunks:
    """What a chunk must be, and must not be; None means no limit."""

    inside: _Ranges | None
    dead: _Ranges | None
    holding: tuple[Ids, ...]
    without: tuple[Ids, ...]

    @classmethod
    def of(
        cls, snapshot: ServerSnapshot, scope: Scope, postings: PostingsInMemory
    ) -> "AllowedChunks":
        """Those of a scope that the snapshot sees."""
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
    """True for ids in one of the ranges, which are ordered and apart."""
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
    """The chunks of the documents in a scope, whatever they hold; None for all."""
    whole = replace(scope, required=(), excluded=(), chunk_ids=None)
    condition, parameters = document_condition(whole, visible_in(snapshot))
    if not condition:
        return None
    rows = snapshot.con.execute(
        "SELECT first_chunk, last_chunk FROM document_texts"
        f" WHERE last_chunk >= first_chunk{condition} ORDER BY first_chunk",
        parameters,
    ).fetchall()
    ranges = np.array(rows, np.int64).reshape(-1, 2)
    return ranges[:, 0], ranges[:, 1]
