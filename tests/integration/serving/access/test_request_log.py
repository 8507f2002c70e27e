"""The log of requests to the local server: what is kept of them, and what never is."""

from pathlib import Path

import pytest

from desktop_rag.features.server.filters.standard_filters import RequestLog
from desktop_rag.features.server.services import ServerSwitch
from desktop_rag.features.server.values.access_values import RequestRecord
from tests.integration.serving.conftest import Serve, Server
from tests.servers.chat_server import ChatServer

pytestmark = pytest.mark.usefixtures("one_library")

_QUESTION = {"role": "user", "content": "When is the lamp of the lighthouse lit?"}


def ask(server: Server, secret: str, **given: object) -> int:
    with server.client(secret) as client:
        body = {"model": "desktop-rag", "messages": [_QUESTION], **given}
        return client.post("/v1/chat/completions", json=body).status_code


def logged(server: Server) -> list[RequestRecord]:
    """The records, the oldest first, once the server has ended and all of them are written."""
    server.services.wing(ServerSwitch).close()
    return list(RequestLog(server.services.home.requests).newest_first())[::-1]


def files_of(server: Server) -> str:
    folder: Path = server.services.home.requests
    return "".join(path.read_text() for path in folder.iterdir())


@pytest.mark.slow
def test_each_request_is_logged_with_its_token_and_without_its_text(
    endpoint: ChatServer, server: Server
) -> None:
    secret = server.token()
    assert ask(server, secret) == 200
    assert ask(server, secret, stream=True) == 200
    assert ask(server, "drag-wrong") == 401
    assert ask(server, secret, model="nothing") == 404
    with server.client("") as client:
        client.get("/health")
        client.get("/v1/models", headers={"host": "rebound.example"})
    whole, streamed, unknown, missing, foreign = logged(server)
    assert (whole.token, whole.path, whole.model, whole.status) == (
        "token 0", "/v1/chat/completions", "desktop-rag", 200,
    )  # fmt: skip
    assert whole.ms > 0
    assert streamed.status == 200
    assert (unknown.token, unknown.status) == ("", 401)
    assert "valid token" in unknown.refusal
    assert "no model “nothing”" in missing.refusal
    assert foreign.status == 421
    assert "--host-name" in foreign.refusal
    kept = files_of(server)
    for never in (secret, "drag-wrong", "lighthouse", "dusk"):
        assert never not in kept


@pytest.mark.slow
def test_questions_and_answers_are_logged_where_the_settings_want_it(
    endpoint: ChatServer, serve: Serve
) -> None:
    server = serve(logs_text=True)
    assert ask(server, server.token()) == 200
    [record] = logged(server)
    assert record.question == _QUESTION["content"]
    assert record.answer == "The lamp is lit at dusk [1]."


@pytest.mark.slow
def test_a_failed_answer_is_logged_with_its_reason(endpoint: ChatServer, server: Server) -> None:
    endpoint.mode = "status"
    ask(server, server.token(), stream=True)
    [record] = logged(server)
    assert record.status == 200
    assert record.refusal


@pytest.mark.slow
def test_what_others_wrote_into_the_file_is_passed_over(tmp_path: Path) -> None:
    log = RequestLog(tmp_path)
    log.write(RequestRecord(1.0, path="/first"))
    [file] = tmp_path.iterdir()
    with file.open("a") as appended:
        appended.write(
            'nonsense\n[1]\n{"at": "x"}\n{"at": 2, "path": 7, "status": true, "ms": 3}\n'
        )
    log.write(RequestRecord(3.0, path="/last", refusal="x" * 10_000))
    last, odd, first = log.newest_first()
    assert (last.at, last.path, len(last.refusal)) == (3.0, "/last", 300)
    assert odd == RequestRecord(2.0, ms=3)
    assert first.path == "/first"
    log.delete_all()
    assert list(log.newest_first()) == []
