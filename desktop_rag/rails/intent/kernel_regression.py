"""Ridge regression of class membership on the similarities of vectors, solved in closed form.

Pure; any worker thread.
"""

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
# The similarity of two unit vectors becomes exp(SHARPNESS · (cosine − 1)).
_SHARPNESS = 2.0
_RIDGE = 0.1
# More rows than this are described by their similarity to so many of them: the time to fit grows
# with its square, and with the rows only linearly.
_LANDMARKS = 1500
# Directions with less of the variance than this are noise of the arithmetic.
_LEAST_VARIANCE = 1e-6
_MOST_OWN = 0.99


class KernelRegression:
    """Scores of classes, from about 0 to about 1, fitted to labelled unit vectors."""

    def __init__(
        self,
        rows: Vectors,
        classes: NDArray[np.intp],
        weights: Vectors,
        class_count: int,
        looked_at: NDArray[np.intp],
    ) -> None:
        """Fit; rows that are sorted by class are represented evenly when they are many.

        `left_out` gets the scores of the rows `looked_at`, as a fit without that row gives them.
        """
        self._chosen = np.linspace(0, len(rows) - 1, min(len(rows), _LANDMARKS)).astype(np.intp)
        landmarks = rows[self._chosen]
        values, directions = np.linalg.eigh(_kernel(landmarks @ landmarks.T))
        kept = values > _LEAST_VARIANCE * values[-1]
        projection = (directions[:, kept] / np.sqrt(values[kept])).astype(np.float32)
        targets = np.zeros((len(rows), class_count), np.float32)
        targets[np.arange(len(rows)), classes] = 1
        features = _kernel(rows @ landmarks.T) @ projection
        share = weights / weights.sum()
        mean_features, mean_target = share @ features, share @ targets
        features -= mean_features
        weighted = weights[:, None] * features
        moments = features.T @ weighted
        moments[np.diag_indices_from(moments)] += _RIDGE
        centred = targets - mean_target
        seen = features[looked_at]
        solved = np.linalg.solve(moments, np.hstack([weighted.T @ centred, seen.T]))
        coefficients = solved[:, :class_count]
        self._by_landmark = projection @ coefficients
        self._offset = mean_target - mean_features @ coefficients
        # The share of its own target in the score of a row.
        own = np.einsum("ij,ji->i", seen, solved[:, class_count:]) * weights[looked_at]
        own = np.minimum(own + share[looked_at], _MOST_OWN)[:, None]
        fitted = seen @ coefficients + mean_target
        self.left_out: Vectors = (fitted - own * targets[looked_at]) / (1 - own)

    def scores(self, similarities: Vectors) -> Vectors:
        """The scores of each class for vectors with these cosines to the rows of the fit."""
        return _kernel(similarities[:, self._chosen]) @ self._by_landmark + self._offset


def _kernel(similarities: Vectors) -> Vectors:
    return np.exp(_SHARPNESS * (similarities - 1)).astype(np.float32)
