"""The endpoint section over a real server."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from desktop_rag.answer.chat import Chat
from desktop_rag.core.settings import EndpointSettings
from desktop_rag.ui.endpoints.endpoint_form import EndpointForm
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from tests.keyrings import MemoryKeyring
from tests.servers.chat_server import ChatServer
from tests.unit.ui.rooms import make_chat, opened_store


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as server:
        yield server


@pytest.fixture
def chat(tmp_path: Path) -> Iterator[Chat]:
    with opened_store(tmp_path / "home") as database:
        yield make_chat(database, MemoryKeyring())


@pytest.fixture
def form(theme: Theme, bridge: Bridge, chat: Chat, qtbot: QtBot) -> EndpointForm:
    form = EndpointForm(bridge, chat, EndpointSettings())
    qtbot.addWidget(form)
    form.resize(800, 600)
    form.show()
    qtbot.waitActive(form)
    return form
