"""An endpoint is added, used and removed in a terminal while the window is open, which shows it."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from PySide6.QtWidgets import QComboBox, QLineEdit

from desktop_rag.core.errors import AppError
from desktop_rag.core.files.settings_file import load_settings
from desktop_rag.core.paths import Home
from desktop_rag.running_app import ask_running_app
from tests.servers.chat_server import ChatServer
from tests.stories.conftest import Person

Asked = Callable[[str, dict[str, Any]], dict[str, Any]]


@pytest.fixture
def terminal(person: Person, home: Home) -> Asked:
    """Asks the running app from another thread, while the window goes on."""

    def ask(verb: str, request: dict[str, Any]) -> dict[str, Any]:
        with ThreadPoolExecutor(1) as thread:
            asked = thread.submit(ask_running_app, home, verb, request)
            person.waits_until(asked.done)
            is_answered, result = asked.result()
        assert is_answered
        return result

    return ask


def shown(person: Person, name: str) -> str:
    field = person.field(name)
    assert isinstance(field, QLineEdit | QComboBox)
    return field.text() if isinstance(field, QLineEdit) else field.currentText()


def added(server: ChatServer, **chosen: object) -> dict[str, Any]:
    request = {"base_url": server.base_url, "model": "small", "name": "Lamp", "key": ""}
    return {**request, "is_used": False, **chosen}


def test_the_window_shows_what_the_terminal_changed(
    person: Person, terminal: Asked, home: Home
) -> None:
    person.presses("Ctrl+4")
    with ChatServer() as server:
        assert terminal("endpoint_add", added(server))["is_used"]
        person.waits_until(lambda: shown(person, "Address") == server.base_url)
        settings, _ = load_settings(home.settings)
        assert settings.endpoint.model == "small"

        assert terminal("endpoint_use", {"named": "lamp", "model": "large"})["model"] == "large"
        person.waits_until(lambda: shown(person, "Model") == "large")

        with pytest.raises(AppError, match="There is no endpoint called"):
            terminal("endpoint_use", {"named": "sun", "model": ""})

        terminal("endpoint_remove", {"named": "lamp", "forgets_key": False})
        person.waits_until(lambda: shown(person, "Address") == "")
        assert not load_settings(home.settings)[0].endpoint.is_set


def test_what_is_changed_in_the_window_at_the_same_time_stays(
    person: Person, terminal: Asked, home: Home
) -> None:
    person.presses("Ctrl+4")
    with ChatServer() as server:
        person.presses("Ctrl++")
        terminal("endpoint_add", added(server))
        settings, _ = load_settings(home.settings)
        assert settings.appearance.text_percent == 110
        assert settings.endpoint.base_url == server.base_url
