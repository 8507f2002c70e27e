"""The list of runs says what can be compared."""

from dataclasses import replace

from desktop_rag.core.claims import CheckedClaim, Claim, Verdict
from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.parsed import Anchor
from desktop_rag.features.evaluation.ui.experiments_page import run_in_words
from desktop_rag.features.evaluation.values.run import (
    Judgement,
    Preference,
    Run,
    RunAnswer,
    RunState,
    SetQuestion,
    SetUp,
)
from desktop_rag.features.evaluation.values.scoring import RunScores, scored

QUESTIONS = (SetQuestion("q", "When?", ("At noon.",), tags=("sea",)),)
SOURCE = SourceRef(1, "d", "/a", "A", Anchor(), "At dusk.", 1.0, is_cited=True)
RIGHT = Claim(0, 3, CheckedClaim("Yes.", Verdict.SUPPORTED, 1.0, None, (), ""))
PREFERRED = Judgement("j", "s", "q", "amber", 1.0, "birch", Preference.FIRST)


def run(name: str, *, is_excerpts: bool) -> RunScores:
    given = RunAnswer(
        f"a{name}", name, "q", "At dusk.", 0.0, sources=(SOURCE,), claims=(RIGHT,),
        is_excerpts=is_excerpts,
    )  # fmt: skip
    made = Run(name, "s", 1, SetUp(name), QUESTIONS, 0.0, RunState.DONE)
    return scored(made, [given], [PREFERRED])


def test_excerpts_only_quote() -> None:
    told = run_in_words(run("Excerpts", is_excerpts=True))
    assert told == "Excerpts · done · 1 of 1 · score 50 % · only quotes · 0.0 s"
    told = run_in_words(run("amber", is_excerpts=False))
    assert told == (
        "amber · done · 1 of 1 · score 50 % · preferred 100 % · backed by sources 100 % · 0.0 s"
    )


def test_the_score_may_be_that_of_a_tag() -> None:
    amber = run("amber", is_excerpts=False)
    more = (*QUESTIONS, SetQuestion("other", "Where?", ("Here.",)))
    made = replace(amber.run, questions=more)
    answers = [*amber.answers.values(), RunAnswer("x", "amber", "other", "Here.", 0.0)]
    both = scored(made, answers, ())
    assert "score 75 %" in run_in_words(both)
    assert "score 50 %" in run_in_words(both, "sea")
    assert "score" not in run_in_words(both, "land")
