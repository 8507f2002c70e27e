"""With an endpoint: settings, streaming, citations that open, stopping, failing and retrying."""

import stat
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QComboBox, QLineEdit

from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import EndpointSettings, Settings
from tests.conftest import DEMO
from tests.servers.chat_server import ChatServer
from tests.stories.conftest import Person

QUESTION = "When is the lamp lit?"


@pytest.fixture
def impatient(home: Home) -> None:
    """Set a timeout of one second for silent endpoints."""
    home.create()
    endpoint = EndpointSettings(timeout_s=0.5)
    save_settings(home.settings, replace(Settings(), endpoint=endpoint))


@pytest.fixture
def asker(impatient: None, person: Person, papers: Path, server: ChatServer) -> Person:
    """A person with an indexed folder and an endpoint in the settings."""
    person.drops(papers)
    person.sees("2 searchable")
    person.presses("Ctrl+4")
    person.types("Address", server.base_url)
    model = person.field("Model")
    assert isinstance(model, QComboBox)
    line = model.lineEdit()
    assert isinstance(line, QLineEdit)
    line.setFocus()
    line.setText("test-model")
    line.editingFinished.emit()
    person.clicks("Test")
    person.sees("test-model")
    person.waits_until(lambda: person.app.services.chat.models.endpoint.is_set)
    person.presses("Ctrl+1")
    return person


@pytest.mark.everyday
def test_the_answer_is_written_with_its_source(asker: Person, server: ChatServer) -> None:
    asker.asks(QUESTION)
    asker.sees("The lamp is lit at dusk")
    asker.sees("Cited · 1")
    asker.sees("test-model")
    assert any(QUESTION in str(body.get("messages")) for body in server.chats)


@pytest.mark.parametrize(
    ("mode", "title"),
    [
        ("html", "web page"),
        ("cut", "connection"),
        ("silence", "sent nothing"),
        ("status_401", "key"),
        ("status_404", "model"),
        ("status_429", "limit of requests"),
    ],
)
def test_a_failing_endpoint_is_explained_and_retry_works(
    asker: Person, server: ChatServer, mode: str, title: str
) -> None:
    name, _, status = mode.partition("_")
    server.mode = name  # type: ignore[assignment]
    server.status = int(status or 500)
    asker.asks(QUESTION)
    asker.sees("Retry")
    failure = [t for t in asker.screen().splitlines() if title in t.lower()]
    assert failure, asker.screen()
    asker.sees(QUESTION)
    server.mode = "answer"
    asker.clicks("Retry")
    asker.sees_no_longer("Retry")
    asker.sees("The lamp is lit at dusk")


def test_an_unreachable_endpoint_is_explained(asker: Person, server: ChatServer) -> None:
    server.__exit__()
    asker.asks(QUESTION)
    asker.sees("Retry")
    asker.sees("Open settings")


def test_escape_stops_an_endless_answer(asker: Person, server: ChatServer) -> None:
    server.mode = "endless"
    server.pause_s = 0.05
    server.has_sent.clear()
    asker.asks(QUESTION)
    asker.waits_until(server.has_sent.is_set)
    asker.presses("Esc")
    asker.sees("stopped")
    assert server.has_lost_client.wait(10)


@pytest.mark.skipif(sys.platform != "linux", reason="viewers are found on the PATH here")
def test_another_program_opens_the_cited_pdf_at_its_page(
    person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    viewer, opened = tmp_path / "bin" / "okular", tmp_path / "opened"
    viewer.parent.mkdir()
    viewer.write_text(f'#!/bin/sh\necho "$@" > "{opened}"\n')
    viewer.chmod(viewer.stat().st_mode | stat.S_IEXEC)
    opened.touch()
    monkeypatch.setenv("PATH", str(viewer.parent))
    person.drops(DEMO / "documents" / "handbook" / "volunteer-handbook-2026.pdf")
    person.sees("1 file: 1 searchable")
    person.presses("Ctrl+1")
    person.asks("Why are the curtains drawn around the lens by day?")
    person.sees("Excerpts from your documents")
    person.clicks_citation(1)
    person.clicks("Open in another program")
    person.waits_until(lambda: opened.read_text().endswith("\n"))
    *options, file = opened.read_text().split()
    assert options == ["--page", "3"]
    assert file.endswith("volunteer-handbook-2026.pdf")
