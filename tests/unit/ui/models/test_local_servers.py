"""Servers on this computer: found, used once they answer, and how one is started."""

import socket
from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from desktop_rag.models.endpoints.endpoint_check import USUAL
from desktop_rag.ui.endpoints.endpoint_form import EndpointForm
from desktop_rag.ui.endpoints.model_findings import nobody_there
from tests.servers.chat_server import ChatServer
from tests.unit.ui.rooms import button, field, texts

if TYPE_CHECKING:
    from desktop_rag.core.settings import EndpointSettings


@pytest.fixture
def usual(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Only one of the known servers is running."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    for name in USUAL:
        monkeypatch.setitem(USUAL, name, nobody)
    monkeypatch.setitem(USUAL, "Jan", server.base_url)
    return USUAL


@pytest.mark.slow
def test_a_running_server_is_one_click(
    form: EndpointForm, usual: dict[str, str], server: ChatServer, qtbot: QtBot
) -> None:
    usual["LM Studio"] = server.base_url
    with qtbot.waitSignal(form.changed, timeout=20_000) as told:
        button(form, "LM Studio").click()
        assert not button(form, "Testing…").isEnabled()
    assert told.args
    assert told.args[0].base_url == server.base_url
    qtbot.waitUntil(lambda: button(form, "Test").isEnabled(), timeout=20_000)


@pytest.mark.everyday
def test_a_server_that_is_not_running_is_not_saved(
    form: EndpointForm, usual: dict[str, str], qtbot: QtBot
) -> None:
    told: list[EndpointSettings] = []
    form.changed.connect(told.append)
    button(form, "Ollama").click()
    qtbot.waitUntil(lambda: any("No model server answers at" in text for text in texts(form)))
    assert field(form, QLineEdit, "Address").text() == usual["Ollama"]
    assert told == []


@pytest.mark.slow
def test_another_web_server_is_not_saved_until_a_model_server_answers(
    form: EndpointForm, usual: dict[str, str], server: ChatServer, qtbot: QtBot
) -> None:
    told: list[EndpointSettings] = []
    form.changed.connect(told.append)
    usual["Ollama"] = server.base_url
    server.mode = "html"
    button(form, "Ollama").click()
    qtbot.waitUntil(lambda: any("No model server answers at" in text for text in texts(form)))
    assert told == []

    server.mode = "answer"
    button(form, "Test").click()
    qtbot.waitUntil(lambda: any("answered after" in text for text in texts(form)))
    assert told[0].base_url == server.base_url


@pytest.mark.slow
def test_an_unanswered_server_names_the_command_that_starts_it() -> None:
    said = nobody_there("http://localhost:11434/v1")
    assert said.title == "No model server answers at localhost:11434."
    assert "Start Ollama (ollama serve), then press Test." in said.hint
    assert "Start LM Studio, then press Test." in nobody_there("http://localhost:1234/v1").hint


@pytest.mark.slow
def test_a_server_that_asks_for_a_key_is_saved(
    form: EndpointForm, usual: dict[str, str], server: ChatServer, qtbot: QtBot
) -> None:
    usual["Ollama"] = server.base_url
    server.wanted_key = "sk-wanted"
    with qtbot.waitSignal(form.changed, timeout=20_000):
        button(form, "Ollama").click()
    qtbot.waitUntil(lambda: "The endpoint requires a key." in texts(form))


@pytest.mark.everyday
def test_the_only_running_server_is_found_and_used(
    form: EndpointForm, usual: dict[str, str], qtbot: QtBot
) -> None:
    assert not button(form, "Jan").isVisible()
    with qtbot.waitSignal(form.changed, timeout=20_000) as told:
        button(form, "Find running servers").click()
    assert told.args
    assert told.args[0].base_url == usual["Jan"]
    assert button(form, "Jan · 1 model").isVisible()
    assert not button(form, "Ollama").isVisible()
    qtbot.waitUntil(lambda: button(form, "Test").isEnabled(), timeout=20_000)


@pytest.mark.slow
def test_without_a_server_a_note_leads_to_one(
    form: EndpointForm, usual: dict[str, str], server: ChatServer, qtbot: QtBot
) -> None:
    usual["Jan"] = usual["Ollama"]
    button(form, "Find running servers").click()
    assert not button(form, "Searching…").isEnabled()
    told = "No model server answers at the usual addresses"
    qtbot.waitUntil(lambda: any(text.startswith(told) for text in texts(form)), timeout=20_000)
    assert button(form, "Ollama").isVisible()

    usual["Ollama"] = server.base_url
    with qtbot.waitSignal(form.changed, timeout=20_000):
        button(form, "Find running servers").click()
    assert not any(text.startswith(told) for text in texts(form))
    qtbot.waitUntil(lambda: button(form, "Test").isEnabled(), timeout=20_000)
