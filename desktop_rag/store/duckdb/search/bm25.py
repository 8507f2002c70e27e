"""The best chunks of the library by BM25, and the scores of given ones. The ranking itself is
the same for every engine, see `bm25_ranking.py`. Any thread, on an open snapshot.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from desktop_rag.core.question import Readable
from desktop_rag.store.contract.scope import Scope
from desktop_rag.store.contract.search import Weights, WordCounts, Words
from desktop_rag.store.duckdb.search.index_cache import IndexSnapshot
from desktop_rag.store.duckdb.search.scope_sql import condition_of
from desktop_rag.store.sql.bm25_ranking import (
    CHEAP,
    WordPostings,
    best_chunks,
    counted,
    keys_of,
)
from desktop_rag.store.sql.neighbour_scores import neighbour_scores
from desktop_rag.store.sql.posting_lists import Ids, PostingList


def counts_of(
    snapshot: IndexSnapshot, words: Words, readable: Readable | None = None
) -> WordCounts:
    """What the weight of each distinct word is made of."""
    if readable is not None:
        part = snapshot.part(readable)
        return counted(
            words,
            lambda keys: counts_within(snapshot, keys, readable),
            len(part.chunk_ids),
            part.terms,
        )
    statistics = snapshot.statistics

    def in_library(keys: Sequence[int]) -> dict[int, int]:
        found = snapshot.document_frequencies(keys)
        recent = snapshot.recent_postings(keys)
        return {
            key: found[key] + (len(recent[key].chunk_ids) if key in recent else 0) for key in keys
        }

    return counted(words, in_library, statistics.chunk_count, statistics.terms)


def counts_within(
    snapshot: IndexSnapshot, keys: Sequence[int], readable: Readable
) -> dict[int, int]:
    """The number of readable chunks that each term occurs in."""
    inside = snapshot.part(readable).chunk_ids
    found = dict.fromkeys(keys, 0)
    if len(inside) and keys:
        distinct = list(found)
        for lists in (snapshot.sorted_postings(distinct), snapshot.recent_postings(distinct)):
            for key, postings in lists.items():
                found[key] += len(postings.in_chunks(inside).chunk_ids)
    return found


def best(
    snapshot: IndexSnapshot, weights: Weights, limit: int, scope: Scope, cheap: int = CHEAP
) -> list[tuple[int, float]]:
    """The `limit` chunks with the highest score: (chunk id, score), best first. Exact."""
    allowed = _AllowedChunks.of(snapshot, scope)
    return best_chunks(weights, _postings(snapshot, weights), allowed.only, limit, cheap)


def scores_of(
    snapshot: IndexSnapshot, weights: Weights, chunk_ids: Sequence[int]
) -> dict[int, float]:
    """The scores of given chunks read with their neighbours; those without any word are absent."""
    near = {i + step for i in chunk_ids for step in (-1, 0, 1)}
    found = snapshot.chunks().select(np.array(sorted(near), np.int64))
    ids, lengths = found.chunk_ids, found.terms.astype(np.float64)
    if not len(ids) or not weights.words:
        return {}
    tf = _postings(snapshot, weights).tf_in(ids)
    totals = neighbour_scores(weights, ids, lengths, found.continues, tf)
    wanted = np.isin(ids, np.array(chunk_ids, np.int64)) & snapshot.visible(ids) & (totals > 0)
    return dict(zip(ids[wanted].tolist(), totals[wanted].tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class _AllowedChunks:
    """The chunks that may be found: those of `inside` (None: all) that are not deleted."""

    inside: Ids | None
    deleted: Ids

    @classmethod
    def of(cls, snapshot: IndexSnapshot, scope: Scope) -> "_AllowedChunks":
        con = snapshot.con
        rest = replace(scope, readable=None)
        condition, parameters = condition_of(rest, con, snapshot.statistics, "chunk_id")
        inside = snapshot.part(scope.readable).chunk_ids if scope.readable else None
        if condition:
            sql = f"SELECT chunk_id FROM chunks WHERE true{condition}"
            others = con.execute(sql, parameters).fetchnumpy()["chunk_id"]
            inside = others if inside is None else np.intersect1d(inside, others)
        return cls(inside, snapshot.postings_state.deleted)

    def only(self, postings: PostingList) -> PostingList:
        """The postings in these chunks."""
        if self.inside is not None:
            postings = postings.where(np.isin(postings.chunk_ids, self.inside))
        if len(self.deleted):
            postings = postings.where(np.isin(postings.chunk_ids, self.deleted, invert=True))
        return postings


def _postings(snapshot: IndexSnapshot, weights: Weights) -> WordPostings:
    """The sorted and the unsorted postings of each word."""
    # The unsorted ones are scanned once for all words.
    recent = snapshot.recent_postings([key for keys in keys_of(weights) for key in keys])

    def read(keys: Sequence[int]) -> dict[int, list[PostingList]]:
        found = snapshot.sorted_postings(keys)
        return {key: [found[key]] + ([recent[key]] if key in recent else []) for key in found}

    return WordPostings(weights, read)
