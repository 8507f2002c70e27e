"""Votes of the nearest examples, where directions that vary within intents count less.

Pure; any worker thread.
"""

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Places = NDArray[np.intp]
_VOTERS = 10
_SHARPNESS = 20.0
# The variance added to each direction, as a multiple of the mean variance within intents.
_SHRINKAGE = 3.0
_NOTHING = 1e-9


class NearestVotes:
    """The share of each class among the nearest examples, weighted by similarity."""

    def __init__(self, rows: Vectors, classes: Places, class_count: int) -> None:
        """Estimate the variance within classes. The rows themselves are not kept."""
        self._classes, self._count = classes, class_count
        self._mean = rows.mean(axis=0)
        self._whitening = _whitening(rows, classes, class_count)
        self._lengths = _lengths((rows - self._mean) @ self._whitening)[:, 0]

    def directions(self, vectors: Vectors) -> Vectors:
        """The vectors whose scalar products with the rows `shares` needs, in the same shape."""
        turned = (vectors - self._mean) @ self._whitening
        return (turned / _lengths(turned)) @ self._whitening

    def shares(self, directions: Vectors, products: Vectors, own: Places | None = None) -> Vectors:
        """The shares of each class, shape (len(products), classes); each row adds up to 1.

        `products` are those of `directions` with the rows. With the places of these vectors among
        the rows, none votes for itself.
        """
        similarities = (products - (directions @ self._mean)[:, None]) / self._lengths
        if own is not None:
            similarities[np.arange(len(own)), own] = -2
        voters = min(_VOTERS, len(self._classes))
        places = np.argpartition(-similarities, voters - 1, axis=1)[:, :voters]
        near = np.take_along_axis(similarities, places, axis=1)
        weights = np.exp(_SHARPNESS * (near - near.max(axis=1, keepdims=True)))
        shares = np.zeros((len(products), self._count), np.float32)
        np.add.at(shares, (np.arange(len(products))[:, None], self._classes[places]), weights)
        return shares / shares.sum(axis=1, keepdims=True)


def _lengths(vectors: Vectors) -> Vectors:
    return np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), _NOTHING)


def _whitening(rows: Vectors, classes: Places, class_count: int) -> Vectors:
    sums = np.zeros((class_count, rows.shape[1]), np.float32)
    np.add.at(sums, classes, rows)
    rest = rows - (sums / np.bincount(classes, minlength=class_count)[:, None])[classes]
    # Only the directions in which the rows differ: with few examples a few of the hundreds.
    _, spread, directions = np.linalg.svd(_square(rest.astype(np.float32)), full_matrices=False)
    added = _SHRINKAGE * float((spread**2).sum()) / rows.shape[1]
    if added <= _NOTHING:  # one example for each class: nothing is known
        return np.eye(rows.shape[1], dtype=np.float32)
    scales = np.sqrt(added / (spread**2 + added)) - 1
    whitening = (directions.T * scales) @ directions
    whitening[np.diag_indices_from(whitening)] += 1
    return whitening.astype(np.float32)


def _square(rows: Vectors) -> NDArray[np.float64]:
    """Rows with the same moments, no more of them than there are dimensions."""
    if len(rows) <= rows.shape[1]:
        return rows.astype(np.float64)
    return np.asarray(np.linalg.qr(rows.astype(np.float64))[1], np.float64)
