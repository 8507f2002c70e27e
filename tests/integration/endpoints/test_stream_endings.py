"""How answers end: streams that only seem to go on, and reasons that are not known to be good."""

from collections.abc import Iterator
from contextlib import closing
from threading import Event

import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.models.endpoints.client.chat_client import ChatClient
from desktop_rag.models.ports import ChatTurn
from tests.servers.chat_server import ChatServer

TURNS = (ChatTurn("user", "When is the lamp lit?"),)
ANSWER = "The lamp is lit at dusk [1]."


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(ANSWER) as server:
        yield server


def test_a_stream_that_only_pings_is_ended_and_keeps_what_came(server: ChatServer) -> None:
    server.mode, server.pause_s = "pings", 0.01
    heard: list[str] = []

    def listen(client: ChatClient) -> None:
        heard.extend(delta.text for delta in client.stream(TURNS, Event()))

    endpoint = server.endpoint(timeout_s=0.1)
    with closing(ChatClient(endpoint)) as client, pytest.raises(AppError) as caught:
        listen(client)
    assert caught.value.title == "The answer came too slowly."
    assert "".join(heard) == ANSWER[:12]


@pytest.mark.parametrize(
    ("reason", "title"),
    [
        ("model_length", "The answer is not complete."),
        ("MAX_TOKENS", "The answer is not complete."),
        ("SAFETY", "The endpoint withheld the answer."),
        ("insufficient_system_resource", "The answer was broken off."),
        ("error", "The answer was broken off."),
        ("tool_calls", "The answer may not be complete."),
        ("sunset", "The answer may not be complete."),
    ],
)
def test_any_ending_that_is_not_known_to_be_good_is_told(
    server: ChatServer, reason: str, title: str
) -> None:
    server.finish_reason = reason
    with closing(ChatClient(server.endpoint())) as client, pytest.raises(AppError) as caught:
        list(client.stream(TURNS, Event()))
    assert caught.value.title == title


def test_a_finished_answer_waits_for_no_more_pings(server: ChatServer) -> None:
    server.mode = "no_done"
    with closing(ChatClient(server.endpoint(timeout_s=3600))) as client:
        assert "".join(delta.text for delta in client.stream(TURNS, Event())) == ANSWER
