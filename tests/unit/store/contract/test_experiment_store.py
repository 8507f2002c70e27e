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
from desktop_rag.features.evaluation.values.chunk_trial import (
    ChunkComparison,
    ChunkTrial,
    MissReason,
    QuestionOrigin,
    Retrieved,
    TrialQuestion,
)
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
    "r", "s", 3, UP, SET.questions, 5.0, RunState.PAUSED, 4.5, "1", {"a": [1, None]}, "T", "H"
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
    10, 20, 0.5, Memory(3, 2), Memory(5, 4), "partly", "T", "H",
)  # fmt: skip
JUDGEMENT = Judgement("j", "s", "q", "r", 8.0, "r2", Preference.SAME, 0, "Alike", "judge")

COMPARISON = ChunkComparison(
    "k", "c", "Sea", 8.0, (TrialQuestion("q", "Wann?", "/a.md", "At dusk.", QuestionOrigin.TEXT),),
    (ChunkTrial(ChunkSettings(), 7, (Retrieved("q", False, 14, MissReason.SPLIT, 2, 0.5, "B"),)),),
    3, 8, 2400,
)  # fmt: skip


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


def test_comparisons_of_chunks_stand_alone(store: ExperimentStore) -> None:
    filled(store)
    store.put(COMPARISON)
    store.put(replace(COMPARISON, made_at=9.0))
    assert store.all(ChunkComparison) == [replace(COMPARISON, made_at=9.0)]
    store.remove("s")
    assert len(store.all(ChunkComparison)) == 1
    store.remove("k")
    store.remove("k")
    assert store.all(ChunkComparison) == []
