"""Fixtures of the window tests: a themed application and a bridge, both real."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from desktop_rag.core.paths import resources_dir
from desktop_rag.core.settings import AppearanceSettings, ColourScheme
from desktop_rag.ingest.library import Library
from desktop_rag.store.duckdb.database.database import Database
from desktop_rag.ui.chat.chat_page import ChatPage
from desktop_rag.ui.chat.chat_state import ChatState
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from tests.servers.chat_server import ChatServer
from tests.unit.ui.chat_room import ANSWER, Room
from tests.unit.ui.rooms import make_chat, make_library, opened_store


@pytest.fixture(autouse=True)
def closed_widgets_are_deleted(qapp: QApplication) -> Iterator[None]:
    """Delete widgets at once, with their references to a store, not in the next event loop."""
    yield
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture
def theme(qapp: QApplication) -> Iterator[Theme]:
    """The light theme, applied to the running application."""
    theme = Theme(qapp, resources_dir(), AppearanceSettings(ColourScheme.LIGHT))
    yield theme
    theme.setParent(None)
    theme.deleteLater()


@pytest.fixture
def bridge(qapp: QApplication) -> Iterator[Bridge]:
    """A bridge whose threads end with the test."""
    bridge = Bridge()
    yield bridge
    bridge.close()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Database]:
    """An empty library file."""
    with opened_store(tmp_path / "home") as database:
        yield database


@pytest.fixture
def library(store: Database, tmp_path: Path) -> Iterator[Library]:
    """A library on that store; it reads nothing before it is started."""
    library = make_library(store, tmp_path / "home")
    yield library
    library.close()


@pytest.fixture
def server() -> Iterator[ChatServer]:
    """An endpoint that gives the same answer to every question."""
    with ChatServer(ANSWER) as server:
        yield server


@pytest.fixture
def room(theme: Theme, bridge: Bridge, qtbot: QtBot, tmp_path: Path) -> Iterator[Room]:
    """A page over a library of one file, without an endpoint."""
    documents = tmp_path / "documents"
    documents.mkdir()
    file = documents / "lamp.md"
    file.write_text("# Lamp\n\nThe lamp is lit at dusk. It burns oil.\n", encoding="utf-8")
    with opened_store(tmp_path / "home") as database:
        library, chat = make_library(database, tmp_path / "home"), make_chat(database, None)
        library.start()
        library.sources.add(documents)
        assert library.indexing.wait_until_idle(30)
        page = ChatPage(bridge, library, chat, theme, ChatState(bridge, library, chat))
        qtbot.addWidget(page)
        page.resize(1200, 700)
        page.refresh()
        page.show()
        yield Room(page, chat, file)
        bridge.close()
        library.close()
        chat.close()
