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


@dataclass(frozen=True, slots=True)
class Evidence:
    """The best class of each vector, and `features` that tell how sure it is.

    Their columns: score of the regression; distance to the next class; similarity to the nearest
    example of the class; how much nearer that is than one of another; share of the votes; logarithm
    of the examples a class, and of the classes.
    """

    best: Places
    features: Vectors


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
        self._rows = rows
        self._looked_at = np.linspace(0, len(rows) - 1, min(len(rows), looked_at)).astype(np.intp)
        counts = np.bincount(classes, minlength=class_count)
        self._starts = np.searchsorted(classes, np.arange(class_count))
        mean_count = len(rows) / class_count
        weights = np.sqrt(mean_count / counts)[classes]
        all_weights = np.append(weights, np.full(len(named), np.median(weights)))
        self._regression = KernelRegression(
            np.concatenate([rows, names]),
            np.append(classes, named),
            all_weights.astype(np.float32),
            class_count,
            self._looked_at,
        )
        self._votes = NearestVotes(rows, classes, class_count)
        self._votes_weight = _VOTES * mean_count / (mean_count + _MANY)
        self._sizes = np.log([mean_count, class_count]).astype(np.float32)

    def similarities(self, vectors: Vectors) -> Vectors:
        """The cosine of each vector and each row."""
        return vectors @ self._rows.T

    def evidence(self, vectors: Vectors, similarities: Vectors) -> Evidence:
        """The best class of each vector with its evidence."""
        scores = self._regression.scores(vectors)
        return self._evidence(scores, self._votes.shares(vectors), similarities)

    @property
    def looked_at(self) -> Places:
        """The rows that `left_out` is about."""
        return self._looked_at

    def left_out(self) -> Evidence:
        """The evidence of the rows `looked_at`, as if each were unknown."""
        own, rows = self._looked_at, self._rows[self._looked_at]
        similarities = self.similarities(rows)
        similarities[np.arange(len(own)), own] = 0
        shares = self._votes.shares(rows, own)
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


def _without(values: Vectors, left_out: Places) -> Vectors:
    """The largest value of each row but that of the class left out; 0 without another."""
    if values.shape[1] == 1:
        return np.zeros(len(values), np.float32)
    rest = values.copy()
    rest[np.arange(len(rest)), left_out] = -np.inf
    return rest.max(axis=1)
