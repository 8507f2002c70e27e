"""Scores of answers from what is known of them: opinions, grades, expected answers. Pure.

Two runs are compared question by question by the best score that both have, so a rated answer is
never compared with one that is only known by its words. That sources back the sentences of an
answer is no score: they may be about something else.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from desktop_rag.core.language.translation import tr
from desktop_rag.core.text import words
from desktop_rag.features.evaluation.values.paired_comparison import PairedComparison, compare
from desktop_rag.features.evaluation.values.run import (
    SEARCH,
    Judgement,
    Preference,
    QuestionSet,
    Run,
    RunAnswer,
)

_MARKER = re.compile(r"\s*\[\d{1,3}\]")


def token_f1(answer: str, expected: str) -> float:
    """The token F1 of an answer, as in SQuAD (Rajpurkar et al., 2016), with no word left out."""
    said, wanted = Counter(_words(answer)), Counter(_words(expected))
    common = (said & wanted).total()
    return 2 * common / (said.total() + wanted.total()) if common else 0.0


def contains(answer: str, expected: str) -> bool:
    """True when the answer contains the words of the expected one, in order."""
    said, wanted = _words(answer), _words(expected)
    starts = range(len(said) - len(wanted) + 1)
    return bool(wanted) and any(said[at : at + len(wanted)] == wanted for at in starts)


def match(answer: str, expected: Sequence[str]) -> float:
    """1 where an expected answer is contained, else the best token F1; 0 without any."""
    return max((1.0 if contains(answer, e) else token_f1(answer, e) for e in expected), default=0.0)


def without_citations(answer: str) -> str:
    """The text of an answer without its markers."""
    return _MARKER.sub("", answer)


def _words(text: str) -> list[str]:
    return [word.casefold() for word in words(without_citations(text))]


_BEST_RATING = 5
# Of the first run and the second.
_POINTS = {Preference.FIRST: (1.0, 0.0), Preference.SECOND: (0.0, 1.0), Preference.SAME: (0.5, 0.5)}
_GRADES = {"correct": 1.0, "partly": 0.5, "wrong": 0.0}


class Basis(StrEnum):
    """The basis of a score, the most telling first."""

    MEASURED = "measured"
    PEOPLE = "people"
    JUDGE = "judge"
    GRADE = "grade"
    EXPECTED = "expected"

    def in_words(self) -> str:
        """The basis as shown to people."""
        return {
            Basis.MEASURED: tr("the known answers of the set"),
            Basis.PEOPLE: tr("your judgement"),
            Basis.JUDGE: tr("the model's judgement"),
            Basis.GRADE: tr("the model's comparison with the expected answer"),
            Basis.EXPECTED: tr("the words of the expected answer"),
        }[self]


@dataclass(frozen=True, slots=True)
class RunScores:
    """A run with its answers, and the scores of each, from 0 to 1, by what they rest on.

    `name` tells it apart from the other runs of its set. `preferences` are the person's choices
    between its answers and those of other runs: 1 where it was better, 0.5 the same, 0 worse.
    """

    run: Run
    answers: Mapping[str, RunAnswer]
    scores: Mapping[str, Mapping[Basis, float]]
    name: str
    preferences: tuple[float, ...] = ()

    @property
    def preferred(self) -> float | None:
        """The share of comparisons that it won, the same counted half; None without any."""
        return sum(self.preferences) / len(self.preferences) if self.preferences else None

    def best(self, question_id: str) -> float | None:
        """The most telling score of an answer; None when nothing is known of it."""
        scores = self.scores.get(question_id, {})
        return next((scores[basis] for basis in Basis if basis in scores), None)

    def mean(self, tag: str = "") -> float | None:
        """The mean of the best scores, of all questions or those with a tag; None without any."""
        asked = [q.question_id for q in self.run.questions if tag in q.tags] if tag else self.scores
        found = [s for s in map(self.best, asked) if s is not None]
        return sum(found) / len(found) if found else None


def scored(run: Run, answers: Iterable[RunAnswer], judgements: Sequence[Judgement]) -> RunScores:
    """The scores of a run. A failed answer scores 0 where one was expected.

    Excerpts are words of the sources, which back them whatever was asked: they make no claims.
    """
    own_claims = (replace(a, claims=()) if a.is_excerpts else a for a in answers)
    by_question = {answer.question_id: answer for answer in own_claims}
    ratings = [j for j in judgements if j.rating and j.first_run == run.run_id]
    questions = {question.question_id: question for question in run.questions}
    scores: dict[str, Mapping[Basis, float]] = {}
    for question_id, answer in by_question.items():
        own = [j for j in ratings if j.question_id == question_id]
        question = questions.get(question_id)
        expected = question.expected if question and run.kind != SEARCH else ()
        scores[question_id] = _scores(answer, expected, own)
    chosen = _preferences(run.run_id, judgements)
    return RunScores(run, by_question, scores, run.set_up.name, chosen)


def _scores(
    answer: RunAnswer, expected: Sequence[str], ratings: Sequence[Judgement]
) -> Mapping[Basis, float]:
    if answer.measured >= 0:
        return {Basis.MEASURED: answer.measured}
    found: dict[Basis, float] = {}
    for rating in ratings:
        basis = Basis.JUDGE if rating.judge else Basis.PEOPLE
        found[basis] = (rating.rating - 1) / (_BEST_RATING - 1)
    if answer.has_failed:
        return found | ({Basis.GRADE: 0.0, Basis.EXPECTED: 0.0} if expected else {})
    if answer.grade in _GRADES:
        found[Basis.GRADE] = _GRADES[answer.grade]
    if expected:
        found[Basis.EXPECTED] = match(without_citations(answer.text), expected)
    return found


def _preferences(run_id: str, judgements: Iterable[Judgement]) -> tuple[float, ...]:
    """The person's latest preference between each of the run's answers and another's."""
    latest: dict[tuple[str, str], float] = {}
    for judgement in sorted(judgements, key=lambda j: j.judged_at):
        runs = {judgement.first_run, judgement.second_run}
        if judgement.judge or judgement.preference is None or run_id not in runs:
            continue
        [other] = runs - {run_id}
        preference = judgement.of_pair(run_id, other)
        latest[judgement.question_id, other] = _POINTS[preference or Preference.SAME][0]
    return tuple(latest.values())


@dataclass(frozen=True, slots=True)
class QuestionDifference:
    """The scores of two runs in one question; the difference is the second's less the first's."""

    question_id: str
    first: float
    second: float
    basis: Basis

    @property
    def difference(self) -> float:
        """Above 0 where the second run is better."""
        return self.second - self.first


def differences(
    first: RunScores, second: RunScores, judgements: Sequence[Judgement]
) -> list[QuestionDifference]:
    """The questions by the most telling basis that both runs have; others are left out.

    A pairwise judgement of people comes first, then their ratings, then those of a model.
    """
    found: list[QuestionDifference] = []
    for question_id in first.answers:
        if question_id not in second.answers:
            continue
        own = [j for j in judgements if j.question_id == question_id]
        one, other = first.scores[question_id], second.scores[question_id]
        for basis in Basis:
            pair = _preferred(own, first.run.run_id, second.run.run_id, basis)
            if pair is None and basis in one and basis in other:
                pair = one[basis], other[basis]
            if pair is not None:
                found.append(QuestionDifference(question_id, *pair, basis))
                break
    return found


def backed(first: RunScores, second: RunScores) -> PairedComparison:
    """The shares of sentences that sources back, over the questions where both made a claim."""
    pairs = [
        (answer.supported_share, second.answers[question_id].supported_share)
        for question_id, answer in first.answers.items()
        if question_id in second.answers
    ]
    both = [(one, other) for one, other in pairs if one is not None and other is not None]
    return compare([one for one, _ in both], [other for _, other in both])


def compared(found: Sequence[QuestionDifference]) -> PairedComparison:
    """The two tests over these questions."""
    return compare([each.first for each in found], [each.second for each in found])


def _preferred(
    judgements: Iterable[Judgement], first: str, second: str, basis: Basis
) -> tuple[float, float] | None:
    """The latest preference of people or of a model between two runs, as scores."""
    if basis not in {Basis.PEOPLE, Basis.JUDGE}:
        return None
    for judgement in sorted(judgements, key=lambda j: -j.judged_at):
        preference = judgement.of_pair(first, second)
        if preference and bool(judgement.judge) == (basis is Basis.JUDGE):
            return _POINTS[preference]
    return None


def named(runs: Sequence[RunScores]) -> list[RunScores]:
    """The runs, the oldest first, with names that tell them apart.

    The name of the set-up; where models differ and it doesn't say which one answered, that follows:
    `As it is (amber)`. Runs that are still called the same are numbered: `birch`, `birch (2)`.
    """
    models = [model_of(scores) for scores in runs]
    differ = len({model for model in models if model}) > 1
    seen: Counter[str] = Counter()
    found: list[RunScores] = []
    for scores, model in zip(runs, models, strict=True):
        name = scores.run.set_up.name
        if differ and model and model.casefold() not in name.casefold():
            name = f"{name} ({model})"
        seen[name] += 1
        found.append(replace(scores, name=name if seen[name] == 1 else f"{name} ({seen[name]})"))
    return found


def model_of(scores: RunScores) -> str:
    """The model that answered most, or that was chosen while nothing is answered; "" for none."""
    answers = scores.answers.values()
    counted = Counter(a.model for a in answers if a.model and not a.is_excerpts)
    return counted.most_common(1)[0][0] if counted else scores.run.set_up.model


@dataclass(frozen=True, slots=True)
class SetResults:
    """A set with the scores of its runs, the oldest first, and all judgements."""

    question_set: QuestionSet
    runs: tuple[RunScores, ...]
    judgements: tuple[Judgement, ...] = ()
