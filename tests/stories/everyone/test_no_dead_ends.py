"""Whatever an endpoint does, the window says so and leads on; so it does after Stop."""

from collections.abc import Callable
from pathlib import Path

import pytest

from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from tests.servers.chat_server import ChatServer, Mode
from tests.stories.conftest import Person

QUESTION = "When is the lamp lit?"
# They end in an error, with what was received before it.
FAILING: tuple[Mode, ...] = (
    "status", "not_http", "close", "html", "redirect", "garbage", "giant_line", "cut", "stall",
    "empty", "silence", "tools", "gzip", "deep", "error_event",
)  # fmt: skip


@pytest.fixture
def asker(one_window: Person, server: ChatServer) -> Person:
    """A person in a new chat, whose endpoint may be silent for half a second."""
    one_window.begins_a_chat(server.endpoint(timeout_s=0.5))
    return one_window


@pytest.mark.parametrize("mode", FAILING)
def test_an_endpoint_that_fails_leads_to_retry_and_the_settings(
    asker: Person, server: ChatServer, mode: Mode
) -> None:
    server.mode = mode
    asker.asks(QUESTION)
    asker.sees("Open settings")
    asker.waits_until(lambda: not asker.window.chat_page.is_answering)
    server.mode = "answer"
    asker.clicks("Retry")
    asker.sees("The lamp is lit at dusk")
    asker.sees_no_longer("Open settings")
    # The settings have a way back.
    asker.presses("Ctrl+4")
    asker.waits_until(asker.window.settings_page.isVisible)
    asker.presses("Ctrl+1")
    asker.waits_until(asker.window.chat_page.isVisible)


def test_an_answer_without_end_is_stopped_and_asked_again(
    asker: Person, server: ChatServer
) -> None:
    server.mode = "endless"
    asker.asks(QUESTION)
    asker.sees("so on 0, ")
    asker.clicks("Stop (Esc)")
    asker.sees("stopped")
    asker.waits_until(lambda: not asker.window.chat_page.is_answering)
    server.mode = "answer"
    asker.clicks("Regenerate answer")
    asker.sees("The lamp is lit at dusk")


@pytest.mark.slow
def test_a_document_that_is_deleted_while_it_is_read_says_so(
    home: Home, open_window: Callable[[], Person], papers: Path, server: ChatServer
) -> None:
    home.create()
    save_settings(home.settings, Settings(endpoint=server.endpoint()))
    asker = open_window()
    asker.drops(papers)
    asker.sees("2 searchable")
    asker.presses("Ctrl+1")
    asker.asks(QUESTION)
    asker.sees("The lamp is lit at dusk")
    asker.clicks_citation(1)
    asker.waits_until(lambda: asker.window.chat_page.reading.sides.is_reading)
    (papers / "lamp.md").unlink()
    documents = asker.app.services.library.documents
    asker.waits_until(lambda: all(d.path.name != "lamp.md" for d in documents.all()))
    asker.clicks("Close the document (Esc)")
    asker.clicks("Read source 1")
    asker.sees("This document is no longer in your library.")
    asker.clicks("Open the library")
    asker.waits_until(asker.window.library_page.isVisible)
