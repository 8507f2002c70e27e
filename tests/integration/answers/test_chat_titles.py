"""A model for background tasks names a chat; a name that the person gave stays."""

import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from desktop_rag.app import Services
from desktop_rag.core.conversation import ChatTitled, Message
from desktop_rag.core.settings import AnswerSettings, HelperSettings, Settings
from tests.asking import ask
from tests.indexed import OpenIndexed
from tests.servers.chat_server import ChatServer

pytestmark = pytest.mark.slow

QUESTION = "When is the lamp of the lighthouse lit?"
QUIET = AnswerSettings(suggests_questions=False, checks_claims=False)


@pytest.fixture
def services(open_indexed: OpenIndexed) -> Services:
    return open_indexed({"lamp.md": "The lamp is lit at dusk by Ada."})


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer("At dusk [1].") as running:
        running.answer_to = lambda prompt: (
            "**Title: Lighting the lamp**\n" if "title for the chat" in prompt else "At dusk [1]."
        )
        yield running


def settings(server: ChatServer) -> Settings:
    endpoint = server.endpoint()
    helper = HelperSettings(endpoint.base_url, endpoint.model)
    return Settings(endpoint=endpoint, helper=helper, answers=QUIET)


def title_after(services: Services, answer: Message) -> str:
    list(services.chat.go_on(answer, cancel=threading.Event()))
    return services.chat.history.titles()[answer.conversation_id]


def test_the_first_answer_gives_a_title(services: Services, server: ChatServer) -> None:
    services.chat.apply(settings(server))
    answer = ask(services, QUESTION)
    assert services.chat.history.titles()[answer.conversation_id] == QUESTION
    [event] = services.chat.go_on(answer, cancel=threading.Event())
    assert isinstance(event, ChatTitled)
    assert event.conversation.title == "Lighting the lamp"
    assert services.chat.history.titles()[answer.conversation_id] == "Lighting the lamp"


def test_a_title_of_the_person_stays(services: Services, server: ChatServer) -> None:
    services.chat.apply(settings(server))
    answer = ask(services, QUESTION)
    services.chat.history.rename(answer.conversation_id, "Mine")
    assert title_after(services, answer) == "Mine"


def test_a_title_given_while_the_model_writes_stays(services: Services, server: ChatServer) -> None:
    services.chat.apply(settings(server))
    answer = ask(services, QUESTION)

    def said(_prompt: str) -> str:
        services.chat.history.rename(answer.conversation_id, "Mine")
        return "Lighting the lamp"

    server.answer_to = said
    assert title_after(services, answer) == "Mine"


def test_later_answers_change_no_title(services: Services, server: ChatServer) -> None:
    services.chat.apply(replace(settings(server), helper=HelperSettings()))
    first = ask(services, QUESTION)
    assert title_after(services, first) == QUESTION, "no model for background tasks"
    services.chat.apply(settings(server))
    later = ask(services, "And who lights the lamp?", conversation_id=first.conversation_id)
    assert title_after(services, later) == QUESTION
