"""Chunk settings compared over a real library: what finds more, why questions fail, using one."""

from collections.abc import Sequence
from pathlib import Path
from threading import Event

import pytest

from desktop_rag import app
from desktop_rag.core.parsed import ChunkSettings
from desktop_rag.core.settings import Settings
from desktop_rag.features.evaluation.experiments.document_questions import made_questions
from desktop_rag.features.evaluation.services import EvaluationServices
from desktop_rag.features.evaluation.values.found_places import MissReason, in_words
from desktop_rag.features.evaluation.values.run import (
    FROM_TEXT,
    PROPOSED,
    QuestionSet,
    RunState,
    RunWentOn,
    SetQuestion,
    SetUp,
)
from desktop_rag.features.evaluation.values.run_summary import compared_with_first
from desktop_rag.features.evaluation.values.scoring import RunScores
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


def questions_of(services: app.Services, count: int, *, uses_model: bool) -> list[SetQuestion]:
    among = services.library.documents.all()
    made = made_questions(
        services.library, services.chat, count, Event(), among, uses_model=uses_model
    )
    return list(made)


def asked(
    services: app.Services, questions: Sequence[SetQuestion], *chunkings: ChunkSettings | None
) -> list[RunScores]:
    """A run for each of the chunk settings, None for the documents as they are indexed."""
    worker = services.wing(EvaluationServices)
    kept = worker.experiments.put_in("Island", questions)
    set_ups = [
        SetUp(in_words(each) if each else "as it is", chunking=each, only_searches=True)
        for each in chunkings
    ]
    begun = {run.run_id for run in worker.experiments.begin(kept, set_ups)}
    worker.work_off()
    results = worker.experiments.results(kept.set_id)
    return [scores for scores in results.runs if scores.run.run_id in begun]


def collection_of(services: app.Services) -> str:
    [collection] = services.library.collections.all()
    return collection.collection_id


def test_chunks_that_split_answers_find_less_and_one_press_mends_it(island: app.Services) -> None:
    collection_id = collection_of(island)
    island.library.collections.set_chunking(collection_id, TINY)
    assert island.library.indexing.wait_until_idle(60)
    questions = questions_of(island, 24, uses_model=False)
    assert {question.tags for question in questions} == {(FROM_TEXT,)}
    here, present, other = asked(island, questions, None, TINY, USUAL)
    assert {each.run.state for each in (here, present, other)} == {RunState.DONE}
    assert here.scores == present.scores, "the library itself is searched without other chunks"
    assert present.run.figures["chunks"] > 2 * other.run.figures["chunks"]
    assert (other.mean() or 0) > (present.mean() or 0)
    missed = [answer.rows[0] for answer in present.answers.values() if not answer.measured]
    assert MissReason.SPLIT in {row["reason"] for row in missed}
    assert not any(answer.sources or answer.model for answer in other.answers.values())
    [told] = compared_with_first([present, other], ())
    assert told.paired.better > 0
    assert "without a model" in told.in_words()

    experiments = island.wing(EvaluationServices).experiments
    assert experiments.collections_of(other.run.set_up) == [collection_id]
    former = experiments.use_chunks({collection_id: USUAL})
    assert former == {collection_id: TINY}
    assert island.library.indexing.wait_until_idle(60)
    [collection] = island.library.collections.all()
    assert collection.chunking == USUAL
    chunks = sum(d.chunk_count for d in island.library.documents.all())
    assert chunks == other.run.figures["chunks"]


def test_questions_of_a_set_need_a_known_document(island: app.Services, tmp_path: Path) -> None:
    questions = (
        SetQuestion("roof", "What is the chapel's roof made of?", ("Slates carried by mules.",),
                    sources=(str(tmp_path / "docs" / "chapel.md"),)),
        SetQuestion("name", "Who opens the chapel?", sources=("chapel.md",)),
        SetQuestion("other", "Who?", sources=("/elsewhere.md",)),
    )  # fmt: skip
    [found] = asked(island, questions, None)
    assert {key: answer.measured for key, answer in found.answers.items()} == {
        "roof": 1.0, "name": 1.0, "other": -1.0,
    }  # fmt: skip
    assert found.mean() == 1.0
    [none] = asked(island, questions[2:], None)
    assert none.run.state is RunState.FAILED
    assert none.run.error_title.startswith("No question is known to be answered")


def test_a_model_writes_the_questions_where_there_is_one(island: app.Services) -> None:
    with ChatServer("Q: Who opens the doors?\nA: The doors are opened by a keeper.") as server:
        island.chat.apply(Settings(endpoint=server.endpoint()))
        found = questions_of(island, 2, uses_model=True)
        assert {question.tags for question in found} == {(PROPOSED,)}
        assert len(found) == 2
        without = questions_of(island, 2, uses_model=False)
    assert {question.tags for question in without} == {(FROM_TEXT,)}


def test_search_is_compared_by_the_balance_of_words_and_meaning(island: app.Services) -> None:
    worker = island.wing(EvaluationServices)
    # The words are in no document, their meaning is.
    texts = ("Where do people pray?", "A building for worship", "Who sells herring?")
    questions = [SetQuestion(text, text, sources=("chapel.md",)) for text in texts]
    kept = worker.experiments.add("Balance", questions)
    ups = [SetUp(str(w), lexical_weight=w, only_searches=True) for w in (0.0, 1.0)]
    assert worker.experiments.estimate(kept, ups).tokens_in == 0
    worker.experiments.begin(kept, ups)
    worker.work_off()
    by_meaning, by_words = worker.experiments.results(kept.set_id).runs
    assert by_meaning.run.settings["retrieval"]["lexical_weight"] == 0.0
    first = [[answer.rows for answer in each.answers.values()] for each in (by_meaning, by_words)]
    assert first[0] != first[1]


def begun(island: app.Services, kept: QuestionSet) -> str:
    worker = island.wing(EvaluationServices)
    [run] = worker.experiments.begin(kept, [SetUp("tiny", chunking=TINY, only_searches=True)])
    return run.run_id


def test_a_search_is_paused_while_it_indexes_and_goes_on(island: app.Services) -> None:
    worker = island.wing(EvaluationServices)
    experiments = worker.experiments
    kept = experiments.add("Island", questions_of(island, 4, uses_model=False))
    run_id = begun(island, kept)

    def pause(event: RunWentOn) -> None:
        if event.doing.startswith("Indexing"):
            experiments.set_state(run_id, RunState.PAUSED)

    stop_hearing = island.changes.hear(RunWentOn, pause)
    worker.work_off()
    stop_hearing()
    [paused] = experiments.results(kept.set_id).runs
    assert (paused.run.state, paused.answers) == (RunState.PAUSED, {})
    experiments.set_state(run_id, RunState.WAITING)
    worker.work_off()
    [done] = experiments.results(kept.set_id).runs
    assert (done.run.state, len(done.answers)) == (RunState.DONE, 4)
    experiments.remove(run_id)
    assert experiments.results(kept.set_id).runs == ()
