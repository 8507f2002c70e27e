"""Measures how far a model's judgements of claims agree with the local check, and with people.

Runs on the caller's thread. The model sees what it sees in the app: one claim with its source.
"""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Event
from typing import Any, Protocol

from desktop_rag.core.claims import CheckedClaim, Verdict
from desktop_rag.features.evaluation.measures.grounding import Checker, LabelledClaim
from desktop_rag.features.evaluation.measures.measurement import balanced_accuracy
from desktop_rag.features.evaluation.values.paired_comparison import cohens_kappa

SAMPLE = 100
# The tokens of a judgement: its verdict, and one sentence.
ANSWER_TOKENS = 60
_SEED = 20
_DIGITS = 4
_TELL_EVERY = 10


class Judge(Protocol):
    """A model that judges claims."""

    def judge(
        self, checked: CheckedClaim, source: str, cancel: Event
    ) -> tuple[Verdict | None, str]:
        """Its verdict, None for none, and its sentence. AppError when the endpoint fails."""
        ...

    def tokens_to_judge(self, checked: CheckedClaim, source: str) -> int:
        """The tokens that it is sent for a claim."""
        ...


@dataclass(frozen=True, slots=True)
class TwiceJudged:
    """A claim with the verdicts of people, of the local check, and of the model."""

    labelled: LabelledClaim
    checked: CheckedClaim
    verdict: Verdict | None
    reason: str

    @property
    def is_comparable(self) -> bool:
        """True when both gave a verdict."""
        return bool(self.verdict) and self.checked.verdict is not Verdict.NOT_CHECKED

    def to_json(self) -> dict[str, Any]:
        """The row of this claim."""
        return {
            "id": self.labelled.claim_id,
            "claim": self.labelled.claim,
            "label": "supported" if self.labelled.is_supported else "unsupported",
            "local": str(self.checked.verdict),
            "model": str(self.verdict) if self.verdict else "",
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class AgreementFigures:
    """The claims of a sample, judged twice; `model` is its name, `tokens` as counted, or None."""

    claims: tuple[TwiceJudged, ...]
    model: str
    tokens: tuple[int, int] | None

    @property
    def kind(self) -> str:
        """The kind of the stored run."""
        return "agreement"

    def to_json(self) -> dict[str, Any]:
        """The keys of the command line; None for unknown figures.

        `agreement` and `kappa` are about supported or not; those of `verdicts` about all four.
        `differ` counts the claims by the verdict of the local check and that of the model.
        """
        told = [c for c in self.claims if c.is_comparable]
        verdicts = [c.checked.verdict for c in told], [c.verdict for c in told]
        local, model = ([v is Verdict.SUPPORTED for v in kind] for kind in verdicts)
        labels = [c.labelled.is_supported for c in told]
        differ = Counter(f"{a} / {b}" for a, b in zip(*verdicts, strict=True) if a != b)
        return {
            "model": self.model,
            "claims": len(self.claims),
            "judged": sum(c.verdict is not None for c in self.claims),
            "agreement": _share(local, model),
            "kappa": _kappa(local, model),
            "agreement_verdicts": _share(*verdicts),
            "kappa_verdicts": _kappa(*verdicts),
            "local_balanced_accuracy": _accuracy(local, labels),
            "model_balanced_accuracy": _accuracy(model, labels),
            "differ": dict(differ.most_common()),
            "tokens_asked": self.tokens[0] if self.tokens else None,
            "tokens_answered": self.tokens[1] if self.tokens else None,
        }

    def query_rows(self) -> list[dict[str, Any]]:
        """One object for each claim."""
        return [claim.to_json() for claim in self.claims]


def sample_of(claims: Sequence[LabelledClaim], count: int) -> list[LabelledClaim]:
    """A sample, the same each time, with as many of both labels as there are; in their order."""
    pick = random.Random(_SEED)
    right, wrong = ([n for n, c in enumerate(claims) if c.is_supported == k] for k in (True, False))
    # What one label lacks, the other has more of.
    of_wrong = min(len(wrong), max(count // 2, count - len(right)))
    of_right = min(len(right), count - of_wrong)
    chosen = [*pick.sample(right, of_right), *pick.sample(wrong, of_wrong)]
    return [claims[place] for place in sorted(chosen)]


def estimated_tokens(
    claims: Sequence[LabelledClaim], checker: Checker, judge: Judge
) -> tuple[int, int]:
    """The tokens to be sent for these claims, and of the replies, roughly."""
    asked = sum(judge.tokens_to_judge(checker.check(c.claim, [c.source]), c.source) for c in claims)
    return asked, ANSWER_TOKENS * len(claims)


def evaluate(
    claims: Sequence[LabelledClaim], checker: Checker, judge: Judge, say: Callable[[str], None]
) -> list[TwiceJudged]:
    """Have both judge every claim, one by one. AppError when the endpoint fails."""
    found: list[TwiceJudged] = []
    for number, labelled in enumerate(claims, 1):
        checked = checker.check(labelled.claim, [labelled.source])
        verdict, reason = judge.judge(checked, labelled.source, Event())
        found.append(TwiceJudged(labelled, checked, verdict, reason))
        if number % _TELL_EVERY == 0:
            say(f"{number:,} of {len(claims):,} claims judged")
    return found


def _share(one: Sequence[object], other: Sequence[object]) -> float | None:
    same = sum(a == b for a, b in zip(one, other, strict=True))
    return round(same / len(one), _DIGITS) if one else None


def _kappa(one: Sequence[object], other: Sequence[object]) -> float | None:
    return round(cohens_kappa(one, other), _DIGITS) if one else None


def _accuracy(told: Sequence[bool], labels: Sequence[bool]) -> float | None:
    has_both = len(set(labels)) > 1
    return round(balanced_accuracy(told, labels), _DIGITS) if has_both else None
