"""Questions to models with special requirements: refusals are learned and remembered."""

import time
from collections.abc import Iterator
from contextlib import closing
from threading import Event

import pytest

from desktop_rag.core.errors import AppError, TooLongError
from desktop_rag.core.model_profile import LearnedLimit, ModelProfile, Thinking
from desktop_rag.models.answer_priority import AnswerPriority
from desktop_rag.models.endpoints.client.allowances import ProfileBook
from desktop_rag.models.endpoints.client.chat_client import ChatClient
from desktop_rag.models.endpoints.client.endpoint_requests import EndpointRequests
from desktop_rag.models.endpoints.examination import Examination
from desktop_rag.models.ports import ChatTurn, Delta, HeardAnswer
from tests.servers.chat_server import THINKING, ChatServer, Mode

ANSWER = "The lamp is lit at dusk [1]."
TURNS = (ChatTurn("system", "Be brief."), ChatTurn("user", "When is the lamp lit?"))
FOLDED = [{"role": "user", "content": "Be brief.\n\nWhen is the lamp lit?"}]


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(ANSWER) as server:
        yield server


@pytest.fixture
def book() -> ProfileBook:
    return ProfileBook()


def ask(server: ChatServer, book: ProfileBook) -> list[Delta]:
    with closing(ChatClient(server.endpoint(), "", book)) as client:
        return list(client.stream(TURNS, Event()))


def heard_of(deltas: list[Delta]) -> HeardAnswer:
    heard = HeardAnswer()
    for delta in deltas:
        heard.add(delta)
    return heard


def text_of(deltas: list[Delta]) -> str:
    return heard_of(deltas).text


def known(server: ChatServer, book: ProfileBook) -> ModelProfile:
    return book.get(server.base_url, "test-model")


def test_a_refused_system_turn_is_folded_at_once_and_from_then_on(
    server: ChatServer, book: ProfileBook
) -> None:
    server.dialect.refuses_system = "System role not supported"
    assert text_of(ask(server, book)) == ANSWER
    assert known(server, book).takes_system is False
    assert text_of(ask(server, book)) == ANSWER
    assert [body["messages"] for body in server.chats[1:]] == [FOLDED, FOLDED]


def test_a_template_that_blames_the_order_for_a_system_turn(
    server: ChatServer, book: ProfileBook
) -> None:
    server.dialect.refuses_system = "Conversation roles must alternate user/assistant"
    assert text_of(ask(server, book)) == ANSWER
    assert len(server.chats) == 3
    assert server.chats[-1]["messages"] == FOLDED


def test_a_model_that_refuses_every_shape_is_an_error(
    server: ChatServer, book: ProfileBook
) -> None:
    server.mode, server.status = "status", 400
    server.error = {"error": {"message": "System role not supported"}}
    with pytest.raises(AppError):
        ask(server, book)
    assert len(server.chats) == 2


def test_usage_that_is_no_longer_taken_is_no_longer_asked_for(
    server: ChatServer, book: ProfileBook
) -> None:
    book.learn(server.base_url, "test-model", counts_usage=True)
    server.dialect.refuses_usage = True
    assert text_of(ask(server, book)) == ANSWER
    assert "stream_options" not in server.chats[-1]


@pytest.mark.parametrize(
    "said",
    ["Streaming is not supported for this model.", "`stream`: true is not allowed here",
     "This model does not support streaming", "stream must be false",
     "Your organization must be verified to stream this model."],
)  # fmt: skip
def test_a_model_that_refuses_to_stream_is_asked_once_and_then_without(
    server: ChatServer, book: ProfileBook, said: str
) -> None:
    book.learn(server.base_url, "test-model", counts_usage=True)
    server.dialect.refuses_streams = said
    deltas = ask(server, book)
    assert text_of(deltas) == ANSWER
    assert any("does not stream" in delta.status for delta in deltas)
    assert known(server, book).streams is False
    assert text_of(ask(server, book)) == ANSWER
    assert [body["stream"] for body in server.chats] == [True, False, False]
    assert all("stream_options" not in body for body in server.chats[1:])


def test_an_answer_that_is_not_streamed_may_take_longer(
    server: ChatServer, book: ProfileBook
) -> None:
    server.mode, server.answer_to = "whole", lambda _: ANSWER
    book.learn(server.base_url, "test-model", streams=False)
    server.pause_s = 0.6
    with closing(ChatClient(server.endpoint(timeout_s=0.2), "", book)) as client:
        assert text_of(list(client.stream(TURNS, Event()))) == ANSWER


def test_a_model_that_streams_again_is_streamed_once_it_is_measured_again(
    server: ChatServer, book: ProfileBook
) -> None:
    server.dialect.refuses_streams = "Streaming is not supported."
    ask(server, book)
    server.dialect.refuses_streams = ""
    with closing(EndpointRequests(server.endpoint())) as requests:
        book.put(server.base_url, "test-model", Examination(requests, AnswerPriority()).run())
    assert known(server, book).streams
    ask(server, book)
    assert server.chats[-1]["stream"] is True


def test_thinking_without_its_first_tag_is_told_apart_at_once(
    server: ChatServer, book: ProfileBook
) -> None:
    server.mode = "think_end"
    for _ in range(2):
        heard = heard_of(ask(server, book))
        assert (heard.text, heard.thinking.strip()) == (ANSWER, THINKING)
    assert known(server, book).thinking is Thinking.END_TAG


def test_a_stray_closing_tag_costs_no_answer(server: ChatServer, book: ProfileBook) -> None:
    server.answer = f"{ANSWER}</think>"
    assert heard_of(ask(server, book)).text == ANSWER
    server.answer = ANSWER
    assert heard_of(ask(server, book)).text == ANSWER


def test_a_model_that_thinks_only_sometimes_is_understood(
    server: ChatServer, book: ProfileBook
) -> None:
    book.learn(server.base_url, "test-model", thinking=Thinking.END_TAG)
    modes: tuple[Mode, ...] = ("answer", "think_end", "think_tags", "think_fields", "answer")
    for server.mode in modes:
        assert heard_of(ask(server, book)).text == ANSWER


def test_how_much_it_reads_is_what_was_measured_or_less_if_so_chosen(
    server: ChatServer, book: ProfileBook
) -> None:
    client = ChatClient(server.endpoint(), "", book)
    assert client.context_tokens == 8192
    book.learn(server.base_url, "test-model", context_tokens=32_768)
    assert client.context_tokens == 32_768
    book.learn(server.base_url, "test-model", context_tokens=4096)
    assert client.context_tokens == 4096


LONG = (ChatTurn("user", "The lamp of the lighthouse is lit at dusk. " * 400),)


def refused(server: ChatServer, book: ProfileBook, status: int, said: str) -> AppError:
    """The error of a long question that is refused like this."""
    server.mode, server.status = "status", status
    server.error = {"error": {"message": said}}
    with (
        closing(ChatClient(server.endpoint(), "", book)) as client,
        pytest.raises(AppError) as caught,
    ):
        list(client.stream(LONG, Event()))
    return caught.value


@pytest.mark.parametrize(
    ("said", "tokens", "is_stated"),
    [
        ("context size (3000 tokens)", 3000, True),
        ("maximum context length is 900000 tokens", 2019, False),
        ("context length exceeded", 2019, False),
    ],
)
def test_a_request_that_was_too_long_teaches_how_much_to_send(
    server: ChatServer, book: ProfileBook, said: str, tokens: int, is_stated: bool
) -> None:
    error = refused(server, book, 400, said)
    assert "too long" in error.title
    assert isinstance(error, TooLongError)
    limit = known(server, book).learned_limit
    assert limit
    assert (limit.tokens, limit.is_stated) == (pytest.approx(tokens, rel=0.1), is_stated)
    assert error.fits_tokens == limit.tokens


@pytest.mark.parametrize(
    ("status", "said", "is_shorter"),
    [
        (413, "", True),
        (413, "Request too large for model on tokens per minute (TPM): Limit 600, Requested 9000",
         True),
        (400, "Rate limit: too many tokens per minute. Try again in 2m.", False),
        (400, "context length exceeded", True),
    ],
)  # fmt: skip
def test_a_refusal_that_tells_nothing_of_the_context_teaches_nothing(
    server: ChatServer, book: ProfileBook, status: int, said: str, is_shorter: bool
) -> None:
    book.learn(server.base_url, "test-model", context_tokens=32_768, examined_at=1.0)
    before = known(server, book)
    error = refused(server, book, status, said)
    assert known(server, book) == before
    assert isinstance(error, TooLongError) == is_shorter


def test_a_server_that_counts_more_tokens_than_we_do_gets_half_of_them(
    server: ChatServer, book: ProfileBook
) -> None:
    error = refused(server, book, 400, "12000 tokens exceed the context size (9000 tokens)")
    assert isinstance(error, TooLongError)
    assert error.fits_tokens == pytest.approx(2019, rel=0.1)


def test_what_was_learned_from_a_refusal_ends(server: ChatServer, book: ProfileBook) -> None:
    client = ChatClient(server.endpoint(), "", book)
    for age_s, is_stated, tokens in [
        (0, True, 900), (3_700, True, 900), (90_000, True, 8192),
        (0, False, 900), (3_700, False, 8192), (-60, True, 8192),
    ]:  # fmt: skip
        limit = LearnedLimit(900, time.time() - age_s, is_stated)
        book.learn(server.base_url, "test-model", learned_limit=limit)
        assert client.context_tokens == tokens


def test_a_longer_request_that_is_answered_disproves_the_limit(
    server: ChatServer, book: ProfileBook
) -> None:
    book.learn(server.base_url, "test-model", learned_limit=LearnedLimit(900, 1.0, True))
    with closing(ChatClient(server.endpoint(), "", book)) as client:
        list(client.stream(TURNS, Event()))
        assert known(server, book).learned_limit
        list(client.stream(LONG, Event()))
    assert known(server, book).learned_limit is None


def counted(server: ChatServer, book: ProfileBook, text: str) -> float:
    """The known ratio after the server has counted a request with this text."""
    server.dialect.counts_usage = True
    book.learn(server.base_url, "test-model", counts_usage=True)
    with closing(ChatClient(server.endpoint(), "", book)) as client:
        list(client.stream([ChatTurn("user", text)], Event()))
    return known(server, book).tokens_ratio


def test_what_the_server_counts_tells_how_many_tokens_texts_have(
    server: ChatServer, book: ProfileBook
) -> None:
    # Its tokens are words, and these are short.
    assert counted(server, book, "at " * 2_000) == pytest.approx(1.75, abs=0.1)
    with closing(ChatClient(server.endpoint(), "", book)) as client:
        assert client.count_tokens(["at " * 100])[0] == pytest.approx(100, rel=0.1)


def test_a_server_that_may_have_cut_the_request_teaches_nothing(
    server: ChatServer, book: ProfileBook
) -> None:
    server.dialect.context_tokens, server.dialect.when_too_long = 700, "cuts"
    assert counted(server, book, "lighthouses " * 400) == 0
    book.learn(server.base_url, "test-model", context_tokens=700)
    assert counted(server, book, "lighthouses " * 400) == 0


def test_fewer_tokens_are_believed_where_there_was_room(
    server: ChatServer, book: ProfileBook
) -> None:
    book.learn(server.base_url, "test-model", context_tokens=32_768)
    assert 0.5 < counted(server, book, "keepers " * 400) < 1
