"""Gradient-boosted trees with monotonic constraints.

Gradient boosting of the logistic loss with second derivatives (Friedman, 2001, "Greedy Function
Approximation"; Chen and Guestrin, 2016, "XGBoost", whose handling of monotonic constraints is used:
no split that violates one is made, and subtrees stay on their side of the midpoint). For small
sets: NumPy, one core.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bins = NDArray[np.intp]

DEPTH = 3
_INNER = 2**DEPTH - 1
_BINS = 32
_RATE = 0.1
_RIDGE = 5.0
# The minimum second derivative on either side of a split, and its minimum gain.
_LEAST_HESSIAN = 15.0
_LEAST_GAIN = 1e-3
_SHARE_OF_FEATURES = 0.4
_FURTHEST = 9.0
# An unreachable threshold: every row goes left.
NEVER = 1e9


@dataclass(frozen=True, slots=True)
class Tree:
    """A complete binary tree: node n goes to 2n + 1 if a feature is at most its threshold."""

    features: list[int]
    cuts: list[float]
    values: list[float]

    def __call__(self, rows: Floats) -> Floats:
        """The contribution to each row."""
        node = np.zeros(len(rows), np.intp)
        features, cuts = np.asarray(self.features), np.asarray(self.cuts)
        everyone = np.arange(len(rows))
        for _ in range(DEPTH):
            node = 2 * node + 1 + (rows[everyone, features[node]] > cuts[node])
        return np.asarray(self.values)[node - _INNER]


def score(trees: Sequence[Tree], rows: Floats) -> Floats:
    """The sum of all trees, as log odds per row."""
    total = np.zeros(len(rows))
    for tree in trees:
        total += tree(rows)
    return total


@dataclass(slots=True)
class _Split:
    feature: int
    bin: int
    left: float
    right: float
    gain: float


class Grower:
    """Grows trees on rows with labels (0 or 1), weights, and the constraint of each feature."""

    def __init__(
        self, rows: Floats, labels: Floats, weights: Floats, directions: Sequence[int], seed: int
    ) -> None:
        self._cuts = [_cuts(column) for column in rows.T]
        columns = zip(self._cuts, rows.T, strict=True)
        self._bins = np.stack([np.searchsorted(cuts, column) for cuts, column in columns], axis=1)
        self._labels, self._weights, self._directions = labels, weights, directions
        self._random = np.random.default_rng(seed)
        self._scores = np.zeros(len(rows))

    def grow(self, count: int) -> list[Tree]:
        """A number of trees, each fitted to the residuals of the previous ones."""
        return [self._next() for _ in range(count)]

    def _next(self) -> Tree:
        expected = 1 / (1 + np.exp(-self._scores))
        self._gradient = self._weights * (self._labels - expected)
        self._hessian = self._weights * expected * (1 - expected)
        features = len(self._cuts)
        tried = self._random.permutation(features)[: max(1, int(features * _SHARE_OF_FEATURES))]
        tree = Tree([0] * _INNER, [NEVER] * _INNER, [0.0] * (_INNER + 1))
        self._fill(tree, 0, np.arange(len(self._scores)), (-_FURTHEST, _FURTHEST), tried)
        return tree

    def _fill(
        self, tree: Tree, node: int, rows: Bins, bounds: tuple[float, float], tried: Bins
    ) -> None:
        if node >= _INNER:
            value = _RATE * float(np.clip(self._best_value(rows), *bounds)) if rows.size else 0.0
            tree.values[node - _INNER] = value
            self._scores[rows] += value
            return
        split = self._best_split(rows, bounds, tried) if rows.size else None
        if split is None:
            self._fill(tree, 2 * node + 1, rows, bounds, tried)
            self._fill(tree, 2 * node + 2, rows[:0], bounds, tried)
            return
        tree.features[node] = split.feature
        tree.cuts[node] = float(self._cuts[split.feature][split.bin])
        goes_left = self._bins[rows, split.feature] <= split.bin
        middle = (split.left + split.right) / 2
        below, above = (bounds[0], middle), (middle, bounds[1])
        left, right = {1: (below, above), -1: (above, below)}.get(
            self._directions[split.feature], (bounds, bounds)
        )
        self._fill(tree, 2 * node + 1, rows[goes_left], left, tried)
        self._fill(tree, 2 * node + 2, rows[~goes_left], right, tried)

    def _best_value(self, rows: Bins) -> float:
        return float(self._gradient[rows].sum() / (self._hessian[rows].sum() + _RIDGE))

    def _best_split(self, rows: Bins, bounds: tuple[float, float], tried: Bins) -> _Split | None:
        gradient, hessian = self._gradient[rows], self._hessian[rows]
        whole = _worth(gradient.sum(), hessian.sum(), bounds)[1]
        best: _Split | None = None
        for feature in tried.tolist():
            bins = self._bins[rows, feature]
            left = [np.bincount(bins, part, _BINS).cumsum()[:-1] for part in (gradient, hessian)]
            right = [gradient.sum() - left[0], hessian.sum() - left[1]]
            low, gain_left = _worth(left[0], left[1], bounds)
            high, gain_right = _worth(right[0], right[1], bounds)
            allowed = (left[1] > _LEAST_HESSIAN) & (right[1] > _LEAST_HESSIAN)
            allowed &= self._directions[feature] * (high - low) >= 0
            gains = np.where(allowed, gain_left + gain_right - whole, 0.0)
            at = int(gains.argmax())
            if gains[at] > (best.gain if best else _LEAST_GAIN):
                best = _Split(feature, at, float(low[at]), float(high[at]), float(gains[at]))
        return best


def _worth(gradient: Floats, hessian: Floats, bounds: tuple[float, float]) -> tuple[Floats, Floats]:
    """The best value within the bounds, and the reduction of the loss."""
    value = np.clip(gradient / (hessian + _RIDGE), *bounds)
    return value, gradient * value - (hessian + _RIDGE) * value * value / 2


def _cuts(column: Floats) -> Floats:
    """Candidate thresholds of a feature: between its quantiles, rounded to the precision of the
    file.
    """
    quantiles = np.quantile(column, np.linspace(0, 1, _BINS + 1)[1:-1])
    return np.unique(np.round(quantiles, 4))
