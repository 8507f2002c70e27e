"""Claims labelled by people, and how well the claim checker separates them."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from desktop_rag.answer.checking.claims.checker import ClaimChecker
from desktop_rag.core.claims import CheckedClaim
from desktop_rag.core.errors import AppError
from desktop_rag.features.evaluation.experiments.set_files import json_objects
from desktop_rag.features.evaluation.measures.metrics import mean

_TELL_EVERY = 500
_LABELS = {"supported": True, "unsupported": False}


@dataclass(frozen=True, slots=True)
class LabelledClaim:
    """A claim, its source, and the label by people: supported or not."""

    claim_id: str
    source: str
    claim: str
    is_supported: bool

    @property
    def label(self) -> str:
        """The label as in a file of claims."""
        return "supported" if self.is_supported else "unsupported"


def load_claims(path: Path) -> list[LabelledClaim]:
    """Read a file of rows {source, claim, label}; AppError names the first bad line.

    The label is "supported" or "unsupported", and both must occur.
    """
    claims: list[LabelledClaim] = []
    for number, row, bad in json_objects(path):
        for key in ("source", "claim", "label"):
            if not isinstance(row.get(key), str):
                raise bad(f"It needs a text as its {key}.")
        if row["label"] not in _LABELS:
            raise bad('Its label must be "supported" or "unsupported".')
        claim_id, is_supported = str(row.get("id", number)), _LABELS[row["label"]]
        claims.append(LabelledClaim(claim_id, row["source"], row["claim"], is_supported))
    if len({claim.is_supported for claim in claims}) < len(_LABELS):
        why = "It needs supported and unsupported claims: nothing can be told from one kind."
        raise AppError(f"{path} is no set of claims.", why)
    return claims


@dataclass(frozen=True, slots=True)
class TimedClaim:
    """A checked claim; `ms` is the time of the whole check."""

    labelled: LabelledClaim
    checked: CheckedClaim
    ms: float


def checked_claims(
    claims: Sequence[LabelledClaim], checker: ClaimChecker, say: Callable[[str], None]
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


def check_figures(judged: Sequence[TimedClaim], threshold: float) -> Mapping[str, float]:
    """How well the check separates the claims."""
    labels = [claim.labelled.is_supported for claim in judged]
    supports = [claim.checked.support for claim in judged]
    return {
        "claims": len(judged),
        "balanced_accuracy": balanced_accuracy([s >= threshold for s in supports], labels),
        "auc": area_under_curve(supports, labels),
        "threshold": threshold,
        "ms_per_claim": mean([claim.ms for claim in judged]),
    }


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
