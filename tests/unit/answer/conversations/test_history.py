"""Copies of conversations, over a real store."""

from pathlib import Path

import pytest

from desktop_rag.answer.conversations.history import History
from desktop_rag.answer.conversations.personal import Rewrites
from desktop_rag.answer.conversations.unstored_chats import UnstoredChats
from desktop_rag.core.changes import Changes
from desktop_rag.core.conversation import Message, Role, SourceRef
from desktop_rag.core.errors import AppError
from desktop_rag.core.parsed import Anchor
from desktop_rag.store.contract.engine import Engine

SOURCE = SourceRef(1, "d", "/docs/a.md", "A", Anchor(line=3), "passage", 0.5, is_cited=True)


@pytest.fixture
def history(engine: Engine, tmp_path: Path) -> History:
    rewrites = Rewrites(tmp_path / "rewrites", lambda _: None)
    return History(engine, rewrites, UnstoredChats(engine.conversations, Changes()))


def talk(engine: Engine) -> str:
    """A conversation of two questions and two answers, named by numbers; its id."""
    conversation = engine.conversations.add("Lamps", "c")
    for n in range(4):
        role, sources = (Role.ASSISTANT, (SOURCE,)) if n % 2 else (Role.USER, ())
        engine.conversations.add_message(
            Message(f"m{n}", conversation.conversation_id, role, f"text {n}", 5.0, sources=sources)
        )
    return conversation.conversation_id


def said(history: History, conversation_id: str) -> list[str]:
    return [message.text for message in history.messages(conversation_id)]


@pytest.mark.slow
def test_a_copy_goes_up_to_a_message_and_leaves_the_original(
    engine: Engine, history: History
) -> None:
    original = talk(engine)
    copy = history.fork(original, "m1")
    assert (copy.title, copy.collection_id) == ("Lamps (copy)", "c")
    assert said(history, copy.conversation_id) == ["text 0", "text 1"]
    assert history.messages(copy.conversation_id)[1].sources == (SOURCE,)
    assert len(said(history, original)) == 4
    names = [m.message_id for c in history.all() for m in history.messages(c.conversation_id)]
    assert len(names) == len(set(names))


@pytest.mark.slow
def test_a_copy_of_what_came_before_ends_there(engine: Engine, history: History) -> None:
    original = talk(engine)
    assert said(history, history.fork_before(original, "m2").conversation_id) == [
        "text 0", "text 1",
    ]  # fmt: skip
    assert said(history, history.fork_before(original, "m0").conversation_id) == []


@pytest.mark.everyday
def test_an_answer_that_was_replaced_comes_back_to_its_place(
    engine: Engine, history: History
) -> None:
    original = talk(engine)
    former = history.messages(original)[1]
    another = Message("new", original, Role.ASSISTANT, "another", 6.0)
    engine.conversations.replace_message("m1", another)
    history.put_back(former, in_place_of="new")
    assert said(history, original) == [f"text {n}" for n in range(4)]


@pytest.mark.slow
def test_nothing_is_found_by_nothing(engine: Engine, history: History) -> None:
    original = talk(engine)
    assert history.find("  ") == frozenset()
    assert history.find(" TEXT 3 ") == {original}


@pytest.mark.everyday
def test_an_answer_replaced_twice_comes_back_only_over_the_last(
    engine: Engine, history: History
) -> None:
    original = talk(engine)
    former = history.messages(original)[1]
    for old, new in (("m1", "second"), ("second", "third")):
        answer = Message(new, original, Role.ASSISTANT, new, 6.0)
        engine.conversations.replace_message(old, answer)
    with pytest.raises(AppError, match="meanwhile"):
        history.put_back(former, in_place_of="second")
    assert said(history, original)[1] == "third"
