"""Addresses and keys as providers want them: paths, queries, headers, and other lists of models."""

import logging
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from threading import Event

import httpcore2
import httpx2
import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.core.settings import EndpointSettings
from desktop_rag.models.endpoints.client.chat_client import ChatClient
from desktop_rag.models.endpoints.client.connection import LIST_PATH, EndpointTransport
from desktop_rag.models.endpoints.client.endpoint_requests import EndpointRequests
from desktop_rag.models.endpoints.endpoint_check import list_models, probe_endpoint
from desktop_rag.models.endpoints.model_list import listed_models
from desktop_rag.models.endpoints.providers import ListShape
from desktop_rag.models.ports import ChatTurn
from tests.servers.chat_server import ChatServer

CANARY = "sk-canary-5e6f71a2"
ANSWER = "The lamp is lit at dusk [1]."


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(ANSWER) as server:
        yield server


def at(server: ChatServer, path: str, *, model: str = "test-model") -> EndpointSettings:
    root = server.base_url.removesuffix("/v1")
    return replace(server.endpoint(model=model), base_url=f"{root}{path}")


def ask(endpoint: EndpointSettings, key: str = CANARY) -> str:
    with closing(ChatClient(endpoint, key)) as client:
        return "".join(d.text for d in client.stream([ChatTurn("user", "When?")], Event()))


def test_a_deployment_is_asked_at_its_path_with_its_header(server: ChatServer) -> None:
    path = "/openai/deployments/{model}?api-version=2024-10-21"
    assert ask(at(server, path, model="my gpt")) == ANSWER
    [request] = server.requests
    deployment = "/openai/deployments/my%20gpt"
    assert request.path == f"{deployment}/chat/completions?api-version=2024-10-21"
    assert request.headers["api-key"] == CANARY
    assert "authorization" not in request.headers


def test_a_deployment_is_tested_without_a_list(server: ChatServer) -> None:
    report = probe_endpoint(at(server, "/openai/deployments/gpt?api-version=1"), CANARY)
    assert report.is_ok, report
    assert [request.method for request in server.requests] == ["POST"]


def test_a_query_is_sent_with_every_request(server: ChatServer) -> None:
    endpoint = at(server, "/v1?tenant=a%20b&tenant=c&flag")
    assert ask(endpoint) == ANSWER
    assert [model.name for model in list_models(endpoint, CANARY)] == ["test-model"]
    paths = [request.path for request in server.requests]
    query = "tenant=a%20b&tenant=c&flag"
    assert paths == [f"/v1/chat/completions?{query}", f"/v1/models?{query}"]
    assert server.requests[0].headers["authorization"] == f"Bearer {CANARY}"


def test_a_key_in_the_query_is_nowhere_else(
    server: ChatServer, caplog: pytest.LogCaptureFixture
) -> None:
    endpoint = at(server, "/v1?key={key}&v=2")
    with caplog.at_level(logging.DEBUG):
        assert ask(endpoint) == ANSWER
        server.mode, server.status = "status", 400
        server.error = {"error": {"message": f"Bad request: /v1?key={CANARY}"}}
        with pytest.raises(AppError) as caught:
            ask(endpoint)
    assert CANARY not in f"{caught.value.title} {caught.value.hint}"
    ours = [r.getMessage() for r in caplog.records if not r.name.startswith("httpcore2")]
    assert not [line for line in ours if CANARY in line]
    assert server.requests[0].path == f"/v1/chat/completions?key={CANARY}&v=2"
    assert "authorization" not in server.requests[0].headers


def test_a_key_that_was_left_in_the_address_is_not_repeated(server: ChatServer) -> None:
    server.mode = "html"
    with pytest.raises(AppError) as caught:
        ask(at(server, f"?key={CANARY}"), key="")
    assert CANARY not in str(caught.value)
    assert "key={key}" in caught.value.hint


@pytest.mark.parametrize("path", ["/api/v0/models", "described?verbose=true"])
def test_a_list_elsewhere_is_asked_for_there(server: ChatServer, path: str) -> None:
    server.list_path = "/" + path.lstrip("/") if path.startswith("/") else "/v1/described"
    with closing(EndpointRequests(server.endpoint(), CANARY)) as requests:
        body = requests.model_list(Event(), ListShape(path))
    assert [model.name for model in listed_models(body)] == ["test-model"]
    [request] = server.requests
    assert request.path == (path if path.startswith("/") else f"/v1/{path}")
    assert LIST_PATH not in request.headers


def test_a_program_without_its_own_list_has_the_usual_one(server: ChatServer) -> None:
    with closing(EndpointRequests(server.endpoint())) as requests:
        assert requests.model_list(Event(), ListShape("/api/v0/models"))
    assert [request.path for request in server.requests] == ["/api/v0/models", "/v1/models"]


def test_the_list_may_want_other_headers_than_answers(server: ChatServer) -> None:
    headers, of_list = {"Authorization": "Bearer k"}, {"x-api-key": "k", "anthropic-version": "1"}
    pool = httpcore2.ConnectionPool()
    transport = EndpointTransport(pool, query="a=1", headers=headers, list_headers=of_list)
    with httpx2.Client(transport=transport) as client:
        client.get(f"{server.base_url}/models")
        client.post(f"{server.base_url}/chat/completions", json={"messages": []})
    listing, answer = server.requests
    assert (listing.headers["x-api-key"], listing.headers["anthropic-version"]) == ("k", "1")
    assert "authorization" not in listing.headers
    assert answer.headers["authorization"] == "Bearer k"
    assert "x-api-key" not in answer.headers
