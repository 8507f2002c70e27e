"""BM25 over the postings: the best chunks of the library, and the scores of given ones.

Robertson and Zaragoza, 2009, "The Probabilistic Relevance Framework", with the idf of Lucene,
which is never negative. Any thread, on an open snapshot; NumPy does the arithmetic.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from desktop_rag.core.question import Readable
from desktop_rag.store.contract.scope import Scope
from desktop_rag.store.contract.search import (
    K1,
    Weights,
    Words,
)
from desktop_rag.store.duckdb.search.index_cache import IndexSnapshot
from desktop_rag.store.duckdb.search.postings import (
    Ids,
    Numbers,
    PostingList,
    merged,
    summed,
)
from desktop_rag.store.duckdb.search.scope_sql import condition_of
from desktop_rag.store.sql.neighbour_scores import length_norm, neighbour_scores
from desktop_rag.store.sql.text_sql import key_of

# Reading a word in at most this many chunks costs no more than deciding whether it matters.
CHEAP = 20_000


def weights_of(snapshot: IndexSnapshot, words: Words, readable: Readable | None = None) -> Weights:
    """The weight of each distinct word, the rarest first."""
    distinct = list(dict.fromkeys(words))
    keys = {word: [key_of(term) for term in word] for word in distinct}
    asked = [key for word in distinct for key in keys[word]]
    if readable is None:
        found = snapshot.document_frequencies(asked)
        recent = {key: len(each.chunk_ids) for key, each in snapshot.recent_postings(asked).items()}
        found = {key: found[key] + recent.get(key, 0) for key in asked}
        total, mean_length = snapshot.statistics.chunk_count, snapshot.statistics.mean_length
    else:
        part, found = snapshot.part(readable), counts_within(snapshot, asked, readable)
        total, mean_length = len(part.chunk_ids), part.mean_length
    counts = {word: sum(found[key] for key in keys[word]) for word in distinct}
    order = sorted(distinct, key=lambda word: (counts[word], word))
    return Weights(
        tuple(order),
        tuple(math.log(1 + max(0.5, total - counts[w] + 0.5) / (counts[w] + 0.5)) for w in order),
        tuple(counts[word] for word in order),
        mean_length,
    )


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
    """The `limit` chunks with the highest score: (chunk id, score), best first. Exact.

    Words are added from the rarest on, until the remaining ones can't lift a chunk that has only
    them into the result. From then on they count only for chunks that can still reach it (Turtle
    and Flood, 1995, "Query evaluation: strategies and optimizations"). Words that occur in up to
    `cheap` chunks are always added.
    """
    postings = _Postings(snapshot, weights)
    allowed = _AllowedChunks.of(snapshot, scope)
    count = len(weights.words)
    ids, scores, added, rest = np.empty(0, np.int64), np.empty(0), 0, 0.0
    while added < count:
        end = _next_end(weights, added, cheap)
        lists = [allowed.only(postings.of(n)) for n in range(added, end)]
        parts = [_scores(weights, n, each) for n, each in enumerate(lists, added)]
        ids, scores = summed(
            np.concatenate([ids, *(each.chunk_ids for each in lists)]),
            np.concatenate([scores, *parts]),
        )
        added, rest = end, weights.greatest(end)
        threshold = _nth_greatest(scores, limit)
        if threshold > rest:
            kept = scores >= threshold - rest
            ids, scores = ids[kept], scores[kept]
            break
    if added < count and len(ids):
        scores = scores + postings.scores_in(range(added, count), ids)
    first = np.lexsort((ids, -scores))[:limit]
    return list(zip(ids[first].tolist(), scores[first].tolist(), strict=True))


def scores_of(
    snapshot: IndexSnapshot, weights: Weights, chunk_ids: Sequence[int]
) -> dict[int, float]:
    """The scores of given chunks read with their neighbours; those without any word are absent."""
    near = {i + step for i in chunk_ids for step in (-1, 0, 1)}
    found = snapshot.chunks().select(np.array(sorted(near), np.int64))
    ids, lengths = found.chunk_ids, found.terms.astype(np.float64)
    if not len(ids) or not weights.words:
        return {}
    tf = _Postings(snapshot, weights).tf_in(ids)
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


class _Postings:
    """The postings of a question's words."""

    def __init__(self, snapshot: IndexSnapshot, weights: Weights) -> None:
        self._snapshot = snapshot
        self._weights = weights
        self._keys = _keys(weights)
        # Those of rare words are read in one go.
        self._sorted = snapshot.sorted_postings(
            [key for n, keys in enumerate(self._keys) if weights.counts[n] <= CHEAP for key in keys]
        )
        # The unsorted ones are scanned once for all words.
        all_keys = [key for keys in self._keys for key in keys]
        self._recent = snapshot.recent_postings(all_keys)

    def of(self, n: int) -> PostingList:
        """The postings of the n-th word."""
        return merged(self._lists(n))

    def scores_in(self, numbers: range, ids: Ids) -> Numbers:
        """The contribution of these words to the scores of chunks, which are in ascending order."""
        added = np.zeros(len(ids))
        for n in numbers:
            postings = merged([each.in_chunks(ids) for each in self._lists(n)])
            added[np.searchsorted(ids, postings.chunk_ids)] += _scores(self._weights, n, postings)
        return added

    def tf_in(self, ids: Ids) -> Numbers:
        """The frequency of each word in each of the chunks; shape (chunks, words)."""
        tf = np.zeros((len(ids), len(self._keys)))
        for n in range(len(self._keys)):
            for each in self._lists(n):
                found = each.in_chunks(ids)
                tf[np.searchsorted(ids, found.chunk_ids), n] += found.tf
        return tf

    def _lists(self, n: int) -> list[PostingList]:
        keys = self._keys[n]
        for key in keys:
            if key not in self._sorted:
                self._sorted |= self._snapshot.sorted_postings([key])
        found = [self._sorted[key] for key in keys]
        return found + [self._recent[key] for key in keys if key in self._recent]


def _keys(weights: Weights) -> list[list[int]]:
    """The keys of each word's terms; a term of several words belongs to the last of them."""
    owner = {term: n for n, word in enumerate(weights.words) for term in word}
    return [[key_of(t) for t in word if owner[t] == n] for n, word in enumerate(weights.words)]


def _next_end(weights: Weights, added: int, cheap: int) -> int:
    """The end of the next words to add: one, and all cheap ones after it."""
    end = added + 1
    while end < len(weights.counts) and weights.counts[end] <= cheap:
        end += 1
    return end


def _scores(weights: Weights, n: int, postings: PostingList) -> Numbers:
    """The contribution of the n-th word to the score of each chunk it occurs in."""
    tf, lengths = postings.tf.astype(np.float64), postings.lengths.astype(np.float64)
    return weights.idf[n] * (K1 + 1) * tf / (tf + length_norm(weights, lengths))


def _nth_greatest(scores: Numbers, n: int) -> float:
    """The n-th greatest score, 0 when there are fewer."""
    return float(np.partition(scores, -n)[-n]) if len(scores) >= n else 0.0
