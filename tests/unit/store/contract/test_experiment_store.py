from dataclasses import replace

import pytest

from desktop_rag.core.claims import (
    CheckedClaim,
    Claim,
    Difference,
    DifferenceKind,
    Evidence,
    Verdict,
)
from desktop_rag.core.conversation import MessageState, SourceRef
from desktop_rag.core.parsed import Anchor, ChunkSettings
from desktop_rag.core.settings import Room
from desktop_rag.features.evaluation.experiments.experiment_store import ExperimentStore
from desktop_rag.features.evaluation.values.run import (
    Judgement,
    Memory,
    Preference,
    QuestionSet,
    Run,
    RunAnswer,
    RunState,
    SetQuestion,
    SetUp,
)
from desktop_rag.store.contract.engine import Engine

QUESTION = SetQuestion("q", "Wann? 漢 “&” <b>\nGenau.", ("At dusk.",), ("Noon",), ("sea",), ("/a",))
SET = QuestionSet("s", "Lamps", (QUESTION,), 3, 7.5)
UP = SetUp(
    "B", "a", "http://x/v1", "m", "c", Room.FAST, 0.25, "Short.", ChunkSettings("words"), "/m"
)
RUN = Run(
    "r",
    "s",
    3,
    UP,
    SET.questions,
    5.0,
    RunState.PAUSED,
    4.5,
    "1",
    {"a": [1, None]},
    "T",
    "H",
    "search",
    {"chunks": 7},
)
SOURCE = SourceRef(
    1, "d", "/docs/a.md", "A", Anchor(page=3), "Lit at dusk.", 0.5, "dusk", 7, 11, is_cited=True,
    also_in=("/b",),
)  # fmt: skip
CLAIM = Claim(
    0, 4,
    CheckedClaim(
        "Lit.", Verdict.PARTLY, 0.5, Evidence(0, 1, 2),
        (Difference(DifferenceKind.NUMBER, (1, 2), None),), "Other number.",
    ), 1,
)  # fmt: skip
ANSWER = RunAnswer(
    "x", "r", "q", "At dusk [1].", 9.0, MessageState.FAILED, "m", True, 1.5, (SOURCE,), (CLAIM,),
    10, 20, 0.5, Memory(3, 2), Memory(5, 4), "partly", "T", "H", 0.25, ({"rank": 1},),
)  # fmt: skip
JUDGEMENT = Judgement("j", "s", "q", "r", 8.0, "r2", Preference.SAME, 0, "Alike", "judge")


@pytest.fixture
def store(engine: Engine) -> ExperimentStore:
    return engine.store(ExperimentStore)


def filled(store: ExperimentStore) -> ExperimentStore:
    store.put(SET)
    assert store.put(RUN)
    assert store.put(replace(RUN, run_id="r2"))
    assert store.put(ANSWER)
    assert store.put(JUDGEMENT)
    return store


def test_all_comes_back_equal(store: ExperimentStore) -> None:
    filled(store)
    assert store.sets() == [SET]
    assert store.all(Run, "s") == store.all(Run) == [RUN, replace(RUN, run_id="r2")]
    assert store.all(RunAnswer, "r") == [ANSWER]
    assert store.all(RunAnswer, "r2") == []
    assert store.all(Judgement, "s") == [JUDGEMENT]


def test_what_is_put_again_stays_in_its_place(store: ExperimentStore) -> None:
    filled(store)
    store.put(QuestionSet("a", "a first one"))
    changed = replace(RUN, state=RunState.DONE)
    assert store.put(changed)
    assert [run.run_id for run in store.all(Run, "s")] == ["r", "r2"]
    assert store.all(Run, "s")[0] == changed
    assert store.all(RunAnswer, "r") == [ANSWER]
    assert [each.name for each in store.sets()] == ["a first one", "Lamps"]


def test_nothing_is_stored_for_what_is_gone(store: ExperimentStore) -> None:
    assert not store.put(RUN)
    assert not store.put(ANSWER)
    assert not store.put(JUDGEMENT)
    assert store.all(Run) == []


def test_a_run_goes_with_its_answers_and_their_judgements(store: ExperimentStore) -> None:
    filled(store)
    store.remove("r2")
    assert store.all(Run) == [RUN]
    assert store.all(RunAnswer, "r") == [ANSWER]
    assert store.all(Judgement, "s") == []


def test_a_set_goes_with_everything(store: ExperimentStore) -> None:
    filled(store)
    store.put(QuestionSet("other", "Other"))
    store.remove("s")
    store.remove("s")
    assert [each.set_id for each in store.sets()] == ["other"]
    assert (store.all(Run), store.all(RunAnswer, "r"), store.all(Judgement, "s")) == ([], [], [])


def test_several_are_stored_together_or_not_at_all(store: ExperimentStore) -> None:
    more = [replace(ANSWER, answer_id=f"x{n}", question_id=f"q{n}") for n in range(300)]
    assert store.put(SET, RUN, *more)
    assert store.all(RunAnswer, "r") == more
    assert not store.put(replace(RUN, run_id="new"), replace(ANSWER, run_id="none"))
    assert store.get(Run, "new") is None
    assert store.get(Run, "r") == RUN
