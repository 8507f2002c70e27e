"""The chat client against a real server that answers, misbehaves, or is not running."""

import logging
import subprocess
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.core.settings import EndpointSettings
from desktop_rag.models.endpoints.client.chat_client import LONGEST_ANSWER_CHARS, ChatClient
from desktop_rag.models.ports import ChatTurn
from tests.servers.chat_server import THINKING, ChatServer, Mode

CANARY = "sk-canary-9d41c7e0"
TURNS = (ChatTurn("system", "Be brief."), ChatTurn("user", "When is the lamp lit?"))
CERTIFICATE = Path(__file__).parent / "localhost.pem"  # for this test only, valid for 100 years
ANSWER = "The lamp is lit at dusk [1]."


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(ANSWER) as server:
        yield server


def ask(endpoint: EndpointSettings, key: str = CANARY) -> tuple[str, str]:
    """The whole answer and the reasoning."""
    with closing(ChatClient(endpoint, key)) as client:
        deltas = list(client.stream(TURNS, Event()))
    text = "".join(delta.text for delta in deltas if not delta.is_thinking)
    return text, "".join(delta.text for delta in deltas if delta.is_thinking)


def fault_of(endpoint: EndpointSettings, key: str = CANARY) -> AppError:
    with pytest.raises(AppError) as caught:
        ask(endpoint, key)
    assert caught.value.title
    assert caught.value.hint
    assert CANARY not in f"{caught.value.title} {caught.value.hint}"
    return caught.value


@pytest.mark.slow
def test_importing_the_client_imports_no_heavy_library() -> None:
    code = (
        "import sys, desktop_rag.models.endpoints.client.chat_client; "
        "import desktop_rag.models.endpoints.endpoint_check; "
        "heavy = {'openai', 'httpx2', 'httpcore2', 'keyring', 'pydantic'}; "
        "import desktop_rag.models.system_keyring; sys.exit(str(heavy & set(sys.modules) or ''))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == ""


def test_the_answer_comes_in_pieces_and_the_request_holds_the_turns(server: ChatServer) -> None:
    with closing(ChatClient(server.endpoint(), CANARY)) as client:
        pieces = [delta.text for delta in client.stream(TURNS, Event())]

    assert "".join(pieces) == ANSWER
    assert len(pieces) == 7
    assert server.chats == [
        {
            "model": "test-model",
            "stream": True,
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "When is the lamp lit?"},
            ],
        }
    ]


def test_only_needed_headers_are_sent(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-secret")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer other\nX-Team: secret")
    ask(server.endpoint())
    headers = server.requests[0].headers
    assert headers["authorization"] == f"Bearer {CANARY}"
    assert set(headers) <= {
        "host",
        "connection",
        "authorization",
        "accept",
        "accept-encoding",
        "content-type",
        "content-length",
        "user-agent",
    }


def test_without_a_key_a_placeholder_is_sent_and_not_the_environment_s_key(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    assert ask(server.endpoint(), key="")[0] == ANSWER
    assert server.requests[0].headers["authorization"] == "Bearer none"


def test_one_connection_serves_several_questions(server: ChatServer) -> None:
    with closing(ChatClient(server.endpoint())) as client:
        for _ in range(3):
            assert list(client.stream(TURNS, Event()))
    assert len({request.client_port for request in server.requests}) == 1


@pytest.mark.parametrize("mode", ["think_tags", "think_fields"])
def test_thinking_is_told_apart(server: ChatServer, mode: Mode) -> None:
    server.mode = mode
    assert ask(server.endpoint()) == (ANSWER, THINKING)


@pytest.mark.parametrize("mode", ["whole", "events", "no_done", "lingers"])
def test_unusual_but_harmless_servers_are_understood(server: ChatServer, mode: Mode) -> None:
    server.mode = mode
    assert ask(server.endpoint(timeout_s=0.3)) == (ANSWER, "")


def test_bytes_that_are_no_utf8_become_replacement_characters(server: ChatServer) -> None:
    server.mode = "bad_utf8"
    assert ask(server.endpoint())[0] == "caf\ufffd\ufffd " + ANSWER


@pytest.mark.parametrize(
    ("mode", "title"),
    [
        ("silence", "The endpoint sent nothing for too long."),
        ("stall", "The endpoint sent nothing for too long."),
        ("cut", "The answer was cut off."),
        ("unfinished", "The answer was cut off."),
        ("length", "The answer is not complete."),
        ("filter", "The endpoint withheld the answer."),
        ("error_event", "The endpoint failed."),
        ("tools", "The model gave no answer."),
        ("empty", "The model gave no answer."),
        ("garbage", "The endpoint's answer could not be read."),
        ("deep", "The endpoint's answer could not be read."),
        ("giant_line", "The endpoint's answer could not be read."),
        ("gzip", "The endpoint's answer could not be read."),
        ("endless", "The endpoint's answer did not end."),
        ("html", "The endpoint answered with a web page."),
        ("not_http", "The endpoint does not answer like a web server."),
    ],
)
def test_each_fault_has_a_title_and_is_reported_once(
    server: ChatServer, mode: Mode, title: str
) -> None:
    server.mode = mode
    assert fault_of(server.endpoint(timeout_s=0.3)).title == title
    assert len(server.chats) == 1


def test_after_a_fault_a_retry_works(server: ChatServer) -> None:
    server.mode = "cut"
    with closing(ChatClient(server.endpoint())) as client:
        with pytest.raises(AppError):
            list(client.stream(TURNS, Event()))
        server.mode = "answer"
        assert "".join(delta.text for delta in client.stream(TURNS, Event())) == ANSWER


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "chars"), [("cut", 12), ("error_event", 12), ("endless", LONGEST_ANSWER_CHARS)]
)
def test_what_came_before_the_fault_is_given(server: ChatServer, mode: Mode, chars: int) -> None:
    server.mode = mode
    heard = 0

    def listen(client: ChatClient) -> None:
        nonlocal heard
        for delta in client.stream(TURNS, Event()):
            heard += len(delta.text)

    with closing(ChatClient(server.endpoint())) as client, pytest.raises(AppError):
        listen(client)
    assert heard == chars


def test_nobody_listens() -> None:
    with ChatServer() as server:
        gone = server.endpoint()
    error = fault_of(gone)
    assert error.title == "The endpoint refused the connection."
    assert "running" in error.hint


def test_no_address_or_a_wrong_one_is_an_error_too() -> None:
    assert fault_of(EndpointSettings(model="m")).title == "No endpoint address is set."
    error = fault_of(EndpointSettings(base_url=f"http://me:{CANARY}@localhost/v1", model="m"))
    assert "password" in error.title


def test_a_host_that_cannot_be() -> None:
    error = fault_of(EndpointSettings("http://a..b/v1", "m"))
    assert error.title == "The endpoint's address was not found."


def test_https_on_a_server_without_it(server: ChatServer) -> None:
    url = server.base_url.replace("http:", "https:")
    error = fault_of(replace(server.endpoint(), base_url=url))
    assert error.title == "The endpoint does not support https."


def test_https_asks_only_a_server_whose_certificate_is_trusted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with ChatServer(ANSWER, certificate=CERTIFICATE) as server:
        error = fault_of(server.endpoint())
        assert error.title == "The endpoint's certificate was not accepted."
        assert "self-signed" in error.hint
        assert server.requests == []
        monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
        assert ask(server.endpoint())[0] == ANSWER
        server.has_sent.clear()
        server.mode = "stall"
        cancel_when(server, server.has_sent)


def test_a_wrong_key_is_never_repeated(
    server: ChatServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.wanted_key = "another"
    server.is_echoing_key = True
    error = fault_of(server.endpoint())
    assert error.title == "The key was not accepted."
    logging.getLogger("test").info("failed", exc_info=error)
    shown = "".join(traceback.format_exception(error)) + caplog.text
    shown += repr(error) + repr(ChatClient(server.endpoint(), CANARY))
    assert CANARY not in shown


def test_a_missing_key_is_asked_for(server: ChatServer) -> None:
    server.wanted_key = "some"
    assert fault_of(server.endpoint(), key="").title == "The endpoint requires a key."


def test_a_key_of_odd_characters_is_not_sent(server: ChatServer) -> None:
    assert "characters" in fault_of(server.endpoint(), key=f"{CANARY}\u201d").title
    assert server.requests == []


@pytest.mark.parametrize(
    ("status", "error", "title", "hint"),
    [
        (404, {"error": {"message": 'model "x" not found, try pulling it'}}, "know the model", "x"),
        (404, {"detail": "Not Found"}, "nothing at this address", "Not Found"),
        (404, "<html>no such page</html>", "web page", "API"),
        (400, {"error": {"message": "x is not a valid model ID"}}, "know the model", "Pick"),
        (400, {"error": {"code": "context_length_exceeded"}}, "too long", "8192 tokens"),
        (400, {"error": "temperature?"}, "not accept the request", "Status 400"),
        (402, {}, "no credit", "Add credit"),
        (403, {"message": "Not in your country"}, "not allow", "country"),
        (429, {"error": {"code": "insufficient_quota"}}, "no credit", "Add credit"),
        (500, {"error": {"message": "CUDA\n out of memory"}}, "failed", "CUDA out of memory"),
        (502, "<html>nginx</html>", "failed", "Status 502"),
    ],
)
def test_statuses(server: ChatServer, status: int, error: object, title: str, hint: str) -> None:
    server.mode, server.status, server.error = "status", status, error
    found = fault_of(server.endpoint())
    assert title in found.title
    assert hint in found.hint
    assert "<" not in found.hint


def test_a_busy_server_is_asked_again_after_the_time_it_names(server: ChatServer) -> None:
    server.mode, server.status = "status", 429
    server.headers, server.misbehaves_times = {"Retry-After": "0.1"}, 2
    assert ask(server.endpoint())[0] == ANSWER
    assert len(server.chats) == 3


def test_a_server_that_loads_its_model_is_asked_again(server: ChatServer) -> None:
    server.mode, server.status, server.misbehaves_times = "status", 503, 1
    server.error = {"error": {"message": "Loading model", "code": 503}}
    assert ask(server.endpoint())[0] == ANSWER


def test_a_long_wait_is_reported_instead_of_waited_for(server: ChatServer) -> None:
    server.mode, server.status = "status", 429
    server.headers = {"Retry-After": "90"}
    error = fault_of(server.endpoint())
    assert error.title == "The endpoint's limit of requests is reached."
    assert "90 seconds" in error.hint
    assert len(server.chats) == 1


def test_a_dropped_connection_is_tried_again(server: ChatServer) -> None:
    server.mode, server.misbehaves_times = "close", 1
    assert ask(server.endpoint())[0] == ANSWER


def test_a_redirect_is_not_followed(server: ChatServer) -> None:
    with ChatServer() as other:
        server.mode, server.redirect_to = "redirect", f"{other.base_url}/chat?token=1"
        error = fault_of(server.endpoint())
        assert other.requests == []
    assert error.title == "The endpoint points to another address."
    assert f"{other.base_url}/chat is" in error.hint


def cancel_when(server: ChatServer, seen: Event) -> None:
    """Ask with an hour of patience, cancel once `seen` is set, and wait for the end."""
    cancel = Event()

    def stop() -> None:
        seen.wait(10)
        cancel.set()

    stopper = threading.Thread(target=stop)
    stopper.start()
    with closing(ChatClient(server.endpoint(timeout_s=3600))) as client:
        for _ in client.stream(TURNS, cancel):
            pass
        stopper.join()
        assert server.has_lost_client.wait(20)


@pytest.mark.parametrize("mode", ["silence", "stall", "endless"])
def test_stop_ends_the_answer_and_the_connection_at_once(server: ChatServer, mode: Mode) -> None:
    server.mode = mode
    threads = set(threading.enumerate())
    seen = server.has_asked if mode == "silence" else server.has_sent
    cancel_when(server, seen)
    ours = {thread for thread in threading.enumerate() if "process_request" not in thread.name}
    assert ours <= threads


class SetWhenWaited(Event):
    """Is set by the first wait for it, and counts them."""

    waits = 0

    def wait(self, timeout: float | None = None) -> bool:
        self.waits += 1
        self.set()
        return super().wait(timeout)


def test_stop_ends_the_wait_for_a_busy_server(server: ChatServer) -> None:
    server.mode, server.status = "status", 429
    server.headers = {"Retry-After": "20"}
    cancel = SetWhenWaited()
    with closing(ChatClient(server.endpoint())) as client:
        [delta] = client.stream(TURNS, cancel)
    assert "20 s" in delta.status
    assert (cancel.waits, len(server.chats)) == (1, 1)


def test_stopped_before_it_began_asks_nothing(server: ChatServer) -> None:
    cancel = Event()
    cancel.set()
    with closing(ChatClient(server.endpoint())) as client:
        assert list(client.stream(TURNS, cancel)) == []
    assert server.requests == []


def test_an_answer_left_unread_closes_its_connection(server: ChatServer) -> None:
    server.mode = "stall"
    with closing(ChatClient(server.endpoint())) as client:
        with closing(client.stream(TURNS, Event())) as answer:
            next(answer)
        assert server.has_lost_client.wait(20)


def test_two_answers_at_once_on_one_thread(server: ChatServer) -> None:
    stop_first = Event()
    with closing(ChatClient(server.endpoint())) as client:
        first, second = client.stream(TURNS, stop_first), client.stream(TURNS, Event())
        heard = next(first).text + next(second).text
        stop_first.set()
        assert list(first) == []
        heard += "".join(delta.text for delta in second)
    assert heard == ANSWER[:4] + ANSWER


def test_a_local_endpoint_is_never_asked_through_a_proxy(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert ask(server.endpoint())[0] == ANSWER


def test_a_distant_endpoint_is_asked_through_the_proxy(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", server.base_url.removesuffix("/v1"))
    monkeypatch.setenv("no_proxy", "")
    url = "http://endpoint.example/v1"
    assert ask(replace(server.endpoint(), base_url=url))[0] == ANSWER
    assert server.requests[0].path == f"{url}/chat/completions"
    monkeypatch.setenv("http_proxy", "socks5://127.0.0.1:9")
    assert "proxy" in fault_of(replace(server.endpoint(), base_url=url)).title
