from dataclasses import replace
from typing import Any

import pytest

from desktop_rag.core.claims import CheckedClaim, Claim, Verdict
from desktop_rag.core.conversation import MessageState, SourceRef
from desktop_rag.core.parsed import Anchor
from desktop_rag.features.evaluation.values.answer_matrix import AnswerFilter, matrix_of
from desktop_rag.features.evaluation.values.paired_comparison import Outcome
from desktop_rag.features.evaluation.values.run import (
    Judgement,
    Preference,
    Run,
    RunAnswer,
    SetQuestion,
    SetUp,
)
from desktop_rag.features.evaluation.values.run_summary import compare_runs, summary
from desktop_rag.features.evaluation.values.scoring import (
    Basis,
    RunScores,
    differences,
    named,
    scored,
)

QUESTIONS = tuple(SetQuestion(f"q{n}", f"When {n}?", ("At dusk.",), tags=("sea",) * (n == 0))
                  for n in range(3))  # fmt: skip
SOURCE = SourceRef(1, "d", "/a", "A", Anchor(), "At dusk.", 1.0, is_cited=True)
RIGHT = Claim(0, 3, CheckedClaim("Yes.", Verdict.SUPPORTED, 1.0, None, (), ""))
WRONG = Claim(0, 3, CheckedClaim("No.", Verdict.CONTRADICTED, 0.0, None, (), ""))


def run(name: str, *answers: RunAnswer, judgements: tuple[Judgement, ...] = ()) -> RunScores:
    made = Run(name, "s", 1, SetUp(name), QUESTIONS, 0.0)
    return scored(made, [replace(a, run_id=name) for a in answers], judgements)


def answer(n: int, text: str = "At dusk.", **more: Any) -> RunAnswer:
    return replace(RunAnswer(f"a{n}", "", f"q{n}", text, 0.0, sources=(SOURCE,)), **more)


@pytest.mark.parametrize(
    ("changed", "chosen"),
    [
        ({"text": "At noon."}, {AnswerFilter.DIFFERENT, AnswerFilter.WORSE}),
        ({"claims": (WRONG,)}, {AnswerFilter.UNSUPPORTED}),
        ({"sources": ()}, {AnswerFilter.UNANSWERED}),
        ({"state": MessageState.FAILED}, {AnswerFilter.FAILED, AnswerFilter.WORSE}),
        ({"seconds": 9.0}, set()),
    ],
)
def test_filters_find_what_differs(changed: dict[str, Any], chosen: set[AnswerFilter]) -> None:
    first = run("A", answer(0), answer(1))
    second = run("B", answer(0), answer(1, **changed))
    matrix = matrix_of(QUESTIONS, [first, second])
    assert [row.question.question_id for row in matrix.rows] == ["q0", "q1", "q2"]
    assert matrix.rows[0].filters == {AnswerFilter.ALL}
    assert matrix.rows[1].filters == {AnswerFilter.ALL, *chosen}
    assert matrix.rows[2].cells == (None, None)
    assert [row.question.question_id for row in matrix.shown(AnswerFilter.ALL, "sea")] == ["q0"]


def test_questions_that_left_the_set_come_last() -> None:
    matrix = matrix_of([SetQuestion("new", "Why?")], [run("A", answer(0))])
    assert [row.question.question_id for row in matrix.rows] == ["new", "q0", "q1", "q2"]


def test_the_most_telling_score_that_both_have_counts() -> None:
    rated = Judgement("j", "s", "q0", "B", 1.0, rating=5)
    pair = Judgement("k", "s", "q1", "B", 2.0, "A", Preference.FIRST)
    by_model = Judgement("l", "s", "q1", "A", 3.0, "B", Preference.FIRST, judge="m")
    judgements = (rated, pair, by_model)
    first = run("A", answer(0, grade="wrong"), answer(1), answer(2, "Noon."), judgements=judgements)
    second = run("B", answer(0, grade="partly"), answer(1), judgements=judgements)
    assert second.scores["q0"][Basis.PEOPLE] == 1.0
    found = differences(first, second, judgements)
    assert [(d.question_id, d.basis, d.difference) for d in found] == [
        ("q0", Basis.GRADE, 0.5), ("q1", Basis.PEOPLE, 1.0),
    ]  # fmt: skip


def test_what_sources_back_is_no_score() -> None:
    """A sentence of a source beside the question is backed, and answers nothing."""
    copied = answer(0, "We sell to retail accounts.", claims=(RIGHT,))
    unasked = [replace(q, expected=()) for q in QUESTIONS]
    scores = scored(Run("A", "s", 1, SetUp("A"), tuple(unasked), 0.0), [copied], ())
    assert (scores.mean(), summary(scores).supported) == (None, 1.0)
    silent = scored(Run("A", "s", 1, SetUp("A"), tuple(unasked), 0.0), [answer(0)], ())
    assert (silent.mean(), summary(silent).supported) == (None, None)


def test_excerpts_are_no_claims_that_their_sources_could_back() -> None:
    quoted = [answer(n, claims=(RIGHT,), is_excerpts=True) for n in range(3)]
    written = [answer(n, claims=(RIGHT,)) for n in range(3)]
    excerpts, model = unexpected("Excerpts", *quoted), unexpected("amber", *written)
    assert (summary(excerpts).supported, summary(excerpts).excerpts) == (None, 3)
    assert (summary(model).supported, summary(model).excerpts) == (1.0, 0)
    assert compare_runs(excerpts, model, ()).in_words() == (
        "Nothing was judged yet, so neither is called better. Left out: 3 answered by excerpts,"
        " which only quote."
    )


def unexpected(name: str, *answers: RunAnswer, judged: tuple[Judgement, ...] = ()) -> RunScores:
    questions = tuple(replace(q, expected=()) for q in QUESTIONS)
    made = Run(name, "s", 1, SetUp(name), questions, 0.0)
    return scored(made, [replace(a, run_id=name) for a in answers], judged)


def test_nothing_is_better_before_it_was_judged_and_all_questions_are_accounted_for() -> None:
    failed = answer(2, state=MessageState.FAILED)
    first = unexpected("A", answer(0, claims=(WRONG,)), answer(1), failed)
    second = unexpected("B", answer(0, claims=(RIGHT,)), answer(1), answer(2))
    told = compare_runs(first, second, ())
    assert told.outcome is Outcome.NOT_JUDGED
    assert told.in_words() == (
        "Nothing was judged yet, so neither is called better. More of the answer is backed by"
        " sources: B in 1, A in 0, equal in 0. Left out: 1 failed, 1 without a sentence to check."
    )
    judged = (Judgement("j", "s", "q0", "A", 1.0, "B", Preference.FIRST),)
    first, second = (replace(s, preferences=()) for s in (first, second))
    said = compare_runs(first, second, judged).in_words()
    assert said.startswith("A is ahead: 1 to 0, 0 equal.")
    assert said.endswith("It rests on your judgement. Left out: 1 failed, 1 not judged.")


def test_blind_judgements_are_a_figure_of_their_own() -> None:
    judged = (
        Judgement("j", "s", "q0", "A", 1.0, "B", Preference.FIRST),
        Judgement("k", "s", "q1", "B", 2.0, "A", Preference.SAME),
        Judgement("l", "s", "q0", "A", 3.0, "B", Preference.SECOND),
        Judgement("m", "s", "q2", "A", 4.0, "B", Preference.FIRST, judge="model"),
    )
    first, second = (unexpected(n, answer(0), answer(1), judged=judged) for n in "AB")
    assert (first.preferred, second.preferred) == (0.25, 0.75)
    assert (summary(first).score, summary(second).preferred) == (None, 0.75)


def test_runs_are_told_apart_by_model_and_number() -> None:
    amber = [answer(0, model="amber")]
    runs = [
        unexpected("As it is", *amber), unexpected("birch", answer(0, model="birch")),
        unexpected("birch", answer(0, model="birch")),
    ]  # fmt: skip
    assert [s.name for s in named(runs)] == ["As it is (amber)", "birch", "birch (2)"]
    alike = [unexpected("As it is", *amber), unexpected("narrow", *amber)]
    assert [s.name for s in named(alike)] == ["As it is", "narrow"]
    assert matrix_of(QUESTIONS, named(runs)).names[0] == "As it is (amber)"
