"""BM25 over the postings: the best chunks of the library, and the scores of given ones.

Robertson and Zaragoza, 2009, "The Probabilistic Relevance Framework", with the idf of Lucene,
which is never negative. Any thread, on an open cursor; the arithmetic is NumPy's.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from desktop_rag.store.contract.scope import Scope
from desktop_rag.store.contract.search import (
    K1,
    NEIGHBOUR_LENGTH,
    NEIGHBOUR_SHARE,
    B,
    Weights,
    Words,
)
from desktop_rag.store.duckdb.database.database import Connection
from desktop_rag.store.duckdb.search.chunk_cache import ChunkCache, alive
from desktop_rag.store.duckdb.search.document_frequencies import DocumentFrequencies
from desktop_rag.store.duckdb.search.library_statistics import LibraryStatistics
from desktop_rag.store.duckdb.search.posting_cache import PostingCache, RecentPostings
from desktop_rag.store.duckdb.search.postings import (
    Hits,
    Ids,
    Numbers,
    Standing,
    joined,
    key_of,
    summed,
)
from desktop_rag.store.duckdb.search.scope_sql import condition_of

# A word in so many chunks is taken in as quickly as it is decided whether to.
CHEAP = 20_000


@dataclass(frozen=True, slots=True)
class View:
    """The library as one search sees it: on an open cursor, with what is known and held of it."""

    con: Connection
    facts: LibraryStatistics
    standing: Standing
    vocabulary: DocumentFrequencies
    lists: PostingCache
    recent: RecentPostings
    chunks: ChunkCache
    changes: int | None

    def recent_of(self, keys: Sequence[int]) -> dict[int, Hits]:
        """The unsorted postings of these terms, of each that has any."""
        if not self.standing.has_recent:
            return {}
        return self.recent.of(self.con, self.changes, keys)


def weights_of(view: View, words: Words) -> Weights:
    """How rare each different word is, the rarest first."""
    different = list(dict.fromkeys(words))
    keys = {word: [key_of(term) for term in word] for word in different}
    asked = [key for word in different for key in keys[word]]
    found = view.vocabulary.counts(view.con, view.standing.version, asked)
    recent = {key: len(hits.chunk_ids) for key, hits in view.recent_of(asked).items()}
    counts = {
        word: sum(found[key] + recent.get(key, 0) for key in keys[word]) for word in different
    }
    total = view.facts.chunks
    order = sorted(different, key=lambda word: (counts[word], word))
    return Weights(
        tuple(order),
        tuple(math.log(1 + max(0.5, total - counts[w] + 0.5) / (counts[w] + 0.5)) for w in order),
        tuple(counts[word] for word in order),
        view.facts.mean_length,
    )


def best(
    view: View, weights: Weights, limit: int, scope: Scope, cheap: int = CHEAP
) -> list[tuple[int, float]]:
    """The `limit` chunks with the highest score: (chunk id, score), best first. Exact.

    Words are taken in from the rarest on, until those left can't lift a chunk without any of the
    others to the last place. They then count only for the chunks that are left in the race (Turtle
    and Flood, 1995, "Query evaluation: strategies and optimizations"). Words that stand in up to
    `cheap` chunks are taken in without asking.
    """
    postings = _Postings(view, weights)
    findable = _Findable.of(view, scope)
    count = len(weights.words)
    ids, scores, taken, rest = np.empty(0, np.int64), np.empty(0), 0, 0.0
    while taken < count:
        upto = _next(weights, taken, cheap)
        hits = [findable.among(postings.of(n)) for n in range(taken, upto)]
        parts = [_scores(weights, n, h) for n, h in enumerate(hits, taken)]
        ids, scores = summed(
            np.concatenate([ids, *(h.chunk_ids for h in hits)]), np.concatenate([scores, *parts])
        )
        taken, rest = upto, weights.greatest(upto)
        least = _greatest(scores, limit)
        if least > rest:
            kept = scores >= least - rest
            ids, scores = ids[kept], scores[kept]
            break
    if taken < count and len(ids):
        scores = scores + postings.scores_among(range(taken, count), ids)
    first = np.lexsort((ids, -scores))[:limit]
    return list(zip(ids[first].tolist(), scores[first].tolist(), strict=True))


def scores_of(view: View, weights: Weights, chunk_ids: Sequence[int]) -> dict[int, float]:
    """The scores of given chunks read with their neighbours; those without any are absent."""
    near = {i + step for i in chunk_ids for step in (-1, 0, 1)}
    held = view.chunks.of(view.con, view.facts, view.standing)
    found = held.of(np.array(sorted(near), np.int64))
    ids, lengths = found.chunk_ids, found.terms.astype(np.float64)
    if not len(ids) or not weights.words:
        return {}
    tf = _Postings(view, weights).tf_among(ids)
    # Whether the row above is the chunk before, in the same document.
    follows = np.zeros(len(ids) + 1, np.float64)
    follows[1:-1] = (np.diff(ids) == 1) & found.goes_on[1:]
    before, after = follows[:-1, np.newaxis], follows[1:, np.newaxis]
    around = before * np.roll(tf, 1, axis=0) + after * np.roll(tf, -1, axis=0)
    beside = follows[:-1] * np.roll(lengths, 1) + follows[1:] * np.roll(lengths, -1)
    norm = _norm(weights, lengths + NEIGHBOUR_LENGTH * beside)[:, np.newaxis]
    tf = tf + NEIGHBOUR_SHARE * around
    totals = (np.array(weights.idf) * (K1 + 1) * tf / (tf + norm)).sum(axis=1)
    wanted = (
        np.isin(ids, np.array(chunk_ids, np.int64))
        & alive(ids, view.facts, view.standing)
        & (totals > 0)
    )
    return dict(zip(ids[wanted].tolist(), totals[wanted].tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class _Findable:
    """Which chunks may be found: those of `inside` (None: all) that are not `dead`."""

    inside: Ids | None
    dead: Ids

    @classmethod
    def of(cls, view: View, scope: Scope) -> "_Findable":
        con = view.con
        only, parameters = condition_of(scope, con, view.facts, "chunk_id")
        inside = None
        if only:
            sql = f"SELECT chunk_id FROM chunks WHERE true{only}"
            inside = con.execute(sql, parameters).fetchnumpy()["chunk_id"]
        return cls(inside, view.standing.dead)

    def among(self, hits: Hits) -> Hits:
        """Those of the hits that may be found."""
        if self.inside is not None:
            hits = hits.where(np.isin(hits.chunk_ids, self.inside))
        if len(self.dead):
            hits = hits.where(np.isin(hits.chunk_ids, self.dead, invert=True))
        return hits


class _Postings:
    """The postings of a question's words."""

    def __init__(self, view: View, weights: Weights) -> None:
        self._view = view
        self._weights = weights
        self._keys = _keys(weights)
        # Those of rare words together.
        self._sorted = self._read(
            [key for n, keys in enumerate(self._keys) if weights.counts[n] <= CHEAP for key in keys]
        )
        # Unsorted, they are read over once for all words.
        all_keys = [key for keys in self._keys for key in keys]
        self._recent = view.recent_of(all_keys)

    def of(self, n: int) -> Hits:
        """Where the word of this number stands."""
        return joined(self._lists(n))

    def scores_among(self, numbers: range, ids: Ids) -> Numbers:
        """What these words add to the scores of chunks, which are in ascending order."""
        added = np.zeros(len(ids))
        for n in numbers:
            hits = joined([hits.among(ids) for hits in self._lists(n)])
            added[np.searchsorted(ids, hits.chunk_ids)] += _scores(self._weights, n, hits)
        return added

    def tf_among(self, ids: Ids) -> Numbers:
        """How often each word stands in each of the chunks; shape (chunks, words)."""
        tf = np.zeros((len(ids), len(self._keys)))
        for n in range(len(self._keys)):
            for hits in self._lists(n):
                found = hits.among(ids)
                tf[np.searchsorted(ids, found.chunk_ids), n] += found.tf
        return tf

    def _lists(self, n: int) -> list[Hits]:
        keys = self._keys[n]
        for key in keys:
            if key not in self._sorted:
                self._sorted |= self._read([key])
        found = [self._sorted[key] for key in keys]
        return found + [self._recent[key] for key in keys if key in self._recent]

    def _read(self, keys: Sequence[int]) -> dict[int, Hits]:
        view = self._view
        return view.lists.of(view.con, view.standing.version, keys)


def _keys(weights: Weights) -> list[list[int]]:
    """The terms of each word as numbers, those of several words with the last of them."""
    owner = {term: n for n, word in enumerate(weights.words) for term in word}
    return [[key_of(t) for t in word if owner[t] == n] for n, word in enumerate(weights.words)]


def _next(weights: Weights, taken: int, cheap: int) -> int:
    """Up to which word to read next: one, and all that cost little."""
    upto = taken + 1
    while upto < len(weights.counts) and weights.counts[upto] <= cheap:
        upto += 1
    return upto


def _scores(weights: Weights, n: int, hits: Hits) -> Numbers:
    """What the word of this number adds to the score of each chunk it stands in."""
    tf, lengths = hits.tf.astype(np.float64), hits.lengths.astype(np.float64)
    return weights.idf[n] * (K1 + 1) * tf / (tf + _norm(weights, lengths))


def _norm(weights: Weights, lengths: Numbers) -> Numbers:
    return K1 * (1 - B) + K1 * B / weights.mean_length * lengths


def _greatest(scores: Numbers, n: int) -> float:
    """The n-th greatest, 0 when there are fewer."""
    return float(np.partition(scores, -n)[-n]) if len(scores) >= n else 0.0
