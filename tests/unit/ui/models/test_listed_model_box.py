"""The field for a chat model: names, what the list states about them, and what is kept of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from desktop_rag.answer.chat import Chat
from desktop_rag.core.domain import ListedModel
from desktop_rag.core.settings import EndpointSettings
from desktop_rag.ui.endpoints.endpoint_details import ListedModelBox, facts_in_words
from desktop_rag.ui.endpoints.endpoint_form import EndpointForm
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from tests.keyrings import MemoryKeyring
from tests.servers.chat_server import ChatServer
from tests.unit.ui.rooms import button, field, make_chat, opened_store, texts

CANARY = "sk-canary-44ab90"
LISTED = (ListedModel("small", 8192), ListedModel("large", 131_072, 0.15, 0.6))


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as server:
        server.model_list = {"data": [{"id": "small", "context_length": 8192}, {"id": "plain"}]}
        yield server


@pytest.fixture
def chat(tmp_path: Path) -> Iterator[Chat]:
    with opened_store(tmp_path / "home") as database:
        yield make_chat(database, MemoryKeyring())


@pytest.fixture
def box(theme: Theme, bridge: Bridge, chat: Chat, qtbot: QtBot) -> ListedModelBox:
    box = ListedModelBox(bridge, chat)
    qtbot.addWidget(box)
    return box


@pytest.fixture
def form(theme: Theme, bridge: Bridge, chat: Chat, qtbot: QtBot) -> EndpointForm:
    form = EndpointForm(bridge, chat, EndpointSettings())
    qtbot.addWidget(form)
    form.show()
    qtbot.waitActive(form)
    return form


def enter(form: EndpointForm, qtbot: QtBot, text: str) -> QLineEdit:
    edit = field(form, QLineEdit, "Address")
    edit.setText(text)
    edit.setFocus()
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    return edit


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (ListedModel("m"), ""),
        (ListedModel("m", 8192), "8,192 tokens"),
        (ListedModel("m", 8192, 2.5, 10.0),
         "8,192 tokens, $2.50 in and $10.00 out per million"),
        (ListedModel("m", 0, 0.0375, 0.000_001), "$0.0375 in and $0.000001 out per million"),
        (ListedModel("m", 0, 0.0, 0.0), "free"),
        (ListedModel("m", 0, 0.0, 1_200.0), "$0.00 in and $1,200.00 out per million"),
        (ListedModel("m", 0, 1.0, None), ""),
    ],
)  # fmt: skip
def test_what_the_list_states_in_words(model: ListedModel, words: str) -> None:
    assert facts_in_words(model) == words


def test_the_entered_name_stays_and_its_facts_are_shown(box: ListedModelBox) -> None:
    box.setEditText("large")
    assert box.facts.isHidden()
    box.show_models(LISTED)
    assert box.name == "large"
    assert box.facts.text() == (
        "By the endpoint's list: 131,072 tokens, $0.15 in and $0.60 out per million."
    )
    box.setEditText("another")
    assert box.facts.isHidden()


def test_typing_offers_the_names_that_contain_it(box: ListedModelBox, qtbot: QtBot) -> None:
    box.show_models([*LISTED, ListedModel("vendor/large-thinking")])
    box.show()
    completer = box.completer()
    assert completer is not None
    completer.setCompletionPrefix("LARGE")
    assert completer.completionCount() == 2


@pytest.mark.slow
def test_a_test_lists_the_models_and_the_next_form_still_knows_them(
    form: EndpointForm, server: ChatServer, bridge: Bridge, chat: Chat, qtbot: QtBot
) -> None:
    enter(form, qtbot, server.base_url)
    qtbot.mouseClick(button(form, "Test"), Qt.MouseButton.LeftButton)
    box = form.findChild(ListedModelBox)
    assert isinstance(box, ListedModelBox)
    qtbot.waitUntil(lambda: box.count() == 2)
    later = ListedModelBox(bridge, chat)
    qtbot.addWidget(later)
    later.set_address(server.base_url)
    qtbot.waitUntil(lambda: later.count() == 2)
    later.setEditText("small")
    assert "8,192 tokens" in later.facts.text()


@pytest.mark.slow
def test_a_key_in_the_address_goes_to_the_keyring(
    form: EndpointForm, chat: Chat, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(form.changed) as told:
        edit = enter(form, qtbot, f"https://api.example.com/v1?key={CANARY}")
    address = "https://api.example.com/v1?key={key}"
    assert told.args == [EndpointSettings(address)]
    assert edit.text() == address
    assert not edit.isUndoAvailable()
    qtbot.waitUntil(lambda: "Saved in this computer's keyring." in texts(form))
    assert chat.models.has_key(address)


@pytest.mark.slow
def test_an_address_of_a_deployment_names_its_model(form: EndpointForm, qtbot: QtBot) -> None:
    pasted = "https://me.openai.azure.com/openai/deployments/gpt-x/chat/completions?api-version=1"
    with qtbot.waitSignal(form.changed) as told:
        enter(form, qtbot, pasted)
    address = "https://me.openai.azure.com/openai/deployments/gpt-x?api-version=1"
    assert told.args == [EndpointSettings(address, "gpt-x")]


@pytest.mark.slow
def test_a_blank_in_the_address_is_asked_for(form: EndpointForm, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(form.changed):
        enter(form, qtbot, "https://YOUR-RESOURCE.openai.azure.com/openai/v1")
    assert "Replace YOUR-RESOURCE in the address." in texts(form)
