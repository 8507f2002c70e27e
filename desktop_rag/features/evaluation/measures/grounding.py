"""Measures the claim checker on pairs of a source and a claim, on the caller's thread."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from desktop_rag.answer.checking.claims.checker import ClaimChecker
from desktop_rag.core.claims import CheckedClaim
from desktop_rag.features.evaluation.measures.metrics import (
    area_under_curve,
    balanced_accuracy,
    mean,
    rounded,
)
from desktop_rag.features.evaluation.measures.query_sets import LabelledClaim
from desktop_rag.features.evaluation.measures.search import Row, Say
from desktop_rag.features.evaluation.values.measurement import Measurement

_TELL_EVERY = 500


@dataclass(frozen=True, slots=True)
class TimedClaim:
    """A checked claim; `ms` is the time of the whole check."""

    labelled: LabelledClaim
    checked: CheckedClaim
    ms: float


def checked_claims(
    claims: Sequence[LabelledClaim], checker: ClaimChecker, say: Say
) -> list[TimedClaim]:
    """Check every claim against its source, one by one on this thread."""
    judged: list[TimedClaim] = []
    for number, labelled in enumerate(claims, 1):
        began_at = time.perf_counter()
        checked = checker.check(labelled.claim, [labelled.source])
        judged.append(TimedClaim(labelled, checked, 1000 * (time.perf_counter() - began_at)))
        if number % _TELL_EVERY == 0:
            say(f"{number:,} of {len(claims):,} claims checked")
    return judged


def check_figures(judged: Sequence[TimedClaim], threshold: float) -> Measurement:
    """How well the check separates the claims."""
    labels = [claim.labelled.is_supported for claim in judged]
    supports = [claim.checked.support for claim in judged]
    figures: Row = {
        "claims": len(judged),
        "balanced_accuracy": balanced_accuracy([s >= threshold for s in supports], labels),
        "auc": area_under_curve(supports, labels),
        "threshold": threshold,
        "ms_per_claim": mean([claim.ms for claim in judged]),
    }
    rows: list[Row] = [
        {
            "id": claim.labelled.claim_id,
            "label": claim.labelled.label,
            "support": claim.checked.support,
            "verdict": str(claim.checked.verdict),
            "ms": claim.ms,
        }
        for claim in judged
    ]
    queries = list(map(rounded, rows))
    return Measurement(kind="grounding", results=[rounded(figures)], queries=queries)
