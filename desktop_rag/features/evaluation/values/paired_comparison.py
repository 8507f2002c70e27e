"""Statistics of two runs or two judges of the same questions, in figures and in words. Pure.

Scores are paired by question: what one run finds hard, the other mostly finds hard too, and the
difference of a pair leaves that out.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from desktop_rag.core.language.translation import tr

# Two scores count as the same when they differ by less.
_SAME = 1e-9
_RESAMPLES = 9_999
_CONFIDENCE = 0.95
_MOST_CHANCE = 0.05


class Outcome(StrEnum):
    """The verdict of both tests together; NOT_JUDGED while no answer was judged."""

    BETTER = "better"
    WORSE = "worse"
    PERHAPS = "perhaps"
    NO_DIFFERENCE = "no difference"
    NOT_JUDGED = "not judged"


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """The second run beside the first one, question by question.

    `difference` is the mean of the second's scores less the first's, [low, high] its interval at
    95 %. `chance` is the two-sided p-value of the sign test over the questions that differ.
    """

    better: int
    worse: int
    same: int
    difference: float
    low: float
    high: float
    chance: float

    @property
    def questions(self) -> int:
        """The number of questions that both answered."""
        return self.better + self.worse + self.same

    @property
    def outcome(self) -> Outcome:
        """Better or worse only where both tests agree; one of them alone is no proof.

        With few questions the bootstrap is too sure and the sign test is not; with many small
        differences it is the other way round.
        """
        leaves_out_zero = self.low > 0 or self.high < 0
        is_rare = self.chance <= _MOST_CHANCE
        if leaves_out_zero and is_rare and (self.better - self.worse) * self.difference > 0:
            return Outcome.BETTER if self.difference > 0 else Outcome.WORSE
        return Outcome.PERHAPS if leaves_out_zero or is_rare else Outcome.NO_DIFFERENCE

    def in_words(self, first: str = "A", second: str = "B") -> str:
        """`B is better: 12 to 5, 23 equal. This is likely not chance.`"""
        if not self.questions:
            return tr("No question was answered and judged in both.")
        if not self.better + self.worse:
            return tr("Neither is better: {same:,} equal.", same=self.same)
        match self.outcome:
            case Outcome.BETTER | Outcome.WORSE:
                said = tr("This is likely not chance.")
            case Outcome.PERHAPS:
                said = tr("This may be chance; more questions would tell.")
            case Outcome.NO_DIFFERENCE | Outcome.NOT_JUDGED:
                said = tr("This is no more than chance would make.")
        return f"{self._counted(first, second)} {said}"

    def _counted(self, first: str, second: str) -> str:
        if self.better == self.worse:
            return tr(
                "Neither is ahead: {count:,} each, {same:,} equal.",
                count=self.better, same=self.same,
            )  # fmt: skip
        counts = {
            "name": second if self.better > self.worse else first,
            "most": max(self.better, self.worse),
            "fewest": min(self.better, self.worse),
            "same": self.same,
        }
        if self.outcome in {Outcome.BETTER, Outcome.WORSE}:
            return tr("{name} is better: {most:,} to {fewest:,}, {same:,} equal.", **counts)
        return tr("{name} is ahead: {most:,} to {fewest:,}, {same:,} equal.", **counts)


def compare(first: Sequence[float], second: Sequence[float]) -> PairedComparison:
    """Compare the scores of two runs, in the same order of questions."""
    differences = [b - a for a, b in zip(first, second, strict=True)]
    better = sum(d > _SAME for d in differences)
    worse = sum(d < -_SAME for d in differences)
    low, high = bootstrap_interval(differences) if differences else (0.0, 0.0)
    mean = sum(differences) / len(differences) if differences else 0.0
    same = len(differences) - better - worse
    return PairedComparison(better, worse, same, mean, low, high, sign_test(better, worse))


def sign_test(better: int, worse: int) -> float:
    """The two-sided p-value of so many wins and losses, ties left out (Dixon and Mood, 1946).

    The probability of a split as uneven or more so, were each as likely as the other; 1 without
    any.
    """
    total, fewer = better + worse, min(better, worse)
    if better == worse:
        return 1.0
    ways = sum(math.comb(total, wins) for wins in range(fewer + 1))
    return min(1.0, 2 * ways / 2**total)


def bootstrap_interval(
    values: Sequence[float], *, resamples: int = _RESAMPLES
) -> tuple[float, float]:
    """The percentile interval of the mean (Efron and Tibshirani, 1993, chapter 13).

    The same values give the same interval each time. There must be a value.
    """
    sample = np.asarray(values, dtype=float)
    chosen = np.random.default_rng(_SEED).integers(0, len(sample), (resamples, len(sample)))
    return percentile_interval(sample[chosen].mean(axis=-1))


def percentile_interval(found: "np.ndarray") -> tuple[float, float]:
    """The middle of a distribution that holds 95 % of it."""
    outside = 100 * (1 - _CONFIDENCE) / 2
    low, high = np.percentile(found, [outside, 100 - outside])
    return float(low), float(high)


_KAPPA_RESAMPLES = 2_000
_SEED = 70
# The bounds of Landis and Koch (1977) from which agreement counts as fair, moderate, substantial.
_FAIR, _MODERATE, _SUBSTANTIAL = 0.2, 0.4, 0.6


@dataclass(frozen=True, slots=True)
class Agreement:
    """Cohen's kappa of two judges with its interval at 95 %, over so many answers."""

    kappa: float
    low: float
    high: float
    answers: int

    def in_words(self) -> str:
        """The figure, and whether the model may judge in place of people."""
        if not self.answers:
            return tr("No answer was judged by both, so their agreement is not known.")
        figures = tr(
            "Agreement beyond chance {kappa:.2f}, between {low:.2f} and {high:.2f}, over {count:,}"
            " judged by both.",
            kappa=self.kappa, low=self.low, high=self.high, count=self.answers,
        )  # fmt: skip
        return f"{figures} {self._meaning()}"

    def _meaning(self) -> str:
        if self.low >= _SUBSTANTIAL:
            return tr("The model judges as people do here; it can judge the rest.")
        if self.high < _MODERATE:
            return tr("The model judges otherwise than people; don't rely on it here.")
        if self.kappa >= _SUBSTANTIAL:
            return tr("They seem to agree, but on too few to be sure; judge more.")
        if self.kappa >= _FAIR:
            return tr("They agree in part; look at the answers on which they differ.")
        return tr("They hardly agree; judge more, or don't rely on the model.")


def cohens_kappa(one: Sequence[object], other: Sequence[object]) -> float:
    """The agreement of two judges beyond chance, 1 for full agreement (Cohen, 1960).

    1 when both always say the same one thing, where chance alone would agree, too.
    """
    pairs = list(zip(one, other, strict=True))
    agreed = sum(said == told for said, told in pairs) / len(pairs)
    first, second = Counter(one), Counter(other)
    by_chance = sum(first[kind] * second[kind] for kind in first) / len(pairs) ** 2
    return 1.0 if by_chance == 1.0 else (agreed - by_chance) / (1 - by_chance)


def agreement(
    one: Sequence[str], other: Sequence[str], *, resamples: int = _KAPPA_RESAMPLES
) -> Agreement:
    """Kappa with the percentile interval of a bootstrap over the answers; the same each time."""
    if not one:
        return Agreement(0.0, 0.0, 0.0, 0)
    low, high = _kappa_interval(one, other, resamples)
    return Agreement(cohens_kappa(one, other), low, high, len(one))


def _kappa_interval(
    one: Sequence[str], other: Sequence[str], resamples: int
) -> tuple[float, float]:
    kinds = {kind: code for code, kind in enumerate(sorted({*one, *other}))}
    first, second = (np.array([kinds[said] for said in judge]) for judge in (one, other))
    count = len(first)
    chosen = np.random.default_rng(_SEED).integers(0, count, (resamples, count))
    first, second = first[chosen], second[chosen]
    agreed = (first == second).mean(axis=1)
    by_chance = np.zeros(resamples)
    for code in kinds.values():
        by_chance += (first == code).mean(axis=1) * (second == code).mean(axis=1)
    is_certain = np.isclose(by_chance, 1.0)
    kappas = np.where(
        is_certain, 1.0, (agreed - by_chance) / np.where(is_certain, 1.0, 1 - by_chance)
    )
    return percentile_interval(kappas)
