"""How far two judges of the same answers agree, beyond chance. Pure."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from desktop_rag.core.language.translation import tr
from desktop_rag.features.evaluation.values.paired_comparison import percentile_interval

_RESAMPLES = 2_000
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
    one: Sequence[str], other: Sequence[str], *, resamples: int = _RESAMPLES
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
    return percentile_interval(kappas, 0.95)
