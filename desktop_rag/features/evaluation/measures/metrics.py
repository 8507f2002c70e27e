"""Metrics of ranking, as TREC defines them, and of binary classification. Pure."""

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
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


def balanced_accuracy(told: Sequence[bool], labels: Sequence[bool]) -> float:
    """The mean of the recalls of both classes; both must occur."""
    shares: list[float] = []
    for kind in (True, False):
        of_kind = [said for said, label in zip(told, labels, strict=True) if label == kind]
        shares.append(sum(said == kind for said in of_kind) / len(of_kind))
    return sum(shares) / len(shares)


def area_under_curve(scores: Sequence[float], labels: Sequence[bool]) -> float:
    """The probability that a positive scores higher than a negative; ties count half.

    The area under the receiver operating characteristic, from the ranks (Mann and Whitney, 1947);
    both kinds must occur.
    """
    ordered = sorted(zip(scores, labels, strict=True))
    wins, others = 0.0, 0
    for _, equals in groupby(ordered, key=lambda pair: pair[0]):
        kinds = [label for _, label in equals]
        true = sum(kinds)
        wins += true * (others + (len(kinds) - true) / 2)
        others += len(kinds) - true
    return wins / (others * (len(ordered) - others))


def _discounted(grade: int, rank: int) -> float:
    return grade / math.log2(rank + 2)


def rounded(row: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers of a row with the digits that mean something."""
    return {key: round(v, _DIGITS) if isinstance(v, float) else v for key, v in row.items()}


def mean(values: Sequence[float]) -> float:
    """The mean; 0 of no values."""
    return sum(values) / len(values) if values else 0.0
