from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from desktop_rag.core.claims import CheckedClaim, Claim, Verdict
from desktop_rag.core.conversation import (
    Feedback,
    Interaction,
    InteractionOutcome,
    Message,
    PastAnswer,
    Role,
)
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.interaction_store import InteractionStore
from tests.engines import Open

MODEL = "model-1"


def towards(*parts: float) -> NDArray[np.float32]:
    vector = np.array([*parts, *[0.0] * (6 - len(parts))], np.float32)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


ASKED = towards(1)


@pytest.fixture
def store(engine: Engine) -> InteractionStore:
    return engine.interactions


def interaction(name: str, conversation_id: str, at: float = 1.0) -> Interaction:
    return Interaction(
        name, conversation_id, f"Question of {name}?", f"{name} in full?", f"Answer of {name}.",
        InteractionOutcome.DONE, at, "model", assistant_id="",
    )  # fmt: skip


def claim_with(verdict: Verdict) -> Claim:
    return Claim(0, 4, CheckedClaim('Call "0900".', verdict, 0.5, None, (), ""))


BACKED = claim_with(Verdict.SUPPORTED)


def answered(
    engine: Engine,
    name: str,
    vector: NDArray[np.float32] = ASKED,
    at: float = 1.0,
    claims: tuple[Claim, ...] = (BACKED,),
) -> Interaction:
    """An interaction in a conversation of its own, whose answer stands."""
    conversation_id = engine.conversations.add(name, "").conversation_id
    said = Message(name, conversation_id, Role.ASSISTANT, "said", at, claims=claims)
    engine.conversations.add_message(said)
    kept = interaction(name, conversation_id, at)
    engine.interactions.add(kept, MODEL, vector)
    return kept


def found(store: InteractionStore, most: int = 3, outside: str = "") -> list[str]:
    alike = store.similar(ASKED, MODEL, assistant_id="", outside=outside, least=0.7, most=most)
    return [one.interaction_id for one in alike]


def test_what_is_kept_comes_back_equal(engine: Engine, store: InteractionStore) -> None:
    kept = replace(
        answered(engine, "a"), has_several_steps=True, outcome=InteractionOutcome.STOPPED, model=""
    )
    store.add(kept, MODEL, ASKED)
    assert store.get(["b", "a"]) == [kept]
    assert store.newest(5) == [kept]
    assert store.count() == 1


@pytest.mark.slow
def test_it_is_there_when_the_library_is_opened_again(open_engine: Open, tmp_path: Path) -> None:
    engine = open_engine(tmp_path)
    kept = answered(engine, "a")
    engine.close()
    engine = open_engine(tmp_path)
    assert engine.interactions.get(["a"]) == [kept]
    assert found(engine.interactions) == ["a"]
    engine.close()


@pytest.mark.slow
def test_the_most_similar_come_first_and_those_far_off_not_at_all(
    engine: Engine, store: InteractionStore
) -> None:
    for name, second in (("far", 2.0), ("near", 0.5), ("nearest", 0.1), ("next", 0.3)):
        answered(engine, name, towards(1, second))
    assert found(store) == ["nearest", "next", "near"]
    assert found(store, most=1) == ["nearest"]


@pytest.mark.slow
def test_liked_ones_come_first_and_disliked_ones_never(
    engine: Engine, store: InteractionStore
) -> None:
    for name, second in (("near", 0.5), ("nearest", 0.1), ("wrong", 0.0)):
        answered(engine, name, towards(1, second))
    engine.conversations.add_feedback("near", Feedback.LIKED)
    engine.conversations.add_feedback("wrong", Feedback.DISLIKED)
    assert found(store) == ["near", "nearest"]
    [liked] = store.get(["near"])
    assert liked.feedback is Feedback.LIKED
    engine.conversations.add_feedback("near", Feedback.NONE)
    engine.conversations.add_feedback("wrong", Feedback.LIKED)
    assert found(store) == ["wrong", "nearest", "near"]


@pytest.mark.parametrize(
    "change",
    [
        {"outcome": InteractionOutcome.FAILED},
        {"outcome": InteractionOutcome.STOPPED},
        {"outcome": InteractionOutcome.NOTHING_FOUND},
        {"model": ""},
        {"has_several_steps": True},
        {"assistant_id": "another"},
    ],
)
def test_only_what_went_well_is_an_example(
    engine: Engine, store: InteractionStore, change: dict[str, object]
) -> None:
    kept = answered(engine, "a")
    assert found(store) == ["a"]
    store.add(replace(kept, **change), MODEL, ASKED)  # type: ignore[arg-type]
    assert found(store) == []


def check(engine: Engine, kept: Interaction, *verdicts: Verdict) -> None:
    """Find these of the claims of its answer."""
    [answer] = engine.conversations.messages(kept.conversation_id)
    engine.conversations.set_post_answer(replace(answer, claims=tuple(map(claim_with, verdicts))))


@pytest.mark.slow
@pytest.mark.parametrize("verdict", [Verdict.CONTRADICTED, Verdict.NOT_IN_SOURCES])
def test_an_answer_that_says_what_no_source_does_is_none_unless_it_is_liked(
    engine: Engine, store: InteractionStore, verdict: Verdict
) -> None:
    kept = answered(engine, "a")
    check(engine, kept, Verdict.SUPPORTED, Verdict.SUPPORTED, Verdict.NOT_CHECKED)
    assert found(store) == ["a"]
    check(engine, kept, Verdict.SUPPORTED, verdict)
    answered(engine, "b", towards(1, 0.2))
    assert found(store, most=1) == ["b"], "its place is another one's"
    engine.conversations.add_feedback("a", Feedback.LIKED)
    assert found(store) == ["a", "b"]


@pytest.mark.parametrize("claims", [(), (claim_with(Verdict.NOT_CHECKED),)])
def test_an_answer_that_nobody_checked_is_none_unless_it_is_liked(
    engine: Engine, store: InteractionStore, claims: tuple[Claim, ...]
) -> None:
    answered(engine, "a", claims=claims)
    assert found(store) == []
    engine.conversations.add_feedback("a", Feedback.LIKED)
    assert found(store) == ["a"]


def test_those_of_an_assistant_are_its_own(engine: Engine, store: InteractionStore) -> None:
    store.add(replace(answered(engine, "a"), assistant_id="law"), MODEL, ASKED)
    answered(engine, "b")
    alike = store.similar(ASKED, MODEL, assistant_id="law", outside="", least=0.7, most=3)
    assert [one.interaction_id for one in alike] == ["a"]


def test_vectors_of_another_length_are_not_compared(
    engine: Engine, store: InteractionStore
) -> None:
    """An endpoint may answer with another model under the same name."""
    answered(engine, "a")
    answered(engine, "b", np.array([1, 0, 0], np.float32))
    assert found(store) == ["a"]


def test_its_own_conversation_is_left_out(engine: Engine, store: InteractionStore) -> None:
    kept = answered(engine, "a")
    assert found(store, outside=kept.conversation_id) == []


def test_the_same_question_is_taken_once(engine: Engine, store: InteractionStore) -> None:
    for name in ("first", "again"):
        kept = answered(engine, name, towards(1, 0.1 if name == "first" else 0.2))
        store.add(
            replace(kept, asked="The  same QUESTION?" if name == "first" else "the same question?"),
            MODEL,
            ASKED,
        )
    assert len(found(store)) == 1


def test_an_answer_that_was_replaced_is_none_until_it_is_put_back(
    engine: Engine, store: InteractionStore
) -> None:
    kept = answered(engine, "a")
    [former] = engine.conversations.messages(kept.conversation_id)
    engine.conversations.replace_message("a", replace(former, message_id="b"))
    assert found(store) == []
    assert store.count() == 1
    engine.conversations.replace_message("b", former)
    assert found(store) == ["a"]


@pytest.mark.slow
def test_deleted_conversations_hide_theirs_and_take_them_along(
    engine: Engine, store: InteractionStore
) -> None:
    kept, other = answered(engine, "a"), answered(engine, "b", at=0.0)
    engine.conversations.set_deleted(kept.conversation_id, True)
    assert (found(store), store.newest(5), store.count()) == (["b"], [other], 1)
    engine.conversations.set_deleted(kept.conversation_id, False)
    assert sorted(found(store)) == ["a", "b"]
    engine.conversations.set_deleted(kept.conversation_id, True)
    engine.conversations.purge_deleted()
    engine.conversations.set_deleted(kept.conversation_id, False)
    assert store.get(["a", "b"]) == [other]


def test_forgotten_is_gone(engine: Engine, store: InteractionStore) -> None:
    for name in ("a", "b", "c"):
        answered(engine, name)
    store.forget(["a", "unknown"])
    assert sorted(found(store)) == ["b", "c"]
    store.forget_all()
    assert (found(store), store.count()) == ([], 0)


def test_vectors_of_another_model_are_not_compared(engine: Engine, store: InteractionStore) -> None:
    old = answered(engine, "old", at=2.0)
    new = answered(engine, "new", at=1.0)  # the clock was set back
    assert store.without_vector_of(MODEL, 5) == []
    assert store.without_vector_of("model-2", 1) == [new]
    longer = np.ones(12, np.float32) / np.sqrt(np.float32(12))
    store.set_vector("old", "model-2", longer)
    store.set_vector("unknown", "model-2", longer)
    assert found(store) == ["new"]
    alike = store.similar(longer, "model-2", assistant_id="", outside="", least=0.7, most=3)
    assert alike == [old]
    assert store.count() == 2


def test_one_without_a_vector_is_like_nothing(engine: Engine, store: InteractionStore) -> None:
    kept = answered(engine, "a")
    store.add(kept)
    assert found(store) == []
    assert store.without_vector_of(MODEL, 5) == [kept]


def test_a_message_keeps_what_it_was_shown(engine: Engine) -> None:
    conversation_id = engine.conversations.add("a", "").conversation_id
    shown = (PastAnswer("x", "When, “exactly”?"), PastAnswer("y", ""))
    message = Message("m", conversation_id, Role.ASSISTANT, "", 1.0, remembered=shown)
    engine.conversations.add_message(message)
    assert engine.conversations.messages(conversation_id) == [message]
