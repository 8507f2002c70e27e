"""Testing an endpoint: the report on good and bad servers."""

import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from desktop_rag.core.domain import ListedModel
from desktop_rag.core.errors import AppError
from desktop_rag.models.endpoints import endpoint_check
from tests.servers.chat_server import ChatServer

CANARY = "sk-canary-77aa01"


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as server:
        server.models = ("llama3.2:3b", "qwen3:8b", "test-model")
        yield server


def test_the_list_of_models(server: ChatServer) -> None:
    listed = endpoint_check.list_models(server.endpoint(model=""))
    assert tuple(model.name for model in listed) == server.models


@pytest.mark.parametrize(
    "body",
    [
        [{"id": "a"}, {"id": "b"}],
        {"models": [{"name": "a"}, "b", {"name": "a"}, 5, {"id": None}]},
        {"object": "list", "data": ["a", "b"]},
    ],
)
def test_lists_of_other_shapes(server: ChatServer, body: object) -> None:
    server.model_list = body
    assert endpoint_check.list_models(server.endpoint()) == (ListedModel("a"), ListedModel("b"))


@pytest.mark.parametrize("body", [{"data": None}, "text", {"id": 1}, ["x" * 9_000_000]])
def test_what_is_no_list(server: ChatServer, body: object) -> None:
    server.model_list = body
    with pytest.raises(AppError) as caught:
        endpoint_check.list_models(server.endpoint())
    assert caught.value.title == "The endpoint's answer could not be read."


def test_a_good_endpoint(server: ChatServer) -> None:
    server.pause_s = 0.05
    began_at = time.monotonic()
    report = endpoint_check.probe_endpoint(server.endpoint(), CANARY)
    assert report.is_ok
    assert report.models == server.models
    assert 0.05 <= report.seconds <= time.monotonic() - began_at
    assert report.title == f"“test-model” answered after {report.seconds:.1f} seconds."
    assert report.hint == ""


def test_only_the_first_words_are_heard(server: ChatServer) -> None:
    server.mode = "endless"
    assert endpoint_check.probe_endpoint(server.endpoint(), "").is_ok
    assert server.has_lost_client.wait(20)


def test_thinking_counts_as_an_answer(server: ChatServer) -> None:
    server.mode = "think_fields"
    assert endpoint_check.probe_endpoint(server.endpoint(), "").is_ok


def test_a_server_without_a_list_of_models_is_still_good(server: ChatServer) -> None:
    server.has_model_list = False
    report = endpoint_check.probe_endpoint(server.endpoint(), "")
    assert report.is_ok
    assert report.models == ()


def test_a_model_that_answers_but_is_not_listed(server: ChatServer) -> None:
    report = endpoint_check.probe_endpoint(server.endpoint(model="llama3.2"), "")
    assert report.is_ok
    assert "“llama3.2:3b”" in report.hint


def test_an_unknown_model_gets_the_closest_name(server: ChatServer) -> None:
    server.mode, server.status = "status", 404
    server.error = {"error": {"message": "model 'qwen-3' not found"}}
    report = endpoint_check.probe_endpoint(server.endpoint(model="qwen-3:8b"), "")
    assert not report.is_ok
    assert report.title == "The endpoint does not know the model “qwen-3:8b”."
    assert report.hint.startswith("The closest name is “qwen3:8b”.")
    assert report.models == server.models


def test_no_model_chosen_yet(server: ChatServer) -> None:
    report = endpoint_check.probe_endpoint(server.endpoint(model=""), "")
    assert not report.is_ok
    assert "“qwen3:8b”" in report.hint
    assert report.models == server.models
    assert server.chats == []
    server.has_model_list = False
    assert "enter the name" in endpoint_check.probe_endpoint(server.endpoint(model=""), "").hint


def test_a_wrong_key_ends_the_test(server: ChatServer) -> None:
    server.wanted_key, server.is_echoing_key = "another", True
    report = endpoint_check.probe_endpoint(server.endpoint(), CANARY)
    assert not report.is_ok
    assert report.title == "The key was not accepted."
    assert CANARY not in repr(report)
    assert len(server.requests) == 1


def test_nobody_listens() -> None:
    with ChatServer() as server:
        gone = server.endpoint()
    report = endpoint_check.probe_endpoint(gone, "")
    assert (report.is_ok, report.title) == (False, "The endpoint refused the connection.")
    with pytest.raises(AppError):
        endpoint_check.list_models(gone)


def test_a_silent_server_is_waited_for_once(server: ChatServer) -> None:
    server.mode = "silence"
    report = endpoint_check.probe_endpoint(server.endpoint(timeout_s=0.2), "")
    assert report.title == "The endpoint sent nothing for too long."
    assert len(server.requests) == 1


def test_a_web_page_suggests_the_version(server: ChatServer) -> None:
    server.mode = "html"
    url = server.base_url.removesuffix("/v1")
    report = endpoint_check.probe_endpoint(replace(server.endpoint(), base_url=url), "")
    assert report.title == "The endpoint answered with a web page."
    assert f"try {url}/v1" in report.hint


def test_a_wrong_path_suggests_the_version(server: ChatServer) -> None:
    server.mode, server.status, server.error = "status", 404, {"detail": "Not Found"}
    server.modes_of_list.add("status")
    url = server.base_url.removesuffix("/v1") + "/"
    report = endpoint_check.probe_endpoint(replace(server.endpoint(), base_url=url), "")
    assert report.title == "The endpoint has nothing at this address."
    assert f"try {server.base_url}" in report.hint


def test_no_address_is_reported_too() -> None:
    with ChatServer() as server:
        endpoint = replace(server.endpoint(), base_url="")
    assert endpoint_check.probe_endpoint(endpoint, "").title == "No endpoint address is set."


@pytest.mark.parametrize(
    ("wanted", "closest"),
    [
        ("LLAMA3.2", "llama3.2:3b"),
        ("lama3.2:3b", "llama3.2:3b"),
        ("qwen3:8b-instruct", "qwen3:8b"),
        ("gpt-5", ""),
    ],
)
def test_the_closest_name(wanted: str, closest: str) -> None:
    assert endpoint_check.closest_model(wanted, ("llama3.2:3b", "qwen3:8b")) == closest
