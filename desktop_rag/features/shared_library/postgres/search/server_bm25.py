"""Ranks the chunks that an open snapshot sees by BM25, with the ranking of `bm25_ranking.py`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from desktop_rag.features.shared_library.postgres.database.server_database import ServerSnapshot
from desktop_rag.features.shared_library.postgres.search.server_postings import (
    PostingsInMemory,
    read_state,
)
from desktop_rag.features.shared_library.postgres.search.server_scope import (
    chunk_condition,
    document_condition,
    read_statistics,
    visible_in,
)
from desktop_rag.store.contract.bm25_ranking import (
    CHEAP,
    Ids,
    PostingList,
    WordPostings,
    best_chunks,
    counted,
    merged,
    neighbour_scores,
)
from desktop_rag.store.contract.search import Scope, Weights, WordCounts, Words
from desktop_rag.store.sql.scope_filters import key_of

_Ranges = tuple[Ids, Ids]


@dataclass(frozen=True, slots=True)
class AllowedChunks:
    """The chunks that a search by words may find; None means no limit."""

    inside: _Ranges | None
    dead: _Ranges | None
    holding: tuple[Ids, ...]
    without: tuple[Ids, ...]

    @classmethod
    def of(
        cls, snapshot: ServerSnapshot, scope: Scope, postings: PostingsInMemory
    ) -> "AllowedChunks":
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


def counts_of(snapshot: ServerSnapshot, postings: PostingsInMemory, words: Words) -> WordCounts:
    """The counts of which the weights of words are made."""
    statistics = snapshot.cached(read_statistics)
    return counted(
        words,
        lambda keys: postings.counts(snapshot, keys),
        statistics.chunk_count,
        statistics.terms,
    )


def best(
    snapshot: ServerSnapshot,
    postings: PostingsInMemory,
    weights: Weights,
    limit: int,
    scope: Scope,
    cheap: int = CHEAP,
) -> list[tuple[int, float]]:
    """The `limit` chunks with the highest score: (chunk id, score), best first. Exact."""
    allowed = AllowedChunks.of(snapshot, scope, postings)
    return best_chunks(weights, _postings(snapshot, postings, weights), allowed.only, limit, cheap)


def condition_within(snapshot: ServerSnapshot, scope: Scope) -> tuple[str, dict[str, Any]]:
    """SQL that begins with AND, for rows of `chunks` in a scope, and its parameters."""
    return chunk_condition(scope, visible_in(snapshot))


def scores_of(
    snapshot: ServerSnapshot, postings: PostingsInMemory, weights: Weights, chunk_ids: Sequence[int]
) -> dict[int, float]:
    """The scores of given chunks read with their neighbours; those without any word are absent."""
    near = sorted({i + step for i in chunk_ids for step in (-1, 0, 1)})
    rows = snapshot.con.execute(
        "SELECT chunk_id, term_count, position > 0 FROM chunks WHERE chunk_id = ANY (?::bigint[])"
        " ORDER BY chunk_id",
        [near],
    ).fetchall()
    if not rows or not weights.words:
        return {}
    ids = np.array([row[0] for row in rows], np.int64)
    lengths = np.array([row[1] for row in rows], np.float64)
    continues = np.array([row[2] for row in rows], np.bool_)
    tf = _postings(snapshot, postings, weights).tf_in(ids)
    totals = neighbour_scores(weights, ids, lengths, continues, tf)
    wanted = np.isin(ids, np.array(chunk_ids, np.int64)) & (totals > 0)
    return dict(zip(ids[wanted].tolist(), totals[wanted].tolist(), strict=True))


def _postings(
    snapshot: ServerSnapshot, postings: PostingsInMemory, weights: Weights
) -> WordPostings:
    def read(keys: Sequence[int]) -> dict[int, list[PostingList]]:
        return {key: [found] for key, found in postings.get(snapshot, keys).items()}

    return WordPostings(weights, read)
