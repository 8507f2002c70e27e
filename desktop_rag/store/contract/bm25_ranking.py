"""Ranks chunks by BM25 over posting lists, for every engine. Pure, except for reading postings.

Robertson and Zaragoza, 2009, "The Probabilistic Relevance Framework", with the idf of Lucene,
which is never negative.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from desktop_rag.store.contract.search import (
    K1,
    NEIGHBOUR_LENGTH,
    NEIGHBOUR_SHARE,
    B,
    Weights,
    WordCounts,
    Words,
)
from desktop_rag.store.sql.scope_filters import key_of

Ids = NDArray[np.integer]
Numbers = NDArray[np.float64]
Counts = NDArray[np.integer]
Number = TypeVar("Number", bound=np.number)


@dataclass(frozen=True, slots=True)
class PostingList:
    """The chunks a word occurs in, and how often: arrays with a row per chunk and term."""

    chunk_ids: Ids
    tf: Counts
    lengths: Counts

    def where(self, rows: NDArray[np.bool_] | Ids) -> "PostingList":
        """The selected rows."""
        return PostingList(self.chunk_ids[rows], self.tf[rows], self.lengths[rows])

    def in_chunks(self, chunk_ids: Ids) -> "PostingList":
        """The postings in the given chunks. Both in ascending order."""
        # With two types, searchsorted would convert the whole list.
        chunk_ids = chunk_ids.astype(self.chunk_ids.dtype)
        places = np.searchsorted(self.chunk_ids, chunk_ids)
        places = places[places < len(self.chunk_ids)]
        return self.where(places[self.chunk_ids[places] == chunk_ids[: len(places)]])

    @property
    def nbytes(self) -> int:
        """The size of the arrays in memory."""
        return self.chunk_ids.nbytes + self.tf.nbytes + self.lengths.nbytes


def merged(lists: Sequence[PostingList]) -> PostingList:
    """The postings of a word's alternative terms as those of one term."""
    if len(lists) == 1:
        return lists[0]
    if not lists:
        return PostingList(*(np.empty(0, np.int64) for _ in range(3)))
    chunk_ids = np.concatenate([each.chunk_ids for each in lists])
    ids, tf = summed(chunk_ids, np.concatenate([each.tf.astype(np.int64) for each in lists]))
    _, first = np.unique(chunk_ids, return_index=True)
    return PostingList(ids, tf, np.concatenate([each.lengths for each in lists])[first])


def summed(ids: Ids, values: NDArray[Number]) -> tuple[Ids, NDArray[Number]]:
    """The distinct ids in ascending order, each with the sum of its values."""
    if not len(ids):
        return ids, values
    order = np.argsort(ids, kind="stable")  # fast: the input is a few sorted pieces
    in_order = ids[order]
    begins = np.flatnonzero(np.concatenate(([True], in_order[1:] != in_order[:-1])))
    return in_order[begins], np.add.reduceat(values[order], begins)


# Reading a word in at most this many chunks costs no more than deciding whether it matters.
CHEAP = 20_000

# The postings of terms by their keys, each in a few lists ordered by chunk.
Read = Callable[[Sequence[int]], Mapping[int, Sequence[PostingList]]]


def counted(
    words: Words, counts_of: Callable[[Sequence[int]], Mapping[int, int]], chunks: int, terms: int
) -> WordCounts:
    """The counts of each distinct word in a library of so many chunks and terms."""
    keys = {word: [key_of(term) for term in word] for word in dict.fromkeys(words)}
    found = counts_of([key for those in keys.values() for key in those])
    counts = {word: sum(found[key] for key in those) for word, those in keys.items()}
    return WordCounts(chunks, terms, counts)


class WordPostings:
    """The postings of a question's words."""

    def __init__(self, weights: Weights, read: Read) -> None:
        self._weights = weights
        self._read = read
        self._keys = keys_of(weights)
        # Those of rare words are read in one go.
        rare = [n for n, count in enumerate(weights.counts) if count <= CHEAP]
        self._known = dict(read([key for n in rare for key in self._keys[n]]))

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
        if missing := [key for key in keys if key not in self._known]:
            self._known |= self._read(missing)
        return [each for key in keys for each in self._known[key]]


def best_chunks(
    weights: Weights,
    postings: WordPostings,
    allowed: Callable[[PostingList], PostingList],
    limit: int,
    cheap: int = CHEAP,
) -> list[tuple[int, float]]:
    """The `limit` chunks with the highest score: (chunk id, score), best first. Exact.

    Words are added from the rarest on, until the remaining ones can't lift a chunk that has only
    them into the result. From then on they count only for chunks that can still reach it (Turtle
    and Flood, 1995, "Query evaluation: strategies and optimizations"). Words that occur in up to
    `cheap` chunks are always added. `allowed` leaves the postings of chunks that may be found.
    """
    count = len(weights.words)
    ids, scores, added, rest = np.empty(0, np.int64), np.empty(0), 0, 0.0
    while added < count:
        end = _next_end(weights, added, cheap)
        lists = [allowed(postings.of(n)) for n in range(added, end)]
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


def keys_of(weights: Weights) -> list[list[int]]:
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


def length_norm(weights: Weights, lengths: Numbers) -> Numbers:
    """The length-dependent term in the denominator of BM25."""
    return K1 * (1 - B) + K1 * B / weights.mean_length * lengths


def neighbour_scores(
    weights: Weights,
    ids: NDArray[np.integer],
    lengths: Numbers,
    continues: NDArray[np.bool_],
    tf: Numbers,
) -> Numbers:
    """The score of each chunk, by ascending id.

    `continues` is True where the chunk before belongs to the same document; `tf` has the shape
    (chunks, words).
    """
    # 1 where the row above is the chunk before in the same document.
    follows = np.zeros(len(ids) + 1, np.float64)
    follows[1:-1] = (np.diff(ids) == 1) & continues[1:]
    before, after = follows[:-1, np.newaxis], follows[1:, np.newaxis]
    neighbour_tf = before * np.roll(tf, 1, axis=0) + after * np.roll(tf, -1, axis=0)
    neighbour_lengths = follows[:-1] * np.roll(lengths, 1) + follows[1:] * np.roll(lengths, -1)
    norm = length_norm(weights, lengths + NEIGHBOUR_LENGTH * neighbour_lengths)[:, np.newaxis]
    tf = tf + NEIGHBOUR_SHARE * neighbour_tf
    return (np.array(weights.idf) * (K1 + 1) * tf / (tf + norm)).sum(axis=1)
