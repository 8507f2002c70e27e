"""The button that shows and changes the model."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from desktop_rag.answer.chat import Chat
from desktop_rag.core.settings import EndpointSettings, Settings
from desktop_rag.ui.composer.model_choice import ModelChoice
from desktop_rag.ui.foundation.ask_request import Wanted
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from tests.keyrings import MemoryKeyring
from tests.servers.chat_server import ChatServer
from tests.unit.ui.rooms import make_chat, opened_store

ODD = EndpointSettings("https://api.example.com/v1", "<b>a&b</b>")


@pytest.fixture
def chat(tmp_path: Path) -> Iterator[Chat]:
    with opened_store(tmp_path / "home") as database:
        yield make_chat(database, MemoryKeyring())


@pytest.fixture
def choice(theme: Theme, bridge: Bridge, chat: Chat, qtbot: QtBot) -> ModelChoice:
    choice = ModelChoice(theme, bridge, chat)
    qtbot.addWidget(choice)
    return choice


def entries(choice: ModelChoice) -> list[str]:
    return [action.text() for action in choice.menu().actions() if not action.isSeparator()]


def pick(choice: ModelChoice, text: str) -> None:
    action = next(a for a in choice.menu().actions() if a.text() == text and a.isEnabled())
    action.trigger()


def test_it_is_visible_only_when_there_is_a_choice(choice: ModelChoice) -> None:
    choice.show_settings(Settings())
    assert choice.isHidden()
    choice.show_settings(Settings(other_endpoints=(ODD,)))
    assert not choice.isHidden()
    assert choice.text() == "Excerpts only, no model"


def test_offered_models_are_one_click_away(
    choice: ModelChoice, chat: Chat, bridge: Bridge, qtbot: QtBot
) -> None:
    with ChatServer() as server:
        server.models = ("tiny", "test-model")
        chat.models.test_endpoint(server.endpoint())
    endpoint = server.endpoint()
    choice.show_settings(Settings(endpoint=endpoint, other_endpoints=(ODD,)))
    assert choice.text() == "test-model"
    literal = "<b>a&&b</b>"
    wanted = [
        endpoint.label, "test-model", "tiny", "api.example.com", literal,
        "Excerpts only in this chat", "Settings…",
    ]  # fmt: skip
    qtbot.waitUntil(lambda: entries(choice) == wanted)
    checked = [a.text() for a in choice.menu().actions() if a.isChecked()]
    assert checked == ["test-model"]
    for text, chosen in (
        ("tiny", [server.base_url, "tiny"]),
        (literal, [ODD.base_url, ODD.model]),
        ("Excerpts only in this chat", ["", ""]),
    ):
        with qtbot.waitSignal(choice.chosen) as told:
            pick(choice, text)
        assert told.args == chosen
    asked: list[Wanted] = []
    bridge.hear(Wanted, asked.append)
    pick(choice, "Settings…")
    qtbot.waitUntil(lambda: asked == [Wanted.MODELS])


def test_the_model_of_an_assistant_replaces_the_choice(choice: ModelChoice) -> None:
    choice.show_settings(Settings(endpoint=ODD))
    choice.show_assistant_model("tiny")
    assert (choice.text(), choice.isEnabled()) == ("tiny", False)
    assert choice.accessibleName() == "tiny. Set by the assistant"
    choice.show_settings(Settings())
    assert (choice.text(), choice.isHidden()) == ("tiny", False)
    choice.show_assistant_model("")
    assert choice.isHidden()
    choice.show_settings(Settings(endpoint=ODD))
    assert (choice.text(), choice.isEnabled()) == ("<b>a&&b</b>", True)


def test_a_long_name_is_shortened(choice: ModelChoice) -> None:
    choice.show_settings(Settings(endpoint=replace(ODD, model="m" * 300)))
    assert len(choice.text()) == 40
    assert "m" * 300 in choice.accessibleName()
