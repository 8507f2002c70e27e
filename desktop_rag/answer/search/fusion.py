"""Fuses the rankings by words and by meaning, and estimates relevance. Pure.

Fusion is a convex combination of normalised scores (Bruch, Gai and Ingber, 2023, "An Analysis of
Fusion Functions for Hybrid Retrieval"), which beats reciprocal ranks on nearly every set we tried.
The company of a passage is added: its similarity to the top passages, because passages that are
alike tend to be relevant together (Diaz, 2005, "Regularizing Ad Hoc Retrieval Scores").
No balance is best for all questions, so each question gets its own from logistic functions of a few
signals of the rankings. The numbers were fitted by `training/fit_fusion.py`.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]

# The share of the best window in the similarity of a passage.
WINDOW_SHARE = 0.5
# The bounds of the lexical weight: neither ranking is ever left out.
_LEAST_WEIGHT, _MOST_WEIGHT = 0.02, 0.92
# The greatest weight of company; words and meaning together weigh 1.
MOST_COMPANY = 1.5
# A passage below this relevance is not about the question.
IRRELEVANT_BELOW = 0.3
# Among fewer candidates nothing can stand out: there the share of the words shows relevance.
FEW = 100
# The number of top passages that stand for everything relevant.
FIRST = 5
# The rank that stands for the background of a ranking.
_BACKGROUND_PLACE = 50
# Signals are clipped at this many deviations from their mean, so that none outweighs all others in
# a library unlike those of the training.
FURTHEST = 3.0
# The smallest standard deviation to divide by.
_LEAST_SPREAD = 1e-6


@dataclass(frozen=True, slots=True)
class Signals:
    """Signals of how far each ranking can be trusted.

    `cohesion`: similarity among the passages nearest to the question, less that among all
    candidates. `closeness`: similarity of the best passage to the question, less that among the
    nearest ones. `match`: similarity of the best, times its distance from the background.
    `standout`: deviations of the best passage by words from the mean. `singularity`: the product of
    `closeness` and `match`.
    """

    cohesion: float
    closeness: float
    match: float
    standout: float
    singularity: float


@dataclass(frozen=True, slots=True)
class Logistic:
    """A logistic function of named values, each standardised by its mean and deviation."""

    intercept: float
    coefficients: dict[str, float]
    means: dict[str, float]
    deviations: dict[str, float]

    def __call__(self, values: Mapping[str, float]) -> float:
        """A number between 0 and 1; values without a coefficient are ignored."""
        return float(self.each({name: np.array(value) for name, value in values.items()}))

    def each(self, values: Mapping[str, Scores]) -> Scores:
        """The same for arrays of one shape, element by element."""
        total = self.intercept + sum(
            (coefficient * self._standardised(name, values[name])
             for name, coefficient in self.coefficients.items()),
            start=np.zeros(()),
        )  # fmt: skip
        return 1 / (1 + np.exp(-total.clip(-30, 30)))

    def _standardised(self, name: str, value: Scores) -> Scores:
        return ((value - self.means[name]) / self.deviations[name]).clip(-FURTHEST, FURTHEST)


@dataclass(frozen=True, slots=True)
class FusionModel:
    """The fitted functions for the lexical weight, the weight of company, and relevance."""

    weight: Logistic
    company: Logistic
    relevance: Logistic
    relevance_among_few: Logistic
    relevance_by_words: Logistic
    relevance_by_lead: Logistic

    @classmethod
    def load(cls, path: Path) -> "FusionModel":
        """Read the file with the fitted numbers."""
        tables = tomllib.loads(path.read_text(encoding="utf-8"))

        def logistic(name: str) -> Logistic:
            table = tables[name]
            return Logistic(
                table["intercept"], table["coefficients"], table["means"], table["deviations"]
            )

        return cls(
            logistic("weight"),
            logistic("company"),
            logistic("relevance"),
            logistic("relevance_among_few"),
            logistic("relevance_by_words"),
            logistic("relevance_by_lead"),
        )

    def lexical_weight(self, signals: Signals, preference: float = 0.5) -> float:
        """The weight of the ranking by words, between 0 and 1.

        `preference` is the person's setting: 0.5 leaves it to the signals, more favours words.
        """
        share = self.weight(asdict(signals))
        weight = _LEAST_WEIGHT + (_MOST_WEIGHT - _LEAST_WEIGHT) * share
        words, meaning = weight * preference, (1 - weight) * (1 - preference)
        return words / (words + meaning)

    def company_weight(self, signals: Signals, count: int) -> float:
        """The weight of company among `count` candidates, between 0 and MOST_COMPANY.

        The top passages are company only when they lead many others: among three passages, the one
        that differs may well be the right one.
        """
        share = (count - FIRST) / (FEW - FIRST)
        return min(max(share, 0.0), 1.0) * MOST_COMPANY * self.company(asdict(signals))


def measure(lexical: Scores, similar: Scores, dense: Scores, alike: Scores) -> Signals:
    """The signals of the candidates; see `Candidates` for the arrays, where `dense` is `near`."""
    first = best_places(dense)
    among = alike[np.ix_(first, first)][~np.eye(len(first), dtype=bool)]
    nearness = _mean(among, 0.0)
    top = float(similar.max())
    closeness, match = top - nearness, top * spread_of(similar)
    return Signals(
        cohesion=nearness - _mean(alike, 0.0),
        closeness=closeness,
        match=match,
        standout=float(standardised(lexical).max()),
        singularity=closeness * match,
    )


def spread_of(similar: Scores) -> float:
    """The distance of the most similar passage from the background."""
    ordered_values = np.sort(similar)[::-1]
    return float(ordered_values[0] - ordered_values[min(_BACKGROUND_PLACE, len(similar) - 1)])


def fuse(lexical: Scores, dense: Scores, weight: float) -> Scores:
    """One score per passage: the weighted sum of its z-scores in both rankings."""
    return weight * standardised(lexical) + (1 - weight) * standardised(dense)


def company(fused: Scores, alike: Scores) -> Scores:
    """The similarity of each passage to the top ones, standardised; 0 where unknown."""
    among = alike[:, best_places(fused)]
    known = ~np.isnan(among)
    likeness = np.where(known, among, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    has_any = known.any(axis=1)
    if not has_any.any():
        return np.zeros(len(fused))
    return standardised(np.where(has_any, likeness, likeness[has_any].mean()))


def best_places(scores: Scores) -> NDArray[np.intp]:
    """The indices of the FIRST best, best first."""
    return np.argsort(-scores, kind="stable")[:FIRST]


def _mean(values: Scores, otherwise: float) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else otherwise


def standardised(values: Scores) -> Scores:
    """The z-score of each value."""
    return (values - values.mean()) / max(float(values.std()), _LEAST_SPREAD)


def with_windows(similar: Scores, windows: Scores) -> Scores:
    """Similarities of passages blended with those of their best windows, NaN for none."""
    best = np.where(np.isnan(windows), similar, windows)
    return (1 - WINDOW_SHARE) * similar + WINDOW_SHARE * best


def ordered(ids: Sequence[int], scores: Scores, limit: int) -> dict[int, float]:
    """The `limit` best as id → score, best first; equal scores by ascending id."""
    pairs = zip(ids, scores.tolist(), strict=True)
    return dict(sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:limit])
