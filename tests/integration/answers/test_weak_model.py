"""A model that makes things up only adds to the excerpts what their sources back."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from desktop_rag.app import Services
from desktop_rag.core.conversation import Message, MessageState
from desktop_rag.core.settings import Settings
from tests.asking import ask
from tests.indexed import OpenIndexed
from tests.servers.chat_server import ChatServer

pytestmark = pytest.mark.slow
QUESTION = "How high is the deposit for the boathouse?"
LEASE = """# Lease of the boathouse

The deposit for the boathouse is 900 euros. It is paid back within six weeks after the keys are
handed over. Bea Lund keeps the keys of the boathouse.
"""


@pytest.fixture
def services(open_indexed: OpenIndexed) -> Services:
    ferry = "# Ferry\n\nThe ferry Corvina sails at noon.\n"
    return open_indexed({"lease.md": LEASE, "ferry.md": ferry})


@pytest.fixture
def server(services: Services) -> Iterator[ChatServer]:
    with ChatServer() as running:
        services.chat.apply(replace(Settings(), endpoint=running.endpoint()))
        running.dialect.is_weak = True
        examine(services, running)
        yield running


def examine(services: Services, server: ChatServer) -> None:
    """Examine the model; afterwards no request is on record."""
    services.chat.models.examine(services.chat.models.endpoint)
    server.requests.clear()


def test_what_a_source_backs_stands_below_the_excerpts_and_the_rest_is_kept_apart(
    services: Services, server: ChatServer
) -> None:
    server.answer = (
        "Bea Lund keeps the keys of the boathouse. A deposit of 900 euros is due."
        " The deposit rises to 1,250 euros in May. The boathouse was built by Olaf Brandt."
    )
    answer = ask(services, QUESTION)
    [prompt] = [chat["messages"][-1]["content"] for chat in server.chats]
    assert "file lease.md" in prompt
    assert "Today is" in prompt
    excerpt, _, added = answer.text.partition("In the words of test-model")
    assert "The deposit for the boathouse is 900 euros." in excerpt
    assert "Bea Lund keeps the keys of the boathouse. [1]" in added
    assert "is due" not in answer.text
    assert "1,250" not in answer.text
    assert "Brandt" not in answer.text
    assert answer.notes
    assert [sentence.split()[-1] for sentence in answer.notes.unbacked] == [
        "due.", "May.", "Brandt.",
    ]  # fmt: skip
    assert (answer.state, answer.is_excerpts, answer.model) == (
        MessageState.DONE, True, "test-model",
    )  # fmt: skip
    assert kept(services, answer) == answer


def kept(services: Services, answer: Message) -> Message:
    """The answer as it is stored."""
    messages = services.chat.history.messages(answer.conversation_id)
    return next(m for m in messages if m.message_id == answer.message_id)


def test_where_nothing_is_backed_the_excerpts_stand_alone(
    services: Services, server: ChatServer
) -> None:
    server.answer = "Deposit is 250 euros. The deposit is 250 pounds for boats."
    answer = ask(services, QUESTION)
    assert "900 euros" in answer.text
    assert "250" not in answer.text
    assert answer.notes
    assert len(answer.notes.unbacked) == 2


def test_circles_are_cut_and_the_tags_of_the_prompt_are_not_shown(
    services: Services, server: ChatServer
) -> None:
    server.answer = "Olaf Brandt has the deposit.\n" * 40
    answer = ask(services, QUESTION)
    assert answer.notes
    assert answer.notes.unbacked == ("Olaf Brandt has the deposit.",)
    assert "“test-model” repeated itself: the rest was cut." in answer.notes.hints
    assert "a larger model writes freely" in answer.notes.hints[-1]

    def echo(prompt: str) -> str:
        told, sources, rest = prompt.partition("<source-")
        return f"{told.splitlines()[0]} Olaf Brandt has the deposit.\n{sources}{rest}"

    server.answer_to = echo
    answer = ask(services, QUESTION)
    assert "source-" not in answer.text
    assert answer.notes
    assert answer.notes.unbacked == ("Olaf Brandt has the deposit.",)


def test_a_weak_model_that_fails_leaves_the_excerpts(
    services: Services, server: ChatServer
) -> None:
    server.mode, server.status = "status", 500
    answer = ask(services, QUESTION)
    assert answer.state is MessageState.DONE
    assert "900 euros" in answer.text
    assert answer.notes
    assert answer.notes.hints


def test_a_weak_model_is_asked_nothing_else(services: Services, server: ChatServer) -> None:
    server.answer = "For the boathouse, a deposit of 900 euros is due."
    first = ask(services, QUESTION)
    ask(services, "And who keeps the keys?", conversation_id=first.conversation_id)
    assert len(server.chats) == 2
    assert services.chat.models.helper() is None


def test_a_model_that_answers_well_writes_alone(services: Services, server: ChatServer) -> None:
    server.dialect.is_weak = False
    examine(services, server)
    server.answer = "A deposit of 900 euros is due [1]."
    answer = ask(services, QUESTION)
    assert answer.text == server.answer
    assert not answer.is_excerpts
