"""Filters of other packages: found by entry points, obeyed, never passed when they fail."""

import json
import logging
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.features.server.services import ServerSwitch
from tests.integration.serving.conftest import Serve, Server
from tests.integration.serving.test_parameters import PIXEL
from tests.servers.chat_server import ChatServer

pytestmark = pytest.mark.usefixtures("one_library")

MODULE = '''
from dataclasses import replace

from desktop_rag.core.conversation import AnswerDone, TextDelta
from desktop_rag.core.question import EVERYTHING
from desktop_rag.features.server.filters.filter_chain import RequestFilter
from desktop_rag.features.server.refusals import Refusal

seen = []


class Polite(RequestFilter):
    """Refuses by header, question and answer, and notes how requests ended."""

    def admit(self, exchange):
        if exchange.header("x-shift") == "night":
            raise Refusal(403, "Closed at night.", code="closed")

    def prepare(self, asked):
        if "salary" in asked.question:
            raise Refusal(403, "Not about salaries.")
        return asked

    def pass_on(self, asked, events):
        for event in events:
            if isinstance(event, AnswerDone) and "dusk" in event.message.text:
                raise Refusal(403, "Not about dusk.")
            if not isinstance(event, TextDelta):
                yield event

    def finish(self, exchange):
        seen.append((exchange.path, exchange.status, exchange.refusal))


class Failing(RequestFilter):
    step = ""

    def admit(self, exchange):
        if self.step == "admit":
            raise RuntimeError("broken")

    def prepare(self, asked):
        return None if self.step == "prepare" else asked

    def pass_on(self, asked, events):
        if self.step == "pass_on":
            yield from events
            raise RuntimeError("broken")
        if self.step == "keeps":
            return
        yield from events

    def finish(self, exchange):
        if self.step == "finish":
            raise RuntimeError("broken")


class Widening(RequestFilter):
    def prepare(self, asked):
        return replace(asked, setup=replace(asked.setup, reach=EVERYTHING))


def Broken():
    raise OSError("no licence")


Text = str
'''
POINTS = """[desktop_rag.request_filters]
polite = ratings_filters:Polite
failing = ratings_filters:Failing
widening = ratings_filters:Widening
broken = ratings_filters:Broken
text = ratings_filters:Text
gone = ratings_nowhere:Gone
"""


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An installed package with filters."""
    about = tmp_path / "site" / "ratings-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: ratings\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(POINTS)
    (about.parent / "ratings_filters.py").write_text(MODULE)
    monkeypatch.syspath_prepend(about.parent)
    yield
    sys.modules.pop("ratings_filters", None)


def ask(server: Server, question: str = "When is the lamp lit?", **headers: str) -> tuple[int, str]:
    body = {"model": "desktop-rag", "messages": [{"role": "user", "content": question}]}
    with server.client(**headers) as client:
        answer = client.post("/v1/chat/completions", json=body)
    return answer.status_code, answer.text


@pytest.mark.slow
def test_images_pass_a_filter(serve: Serve, endpoint: ChatServer) -> None:
    server = serve(filters=("failing",))
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
    content = [{"type": "text", "text": "When is the lamp lit?"}, image]
    body = {"model": "desktop-rag", "messages": [{"role": "user", "content": content}]}
    with server.client() as client:
        assert client.post("/v1/chat/completions", json=body).status_code == 200
    assert PIXEL in json.dumps(endpoint.chats)


@pytest.mark.slow
def test_a_filter_refuses_requests_questions_and_answers_in_its_own_words(
    serve: Serve, endpoint: ChatServer
) -> None:
    server = serve(filters=("polite",))
    status, text = ask(server, **{"x-shift": "night"})
    assert (status, "Closed at night." in text) == (403, True)
    assert "Not about salaries." in ask(server, "What is the salary of the keeper?")[1]
    assert not endpoint.chats
    assert "Not about dusk." in ask(server)[1]
    endpoint.answer = "At noon [1]."
    assert ask(server)[0] == 200
    server.services.wing(ServerSwitch).close()
    assert sys.modules["ratings_filters"].seen[0] == (
        "/v1/chat/completions", 403, "Closed at night.",
    )  # fmt: skip


@pytest.mark.slow
def test_filters_are_exchanged_while_the_server_runs(serve: Serve, endpoint: ChatServer) -> None:
    server = serve()
    assert ask(server, "What is the salary of the keeper?")[0] == 200
    for filters, status in ((("polite",), 403), (("polite=collection:*",), 200), ((), 200)):
        assert serve(filters=filters).address == server.address
        assert ask(server, "What is the salary of the keeper?")[0] == status


@pytest.mark.slow
def test_a_filter_for_some_models_leaves_the_others_alone(
    serve: Serve, endpoint: ChatServer
) -> None:
    assert ask(serve(filters=("polite=collection:*",)))[0] == 200


@pytest.mark.slow
@pytest.mark.parametrize("step", ["admit", "prepare", "pass_on", "keeps"])
def test_nothing_passes_a_filter_that_fails(
    serve: Serve, endpoint: ChatServer, caplog: pytest.LogCaptureFixture, step: str
) -> None:
    server = serve(filters=("failing",))
    assert ask(server)[0] == 200
    sys.modules["ratings_filters"].Failing.step = step
    status, text = ask(server)
    assert status in (403, 500)
    assert "failing" in text
    assert "dusk" not in text
    assert any("failing" in r.message for r in caplog.records if r.levelno == logging.ERROR)
    caplog.clear()


@pytest.mark.slow
def test_a_filter_that_fails_at_the_end_is_loud_and_harmless(
    serve: Serve, endpoint: ChatServer, caplog: pytest.LogCaptureFixture
) -> None:
    server = serve(filters=("failing",))
    ask(server)
    sys.modules["ratings_filters"].Failing.step = "finish"
    assert ask(server)[0] == 200
    server.services.wing(ServerSwitch).close()
    assert any("failing" in r.message for r in caplog.records if r.levelno == logging.ERROR)
    caplog.clear()


@pytest.mark.slow
def test_a_filter_cannot_widen_what_a_token_may_read(serve: Serve, endpoint: ChatServer) -> None:
    server = serve(filters=("widening",))
    [papers] = server.services.library.collections.all()
    other = server.services.library.collections.add("Other")
    body = {"model": "desktop-rag", "messages": [{"role": "user", "content": "the lamp is lit"}]}
    for collection, found in ((papers, True), (other, False)):
        secret = server.token(collection_ids=(collection.collection_id,))
        with server.client(secret) as client:
            answer = client.post("/v1/chat/completions", json=body).json()
        assert bool(answer["desktop_rag"]["sources"]) is found


@pytest.mark.slow
@pytest.mark.parametrize("name", ["unknown", "broken", "text", "gone"])
def test_without_a_filter_that_is_named_nothing_is_served(
    serve: Serve, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(AppError, match=name):
        serve(filters=(name,))
    caplog.clear()


@pytest.mark.slow
def test_a_filter_that_nobody_names_is_not_even_loaded(serve: Serve, endpoint: ChatServer) -> None:
    assert ask(serve())[0] == 200
    assert "ratings_filters" not in sys.modules
