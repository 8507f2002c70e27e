"""The figures of a run, and of two runs beside each other, as they are shown and printed. Pure."""

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from desktop_rag.core.experiments.paired_comparison import PairedComparison
from desktop_rag.core.experiments.run import Judgement
from desktop_rag.core.experiments.scoring import RunScores, compared, differences

_DIGITS = 4


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run in figures; None where nothing is known.

    `score` is from 0 to 1, `seconds` the median of an answer, `peak_bytes` the most memory that the
    app took while it answered, `server_bytes` that of a model server on this computer.
    """

    run_id: str
    name: str
    state: str
    questions: int
    answered: int
    failed: int
    unanswered: int
    unsupported: int
    score: float | None
    supported: float | None
    seconds: float | None
    tokens: int | None
    cost: float | None
    peak_bytes: int
    mean_bytes: int
    server_bytes: int

    def to_json(self) -> dict[str, Any]:
        """The keys of the command line."""
        return asdict(self)


def summary(scores: RunScores) -> RunSummary:
    """The figures of a run as far as it is."""
    run, answers = scores.run, list(scores.answers.values())
    given = [answer for answer in answers if not answer.has_failed]
    claims = [claim for answer in given for claim in answer.claims]
    counted = [answer for answer in answers if answer.tokens_in >= 0]
    priced = [answer.cost for answer in answers if answer.cost >= 0]
    score = scores.mean()
    supported = sum((a.supported_share or 0.0) * len(a.claims) for a in given)
    return RunSummary(
        run.run_id, run.set_up.name, run.state.value, len(run.questions), len(answers),
        failed=len(answers) - len(given),
        unanswered=sum(answer.is_unanswered for answer in given),
        unsupported=sum(answer.unsupported > 0 for answer in given),
        score=None if score is None else round(score, _DIGITS),
        supported=round(supported / len(claims), _DIGITS) if claims else None,
        seconds=round(statistics.median(a.seconds for a in given), 3) if given else None,
        tokens=sum(a.tokens_in + a.tokens_out for a in counted) if counted else None,
        cost=sum(priced) if priced else None,
        peak_bytes=max((a.app.peak for a in answers), default=0),
        mean_bytes=sum(a.app.mean for a in answers) // len(answers) if answers else 0,
        server_bytes=max((a.server.peak for a in answers), default=0),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class RunComparison:
    """The second run beside the first; `bases` are what the scores rest on, the commonest first."""

    first: str
    second: str
    paired: PairedComparison
    bases: tuple[str, ...]

    def in_words(self) -> str:
        """Two sentences: the counts with what to think of them, and what the scores rest on."""
        said = self.paired.in_words(self.first, self.second)
        return f"{said} ({', '.join(self.bases)})" if self.bases else said

    def to_json(self) -> dict[str, Any]:
        """The keys of the command line."""
        return {
            "first": self.first,
            "second": self.second,
            **asdict(self.paired),
            "outcome": self.paired.outcome.value,
            "bases": list(self.bases),
            "words": self.in_words(),
        }


def compare_runs(
    first: RunScores, second: RunScores, judgements: Sequence[Judgement]
) -> RunComparison:
    """Compare two runs over the questions that both answered."""
    found = differences(first, second, judgements)
    bases = Counter(each.basis for each in found)
    return RunComparison(
        first.run.set_up.name,
        second.run.set_up.name,
        compared(found),
        tuple(basis.in_words() for basis, _ in bases.most_common()),
    )
