"""How much the words of a question count beside its meaning, and whether anything fits. Pure.

Fusion is a convex combination of normalised scores (Bruch, Gai and Ingber, 2023, "An Analysis of
Fusion Functions for Hybrid Retrieval"), which beats reciprocal ranks on nearly every set we tried.
No weight is best for all questions, so each question gets its own: a logistic function of a few
signals of the two rankings. The numbers were fitted by `packaging/fit_fusion.py`.
"""

import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]

# Of a passage's similarity, the part that its best window has.
WINDOW_SHARE = 0.4
# The weight of words stays between these: neither ranking is ever left out.
_LEAST_WEIGHT, _MOST_WEIGHT = 0.02, 0.92
# A passage whose relevance is less is not about the question.
IRRELEVANT_BELOW = 0.2
# Which places of a ranking stand for what follows its top, and for its background.
_LEAD_PLACE = 5
_BACKGROUND_PLACE = 50
# The fewest similarities from which their spread says anything.
_LEAST_SPREAD = 1e-6


@dataclass(frozen=True, slots=True)
class Signals:
    """What tells how far each ranking can be trusted.

    `spread`: how far the most similar passage stands above the background. `lead`: how far the best
    passage by words leaves the next ones behind, 0..1.
    """

    spread: float
    lead: float


@dataclass(frozen=True, slots=True)
class Logistic:
    """A logistic function of named values, each taken from its mean in units of its deviation."""

    intercept: float
    coefficients: dict[str, float]
    means: dict[str, float]
    deviations: dict[str, float]

    def __call__(self, values: dict[str, float]) -> float:
        """A number between 0 and 1; values without a coefficient count nothing."""
        total = self.intercept + sum(
            coefficient * (values[name] - self.means[name]) / self.deviations[name]
            for name, coefficient in self.coefficients.items()
        )
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


@dataclass(frozen=True, slots=True)
class FusionModel:
    """The fitted numbers: the weight of the words, and the relevance of a passage."""

    weight: Logistic
    relevance: Logistic
    relevance_by_words: Logistic

    @classmethod
    def load(cls, path: Path) -> "FusionModel":
        """Read the reviewed file with the numbers."""
        tables = tomllib.loads(path.read_text(encoding="utf-8"))

        def logistic(name: str) -> Logistic:
            table = tables[name]
            return Logistic(
                table["intercept"], table["coefficients"], table["means"], table["deviations"]
            )

        return cls(
            logistic("weight"),
            logistic("relevance"),
            logistic("relevance_by_words"),
        )

    def lexical_weight(self, signals: Signals, preference: float = 0.5) -> float:
        """The share of the words, between 0 and 1.

        `preference` is what the person wishes for: 0.5 leaves it to the signals, more moves every
        question towards words.
        """
        weight = self.weight({f.name: getattr(signals, f.name) for f in fields(signals)})
        weight = min(_MOST_WEIGHT, max(_LEAST_WEIGHT, weight))
        words, meaning = weight * preference, (1 - weight) * (1 - preference)
        return words / (words + meaning)


def measure(lexical: Scores, similar: Scores) -> Signals:
    """The signals of a pool of passages: scores by words and similarities, of one length."""
    by_similarity = np.sort(similar)[::-1]
    by_words = np.sort(lexical)[::-1]
    last = len(similar) - 1
    spread = by_similarity[0] - by_similarity[min(_BACKGROUND_PLACE, last)]
    lead = (by_words[0] - by_words[min(_LEAD_PLACE, last)]) / max(by_words[0], _LEAST_SPREAD)
    return Signals(float(spread), float(lead))


def fuse(lexical: Scores, dense: Scores, weight: float) -> Scores:
    """One score a passage: the weighted sum of both lists' z-scores over the pool."""
    return weight * standardised(lexical) + (1 - weight) * standardised(dense)


def standardised(values: Scores) -> Scores:
    """Each value's distance from the mean in deviations."""
    return (values - values.mean()) / max(float(values.std()), _LEAST_SPREAD)


def with_windows(similar: Scores, windows: Scores) -> Scores:
    """Similarity of passages of which the best window counts a part; NaN where there is none."""
    best = np.where(np.isnan(windows), similar, windows)
    return (1 - WINDOW_SHARE) * similar + WINDOW_SHARE * best


def ordered(ids: Sequence[int], scores: Scores, limit: int) -> dict[int, float]:
    """The `limit` best as id → score, best first, the smaller id of equals first."""
    pairs = zip(ids, scores.tolist(), strict=True)
    return dict(sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:limit])
