"""Which past answers are examples for a question, as the bundled model sees it."""

import threading
import tomllib
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from desktop_rag.answer.conversations.personal import LEAST_SIMILARITY, Memory
from desktop_rag.answer.search.meaning import SimilarityCalibration, rescaled
from desktop_rag.core.claims import CheckedClaim, Claim, Verdict
from desktop_rag.core.conversation import (
    InteractionOutcome,
    Message,
    MessageState,
    Role,
    SearchNotes,
    SourceRef,
)
from desktop_rag.core.errors import AppError
from desktop_rag.core.parsed import Anchor
from desktop_rag.models.embedding.joined_embedding import OnnxEmbedder
from desktop_rag.models.ports import EmbedderFaultError, Vectors
from desktop_rag.store.contract.engine import Engine
from tests.conftest import BUNDLED, DEMO, bundled_embedder

# The same question twice.
ALIKE = (
    ("When is the lamp lit?", "At what time do they light the lamp?"),
    ("Where does the helicopter land?", "What is the landing place of the helicopter?"),
    ("How was the fire of 1921 put out?", "How did they extinguish the 1921 fire?"),
    ("Who cleans the lamp?", "Who is responsible for cleaning the lamp?"),
    ("What are the side effects of ibuprofen?", "Which side effects does ibuprofen have?"),
    ("When does the ferry leave on Sundays?", "At what time does the Sunday ferry depart?"),
    ("Which invoices are still unpaid?", "What invoices have not been paid yet?"),
    ("What does a school visit cost for each pupil?", "How much does each pupil pay for a visit?"),
    ("Summarise the minutes of the meeting.", "Give me a summary of the meeting minutes."),
    ("Which majority is needed to give back the lease?", "What majority does that require?"),
    ("Wann wird die Lampe angezündet?", "Um wie viel Uhr zündet man die Lampe an?"),
    ("Wie lang ist die Kündigungsfrist?", "Welche Kündigungsfrist gilt?"),
)
SOURCE = SourceRef(1, "d", "/a.md", "A", Anchor(), "text", 1.0, is_cited=True)
BACKED = Claim(0, 7, CheckedClaim("At dusk.", Verdict.SUPPORTED, 0.9, None, (), ""), 1)


@pytest.fixture(scope="module")
def embedder() -> OnnxEmbedder:
    return bundled_embedder()


@pytest.fixture
def memory(engine: Engine, embedder: OnnxEmbedder) -> Memory:
    return Memory(engine.interactions, embedder)


def answered(engine: Engine, memory: Memory, question: str, **fields: object) -> Message:
    """The answer to a question in a conversation of its own, recorded."""
    conversation_id = engine.conversations.add(question, "").conversation_id
    given = {"model": "model", "sources": (SOURCE,), "claims": (BACKED,)} | fields
    answer = Message(conversation_id, conversation_id, Role.ASSISTANT, "At dusk [1].", 1.0, **given)  # type: ignore[arg-type]
    engine.conversations.add_message(answer)
    memory.record(question, answer, has_several_steps=False, assistant_id="")
    memory.catch_up(threading.Event())
    return answer


def examples(memory: Memory, question: str) -> list[str]:
    found = memory.examples(question, question, conversation_id="", assistant_id="")
    return [example.question for example in found]


def own_similarities(
    embedder: OnnxEmbedder, ones: Sequence[str], others: Sequence[str]
) -> NDArray[np.float64]:
    unrelated = SimilarityCalibration().unrelated(embedder)
    pairs = zip(ones, others, strict=True)
    alike = [float(embedder.embed_query(a) @ embedder.embed_query(b)) for a, b in pairs]
    return rescaled(np.array(alike), unrelated)


@pytest.mark.everyday
def test_most_questions_in_other_words_are_recognised(embedder: OnnxEmbedder) -> None:
    alike = own_similarities(embedder, [one for one, _ in ALIKE], [other for _, other in ALIKE])
    assert (alike >= LEAST_SIMILARITY).mean() >= 0.75


@pytest.mark.slow
def test_other_questions_to_the_same_library_are_not(embedder: OnnxEmbedder) -> None:
    rows = tomllib.loads((DEMO / "questions.toml").read_text(encoding="utf-8"))["questions"]
    questions = [row["question"] for row in rows]
    pairs = list(combinations(questions, 2))
    vectors = {text: embedder.embed_query(text) for text in questions}
    unrelated = SimilarityCalibration().unrelated(embedder)
    least = unrelated + LEAST_SIMILARITY * (1 - unrelated)
    passing = [pair for pair in pairs if vectors[pair[0]] @ vectors[pair[1]] >= least]
    assert len(pairs) > 1000
    assert len(passing) == 1
    assert all("membership fee for one person" in text for text in passing[0])


@pytest.mark.slow
def test_a_question_in_other_words_finds_its_answer(engine: Engine, memory: Memory) -> None:
    answered(engine, memory, "When is the lamp lit?")
    answered(engine, memory, "Which tax form does a bakery need?")
    assert examples(memory, "At what time do they light the lamp?") == ["When is the lamp lit?"]
    assert examples(memory, "Who won the world championship in chess?") == []


@pytest.mark.slow
def test_the_question_as_it_was_understood_counts(engine: Engine, memory: Memory) -> None:
    notes = SearchNotes(asked="When is the lamp of the lighthouse lit?")
    answered(engine, memory, "And when?", notes=notes)
    assert examples(memory, "When is the lamp of the lighthouse lit?") == ["And when?"]
    assert examples(memory, "And when?") == []


@pytest.mark.slow
def test_filters_say_nothing_of_what_is_asked(engine: Engine, memory: Memory) -> None:
    answered(engine, memory, "When is the lamp lit? type:pdf after:2024-01-31 folder:contracts")
    assert len(examples(memory, "When is the lamp lit? file:lamp.md")) == 1


@pytest.mark.slow
def test_numbers_of_sources_are_not_kept(engine: Engine, memory: Memory) -> None:
    answered(engine, memory, "When is the lamp lit?")
    assert [one.answer for one in memory.newest(1)] == ["At dusk."]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fields", "outcome"),
    [
        ({}, InteractionOutcome.DONE),
        ({"state": MessageState.STOPPED}, InteractionOutcome.STOPPED),
        ({"state": MessageState.FAILED}, InteractionOutcome.FAILED),
        ({"sources": ()}, InteractionOutcome.NOTHING_FOUND),
        (
            {"sources": (SourceRef(1, "d", "", "", Anchor(), "", 1.0),)},
            InteractionOutcome.NOTHING_FOUND,
        ),
    ],
)
def test_however_it_ends_it_is_recorded(
    engine: Engine, memory: Memory, fields: dict[str, object], outcome: InteractionOutcome
) -> None:
    answered(engine, memory, "When is the lamp lit?", **fields)
    [kept] = memory.newest(5)
    assert kept.outcome is outcome
    assert examples(memory, "When is the lamp lit?") == [kept.question] * (
        outcome is InteractionOutcome.DONE
    )


@pytest.mark.slow
def test_what_is_forgotten_comes_back_as_it_was(engine: Engine, memory: Memory) -> None:
    answered(engine, memory, "When is the lamp lit?")
    [kept] = memory.newest(1)
    memory.forget(kept.interaction_id)
    assert (memory.count(), memory.recall([kept.interaction_id])) == (0, [])
    memory.put_back(kept)
    assert memory.recall([kept.interaction_id]) == [kept]
    assert examples(memory, "When is the lamp lit?") == [kept.question]


@pytest.mark.everyday
def test_another_model_learns_what_was_asked_before(engine: Engine, embedder: OnnxEmbedder) -> None:
    without = Memory(engine.interactions, None)
    answered(engine, without, "When is the lamp lit?")
    assert examples(without, "When is the lamp lit?") == []
    later = Memory(engine.interactions, embedder)
    assert examples(later, "When is the lamp lit?") == []
    later.catch_up(threading.Event())
    assert examples(later, "When is the lamp lit?") == ["When is the lamp lit?"]


class FarEmbedder(OnnxEmbedder):
    """One that is elsewhere, and can't be reached while `is_away`."""

    is_away = True

    def embed_query(self, text: str) -> Vectors:
        if self.is_away:
            raise EmbedderFaultError("The endpoint is away.")
        return super().embed_query(text)


@pytest.mark.slow
def test_a_model_that_is_away_keeps_nobody_from_answering(engine: Engine) -> None:
    far = FarEmbedder(BUNDLED, threads=1)
    memory = Memory(engine.interactions, far)
    answered(engine, memory, "When is the lamp lit?")
    assert examples(memory, "When is the lamp lit?") == []
    assert memory.count() == 1
    far.is_away = False
    memory.catch_up(threading.Event())
    assert len(examples(memory, "When is the lamp lit?")) == 1


@pytest.mark.slow
def test_a_store_that_takes_nothing_leaves_the_answer_standing(
    engine: Engine, memory: Memory
) -> None:
    answer = answered(engine, memory, "When is the lamp lit?")
    engine.close()
    memory.record("Who?", answer, has_several_steps=False, assistant_id="")
    with pytest.raises(AppError):
        memory.count()
