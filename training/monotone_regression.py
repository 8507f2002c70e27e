"""Logistic regression whose weights keep a sign for each feature.

Newton's method on the penalised loss; each step minimises the quadratic approximation by coordinate
descent, with weights on the wrong side of zero set to zero (Friedman, Hastie and Tibshirani 2010,
"Regularization Paths for Generalized Linear Models", without the lasso). NumPy, one core.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_STEPS = 20
_SWEEPS = 200
_CLOSE = 1e-9
# The penalty on squared weights of standardised features, against a total weight of 1.
_RIDGE = 0.01
_LEAST_VARIANCE = 1e-4


@dataclass(frozen=True, slots=True)
class Regression:
    """Weights of the features, and the log odds where all are 0."""

    weights: Floats
    intercept: float

    def support(self, rows: Floats) -> Floats:
        """The probability of each row, 0 to 1."""
        return 1 / (1 + np.exp(-(rows @ self.weights + self.intercept)))


def fit(
    rows: Floats, labels: NDArray[np.bool_], weights: Floats, directions: Sequence[int]
) -> Regression:
    """Fit to rows with labels and weights of 1 in total; directions are -1, 0 (any) or 1."""
    means, scales = rows.mean(axis=0), np.maximum(rows.std(axis=0), _CLOSE)
    # The last column is the intercept, without a penalty.
    scaled = np.column_stack([(rows - means) / scales, np.ones(len(rows))])
    penalty = np.append(np.full(rows.shape[1], _RIDGE), 0.0)
    signs = [*directions, 0]
    found = np.zeros(scaled.shape[1])
    for _ in range(_STEPS):
        expected = 1 / (1 + np.exp(-scaled @ found))
        variances = weights * np.maximum(expected * (1 - expected), _LEAST_VARIANCE)
        curvature = (scaled * variances[:, None]).T @ scaled
        slope = scaled.T @ (weights * (labels - expected)) + curvature @ found
        last, found = found, _descend(curvature + np.diag(penalty), slope, found, signs)
        if np.abs(found - last).max() < _CLOSE:
            break
    own = found[:-1] / scales
    return Regression(own, float(found[-1] - own @ means))


def _descend(curvature: Floats, slope: Floats, start: Floats, signs: Sequence[int]) -> Floats:
    """The minimum of a quadratic function under the signs."""
    found = start.copy()
    for _ in range(_SWEEPS):
        last = found.copy()
        for place, sign in enumerate(signs):
            rest = slope[place] - curvature[place] @ found
            value = found[place] + rest / curvature[place, place]
            found[place] = value if not sign else sign * max(sign * value, 0.0)
        if np.abs(found - last).max() < _CLOSE:
            break
    return found
