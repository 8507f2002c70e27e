"""The best chunks that a transaction sees, by BM25, and the scores of given ones. The ranking
itself is the same for every engine, see `bm25_ranking.py`. On an open snapshot.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from desktop_rag.store.contract.scope import Scope
from desktop_rag.store.contract.search import Weights, WordCounts, Words
from desktop_rag.store.postgres.database.server_database import ServerSnapshot
from desktop_rag.store.postgres.search.allowed_chunks import AllowedChunks
from desktop_rag.store.postgres.search.server_postings import PostingsInMemory
from desktop_rag.store.postgres.search.server_scope import chunk_condition
from desktop_rag.store.postgres.search.server_statistics import read_statistics, visible_in
from desktop_rag.store.sql.bm25_ranking import CHEAP, WordPostings, best_chunks, counted
from desktop_rag.store.sql.neighbour_scores import neighbour_scores
from desktop_rag.store.sql.posting_lists import PostingList

# SQL that begins with AND, and its parameters.
Condition = tuple[str, dict[str, Any]]


def counts_of(snapshot: ServerSnapshot, postings: PostingsInMemory, words: Words) -> WordCounts:
    """What the weight of each distinct word is made of."""
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


def condition_within(snapshot: ServerSnapshot, scope: Scope) -> Condition:
    """SQL that begins with AND, for rows of `chunks` in a scope, and its parameters."""
    return chunk_condition(scope, visible_in(snapshot))


def scores_of(
    snapshot: ServerSnapshot,
    postings: PostingsInMemory,
    weights: Weights,
    chunk_ids: Sequence[int],
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
