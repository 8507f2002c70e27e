"""An independent server: llama.cpp's, with a tiny model, behind the real client.

It needs the package xllamacpp, available for Linux on x86-64.
"""

import importlib.util
import math
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from desktop_rag.app import Services
from desktop_rag.core.conversation import AnswerDone, MessageState, TextDelta
from desktop_rag.core.errors import AppError
from desktop_rag.core.settings import EndpointSettings, Settings
from desktop_rag.models.answer_priority import AnswerPriority
from desktop_rag.models.embedding.remote_embedder import RemoteEmbedder
from desktop_rag.models.endpoints.client.chat_client import ChatClient
from desktop_rag.models.endpoints.client.endpoint_requests import EndpointRequests
from desktop_rag.models.endpoints.endpoint_check import list_models, probe_endpoint
from desktop_rag.models.endpoints.examination import Examination
from desktop_rag.models.ports import ChatTurn
from tests.asking import answer_of, events_of
from tests.servers.llama_server import MODEL, LlamaServer
from tests.servers.tiny_llama import CONTEXT, DIMENSIONS, WORDS

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("xllamacpp") is None, reason="xllamacpp is not installed"
)
KEY = "sk-real-server-1"
TURNS = (ChatTurn("system", "Be brief."), ChatTurn("user", "When is the lamp lit?"))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LlamaServer]:
    with LlamaServer(tmp_path_factory.mktemp("llama"), key=KEY) as running:
        yield running


@pytest.fixture
def endless(tmp_path: Path) -> Iterator[LlamaServer]:
    with LlamaServer(tmp_path, ends=False) as running:
        yield running


def endpoint(server: LlamaServer) -> EndpointSettings:
    return EndpointSettings(server.base_url, MODEL)


def fault_of(endpoint: EndpointSettings, key: str, text: str = "lamp") -> str:
    with closing(ChatClient(endpoint, key)) as client, pytest.raises(AppError) as caught:
        list(client.stream([ChatTurn("user", text)], threading.Event()))
    assert caught.value.hint
    return caught.value.title


def test_its_models_are_listed_and_it_can_be_tried_out(server: LlamaServer) -> None:
    assert [model.name for model in list_models(endpoint(server), KEY)] == [MODEL]
    report = probe_endpoint(endpoint(server), KEY)
    assert report.is_ok, report
    assert report.models == (MODEL,)
    report = probe_endpoint(replace(endpoint(server), model=""), KEY)
    assert f"“{MODEL}”" in report.hint


def test_it_is_examined(server: LlamaServer) -> None:
    with closing(EndpointRequests(endpoint(server), KEY)) as requests:
        found = Examination(requests, AnswerPriority()).run()
    assert (found.context_tokens, found.is_context_open) == (CONTEXT, False)
    assert (found.streams, found.takes_system, found.must_alternate) == (True, True, False)
    assert (found.counts_usage, found.takes_schema) == (True, True)
    assert (found.takes_images, found.embeds) == (False, False)


def test_an_answer_streams_from_it(server: LlamaServer, services: Services, tmp_path: Path) -> None:
    (tmp_path / "lamp.md").write_text("The lamp is lit at dusk by its keeper.")
    services.library.sources.add(tmp_path / "lamp.md")
    services.library.start(watch=False)
    assert services.library.indexing.wait_until_idle(30)
    services.chat.models.save_key(server.base_url, KEY)
    services.chat.apply(Settings(endpoint=endpoint(server)))
    events = events_of(services, "When is the lamp lit?")
    told = answer_of(events)
    assert (told.state, told.error_title, told.model) == (MessageState.DONE, "", MODEL)
    assert told.text
    assert set(told.text.split()) <= set(WORDS)
    assert "".join(e.text for e in events if isinstance(e, TextDelta)).strip() == told.text.strip()
    assert [source.title for source in told.sources] == ["lamp"]


def test_a_stop_frees_its_slot(endless: LlamaServer, services: Services, tmp_path: Path) -> None:
    (tmp_path / "lamp.md").write_text("The lamp is lit at dusk by its keeper.")
    services.library.sources.add(tmp_path / "lamp.md")
    services.library.start(watch=False)
    assert services.library.indexing.wait_until_idle(30)
    services.chat.apply(Settings(endpoint=endpoint(endless)))
    cancel = threading.Event()
    heard = 0
    for event in services.chat.ask("When is the lamp lit?", cancel=cancel):
        heard += isinstance(event, TextDelta)
        if heard == 5 and not cancel.is_set():
            assert endless.slots()[0]["is_processing"]
            cancel.set()
        if isinstance(event, AnswerDone):
            assert event.message.state is MessageState.STOPPED
            assert event.message.text
    while endless.slots()[0]["is_processing"]:
        pass  # until the server has noticed, or the test times out
    # It stopped because of the client, not for lack of space.
    assert endless.slots()[0]["next_token"][0]["n_decoded"] < CONTEXT / 2
    assert [model.name for model in list_models(endpoint(endless))] == [MODEL]


def test_its_end_in_the_middle_of_an_answer_is_told(endless: LlamaServer) -> None:
    with closing(ChatClient(endpoint(endless))) as client:
        answer = client.stream(TURNS, threading.Event())
        next(answer)
        endless.kill()
        with pytest.raises(AppError) as caught:
            list(answer)
    assert caught.value.title == "The answer was cut off."


def test_its_faults_are_told_in_plain_words(server: LlamaServer) -> None:
    assert fault_of(endpoint(server), "sk-wrong") == "The key was not accepted."
    assert fault_of(endpoint(server), "") == "The endpoint requires a key."
    too_long = "lamp " * 4 * CONTEXT
    said = "The question with its sources is too long for the model."
    assert fault_of(endpoint(server), KEY, too_long) == said
    elsewhere = replace(endpoint(server), base_url=server.base_url + "/nothing")
    assert fault_of(elsewhere, KEY) == "The endpoint has nothing at this address."


def test_an_answer_that_is_cut_short_by_its_limit_is_told(tmp_path: Path) -> None:
    with LlamaServer(tmp_path, ends=False, n_predict=8) as short:
        assert fault_of(endpoint(short), "") == "The answer is not complete."


def test_its_vectors_are_of_unit_length_and_in_order(tmp_path: Path) -> None:
    texts = ["the lamp is lit", "the keeper", "who cleans it"]
    with (
        LlamaServer(tmp_path, embedding=True, pooling_type=1) as server,
        closing(RemoteEmbedder(endpoint(server), lambda _: "")) as embedder,
    ):
        together = embedder.embed_passages(texts)
        alone = np.stack([embedder.embed_query(text) for text in texts])
    assert together.shape == (3, DIMENSIONS)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(together, alone, atol=1e-3)
    assert not math.isclose(float(together[0] @ together[1]), 1, abs_tol=1e-3)


def test_without_vectors_it_says_so(server: LlamaServer) -> None:
    with (
        closing(RemoteEmbedder(endpoint(server), lambda _: KEY)) as embedder,
        pytest.raises(AppError, match="support embeddings"),
    ):
        embedder.embed_query("lamp")
