"""The figures of a run, and of two runs compared, as shown and printed. Pure."""

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from desktop_rag.core.language.translation import tr
from desktop_rag.features.evaluation.values.found_places import worth
from desktop_rag.features.evaluation.values.paired_comparison import Outcome, PairedComparison
from desktop_rag.features.evaluation.values.run import SEARCH, Judgement, RunAnswer, SetQuestion
from desktop_rag.features.evaluation.values.scoring import (
    RunScores,
    backed,
    compared,
    differences,
    token_f1,
)

_DIGITS = 4
# The token F1 from which an answer counts as the same.
_NEARLY_THE_SAME = 0.8


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run in figures; None where nothing is known.

    `score` is from 0 to 1 by what was judged or expected, `preferred` the share of the comparisons
    with other runs that it won by the person's judgement, `supported` the share of its sentences
    that sources back, which is no measure of quality. `excerpts` is the number of its answers that
    no model wrote, in which nothing is checked. `seconds` is the median of an answer,
    `peak_bytes` the most memory that the app took while it answered, `server_bytes` that of a model
    server on this computer. `cited` is the share of answers that cite a source, `sourced` that of
    those which cite a source that the set names, `repeats_wrong` that of answers which are nearly
    one that the set calls wrong, each of the answers to which it applies.
    """

    run_id: str
    name: str
    state: str
    questions: int
    answered: int
    failed: int
    unanswered: int
    unsupported: int
    excerpts: int
    score: float | None
    preferred: float | None
    supported: float | None
    seconds: float | None
    tokens: int | None
    cost: float | None
    peak_bytes: int
    mean_bytes: int
    server_bytes: int
    cited: float | None
    sourced: float | None
    repeats_wrong: float | None


def summary(scores: RunScores) -> RunSummary:
    """The figures of a run so far."""
    run, answers = scores.run, list(scores.answers.values())
    given = [answer for answer in answers if not answer.has_failed]
    claims = [claim for answer in given for claim in answer.claims]
    counted = [answer for answer in answers if answer.tokens_in >= 0]
    priced = [answer.cost for answer in answers if answer.cost >= 0]
    score = scores.mean()
    asked = {question.question_id: question for question in run.questions}
    pairs = [(asked[a.question_id], a) for a in given if a.question_id in asked and a.measured < 0]
    supported = sum((a.supported_share or 0.0) * len(a.claims) for a in given)
    return RunSummary(
        run.run_id, scores.name, run.state.value, len(run.questions), len(answers),
        failed=len(answers) - len(given),
        unanswered=sum(answer.is_unanswered for answer in given),
        unsupported=sum(answer.unsupported > 0 for answer in given),
        excerpts=sum(answer.is_excerpts for answer in given),
        score=None if score is None else round(score, _DIGITS),
        preferred=None if scores.preferred is None else round(scores.preferred, _DIGITS),
        supported=round(supported / len(claims), _DIGITS) if claims else None,
        seconds=round(statistics.median(a.seconds for a in given), 3) if given else None,
        tokens=sum(a.tokens_in + a.tokens_out for a in counted) if counted else None,
        cost=sum(priced) if priced else None,
        peak_bytes=max((a.app.peak for a in answers), default=0),
        mean_bytes=sum(a.app.mean for a in answers) // len(answers) if answers else 0,
        server_bytes=max((a.server.peak for a in answers), default=0),
        cited=_share(any(s.is_cited for s in a.sources) for _, a in pairs),
        sourced=_share(_is_sourced(q, a) for q, a in pairs if q.sources),
        repeats_wrong=_share(_repeats_wrong(q, a) for q, a in pairs if q.wrong),
    )  # fmt: skip


def _share(told: Iterable[bool]) -> float | None:
    """The share of those that are true; None of none."""
    known = list(told)
    return round(sum(known) / len(known), _DIGITS) if known else None


def _is_sourced(question: SetQuestion, answer: RunAnswer) -> bool:
    cited = {place for s in answer.sources if s.is_cited for place in (s.path, s.url)}
    return not cited.isdisjoint(question.sources)


def _repeats_wrong(question: SetQuestion, answer: RunAnswer) -> bool:
    return any(token_f1(answer.text, text) >= _NEARLY_THE_SAME for text in question.wrong)


@dataclass(frozen=True, slots=True)
class RunComparison:
    """The second run beside the first, over the questions of either.

    `bases` are what the scores rest on with the number of questions, the commonest first. Without
    any, nothing was judged, and `paired` compares how much of the answers is backed by sources.
    Of the questions that don't count, `failed` have no finished answer in a run, `open` are not
    answered in both yet, `excerpts` have an answer that no model wrote and no score in both, and of
    the others nothing is known in both. The chance allows for so many runs `tried` beside the
    first: the best of five beats it by luck more often than a single other one. `worth` says what
    the questions of a search can show.
    """

    first: str
    second: str
    paired: PairedComparison
    bases: tuple[tuple[str, int], ...]
    questions: int
    failed: int
    open: int
    excerpts: int
    tried: int = 1
    worth: str = ""

    @property
    def outcome(self) -> Outcome:
        """The verdict; that sources back an answer says nothing of its quality."""
        return self.paired.outcome if self.bases else Outcome.NOT_JUDGED

    def in_words(self) -> str:
        """The verdict, what it rests on, and what it leaves out, so that the numbers add up."""
        said = [
            *(self._judged() if self.bases else self._not_judged()),
            self._left_out(),
            self.worth,
        ]
        return " ".join(sentence for sentence in said if sentence)

    def _judged(self) -> Iterator[str]:
        yield self.paired.in_words(self.first, self.second)
        basis = ", ".join(f"{words} ({count:,})" for words, count in self.bases)
        if len(self.bases) == 1:
            [(basis, _)] = self.bases
        yield tr("It rests on {basis}.", basis=basis)
        if self.tried > 1 and self.paired.chance < 1:
            yield tr("The chance allows for {count:,} that were tried.", count=self.tried)

    def _not_judged(self) -> Iterator[str]:
        yield tr("Nothing was judged yet, so neither is called better.")
        if self.paired.questions:
            yield tr(
                "More of the answer is backed by sources: {second} in {better:,}, {first} in"
                " {worse:,}, equal in {same:,}.",
                second=self.second, better=self.paired.better, first=self.first,
                worse=self.paired.worse, same=self.paired.same,
            )  # fmt: skip

    def _left_out(self) -> str:
        excerpts = 0 if self.bases else self.excerpts
        rest = self.questions - self.paired.questions - self.failed - self.open - excerpts
        counted = (
            (self.failed, tr("{count:,} failed", count=self.failed)),
            (self.open, tr("{count:,} not answered yet", count=self.open)),
            (excerpts, tr("{count:,} answered by excerpts, which only quote", count=excerpts)),
            (rest, tr("{count:,} not judged", count=rest) if self.bases
                   else tr("{count:,} without a sentence to check", count=rest)),
        )  # fmt: skip
        parts = ", ".join(words for count, words in counted if count > 0)
        return tr("Left out: {parts}.", parts=parts) if parts else ""

    def to_json(self) -> dict[str, Any]:
        """The keys of the command line."""
        bases = [words for words, _ in self.bases]
        told = {"outcome": self.outcome.value, "bases": bases, "words": self.in_words()}
        row = asdict(self)
        return row | row.pop("paired") | told


def compared_with_first(
    runs: Sequence[RunScores], judgements: Sequence[Judgement]
) -> list[RunComparison]:
    """The first of these runs beside each other one, the best of them first."""
    others = runs[1:]
    found = [compare_runs(runs[0], other, judgements, len(others)) for other in others]
    return sorted(found, key=lambda each: -each.paired.difference)


def compare_runs(
    first: RunScores, second: RunScores, judgements: Sequence[Judgement], tried: int = 1
) -> RunComparison:
    """Compare two runs over the questions that both answered; `tried` as in RunComparison."""
    found = differences(first, second, judgements)
    bases = Counter(each.basis for each in found)
    asked = {q.question_id for scores in (first, second) for q in scores.run.questions}
    answers = [(first.answers.get(each), second.answers.get(each)) for each in asked]
    counted = {each.question_id for each in found}
    failed = sum(
        any(a and a.has_failed for a in pair)
        for each, pair in zip(asked, answers, strict=True)
        if each not in counted
    )
    is_open = sum(None in pair and not any(a and a.has_failed for a in pair) for pair in answers)
    answered = [pair for pair in answers if all(a and not a.has_failed for a in pair)]
    excerpts = sum(any(a and a.is_excerpts for a in pair) for pair in answered)
    paired = compared(found) if found else backed(first, second)
    paired = replace(paired, chance=min(1.0, tried * paired.chance))
    named = tuple((basis.in_words(), count) for basis, count in bases.most_common())
    return RunComparison(
        first.name, second.name, paired, named, len(asked), failed, is_open, excerpts, tried,
        worth(first.run.questions) if first.run.kind == SEARCH else "",
    )  # fmt: skip
