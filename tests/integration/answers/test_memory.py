"""Earlier answers as examples: through the chat, the real client over real HTTP and the store."""

import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from desktop_rag.app import Services
from desktop_rag.core.assistant import Assistant
from desktop_rag.core.conversation import Feedback, InteractionOutcome, Message, PastAnswer
from desktop_rag.core.question_scope import ALL_DOCUMENTS
from desktop_rag.core.settings import AnswerSettings, Settings
from tests import asking
from tests.asking import answer_of
from tests.indexed import OpenIndexed
from tests.servers.chat_server import ChatServer

FIRST = "When is the lamp of the lighthouse lit?"
ALIKE = "At what time do they light the lamp of the lighthouse?"
OTHER = "When does the ferry leave?"
ANSWER = "The lamp of the lighthouse is lit at dusk [1]."


@pytest.fixture
def indexed(open_indexed: OpenIndexed) -> Services:
    texts = {
        "lamp.md": "The lamp of the lighthouse is lit at dusk by the keeper.",
        "ferry.md": "The ferry leaves at noon, never at dusk.",
    }
    return open_indexed(texts)


@pytest.fixture
def server(indexed: Services) -> Iterator[ChatServer]:
    with ChatServer(ANSWER) as running:
        indexed.chat.apply(replace(Settings(), endpoint=running.endpoint()))
        yield running


def ask(services: Services, question: str, **where: str) -> Message:
    """The answer, checked: only then may it be an example."""
    answer = asking.ask(services, question, scope=ALL_DOCUMENTS, **where)
    list(services.chat.go_on(answer, asks_model=False, cancel=threading.Event()))
    return services.chat.history.messages(answer.conversation_id)[-1]


def last_prompt(server: ChatServer) -> str:
    return server.chats[-1]["messages"][-1]["content"]


def has_example(server: ChatServer) -> bool:
    return "<example-" in last_prompt(server)


@pytest.mark.slow
def test_a_similar_question_gets_the_earlier_answer_as_an_example(
    indexed: Services, server: ChatServer
) -> None:
    first = ask(indexed, FIRST)
    assert first.remembered == ()
    assert not has_example(server)
    later = ask(indexed, ALIKE)
    assert later.remembered == (PastAnswer(first.message_id, FIRST),)
    before = last_prompt(server).split("Sources, each between")[0]
    assert f"Question: {FIRST}\nAnswer: The lamp of the lighthouse is lit at dusk.\n" in before
    [_, stored] = indexed.chat.history.messages(later.conversation_id)
    assert stored == later
    ask(indexed, OTHER)
    assert not has_example(server)


@pytest.mark.slow
def test_how_it_went_is_recorded_each_time(indexed: Services, server: ChatServer) -> None:
    done = ask(indexed, FIRST)
    server.mode = "cut"
    failed = ask(indexed, FIRST)
    server.mode = "answer"
    nothing = ask(indexed, "type:pdf")
    cancel = threading.Event()
    cancel.set()
    stopped = answer_of(list(indexed.chat.ask(FIRST, cancel=cancel)))
    every = answer_of(
        list(indexed.chat.retry(done.conversation_id, every_file=True, cancel=threading.Event()))
    )
    kept = {one.interaction_id: one for one in indexed.chat.memory.newest(9)}
    outcomes = {i: (one.outcome, one.has_several_steps) for i, one in kept.items()}
    assert outcomes == {
        done.message_id: (InteractionOutcome.DONE, False),
        failed.message_id: (InteractionOutcome.FAILED, False),
        nothing.message_id: (InteractionOutcome.NOTHING_FOUND, False),
        stopped.message_id: (InteractionOutcome.STOPPED, False),
        every.message_id: (InteractionOutcome.DONE, True),
    }
    assert kept[done.message_id].question == FIRST
    assert kept[done.message_id].model == "test-model"
    server.answer = "Later [1]."
    remembered = [past.interaction_id for past in ask(indexed, FIRST).remembered]
    assert remembered == [done.message_id], "asking every file leaves the first answer"


@pytest.mark.slow
def test_a_disliked_answer_is_no_example_any_more(indexed: Services, server: ChatServer) -> None:
    first = ask(indexed, FIRST)
    indexed.chat.history.set_feedback(first.message_id, Feedback.DISLIKED)
    assert ask(indexed, ALIKE).remembered == ()
    assert not has_example(server)


@pytest.mark.slow
def test_what_is_thought_of_an_answer_holds_for_its_copies_too(
    indexed: Services, server: ChatServer
) -> None:
    history = indexed.chat.history
    first = ask(indexed, FIRST)
    history.set_feedback(first.message_id, Feedback.LIKED)
    copy = history.fork(first.conversation_id, first.message_id)
    copied = history.messages(copy.conversation_id)[1]
    assert copied.feedback is Feedback.LIKED
    second = history.fork(copy.conversation_id, copied.message_id)
    again = history.messages(second.conversation_id)[1]
    history.set_feedback(again.message_id, Feedback.DISLIKED)
    assert history.messages(first.conversation_id)[1].feedback is Feedback.DISLIKED
    history.delete(second.conversation_id)
    history.purge_deleted()
    assert ask(indexed, ALIKE).remembered == ()


@pytest.mark.slow
def test_an_answer_that_obeyed_a_document_is_not_handed_on(
    indexed: Services, server: ChatServer
) -> None:
    server.answer = f"{ANSWER} Every visitor must now telephone the accountant in Hamburg."
    obeyed = ask(indexed, FIRST)
    list(indexed.chat.go_on(obeyed, cancel=threading.Event()))
    assert ask(indexed, ALIKE).remembered == ()
    assert not has_example(server)


@pytest.mark.slow
def test_a_liked_answer_comes_first(indexed: Services, server: ChatServer) -> None:
    liked = ask(indexed, ALIKE)
    ask(indexed, FIRST)
    indexed.chat.history.set_feedback(liked.message_id, Feedback.LIKED)
    ids = [past.interaction_id for past in ask(indexed, FIRST).remembered]
    assert (len(ids), ids[0]) == (2, liked.message_id)


@pytest.mark.slow
def test_an_answer_that_was_rewritten_is_shown_as_rewritten(
    indexed: Services, server: ChatServer
) -> None:
    first = ask(indexed, FIRST)
    indexed.chat.history.set_feedback(first.message_id, Feedback.LIKED)
    indexed.chat.history.rewrite(first, "It is lit an hour before dusk.")
    ask(indexed, ALIKE)
    before = last_prompt(server).split("Sources, each between")[0]
    assert f"Question: {FIRST}\nAnswer: It is lit an hour before dusk.\n" in before
    assert "lit at dusk" not in before


@pytest.mark.slow
def test_what_is_forgotten_is_shown_no_more(indexed: Services, server: ChatServer) -> None:
    first = ask(indexed, FIRST)
    indexed.chat.memory.forget(first.message_id)
    assert ask(indexed, ALIKE).remembered == ()
    indexed.chat.memory.forget_all()
    assert ask(indexed, FIRST).remembered == ()
    assert indexed.chat.memory.count() == 1


@pytest.mark.slow
def test_switched_off_nothing_is_used_or_recorded(indexed: Services, server: ChatServer) -> None:
    ask(indexed, FIRST)
    off = replace(Settings(), endpoint=server.endpoint(), answers=AnswerSettings(uses_memory=False))
    indexed.chat.apply(off)
    assert ask(indexed, ALIKE).remembered == ()
    assert not has_example(server)
    assert indexed.chat.memory.count() == 1


@pytest.mark.everyday
def test_its_own_conversation_is_told_by_its_history(indexed: Services, server: ChatServer) -> None:
    first = ask(indexed, FIRST)
    assert ask(indexed, FIRST, conversation_id=first.conversation_id).remembered == ()
    events = indexed.chat.retry(first.conversation_id, cancel=threading.Event())
    assert answer_of(list(events)).remembered == ()


@pytest.mark.slow
def test_an_answer_in_a_deleted_chat_is_forgotten_with_it(
    indexed: Services, server: ChatServer
) -> None:
    first = ask(indexed, FIRST)
    indexed.chat.history.delete(first.conversation_id)
    assert ask(indexed, ALIKE).remembered == ()
    indexed.chat.history.restore(first.conversation_id)
    assert first.message_id in ids_of(ask(indexed, ALIKE))
    indexed.chat.history.delete(first.conversation_id)
    indexed.chat.history.purge_deleted()
    assert indexed.chat.memory.recall([first.message_id]) == []


def ids_of(message: Message) -> list[str]:
    return [past.interaction_id for past in message.remembered]


@pytest.mark.slow
def test_without_an_endpoint_it_is_recorded_and_not_used(indexed: Services) -> None:
    ask(indexed, FIRST)
    assert ask(indexed, ALIKE).remembered == ()
    assert indexed.chat.memory.count() == 2


@pytest.mark.slow
def test_excerpts_are_no_example_for_a_model(indexed: Services) -> None:
    ask(indexed, FIRST)
    with ChatServer(ANSWER) as server:
        indexed.chat.apply(replace(Settings(), endpoint=server.endpoint()))
        assert ask(indexed, ALIKE).remembered == ()


@pytest.mark.slow
def test_a_copy_of_a_chat_keeps_what_its_answers_were_shown(
    indexed: Services, server: ChatServer
) -> None:
    ask(indexed, FIRST)
    later = ask(indexed, ALIKE)
    copy = indexed.chat.history.fork(later.conversation_id, later.message_id)
    assert indexed.chat.history.messages(copy.conversation_id)[1].remembered == later.remembered


@pytest.mark.slow
def test_what_it_knew_is_told_no_matter_how_the_answer_ends(
    indexed: Services, server: ChatServer
) -> None:
    ask(indexed, FIRST)
    server.mode = "cut"
    assert len(ask(indexed, ALIKE).remembered) == 1


@pytest.mark.slow
def test_each_assistant_remembers_for_itself_or_not_at_all(
    indexed: Services, server: ChatServer
) -> None:
    add = indexed.chat.assistants.add
    own = add(Assistant("", "Own")).assistant_id
    without = add(Assistant("", "Without", uses_memory=False)).assistant_id
    ask(indexed, FIRST)
    assert ask(indexed, ALIKE, assistant_id=own).remembered == ()
    assert ask(indexed, FIRST, assistant_id=without).remembered == ()
    assert indexed.chat.memory.count() == 2
    [past] = ask(indexed, FIRST, assistant_id=own).remembered
    assert past.question == ALIKE
