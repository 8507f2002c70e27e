from dataclasses import replace
from typing import Any

import pytest

from desktop_rag.core.anchors import Anchor
from desktop_rag.core.answer_claims import Claim
from desktop_rag.core.claims import CheckedClaim, Verdict
from desktop_rag.core.conversation import MessageState, SourceRef
from desktop_rag.core.experiments.answer_matrix import AnswerFilter, matrix_of
from desktop_rag.core.experiments.question_set import SetQuestion
from desktop_rag.core.experiments.run import Judgement, Preference, Run, RunAnswer, SetUp
from desktop_rag.core.experiments.scoring import Basis, RunScores, differences, scored

QUESTIONS = tuple(SetQuestion(f"q{n}", f"When {n}?", ("At dusk.",), tags=("sea",) * (n == 0))
                  for n in range(3))  # fmt: skip
SOURCE = SourceRef(1, "d", "/a", "A", Anchor(), "At dusk.", 1.0, is_cited=True)
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
