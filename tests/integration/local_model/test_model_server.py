"""A model that the app runs itself: its process answers, crashes and ends as it should."""

import importlib.util
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from desktop_rag.app import Services
from desktop_rag.core.changes import Changes
from desktop_rag.core.conversation import MessageState
from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.core.settings import EndpointSettings, Settings
from desktop_rag.features.local_model.model_list import (
    ChosenModel,
    ModelList,
    ModelState,
    ModelStateChanged,
)
from desktop_rag.features.local_model.model_server import ModelServer
from desktop_rag.models.endpoint_address import OWN_ADDRESS
from desktop_rag.models.endpoints.client.allowances import ProfileBook
from desktop_rag.models.endpoints.client.chat_client import ChatClient
from desktop_rag.models.endpoints.endpoint_check import probe_endpoint
from desktop_rag.models.ports import ChatTurn
from tests.asking import ask
from tests.servers.tiny_llama import WORDS, write_model
from tests.waiting import until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("xllamacpp") is None, reason="xllamacpp is not installed"
    ),
]
ENDPOINT = EndpointSettings(OWN_ADDRESS, "tiny")
TURNS = (ChatTurn("user", "When is the lamp lit?"),)


class Running:
    """A server over one tiny model, and what it told."""

    def __init__(self, folder: Path, *, ends: bool = True, idle_s: float = 300.0) -> None:
        self.file = folder / "tiny.gguf"
        write_model(self.file, ends=ends)
        models = ModelList(folder / "local_models.json")
        models.put(ChosenModel("tiny", self.file))
        self.told: list[ModelStateChanged] = []
        changes = Changes()
        changes.hear(ModelStateChanged, self.told.append)
        self.profiles = ProfileBook()
        self.server = ModelServer(models, changes, self.profiles, idle_s=idle_s)

    def client(self, model: str = "tiny") -> "closing[ChatClient]":
        endpoint = EndpointSettings(OWN_ADDRESS, model)
        return closing(ChatClient(endpoint, profiles=self.profiles, own_server=self.server))

    def states(self) -> list[ModelState]:
        return [told.state for told in self.told]


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    made = Running(tmp_path)
    yield made
    made.server.close()


@pytest.fixture
def endless(tmp_path: Path) -> Iterator[Running]:
    made = Running(tmp_path, ends=False)
    yield made
    made.server.close()


def answer(client: ChatClient) -> str:
    return "".join(delta.text for delta in client.stream(TURNS, threading.Event()))


def test_a_question_starts_it_and_its_speed_is_known(running: Running) -> None:
    assert (running.server.loaded, running.server.process_id) == ("", 0)
    with running.client() as client:
        client.warm_up()
        assert running.server.process_id == 0
        assert set(answer(client).split()) <= set(WORDS)
        first = running.server.process_id
        assert answer(client)
        assert (running.server.process_id, running.server.loaded) == (first, "tiny")
        assert client.context_tokens == 8192
        assert client.read_tokens_per_s > 0
    assert running.states() == [ModelState.LOADING, ModelState.READY]
    measured = running.server.models.find("tiny")
    assert measured.read_per_s > 0
    assert measured.written_per_s > 0
    assert measured.device
    running.server.close()
    assert not psutil.pid_exists(first)
    until(lambda: running.states()[-1] is ModelState.AT_REST)
    with running.client() as client:
        assert answer(client) == ""
    assert running.server.process_id == 0


def test_only_the_app_may_ask_it_and_no_secret_is_seen(running: Running) -> None:
    with running.client() as client:
        answer(client)
        process = psutil.Process(running.server.process_id)
        listening = [c for c in process.net_connections() if c.status == psutil.CONN_LISTEN]
        assert [c.laddr.ip for c in listening] == ["127.0.0.1"]
        served = next(iter_of(running.server))
        assert served.key not in " ".join(process.cmdline())
        assert served.key not in str(process.environ())
        stranger = EndpointSettings(served.base_url, "tiny")
        assert "key" in probe_endpoint(stranger, "sk-wrong").title
        assert probe_endpoint(ENDPOINT, "", own_server=running.server).is_ok


def iter_of(server: ModelServer):  # noqa: ANN201  the address while it is loaded
    taking = server.begin("tiny", threading.Event())
    try:
        next(taking)
    except StopIteration as done:
        server.end()
        yield done.value


def test_after_a_crash_the_next_question_starts_it_again(endless: Running) -> None:
    with endless.client() as client:
        words = client.stream(TURNS, threading.Event())
        next(delta for delta in words if delta.text)
        first = endless.server.process_id
        os.kill(first, signal.SIGSEGV)
        with pytest.raises(AppError, match="“tiny” has crashed") as caught:
            list(words)
        assert "Ask again" in caught.value.hint
        until(lambda: endless.states()[-1] is ModelState.FAILED)
        words = client.stream(TURNS, threading.Event())
        assert next(delta for delta in words if delta.text)
        assert endless.server.process_id not in (0, first)
        os.kill(endless.server.process_id, signal.SIGKILL)
        with pytest.raises(AppError, match="lack of memory"):
            list(words)


def test_it_is_let_go_when_it_is_unused(tmp_path: Path) -> None:
    running = Running(tmp_path, idle_s=0.05)
    with closing(running.server), running.client() as client:
        answer(client)
        until(lambda: running.states()[-1] is ModelState.AT_REST)
        assert running.server.process_id == 0
        assert answer(client)


def test_it_stays_while_an_answer_is_written(endless: Running) -> None:
    with endless.client() as client, closing(client.stream(TURNS, threading.Event())) as words:
        next(delta for delta in words if delta.text)
        endless.server.release()
        assert next(delta for delta in words if delta.text)
        words.close()
        endless.server.release()
        assert endless.server.process_id == 0


def test_another_model_takes_its_place_after_the_answer(endless: Running, tmp_path: Path) -> None:
    other = tmp_path / "other.gguf"
    write_model(other)
    endless.server.models.put(ChosenModel("other", other))
    with endless.client() as client, endless.client("other") as another:
        words = client.stream(TURNS, threading.Event())
        next(delta for delta in words if delta.text)
        waiting = another.stream(TURNS, threading.Event())
        assert next(waiting).status == "Another model is still answering."
        words.close()
        assert "".join(delta.text for delta in waiting)
        assert endless.server.loaded == "other"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"%PDF-1.7 a lamp", "is no model that this app can run"),
        (None, "can't be loaded"),
        (b"", "is not whole"),
    ],
    ids=["a PDF", "no tensors of a llama", "empty"],
)
def test_a_broken_file_is_told(running: Running, content: bytes | None, said: str) -> None:
    if content is None:
        whole = running.file.read_bytes()
        running.file.write_bytes(whole.replace(b"output_norm.weight", b"output_norm.waight"))
    else:
        running.file.write_bytes(content)
    with running.client() as client:
        with pytest.raises(AppError, match=said) as caught:
            answer(client)
        assert caught.value.hint
        write_model(running.file)
        assert answer(client)


def test_a_missing_file_and_an_unknown_model_are_told(running: Running) -> None:
    with running.client("unknown") as client, pytest.raises(AppError, match="no model “unknown”"):
        answer(client)
    running.file.unlink()
    with running.client() as client, pytest.raises(AppError, match="can't be read"):
        answer(client)


def test_a_stop_while_it_is_loaded_ends_the_wait(running: Running) -> None:
    cancel = threading.Event()
    cancel.set()
    with running.client() as client:
        assert list(client.stream(TURNS, cancel)) == []
        taking = running.server.begin("tiny", cancel)
        with pytest.raises(Cancelled):
            list(taking)
    running.server.release()
    assert running.server.process_id == 0


_PARENT = """
import sys, threading
from pathlib import Path
from tests.integration.local_model.test_model_server import Running, TURNS
running = Running(Path(sys.argv[1]), ends=False)
with running.client() as client:
    words = client.stream(TURNS, threading.Event())
    next(delta for delta in words if delta.text)
    print(running.server.process_id, flush=True)
    for _ in words:
        pass
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal")
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM])
def test_it_ends_with_the_app_however_that_ends(tmp_path: Path, sent: signal.Signals) -> None:
    command = [sys.executable, "-c", _PARENT, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        child = int(parent.stdout.readline())
        assert psutil.pid_exists(child)
        parent.send_signal(sent)
    until(lambda: not psutil.pid_exists(child) or _is_gone(child))


def _is_gone(child: int) -> bool:
    """True for what only waits to be collected."""
    try:
        return psutil.Process(child).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_it_answers_a_question_about_documents(services: Services, tmp_path: Path) -> None:
    model = tmp_path / "tiny.gguf"
    write_model(model)
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "lamp.md").write_text("The lamp is lit at dusk by its keeper.")
    services.library.sources.add(tmp_path / "papers")
    services.library.start(watch=False)
    assert services.library.indexing.wait_until_idle(30)
    server = services.chat.models.own_server
    assert isinstance(server, ModelServer)
    server.models.put(ChosenModel("tiny", model))
    services.chat.apply(Settings(endpoint=ENDPOINT))
    told = ask(services, "When is the lamp lit?")
    assert (told.state, told.error_title, told.model) == (MessageState.DONE, "", "tiny")
    # Before it was examined it only adds to the excerpts.
    assert told.is_excerpts
    assert "The lamp is lit at dusk by its keeper." in told.text
    profile = services.chat.models.examine(ENDPOINT)
    assert (profile.context_tokens, profile.is_context_open) == (8192, False)
    assert profile.is_weak
    server.models.remove("tiny")
    model.unlink()
