"""Chunk settings compared over a real library: what finds more, why questions fail, using one."""

from pathlib import Path
from threading import Event

import pytest

from desktop_rag import app
from desktop_rag.core.errors import AppError
from desktop_rag.core.parsed import ChunkSettings
from desktop_rag.core.settings import Settings
from desktop_rag.features.evaluation.experiments.chunk_trials import ChunkPlan
from desktop_rag.features.evaluation.services import EvaluationServices
from desktop_rag.features.evaluation.values.chunk_advice import advice
from desktop_rag.features.evaluation.values.chunk_trial import (
    ChunkComparison,
    MissReason,
    QuestionOrigin,
)
from desktop_rag.features.evaluation.values.experiment_events import ChunkTrialChanged, TrialStage
from desktop_rag.features.evaluation.values.run import SetQuestion
from tests.indexed import index_texts
from tests.servers.chat_server import ChatServer

pytestmark = pytest.mark.slow

PLACES = ("harbour", "lighthouse", "customs house", "rope walk", "chapel", "fish market")
TINY, USUAL = ChunkSettings("tokens", 16, 0), ChunkSettings()


def paper(place: str) -> str:
    """A page about a place, with an answer to each of three questions."""
    return (
        f"# The {place} of the island\n\n"
        f"The {place} was finished in the summer before the great storm by masons of the north."
        " Its roof is made of slates that were carried over the mountains on the backs of mules."
        "\n\n"
        f"Whoever visits the {place} in winter brings a warm coat and a lantern with fresh oil."
        " The doors are opened by a keeper who lives in the white cottage beside the old well."
    )


@pytest.fixture
def island(services: app.Services, tmp_path: Path) -> app.Services:
    index_texts(services, tmp_path / "docs", {f"{p}.md": paper(p) for p in PLACES})
    return services


def compared(services: app.Services, plan: ChunkPlan) -> ChunkComparison:
    trials = services.wing(EvaluationServices).worker.chunk_trials
    trials.begin(plan)
    assert trials.wait(120)
    assert trials.progress.stage is TrialStage.DONE, trials.progress
    found = trials.latest(plan.collection_id)
    assert found
    return found


def collection_of(services: app.Services) -> str:
    [collection] = services.library.collections.all()
    return collection.collection_id


def test_chunks_that_split_answers_find_less_and_one_press_mends_it(island: app.Services) -> None:
    collection_id = collection_of(island)
    island.library.collections.set_chunking(collection_id, TINY)
    assert island.library.indexing.wait_until_idle(60)
    found = compared(island, ChunkPlan(collection_id, count=24, chunkings=(USUAL,)))
    present, other = found.trials
    assert (present.chunking, other.chunking) == (TINY, USUAL)
    assert present.chunks > 2 * other.chunks
    assert {q.origin for q in found.questions} == {QuestionOrigin.TEXT}
    assert other.found > present.found
    worst = found.worst(present, 10)
    assert MissReason.SPLIT in {retrieved.reason for _, retrieved in worst}
    advised = advice(found)
    assert (advised.chunking, advised.is_change) == (USUAL, True)

    trials = island.wing(EvaluationServices).worker.chunk_trials
    assert trials.use(collection_id, advised.chunking) == TINY
    assert island.library.indexing.wait_until_idle(60)
    [collection] = island.library.collections.all()
    assert collection.chunking == USUAL
    assert sum(d.chunk_count for d in island.library.documents.all()) == other.chunks
    # A second comparison replaces the first.
    again = compared(island, ChunkPlan(collection_id, count=6, chunkings=(TINY,)))
    assert again.trials[0].chunking == USUAL
    assert trials.latest(collection_id) == again


def test_questions_of_a_set_need_a_known_document(island: app.Services, tmp_path: Path) -> None:
    questions = (
        SetQuestion("roof", "What is the chapel's roof made of?", ("Slates carried by mules.",),
                    sources=(str(tmp_path / "docs" / "chapel.md"),)),
        SetQuestion("name", "Who opens the chapel?", sources=("chapel.md",)),
        SetQuestion("other", "Who?", sources=("/elsewhere.md",)),
    )  # fmt: skip
    kept = island.wing(EvaluationServices).worker.experiments.add("Mine", questions)
    found = compared(island, ChunkPlan(collection_of(island), kept, chunkings=(TINY,)))
    assert [q.question_id for q in found.questions] == ["roof", "name"]
    assert found.left_out == 1
    assert found.trials[0].found == 2
    only = island.wing(EvaluationServices).worker.experiments.add("Other", questions[2:])
    trials = island.wing(EvaluationServices).worker.chunk_trials
    trials.begin(ChunkPlan(collection_of(island), only))
    assert trials.wait(60)
    assert trials.progress.error_title.startswith("No question is known to be answered")


def test_a_model_writes_the_questions_where_there_is_one(island: app.Services) -> None:
    with ChatServer("Q: Who opens the doors?\nA: The doors are opened by a keeper.") as server:
        island.chat.apply(Settings(endpoint=server.endpoint()))
        plan = ChunkPlan(collection_of(island), count=2, chunkings=(TINY,))
        found = compared(island, plan)
    assert {q.origin for q in found.questions} == {QuestionOrigin.MODEL}
    assert len(found.questions) == 2


def test_a_comparison_is_paused_and_cancelled(island: app.Services) -> None:
    trials = island.wing(EvaluationServices).worker.chunk_trials
    is_paused, heard = Event(), []

    def hear(event: ChunkTrialChanged) -> None:
        heard.append(event.stage)
        if event.doing.startswith("Indexing") and event.stage is TrialStage.RUNNING:
            trials.pause(is_wanted=True)
            is_paused.set()

    island.changes.hear(ChunkTrialChanged, hear)
    plan = ChunkPlan(collection_of(island), count=4)
    trials.begin(plan)
    assert is_paused.wait(60)
    assert trials.progress.stage is TrialStage.PAUSED
    with pytest.raises(AppError, match="being compared already"):
        trials.begin(plan)
    trials.cancel()
    assert trials.wait(60)
    assert heard[-1] is TrialStage.CANCELLED
    assert trials.latest(plan.collection_id) is None
