"""Several endpoints in the settings: shown, added, used, removed; the helper model."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLineEdit
from pytestqt.qtbot import QtBot

from desktop_rag.answer.chat import Chat
from desktop_rag.core.settings import EndpointSettings, HelperSettings, Settings
from desktop_rag.models.endpoints.endpoint_check import USUAL
from desktop_rag.ui.endpoints.models_form import ModelsForm
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from tests.servers.chat_server import ChatServer
from tests.unit.ui.rooms import button, field, texts

HERE = EndpointSettings("http://localhost:1/v1", "small", name="Desk")
THERE = EndpointSettings("https://api.example.com/v1", "large")
TWO = Settings(endpoint=HERE, other_endpoints=(THERE,))


@pytest.fixture
def told() -> list[Settings]:
    return []


@pytest.fixture
def form(
    theme: Theme, bridge: Bridge, chat: Chat, told: list[Settings], qtbot: QtBot
) -> ModelsForm:
    form = ModelsForm(bridge, chat)
    form.changed.connect(told.append)
    qtbot.addWidget(form)
    form.resize(800, 900)
    form.show_settings(TWO)
    form.show()
    qtbot.waitActive(form)
    return form


def listed(form: ModelsForm, name: str = "Endpoint") -> list[str]:
    box = field(form, QComboBox, name)
    return [box.itemText(n) for n in range(box.count())]


def choose(form: ModelsForm, text: str, name: str = "Endpoint") -> None:
    box = field(form, QComboBox, name)
    place = box.findText(text)
    assert place >= 0, listed(form, name)
    box.setCurrentIndex(place)
    box.activated.emit(place)


def enter(qtbot: QtBot, edit: QLineEdit, text: str) -> None:
    edit.clear()
    qtbot.keyClicks(edit, text)
    qtbot.keyClick(edit, Qt.Key.Key_Return)


def address(form: ModelsForm) -> QLineEdit:
    return field(form, QLineEdit, "Address")


def test_the_endpoint_in_use_is_shown_first(form: ModelsForm) -> None:
    assert listed(form) == ["api.example.com", "Desk · in use"]
    assert address(form).text() == HERE.base_url
    assert field(form, QLineEdit, "Name").text() == "Desk"
    assert button(form, "Use excerpts only").isVisible()


def test_without_endpoints_the_list_is_hidden(
    form: ModelsForm, told: list[Settings], qtbot: QtBot
) -> None:
    form.show_settings(Settings())
    assert not field(form, QComboBox, "Endpoint").isVisible()
    assert not field(form, QComboBox, "Helper endpoint").isVisible()
    enter(qtbot, address(form), "localhost:1/v1")
    assert told[-1].endpoint.base_url == "http://localhost:1/v1"
    assert field(form, QComboBox, "Endpoint").isVisible()


@pytest.mark.slow
def test_another_endpoint_is_shown_edited_and_used(
    form: ModelsForm, told: list[Settings], qtbot: QtBot
) -> None:
    choose(form, "api.example.com")
    assert address(form).text() == THERE.base_url
    assert told == []
    enter(qtbot, field(form, QLineEdit, "Name"), "Cloud")
    cloud = replace(THERE, name="Cloud")
    assert told[-1] == replace(TWO, other_endpoints=(cloud,))
    button(form, "Use for answers").click()
    assert told[-1] == Settings(endpoint=cloud, other_endpoints=(HERE,))
    assert listed(form) == ["Cloud · in use", "Desk"]


def test_an_added_endpoint_is_used_only_on_request(
    form: ModelsForm, told: list[Settings], qtbot: QtBot
) -> None:
    button(form, "Add endpoint").click()
    assert listed(form)[-1] == "New endpoint"
    assert address(form).text() == ""
    enter(qtbot, address(form), "localhost:1/v1")
    assert told == []
    assert any("already has this address" in text for text in texts(form))
    enter(qtbot, address(form), "localhost:3/v1")
    assert told[-1].endpoint == HERE
    assert [e.base_url for e in told[-1].other_endpoints] == [
        THERE.base_url,
        "http://localhost:3/v1",
    ]
    assert field(form, QComboBox, "Endpoint").currentText() == "localhost:3"


def test_a_server_on_this_computer_replaces_no_endpoint(
    form: ModelsForm, told: list[Settings], monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    with ChatServer() as server:
        monkeypatch.setitem(USUAL, "Ollama", server.base_url)
        button(form, "Ollama").click()
        assert listed(form)[-1] == "New endpoint"
        assert told == []
        qtbot.waitUntil(lambda: any("answered after" in text for text in texts(form)))
    assert told[-1].endpoint == HERE
    assert [e.base_url for e in told[-1].other_endpoints] == [THERE.base_url, server.base_url]


@pytest.mark.slow
def test_a_server_that_is_set_already_is_shown(
    form: ModelsForm, told: list[Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(USUAL, "Ollama", THERE.base_url)
    button(form, "Ollama").click()
    assert field(form, QComboBox, "Endpoint").currentText() == "api.example.com"
    assert told == []


def test_a_service_replaces_no_endpoint(form: ModelsForm, told: list[Settings]) -> None:
    choose(form, "Groq", "Online service")
    assert told[-1].endpoint == HERE
    assert [e.label for e in told[-1].other_endpoints] == ["api.example.com", "api.groq.com"]


@pytest.mark.slow
def test_a_removed_endpoint_is_not_replaced_by_another(
    form: ModelsForm, told: list[Settings]
) -> None:
    button(form, "Remove").click()
    assert told[-1] == Settings(other_endpoints=(THERE,))
    assert listed(form) == ["api.example.com"]
    button(form, "Remove").click()
    assert told[-1] == Settings()
    assert not field(form, QComboBox, "Endpoint").isVisible()


@pytest.mark.slow
def test_the_helper_model_is_chosen(
    form: ModelsForm, told: list[Settings], chat: Chat, qtbot: QtBot
) -> None:
    with ChatServer() as server:
        server.models = ("tiny", "test-model")
        chat.models.test_endpoint(server.endpoint())
        form.show_settings(replace(TWO, other_endpoints=(server.endpoint(),)))
        host = server.endpoint().label
        assert listed(form, "Helper endpoint") == ["Same as for answers", host, "Desk"]
        choose(form, host, "Helper endpoint")
        assert any("No model chosen yet" in text for text in texts(form))
        qtbot.waitUntil(lambda: listed(form, "Helper model") == ["tiny", "test-model"])
        choose(form, "tiny", "Helper model")
        assert told[-1].helper == HelperSettings(server.base_url, "tiny")
    choose(form, "Same as for answers", "Helper endpoint")
    assert told[-1].helper == HelperSettings()
    assert not field(form, QComboBox, "Helper model").isVisible()
