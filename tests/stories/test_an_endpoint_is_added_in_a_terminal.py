"""An endpoint is added, used and removed in a terminal while the window is open, which shows it."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from PySide6.QtWidgets import QComboBox, QLineEdit

from desktop_rag.core.files.settings_file import load_settings
from desktop_rag.core.paths import Home
from tests.command_line import Done, document_of, run
from tests.servers.chat_server import ChatServer
from tests.stories.conftest import Person

Terminal = Callable[..., Done]


@pytest.fixture
def terminal(person: Person) -> Terminal:
    """Runs verbs on another thread, while the window goes on."""

    def desktop_rag(*arguments: str) -> Done:
        with ThreadPoolExecutor(1) as thread:
            done = thread.submit(run, *arguments)
            person.waits_until(done.done)
            return done.result()

    return desktop_rag


def shown(person: Person, name: str) -> str:
    field = person.field(name)
    assert isinstance(field, QLineEdit | QComboBox)
    return field.text() if isinstance(field, QLineEdit) else field.currentText()


def added(terminal: Terminal, server: ChatServer) -> Any:
    return document_of(
        terminal("endpoint", "add", server.base_url, "--model", "small", "--name", "Lamp", "--json")
    )


def test_the_window_shows_what_the_terminal_changed(
    person: Person, terminal: Terminal, home: Home
) -> None:
    person.presses("Ctrl+4")
    with ChatServer() as server:
        assert added(terminal, server)["is_used"]
        person.waits_until(lambda: shown(person, "Address") == server.base_url)
        settings, _ = load_settings(home.settings)
        assert settings.endpoint.model == "small"

        used = document_of(terminal("endpoint", "use", "lamp", "--model", "large", "--json"))
        assert used["model"] == "large"
        person.waits_until(lambda: shown(person, "Model") == "large")

        refused = terminal("endpoint", "use", "sun")
        assert refused.returncode == 1
        assert "There is no endpoint called" in refused.stderr

        terminal("endpoint", "remove", "lamp")
        person.waits_until(lambda: shown(person, "Address") == "")
        assert not load_settings(home.settings)[0].endpoint.is_set


def test_what_is_changed_in_the_window_at_the_same_time_stays(
    person: Person, terminal: Terminal, home: Home
) -> None:
    person.presses("Ctrl+4")
    with ChatServer() as server:
        person.presses("Ctrl++")
        added(terminal, server)
        settings, _ = load_settings(home.settings)
        assert settings.appearance.text_percent == 110
        assert settings.endpoint.base_url == server.base_url
