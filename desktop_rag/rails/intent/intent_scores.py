"""Scores of intents for vectors, and the evidence from which a probability is told.

Pure; any worker thread.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from desktop_rag.rails.intent.kernel_regression import KernelRegression
from desktop_rag.rails.intent.nearest_votes import NearestVotes

Vectors = NDArray[np.float32]
Places = NDArray[np.intp]
# What the votes of the nearest examples weigh beside the regression, with many examples.
_VOTES = 0.3
# Examples an intent at which they weigh half of that: with few, the nearest ten are of ten intents.
_MANY = 10.0
# As many examples are looked at as if they were unknown sentences.
_LOOKED_AT = 2000
# So many rows at once stay in the cache of a core while several vectors are multiplied with them.
_BLOCK = 256
# A product of matrices is faster for more vectors than this.
_FEW = 4


@dataclass(frozen=True, slots=True)
class Evidence:
    """The best class of each vector, and `features` that tell how sure it is.

    Their columns: score of the regression; distance to the next class; similarity to the nearest
    example of the class; how much nearer that is than one of another; share of the votes; logarithm
    of the examples a class, and of the classes.
    """

    best: Places
    features: Vectors

    @property
    def margins(self) -> Vectors:
        """How much more the best class scores than the next."""
        return self.features[:, 1]

    @property
    def sizes(self) -> Vectors:
        """The mean number of examples a class."""
        return np.exp(self.features[:, 5])


class IntentScores:
    """Scores fitted to the vectors of examples, sorted by class, and of the names of classes."""

    def __init__(
        self,
        rows: Vectors,
        classes: Places,
        names: Vectors,
        named: Places,
        class_count: int,
        looked_at: int = _LOOKED_AT,
    ) -> None:
        """Fit. Every class has a row; `names` are the vectors of those classes in `named`."""
        self._example_count = len(rows)
        self._rows = np.concatenate([rows, names])
        self._looked_at = np.linspace(0, len(rows) - 1, min(len(rows), looked_at)).astype(np.intp)
        counts = np.bincount(classes, minlength=class_count)
        self._starts = np.searchsorted(classes, np.arange(class_count))
        mean_count = len(rows) / class_count
        weights = np.sqrt(mean_count / counts)[classes]
        all_weights = np.append(weights, np.full(len(named), np.median(weights)))
        self._regression = KernelRegression(
            self._rows,
            np.append(classes, named),
            all_weights.astype(np.float32),
            class_count,
            self._looked_at,
        )
        self._votes = NearestVotes(rows, classes, class_count)
        self._votes_weight = _VOTES * mean_count / (mean_count + _MANY)
        self._sizes = np.log([mean_count, class_count]).astype(np.float32)

    def compared(self, vectors: Vectors) -> tuple[Vectors, Evidence]:
        """The cosine of each vector and each row, and the best class of each with its evidence."""
        directions = self._votes.directions(vectors)
        # At once, since reading ten thousand rows takes longer than multiplying them.
        products = _products(np.concatenate([vectors, directions]), self._rows)
        similarities, turned = np.split(products, 2)
        scores = self._regression.scores(similarities)
        cosines = similarities[:, : self._example_count]
        shares = self._votes.shares(directions, turned[:, : self._example_count])
        return cosines, self._evidence(scores, shares, cosines)

    @property
    def looked_at(self) -> Places:
        """The rows that `left_out` is about."""
        return self._looked_at

    def left_out(self) -> Evidence:
        """The evidence of the rows `looked_at`, as if each were unknown."""
        own, examples = self._looked_at, self._rows[: self._example_count]
        similarities = examples[own] @ examples.T
        similarities[np.arange(len(own)), own] = 0
        directions = self._votes.directions(examples[own])
        shares = self._votes.shares(directions, directions @ examples.T, own)
        return self._evidence(self._regression.left_out, shares, similarities)

    def _evidence(self, scores: Vectors, shares: Vectors, similarities: Vectors) -> Evidence:
        total = (scores + self._votes_weight * shares).astype(np.float32)
        best = total.argmax(axis=1)
        at = np.arange(len(total))
        nearest = np.maximum.reduceat(similarities, self._starts, axis=1)
        own, others = nearest[at, best], _without(nearest, best)
        columns = [
            scores[at, best],
            total[at, best] - _without(total, best),
            own,
            own - others,
            shares[at, best],
            *np.broadcast_to(self._sizes[:, None], (2, len(total))),
        ]
        return Evidence(best, np.stack(columns, axis=1).astype(np.float32))


def _products(vectors: Vectors, rows: Vectors) -> Vectors:
    """The scalar product of each vector and each row; few vectors read the rows once."""
    if len(vectors) > _FEW:
        return vectors @ rows.T
    found = np.empty((len(vectors), len(rows)), np.float32)
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK]
        for vector, products in zip(vectors, found, strict=True):
            np.dot(block, vector, out=products[start : start + _BLOCK])
    return found


def _without(values: Vectors, left_out: Places) -> Vectors:
    """The largest value of each row but that of the class left out; 0 without another."""
    if values.shape[1] == 1:
        return np.zeros(len(values), np.float32)
    rest = values.copy()
    rest[np.arange(len(rest)), left_out] = -np.inf
    return rest.max(axis=1)
