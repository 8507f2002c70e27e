"""`Chat.answer` gives the answer of `Chat.ask` without storing anything."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from desktop_rag.app import Services
from desktop_rag.core.conversation import AnswerEvent, Message, QuestionStored, Role
from desktop_rag.core.errors import AppError
from desktop_rag.core.settings import Settings
from tests.asking import answer_of, ask, events_of
from tests.indexed import OpenIndexed
from tests.servers.chat_server import ChatServer

pytestmark = pytest.mark.slow

FIRST = "When is the lamp of the lighthouse lit?"
SECOND = "When does the ferry leave?"
LATER = "Who cleans it?"


@pytest.fixture
def indexed(open_indexed: OpenIndexed) -> Services:
    texts = {
        "lamp.md": "The lamp of the lighthouse is lit at dusk by the keeper.",
        "care.md": "The lamp of the lighthouse is cleaned by the apprentice.",
        "ferry.md": "The ferry leaves at noon, and its deck is cleaned by the cook.",
    }
    return open_indexed(texts)


@pytest.fixture
def server(indexed: Services) -> Iterator[ChatServer]:
    with ChatServer("It is cleaned by the cook [1].") as running:
        indexed.chat.apply(replace(Settings(), endpoint=running.endpoint()))
        yield running


def said(role: Role, text: str) -> Message:
    return Message("", "", role, text, 1.0)


def answered(services: Services, messages: Sequence[Message]) -> list[AnswerEvent]:
    setup = services.chat.set_up()
    return list(services.chat.answer(messages, setup, cancel=threading.Event()))


def stored(services: Services) -> list[object]:
    """Everything that an answer could leave behind."""
    history, memory = services.chat.history, services.chat.memory
    conversations = history.all()
    messages = [history.messages(c.conversation_id) for c in conversations]
    return [conversations, messages, memory.newest(100), memory.count()]


def comparable(message: Message) -> Message:
    """The message without the fields that differ between answers."""
    return replace(message, message_id="", conversation_id="", created_at=0.0, seconds=0.0)


def test_an_answer_with_a_history_is_that_of_ask_and_stores_nothing(
    indexed: Services, server: ChatServer
) -> None:
    conversation_id = ask(indexed, FIRST).conversation_id
    ask(indexed, SECOND, conversation_id=conversation_id)
    messages = indexed.chat.history.messages(conversation_id)
    assert [m.role for m in messages] == [Role.USER, Role.ASSISTANT] * 2
    before = stored(indexed)
    server.first_answers = ["Who cleans the deck of the ferry?"]
    question = replace(said(Role.USER, LATER), conversation_id=conversation_id)
    events = answered(indexed, [*messages, question])
    assert stored(indexed) == before
    assert not any(isinstance(event, QuestionStored) for event in events)
    free = answer_of(events)
    assert free.notes is not None
    assert free.notes.asked == "Who cleans the deck of the ferry?"
    prompt = server.chats[-1]["messages"]
    server.first_answers = ["Who cleans the deck of the ferry?"]
    kept = answer_of(events_of(indexed, LATER, conversation_id=conversation_id))
    assert comparable(free) == comparable(kept)
    assert [m["role"] for m in prompt] == [m["role"] for m in server.chats[-1]["messages"]]
    assert stored(indexed) != before


def test_earlier_answers_are_no_examples_and_it_is_none_for_later_ones(
    indexed: Services, server: ChatServer
) -> None:
    free = answer_of(answered(indexed, [said(Role.USER, FIRST)]))
    assert free.text
    assert ask(indexed, FIRST).remembered == ()
    again = answer_of(answered(indexed, [said(Role.USER, FIRST)]))
    assert again.remembered == ()
    assert all("<example-" not in str(chat) for chat in server.chats)


def test_turns_without_sources_are_enough(indexed: Services, server: ChatServer) -> None:
    """The turns as a server receives them: only texts and roles."""
    turns = [said(Role.USER, FIRST), said(Role.ASSISTANT, "At dusk."), said(Role.USER, SECOND)]
    message = answer_of(answered(indexed, turns))
    assert message.sources
    sent = [turn["content"] for turn in server.chats[-1]["messages"]]
    assert sent[1:3] == [FIRST, "At dusk."]


def test_only_the_chosen_collection_is_searched(indexed: Services) -> None:
    empty = indexed.library.collections.find_or_add("Empty")
    setup = indexed.chat.set_up(collection_id=empty.collection_id)
    events = indexed.chat.answer([said(Role.USER, FIRST)], setup, cancel=threading.Event())
    assert answer_of(list(events)).sources == ()


@pytest.mark.parametrize(
    "messages", [[], [said(Role.USER, "  ")], [said(Role.USER, FIRST), said(Role.ASSISTANT, "No")]]
)
def test_without_a_question_at_the_end_there_is_no_answer(
    indexed: Services, messages: list[Message]
) -> None:
    with pytest.raises(AppError):
        answered(indexed, messages)
