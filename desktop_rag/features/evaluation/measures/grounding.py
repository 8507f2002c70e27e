"""Measures the claim checker on pairs of a source and a claim, beside a model that judges them.

Runs on the caller's thread. The model sees what it sees in the app: one claim with its source.
"""

import random
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import Event

from desktop_rag.answer.checking.claims.checker import ClaimChecker
from desktop_rag.core.claims import CheckedClaim, Verdict
from desktop_rag.features.evaluation.experiments.answer_grader import AnswerGrader
from desktop_rag.features.evaluation.measures.metrics import (
    area_under_curve,
    balanced_accuracy,
    mean,
    rounded,
)
from desktop_rag.features.evaluation.measures.query_sets import LabelledClaim
from desktop_rag.features.evaluation.measures.search import Row, Say
from desktop_rag.features.evaluation.values.measurement import Measurement
from desktop_rag.features.evaluation.values.paired_comparison import cohens_kappa

_TELL_EVERY = 500


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A checked claim; `ms` is the time of the whole check.

    A model that judged it too gave a `verdict`, None for none, and a `reason`.
    """

    labelled: LabelledClaim
    checked: CheckedClaim
    ms: float
    verdict: Verdict | None = None
    reason: str = ""


def checked_claims(
    claims: Sequence[LabelledClaim], checker: ClaimChecker, say: Say
) -> list[JudgedClaim]:
    """Check every claim against its source, one by one on this thread."""
    judged: list[JudgedClaim] = []
    for number, labelled in enumerate(claims, 1):
        began_at = time.perf_counter()
        checked = checker.check(labelled.claim, [labelled.source])
        judged.append(JudgedClaim(labelled, checked, 1000 * (time.perf_counter() - began_at)))
        if number % _TELL_EVERY == 0:
            say(f"{number:,} of {len(claims):,} claims checked")
    return judged


def check_figures(judged: Sequence[JudgedClaim], threshold: float) -> Measurement:
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


# --- a model that judges -------------------------------------------------------------------------

SAMPLE = 100
# The tokens of a judgement: its verdict, and one sentence.
ANSWER_TOKENS = 60
_SEED = 20
_TELL_JUDGED = 10


def sample_of(claims: Sequence[LabelledClaim], count: int) -> list[LabelledClaim]:
    """A sample, the same each time, with as many of both labels as there are; in their order."""
    pick = random.Random(_SEED)
    right, wrong = ([n for n, c in enumerate(claims) if c.is_supported == k] for k in (True, False))
    # What one label lacks, the other has more of.
    of_wrong = min(len(wrong), max(count // 2, count - len(right)))
    of_right = min(len(right), count - of_wrong)
    chosen = [*pick.sample(right, of_right), *pick.sample(wrong, of_wrong)]
    return [claims[place] for place in sorted(chosen)]


def judged_claims(
    checked: Sequence[JudgedClaim], judge: AnswerGrader, say: Say
) -> list[JudgedClaim]:
    """Have the model judge every checked claim, one by one. AppError when the endpoint fails."""
    found: list[JudgedClaim] = []
    for number, claim in enumerate(checked, 1):
        verdict, reason = judge.judge(claim.checked, claim.labelled.source, Event())
        found.append(replace(claim, verdict=verdict, reason=reason))
        if number % _TELL_JUDGED == 0:
            say(f"{number:,} of {len(checked):,} claims judged")
    return found


def agreement_figures(
    judged: Sequence[JudgedClaim], model: str, tokens: tuple[int, int] | None
) -> Measurement:
    """How far the model, by its name, agrees with the check and with people; None is unknown.

    `agreement` and `kappa` are about supported or not; those of `verdicts` about all four.
    `differ` counts the claims by the verdict of the local check and that of the model. `tokens` are
    those sent and received, as counted.
    """
    told = [c for c in judged if c.verdict and c.checked.verdict is not Verdict.NOT_CHECKED]
    verdicts = [c.checked.verdict for c in told], [c.verdict for c in told]
    local, by_model = ([v is Verdict.SUPPORTED for v in kind] for kind in verdicts)
    labels = [c.labelled.is_supported for c in told]
    has_both = len(set(labels)) > 1
    differ = Counter(f"{a} / {b}" for a, b in zip(*verdicts, strict=True) if a != b)
    figures: Row = {
        "model": model,
        "claims": len(judged),
        "judged": sum(c.verdict is not None for c in judged),
        "agreement": _share(local, by_model),
        "kappa": cohens_kappa(local, by_model) if told else None,
        "agreement_verdicts": _share(*verdicts),
        "kappa_verdicts": cohens_kappa(*verdicts) if told else None,
        "local_balanced_accuracy": balanced_accuracy(local, labels) if has_both else None,
        "model_balanced_accuracy": balanced_accuracy(by_model, labels) if has_both else None,
        "differ": dict(differ.most_common()),
        "tokens_asked": tokens[0] if tokens else None,
        "tokens_answered": tokens[1] if tokens else None,
    }
    rows: list[Row] = [
        {
            "id": claim.labelled.claim_id,
            "claim": claim.labelled.claim,
            "label": claim.labelled.label,
            "local": str(claim.checked.verdict),
            "model": str(claim.verdict or ""),
            "reason": claim.reason,
        }
        for claim in judged
    ]
    return Measurement(kind="agreement", results=[rounded(figures)], queries=rows)


def _share(one: Sequence[object], other: Sequence[object]) -> float | None:
    return mean([float(a == b) for a, b in zip(one, other, strict=True)]) if one else None
