"""A person with an indexed folder and an endpoint, whose answers a story chooses."""

from collections.abc import Callable
from pathlib import Path

import pytest

from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import EndpointSettings, Settings
from tests.servers.chat_server import ChatServer
from tests.stories.conftest import Person


@pytest.fixture
def asker(
    home: Home, open_window: Callable[[], Person], papers: Path, server: ChatServer
) -> Person:
    """A person who can ask the server about the papers."""
    home.create()
    endpoint = EndpointSettings(base_url=server.base_url, model="test-model")
    save_settings(home.settings, Settings(endpoint=endpoint))
    person = open_window()
    person.drops(papers)
    person.sees("2 searchable")
    person.presses("Ctrl+1")
    return person
