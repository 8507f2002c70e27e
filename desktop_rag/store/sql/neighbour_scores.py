"""BM25 of chunks scored with their neighbours; for the formula see `LexicalStore`. Pure."""

import numpy as np
from numpy.typing import NDArray

from desktop_rag.store.contract.search import K1, NEIGHBOUR_LENGTH, NEIGHBOUR_SHARE, B, Weights

Numbers = NDArray[np.float64]


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
