"""Measures the claim checker on pairs of a source and a claim. Runs on the caller's thread."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from desktop_rag.core.claims import CheckedClaim
from desktop_rag.core.errors import AppError
from desktop_rag.features.evaluation.measures.measurement import area_under_curve, balanced_accuracy
from desktop_rag.features.evaluation.measures.query_sets import json_object, numbered_lines

_LABELS = {"supported": True, "unsupported": False}
_TELL_EVERY = 500


class Checker(Protocol):
    """Checks a claim against sources; claims count as supported from a threshold on."""

    @property
    def threshold(self) -> float:
        """The threshold that separates the two classes."""
        ...

    def check(self, claim: str, sources: Sequence[str]) -> CheckedClaim:
        """Check one claim."""
        ...


@dataclass(frozen=True, slots=True)
class LabelledClaim:
    """A claim, its source, and the label by people: supported or not."""

    claim_id: str
    source: str
    claim: str
    is_supported: bool


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A checked claim; `ms` is the time of the whole check."""

    labelled: LabelledClaim
    checked: CheckedClaim
    ms: float

    def to_json(self) -> dict[str, Any]:
        """The row of this claim, to compare two runs."""
        return {
            "id": self.labelled.claim_id,
            "label": "supported" if self.labelled.is_supported else "unsupported",
            "support": round(self.checked.support, 4),
            "verdict": str(self.checked.verdict),
            "ms": round(self.ms, 2),
        }


@dataclass(frozen=True, slots=True)
class GroundingFigures:
    """The checked claims of one set."""

    claims: tuple[JudgedClaim, ...]
    threshold: float

    @property
    def kind(self) -> str:
        """The kind of the stored run."""
        return "grounding"

    def to_json(self) -> dict[str, Any]:
        """The keys of the command line."""
        labels = [judged.labelled.is_supported for judged in self.claims]
        supports = [judged.checked.support for judged in self.claims]
        told = [support >= self.threshold for support in supports]
        return {
            "claims": len(self.claims),
            "balanced_accuracy": round(balanced_accuracy(told, labels), 4),
            "auc": round(area_under_curve(supports, labels), 4),
            "threshold": self.threshold,
            "ms_per_claim": round(sum(judged.ms for judged in self.claims) / len(self.claims), 2),
        }

    def query_rows(self) -> list[dict[str, Any]]:
        """One object for each claim."""
        return [judged.to_json() for judged in self.claims]


def load_claims(path: Path) -> list[LabelledClaim]:
    """Read a file of rows {source, claim, label}; AppError names the first bad line.

    The label is "supported" or "unsupported", and both must occur.
    """
    claims = [_claim(path, number, line) for number, line in numbered_lines(path)]
    if len({claim.is_supported for claim in claims}) < len(_LABELS):
        why = "It needs supported and unsupported claims: nothing can be told from one kind."
        raise AppError(f"{path} is no set of claims.", why)
    return claims


def evaluate(
    claims: Sequence[LabelledClaim], checker: Checker, say: Callable[[str], None]
) -> GroundingFigures:
    """Check every claim against its source, one by one on this thread."""
    judged: list[JudgedClaim] = []
    for number, labelled in enumerate(claims, 1):
        began_at = time.perf_counter()
        checked = checker.check(labelled.claim, [labelled.source])
        judged.append(JudgedClaim(labelled, checked, 1000 * (time.perf_counter() - began_at)))
        if number % _TELL_EVERY == 0:
            say(f"{number:,} of {len(claims):,} claims checked")
    return GroundingFigures(tuple(judged), checker.threshold)


def _claim(path: Path, number: int, line: str) -> LabelledClaim:
    def bad(why: str) -> AppError:
        return AppError(f"Line {number} of {path} is no claim.", why)

    row = json_object(line, bad)
    for key in ("source", "claim", "label"):
        if not isinstance(row.get(key), str):
            raise bad(f"It needs a text as its {key}.")
    if row["label"] not in _LABELS:
        raise bad('Its label must be "supported" or "unsupported".')
    claim_id = str(row.get("id", number))
    return LabelledClaim(claim_id, row["source"], row["claim"], _LABELS[row["label"]])
