"""How much the words of a question count beside its meaning, and whether anything fits. Pure.

Fusion is a convex combination of normalised scores (Bruch, Gai and Ingber, 2023, "An Analysis of
Fusion Functions for Hybrid Retrieval"), which beats reciprocal ranks on nearly every set we tried.
To it comes the company of a passage: how alike it is to the passages that stand first, for what
belongs together is relevant together (Diaz, 2005, "Regularizing Ad Hoc Retrieval Scores").
No balance is best for all questions, so each question gets its own: logistic functions of a few
signals of the rankings. The numbers were fitted by `training/fit_fusion.py`.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]

# Of a passage's similarity, the part that its best window has.
WINDOW_SHARE = 0.5
# The weight of words stays between these: neither ranking is ever left out.
_LEAST_WEIGHT, _MOST_WEIGHT = 0.02, 0.92
# What company counts at most, where words and meaning count 1 together.
MOST_COMPANY = 1.5
# A passage whose relevance is less is not about the question.
IRRELEVANT_BELOW = 0.3
# Among fewer passages nothing can stand out: there the share of the words tells what is relevant.
FEW = 100
# So many of the first passages stand for all that is relevant.
FIRST = 5
# Which place of a ranking stands for its background.
_BACKGROUND_PLACE = 50
# A signal further than so many deviations from its mean says no more: a library unlike those the
# numbers were fitted on must not make one of them outweigh all others.
FURTHEST = 3.0
# The fewest similarities from which their spread says anything.
_LEAST_SPREAD = 1e-6


@dataclass(frozen=True, slots=True)
class Signals:
    """What tells how far each ranking can be trusted, and whether the library has one subject.

    `cohesion`: how much more alike the passages nearest to the question are than all in the race.
    `closeness`: how much nearer the best of them is to the question than they are to one another.
    `match`: similarity of the best, times its distance from the background. `standout`: how many
    deviations the best passage by words stands above the mean. `singularity`: how well the best
    matches and how alone it does, the product of `closeness` and `match`.
    """

    cohesion: float
    closeness: float
    match: float
    standout: float
    singularity: float


@dataclass(frozen=True, slots=True)
class Logistic:
    """A logistic function of named values, each taken from its mean in units of its deviation."""

    intercept: float
    coefficients: dict[str, float]
    means: dict[str, float]
    deviations: dict[str, float]

    def __call__(self, values: Mapping[str, float]) -> float:
        """A number between 0 and 1; values without a coefficient count nothing."""
        return float(self.each({name: np.array(value) for name, value in values.items()}))

    def each(self, values: Mapping[str, Scores]) -> Scores:
        """The same of arrays of one shape, element by element."""
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
    """The fitted numbers: weight of the words, weight of company, and relevance of a passage."""

    weight: Logistic
    company: Logistic
    relevance: Logistic
    relevance_among_few: Logistic
    relevance_by_words: Logistic
    relevance_by_lead: Logistic

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
            logistic("company"),
            logistic("relevance"),
            logistic("relevance_among_few"),
            logistic("relevance_by_words"),
            logistic("relevance_by_lead"),
        )

    def lexical_weight(self, signals: Signals, preference: float = 0.5) -> float:
        """The share of the words, between 0 and 1.

        `preference` is what the person wishes for: 0.5 leaves it to the signals, more moves every
        question towards words.
        """
        share = self.weight(asdict(signals))
        weight = _LEAST_WEIGHT + (_MOST_WEIGHT - _LEAST_WEIGHT) * share
        words, meaning = weight * preference, (1 - weight) * (1 - preference)
        return words / (words + meaning)

    def company_weight(self, signals: Signals, count: int) -> float:
        """What the company of a passage counts in a race of `count`, between 0 and MOST_COMPANY.

        Those that stand first are company only where they stand before many others: of three
        passages the one that differs may well be the one that is meant.
        """
        share = (count - FIRST) / (FEW - FIRST)
        return min(max(share, 0.0), 1.0) * MOST_COMPANY * self.company(asdict(signals))


def measure(lexical: Scores, similar: Scores, dense: Scores, alike: Scores) -> Signals:
    """The signals of a pool of passages.

    Scores by words, similarities of whole passages and those with windows, of one length; `alike`
    has the similarity of each passage to each other one, NaN where it is not known.
    """
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
    """How far the most similar passage stands above the background."""
    ordered_values = np.sort(similar)[::-1]
    return float(ordered_values[0] - ordered_values[min(_BACKGROUND_PLACE, len(similar) - 1)])


def fuse(lexical: Scores, dense: Scores, weight: float) -> Scores:
    """One score a passage: the weighted sum of both lists' z-scores over the pool."""
    return weight * standardised(lexical) + (1 - weight) * standardised(dense)


def company(fused: Scores, alike: Scores) -> Scores:
    """How alike each passage is to those that stand first, standardised; 0 where not known."""
    among = alike[:, best_places(fused)]
    known = ~np.isnan(among)
    likeness = np.where(known, among, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    has_any = known.any(axis=1)
    if not has_any.any():
        return np.zeros(len(fused))
    return standardised(np.where(has_any, likeness, likeness[has_any].mean()))


def best_places(scores: Scores) -> NDArray[np.intp]:
    """Where the FIRST best stand, best first."""
    return np.argsort(-scores, kind="stable")[:FIRST]


def _mean(values: Scores, otherwise: float) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else otherwise


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
