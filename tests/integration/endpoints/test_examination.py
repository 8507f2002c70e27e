"""Examining a model: every dialect of the scripted server is recognised with few requests."""

import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import pytest

from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.core.model_profile import LengthField, ModelProfile, Thinking
from desktop_rag.models.answer_priority import AnswerPriority
from desktop_rag.models.endpoints.client.allowances import ProfileBook
from desktop_rag.models.endpoints.client.chat_client import ChatClient
from desktop_rag.models.endpoints.client.endpoint_requests import EndpointRequests
from desktop_rag.models.endpoints.examination import Examination
from desktop_rag.models.ports import ChatTurn
from tests.servers.chat_server import ChatServer, Mode
from tests.servers.model_dialects import Dialect


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer("Yes.") as server:
        server.dialect = Dialect(context_tokens=5000)
        yield server


def examined(server: ChatServer, priority: AnswerPriority | None = None) -> ModelProfile:
    with closing(EndpointRequests(server.endpoint())) as requests:
        return Examination(requests, priority or AnswerPriority()).run()


def test_a_model_that_takes_everything(server: ChatServer) -> None:
    server.dialect.embeds = True
    server.model_list = {"data": [{"id": "test-model", "context_length": 131_072}]}
    found = examined(server)
    assert found.is_examined
    assert found.read_tokens_per_s > 0
    assert replace(found, examined_at=0.0, read_tokens_per_s=0.0) == ModelProfile(
        streams=True,
        takes_system=True,
        must_alternate=False,
        context_tokens=5000,
        is_context_open=False,
        stated_tokens=131_072,
        thinking=Thinking.NONE,
        length_field=LengthField.MAX_TOKENS,
        counts_usage=True,
        takes_schema=True,
        takes_images=True,
        embeds=True,
        calls_tools=False,
        tells_progress=False,
        answering=1.0,
    )
    assert found.findings()[0] == "Reads 5,000 tokens; the server states 131,072."
    # An answer, the order, JSON, an image, a tool, progress, embeddings, ten short questions, and
    # three lengths from 2,048 on.
    assert len(server.chats) == 20
    assert sum(body.get("max_tokens", 0) == 1 for body in server.chats) == 5


@pytest.mark.parametrize(("dialect", "is_told"), [(True, True), (False, False), (None, False)])
def test_a_server_that_tells_how_far_it_has_read_is_asked_to(
    server: ChatServer, dialect: bool | None, is_told: bool
) -> None:
    server.dialect.tells_progress = dialect
    found = examined(server)
    assert found.tells_progress is is_told
    profiles = ProfileBook()
    profiles.put(server.endpoint().base_url, server.endpoint().model, found)
    with closing(ChatClient(server.endpoint(), profiles=profiles)) as client:
        heard = list(client.stream([ChatTurn("user", "When?")], threading.Event()))
    said = [delta.status for delta in heard if delta.status]
    told = ["25 %.", "50 %, about 4 s left.", "100 %."] if is_told else []
    assert said == [f"The model reads the prompt: {words}" for words in told]
    assert "".join(delta.text for delta in heard) == server.answer


@pytest.mark.parametrize(("is_told", "speed"), [(True, 250.0), (False, 0.0)])
def test_the_speed_of_reading_is_what_the_server_tells_and_not_the_wait_for_the_first_word(
    server: ChatServer, is_told: bool, speed: float
) -> None:
    server.dialect = Dialect(tells_progress=is_told)
    server.pause_s = 0.3
    endpoint = server.endpoint()
    profiles = ProfileBook()
    known = ModelProfile(tells_progress=is_told, counts_usage=True)
    profiles.put(endpoint.base_url, endpoint.model, known)
    with closing(ChatClient(endpoint, profiles=profiles)) as client:
        list(client.stream([ChatTurn("user", "lamp " * 500)], threading.Event()))
    assert profiles.get(endpoint.base_url, endpoint.model).read_tokens_per_s == speed


def test_a_server_that_no_longer_tells_it_is_asked_without(server: ChatServer) -> None:
    endpoint = server.endpoint()
    profiles = ProfileBook()
    profiles.put(endpoint.base_url, endpoint.model, ModelProfile(tells_progress=True))
    server.dialect.tells_progress = None
    with closing(ChatClient(endpoint, profiles=profiles)) as client:
        heard = list(client.stream([ChatTurn("user", "When?")], threading.Event()))
    assert "".join(delta.text for delta in heard) == server.answer
    assert profiles.get(endpoint.base_url, endpoint.model).tells_progress is False


def test_nothing_long_is_sent_where_the_server_says_how_it_was_started(server: ChatServer) -> None:
    server.model_list = {"data": [{"id": "test-model", "max_model_len": 131_072}]}
    found = examined(server)
    assert (found.context_tokens, found.is_context_open) == (131_072, False)
    words = [len(str(body.get("messages", "")).split()) for body in server.chats]
    assert max(words) < 100


def test_a_model_that_takes_next_to_nothing(server: ChatServer) -> None:
    server.dialect = Dialect(
        refuses_system="System role not supported",
        refuses_order="Conversation roles must alternate user/assistant",
        refuses_usage=True,
        has_json=False,
        sees_images=False,
        length_field="max_completion_tokens",
    )
    found = examined(server)
    assert (found.takes_system, found.must_alternate) == (False, True)
    assert (found.counts_usage, found.takes_schema, found.takes_images) == (False, False, False)
    assert found.embeds is False
    assert found.length_field is LengthField.MAX_COMPLETION_TOKENS
    said = " ".join(found.findings())
    assert "Takes no system message: it is sent with the question." in said
    assert "in turn" in said


def test_a_system_message_that_is_taken_but_not_read_is_found_out(server: ChatServer) -> None:
    server.dialect.ignores_system = True
    assert examined(server).takes_system is False


def test_an_answer_that_comes_whole(server: ChatServer) -> None:
    server.mode = "whole"
    assert examined(server).streams is False


@pytest.mark.parametrize(
    ("mode", "thinking"),
    [
        ("think_tags", Thinking.TAGS),
        ("think_end", Thinking.END_TAG),
        ("think_fields", Thinking.REASONING_CONTENT),
    ],
)
def test_how_a_model_thinks(server: ChatServer, mode: Mode, thinking: Thinking) -> None:
    server.mode = mode
    assert examined(server).thinking is thinking


@pytest.mark.slow
@pytest.mark.parametrize(
    ("context_tokens", "least", "most"), [(3000, 2750, 3000), (20_000, 18_700, 20_000)]
)
def test_the_length_where_the_server_only_refuses(
    server: ChatServer, context_tokens: int, least: int, most: int
) -> None:
    server.dialect = Dialect(context_tokens=context_tokens, when_too_long="refuses")
    found = examined(server)
    assert least <= found.context_tokens <= most
    assert not found.is_context_open
    assert len(server.chats) <= 26


def test_the_length_where_the_server_cuts_silently(server: ChatServer) -> None:
    server.dialect = Dialect(context_tokens=4096, when_too_long="cuts")
    assert examined(server).context_tokens == 4096


def test_the_search_for_the_length_ends_at_a_sensible_one(server: ChatServer) -> None:
    server.dialect.context_tokens = 0
    found = examined(server)
    assert (found.context_tokens, found.is_context_open) == (32_768, True)
    assert found.findings()[0] == "Reads 32,768 tokens or more."


def test_a_model_that_does_not_answer_is_an_error(server: ChatServer) -> None:
    server.mode, server.status = "status", 401
    with pytest.raises(AppError):
        examined(server)
    assert len(server.chats) == 1


def test_a_server_that_asks_to_wait_is_asked_again(server: ChatServer) -> None:
    server.mode, server.status, server.misbehaves_times = "status", 429, 2
    server.headers = {"Retry-After": "0.01"}
    assert examined(server).context_tokens == 5000


def test_an_answer_goes_first_and_the_examination_goes_on_after_it(server: ChatServer) -> None:
    priority = AnswerPriority()
    server.mode = "silence"
    found: list[ModelProfile] = []
    thread = threading.Thread(target=lambda: found.append(examined(server, priority)))
    thread.start()
    assert server.has_asked.wait(10)
    with priority.answering():
        assert server.has_lost_client.wait(10)
        server.mode = "answer"
        assert len(server.chats) == 1
    thread.join(30)
    assert found[0].context_tokens == 5000


def test_the_end_of_the_app_ends_the_examination(server: ChatServer) -> None:
    priority = AnswerPriority()
    server.mode = "silence"
    stopper = threading.Thread(target=lambda: (server.has_asked.wait(10), priority.stop()))
    stopper.start()
    with pytest.raises(Cancelled):
        examined(server, priority)
    stopper.join()


def test_a_model_that_refuses_to_stream_is_measured_without(server: ChatServer) -> None:
    server.dialect.refuses_streams = "Streaming is not supported."
    found = examined(server)
    assert found.streams is False
    assert found.takes_system
    assert [body.get("stream") for body in server.chats].count(True) == 1
    assert "Sends answers whole, not piece by piece." in found.findings()


def test_a_model_that_answers_simple_questions_wrongly_is_weak(server: ChatServer) -> None:
    server.dialect.is_weak = True
    found = examined(server)
    assert found.answering == 0.0
    assert found.is_weak
    assert "Makes things up: answered 0% of the short questions right" in " ".join(found.findings())


def test_an_answer_without_a_word_is_a_wrong_one(server: ChatServer) -> None:
    server.dialect.is_weak = True
    server.answer_to = lambda asked: "" if "Question:" in asked else "yes"
    assert examined(server).answering == 0.0


def test_a_reply_that_no_question_changes_tells_nothing_of_a_model(server: ChatServer) -> None:
    server.dialect.is_deaf = True
    server.answer = "OK [1]."
    assert examined(server).answering is None


def test_a_model_that_only_thinks_is_not_called_weak(server: ChatServer) -> None:
    server.dialect.is_deaf = True
    server.answer = "<think>The source speaks of a hall,"
    assert examined(server).answering is None
