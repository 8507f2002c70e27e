"""Without another program: a model file is chosen under the first excerpts, and it answers."""

import importlib.util
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QFileDialog

from desktop_rag.features.local_model.fetcher import HOST_VARIABLE
from desktop_rag.features.local_model.local_models import LocalModelServices
from desktop_rag.models.endpoint_address import OWN_ADDRESS
from desktop_rag.models.endpoints.endpoint_check import USUAL
from tests.servers.chat_server import ChatServer
from tests.servers.model_host import ModelHost
from tests.servers.tiny_llama import write_model
from tests.stories.conftest import Person

QUESTION = "When is the lamp lit?"
pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("xllamacpp") is None, reason="xllamacpp is not installed"
)


@pytest.fixture(autouse=True)
def _no_other_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    for name in ("OLLAMA_MODELS", "LLAMA_CACHE", "HF_HOME", "HF_HUB_CACHE", "HF_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)


def ways_to_write(person: Person, papers: Path) -> Person:
    """In front of the dialog that is offered under the first excerpts."""
    person.drops(papers)
    person.sees("2 searchable")
    person.presses("Ctrl+1")
    person.asks(QUESTION)
    person.clicks("Written answers…")
    return person.in_the_dialog()


@pytest.mark.slow
def test_a_model_file_answers_after_three_presses(
    person: Person, papers: Path, tmp_path: Path
) -> None:
    model = tmp_path / "lamp.gguf"
    write_model(model)
    dialog = ways_to_write(person, papers)
    dialog.sees("GB from huggingface.co, about 3 min at 100 Mbit/s, licence: ")
    dialog.sees("It is kept in ")
    dialog.sees("Fetch it")
    dialog.clicks("Choose a model file…")
    [files] = dialog.place.findChildren(QFileDialog, "modelFileDialog")
    paper = tmp_path / "paper.gguf"
    paper.write_bytes(b"%PDF-1.7")
    files.fileSelected.emit(str(paper))
    dialog.sees("is no model")
    files.fileSelected.emit(str(model))
    files.close()

    models = person.app.services.chat.models
    person.waits_until(lambda: models.endpoint.base_url == OWN_ADDRESS)
    person.waits_until(lambda: not dialog.place.isVisible())
    person.sees("lamp is used from now on.")
    person.comes_back()
    person.asks(QUESTION)
    person.sees("lamp · ")
    assert "Written answers…" not in person.screen()
    person.opens_settings("Models")
    person.sees("This is your own computer. Nothing leaves it.")
    assert "API key" not in person.screen()
    person.clicks("Choose a model…")
    person.waits_until(dialog.place.isVisible)
    dialog.place.close()


@pytest.mark.slow
def test_a_model_is_fetched_paused_and_answers(
    person: Person, papers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "tiny.gguf"
    write_model(model)
    host = ModelHost(model.read_bytes())
    host.most = host.size // 2
    monkeypatch.setenv(HOST_VARIABLE, host.url)
    dialog = ways_to_write(person, papers)
    dialog.sees(host.url.removeprefix("http://"))
    assert host.requests == []
    dialog.clicks("Fetch it")
    person.waits_until(lambda: host.sent_bytes >= host.most)
    dialog.clicks("Pause")
    dialog.sees("Continue")
    host.most = 1 << 30
    host.goes_on.set()
    dialog.clicks("Continue")
    person.sees("is used from now on.")
    assert host.sent_bytes < host.size + 1_000_000
    person.comes_back()
    person.asks(QUESTION)
    models = person.app.services.chat.models
    person.sees(f"{models.endpoint.model} · ")
    host.close()


@pytest.mark.slow
def test_a_program_that_runs_here_answers_after_three_presses(
    person: Person, papers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialog = ways_to_write(person, papers)
    for name in USUAL:
        monkeypatch.setitem(USUAL, name, "http://127.0.0.1:9/v1")  # nobody listens there
    dialog.clicks("Find one")
    dialog.sees("None answers at the usual addresses.")
    with ChatServer() as server:
        monkeypatch.setitem(USUAL, "Jan", server.base_url)
        dialog.clicks("Find one")
        dialog.sees("Jan: test-model")
        dialog.clicks("Use it")
        person.sees("test-model is used from now on.")
        person.comes_back()
        person.asks(QUESTION)
        person.sees("test-model · ")


@pytest.mark.slow
@pytest.mark.parametrize("page", ["chat", "library"])
def test_a_model_dropped_on_any_page_answers(person: Person, tmp_path: Path, page: str) -> None:
    model = tmp_path / "lamp.GGUF"
    write_model(model)
    person.presses("Ctrl+1" if page == "chat" else "Ctrl+2")
    place = person.window.chat_page if page == "chat" else person.window.library_page
    person.drops_on(place, model)
    models = person.app.services.chat.models
    person.waits_until(lambda: models.endpoint.base_url == OWN_ADDRESS)
    person.sees("lamp is used from now on.")
    assert person.app.services.library.sources.all() == []


@pytest.mark.slow
def test_a_model_of_the_list_is_used_fetched_in_part_and_removed(
    person: Person, papers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = person.app.services.home.local_models
    own.mkdir(parents=True)
    write_model(own / "mine.gguf")
    host = ModelHost((own / "mine.gguf").read_bytes())
    host.most = host.size // 2
    monkeypatch.setenv(HOST_VARIABLE, host.url)
    ways = ways_to_write(person, papers)
    ways.clicks("All models…")
    person.waits_until(lambda: QApplication.activeModalWidget() is not ways.place)
    every = person.in_the_dialog()
    every.sees("the fetched ones take ")
    every.sees(f"To fetch from {host.url.removeprefix('http://')}")
    every.clicks("Fetch Llama 3.2 3B")
    person.waits_until(lambda: host.sent_bytes >= host.most)
    ways.clicks("Pause")
    ways.sees("Continue")

    ways.clicks("All models…")
    person.waits_until(lambda: QApplication.activeModalWidget() is not ways.place)
    every = person.in_the_dialog()
    for name, is_gone in (
        ("mine", lambda: not list(own.glob("mine.gguf"))),
        ("Llama 3.2 3B", lambda: not list(own.iterdir())),
    ):
        every.clicks(f"Remove {name}")
        every.in_the_dialog().clicks("Remove")
        person.waits_until(is_gone)
    every.sees("None yet.")
    host.close()


@pytest.mark.slow
def test_a_model_chosen_from_the_list_shows_work_until_it_is_used(
    person: Person, papers: Path
) -> None:
    own = person.app.services.home.local_models
    own.mkdir(parents=True)
    write_model(own / "mine.gguf")
    ways = ways_to_write(person, papers)
    ways.clicks("All models…")
    person.waits_until(lambda: QApplication.activeModalWidget() is not ways.place)
    person.in_the_dialog().clicks("Use mine")
    ways.sees("Loading “mine”")
    assert ways.place.isVisible()
    assert "Choose a model file…" not in ways.screen()
    person.sees("mine is used from now on.")
    assert person.app.services.wing(LocalModelServices).models.server.loaded == "mine"
    assert not ways.place.isVisible()
    person.comes_back()
    person.opens_settings("Models")
    person.clicks("Choose a model…")
    ways.sees("mine is in use.")
    ways.clicks("Close")
