"""Fuses the rankings by words and by meaning, and estimates relevance. Pure.

Fusion is a convex combination of two bounded scores: the share of the best possible score by words,
and the calibrated similarity (Bruch, Gai and Ingber, 2023, "An Analysis of Fusion Functions for
Hybrid Retrieval", theoretical min-max). So a question whose words hardly occur is ranked by
meaning, which z-scores would hide. Two signals move the balance: the agreement of both rankings,
which favours words, and whether the question is an open one ("Why …?", "How …?"), which passages
answer in other words. For an open question the company of a passage is added: its similarity to the
top passages, because passages that are alike tend to be relevant together (Diaz, 2005,
"Regularizing Ad Hoc Retrieval Scores"). The numbers were fitted by `training/fit_fusion.py`.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]

# The share of the best window in the similarity of a passage.
WINDOW_SHARE = 0.5
# A passage below this relevance is not about the question.
IRRELEVANT_BELOW = 0.3
# Among fewer candidates nothing can stand out: there the share of the words shows relevance.
FEW = 100
# The number of top passages that stand for everything relevant.
FIRST = 5
# The number of top passages of each ranking whose agreement is measured.
_COMPARED = 20
# Signals are clipped at this many deviations from their mean, so that none outweighs all others in
# a library unlike those of the training.
FURTHEST = 3.0
# The best passages of each single ranking come at this place at the latest.
GUARDED_PLACE = 6
# The smallest standard deviation to divide by.
_LEAST_SPREAD = 1e-6


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
    """The fitted functions for the lexical weight and relevance, and the weight of company."""

    weight: Logistic
    company: float
    relevance: Logistic
    relevance_among_few: Logistic
    relevance_by_words: Logistic
    relevance_by_lead: Logistic
    relevance_across: Logistic
    relevance_across_among_few: Logistic

    @classmethod
    def load(cls, path: Path) -> "FusionModel":
        """Read the file with the fitted numbers."""
        tables = tomllib.loads(path.read_text(encoding="utf-8"))

        def logistic(name: str) -> Logistic:
            table = tables[name]
            return Logistic(
                table["intercept"], table["coefficients"], table["means"], table["deviations"]
            )

        fitted = {f.name: logistic(f.name) for f in fields(cls) if f.name != "company"}
        return cls(company=float(tables["company"]["open"]), **fitted)

    def lexical_weight(
        self, agreed: float, count: int, preference: float = 0.5, *, is_open: bool
    ) -> float:
        """The weight of the ranking by words among `count` candidates, between 0 and 1.

        `agreed` is the agreement of both, from 0, by chance, to 1; `is_open` tells an open
        question. `preference` is the person's setting: 0.5 leaves it to these signals, more favours
        words. Among few candidates the usual agreement is taken: there they agree by chance.
        """
        usual = self.weight.means["agreement"]
        known = _part_of(count, _COMPARED)
        agreed = usual + known * (agreed - usual)
        weight = self.weight({"agreement": agreed, "open": float(is_open)})
        words, meaning = weight * preference, (1 - weight) * (1 - preference)
        return words / (words + meaning)

    def company_weight(self, count: int, *, is_open: bool) -> float:
        """The weight of company among `count` candidates, in standard deviations.

        The top passages are company only when they lead many others: among three passages, the one
        that differs may well be the right one.
        """
        return self.company * is_open * _part_of(count, FIRST)


def _part_of(count: int, least: int) -> float:
    """0 for up to `least` candidates, 1 from FEW on, linear in between."""
    return min(max((count - least) / (FEW - least), 0.0), 1.0)


def agreement(lexical: Scores, near: Scores) -> float:
    """The share of the first of both rankings that are the same, beyond chance; 0 for few."""
    chance = _COMPARED / len(near)
    if chance >= 1:
        return 0.0
    by_words = {int(i) for i in best_places(lexical, _COMPARED) if lexical[i] > 0}
    both = by_words.intersection(best_places(near, _COMPARED).tolist())
    return (len(both) / _COMPARED - chance) / (1 - chance)


def fuse(shares: Scores, near: Scores, weight: float) -> Scores:
    """One score per passage, from the share of the best score by words and the similarity."""
    return weight * shares + (1 - weight) * near


def company(fused: Scores, alike: Scores) -> Scores:
    """The similarity of each passage to the top ones, standardised; 0 where unknown."""
    among = alike[:, best_places(fused)]
    known = ~np.isnan(among)
    likeness = np.where(known, among, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    has_any = known.any(axis=1)
    if not has_any.any():
        return np.zeros(len(fused))
    return standardised(np.where(has_any, likeness, likeness[has_any].mean()))


def best_places(scores: Scores, count: int = FIRST) -> NDArray[np.intp]:
    """The indices of the `count` best, best first."""
    return np.argsort(-scores, kind="stable")[:count]


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


def guarded(scores: dict[int, float], best: Sequence[int]) -> dict[int, float]:
    """The ranking (id → score, best first) with the `best` of single rankings not buried.

    A name that only one passage has, or the only passage in another language, can be far down by
    the sum of both.
    """
    ids = list(scores)
    first = ids[:GUARDED_PLACE]
    moved = [i for i in dict.fromkeys(best) if i in scores and i not in first]
    if len(first) < GUARDED_PLACE or not moved:
        return scores
    rest = [i for i in ids[GUARDED_PLACE:] if i not in moved]
    raised = dict.fromkeys(moved, scores[first[-1]])
    return {i: raised.get(i, scores[i]) for i in (*first, *moved, *rest)}
