"""Metrics of ranking, as TREC defines them. Pure."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

_DIGITS = 4


def ndcg(ranked: Sequence[str], relevant: Mapping[str, int], depth: int = 10) -> float:
    """Normalised discounted cumulative gain of the first `depth` (Järvelin and Kekäläinen, 2002).

    `relevant` maps an id to its grade; ids not in it count nothing. 0 when nothing is relevant.
    """
    gained = sum(_discounted(relevant.get(i, 0), rank) for rank, i in enumerate(ranked[:depth]))
    best = sorted(relevant.values(), reverse=True)[:depth]
    ideal = sum(_discounted(grade, rank) for rank, grade in enumerate(best))
    return gained / ideal if ideal else 0.0


def recall(ranked: Sequence[str], relevant: Mapping[str, int], depth: int = 5) -> float:
    """The share of the relevant ids among the first `depth`."""
    wanted = {i for i, grade in relevant.items() if grade > 0}
    return len(wanted & set(ranked[:depth])) / len(wanted) if wanted else 0.0


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` (0..1) of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else 0.0


def _discounted(grade: int, rank: int) -> float:
    return grade / math.log2(rank + 2)


def rounded(row: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers of a row with the digits that mean something."""
    return {key: round(v, _DIGITS) if isinstance(v, float) else v for key, v in row.items()}


def mean(values: Sequence[float]) -> float:
    """The mean; 0 of no values."""
    return sum(values) / len(values) if values else 0.0
