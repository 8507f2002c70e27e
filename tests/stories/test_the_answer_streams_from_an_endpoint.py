"""With an endpoint: settings, streaming, citations that open, stopping, failing and retrying."""

import stat
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QComboBox, QLineEdit

from tests.conftest import DEMO
from tests.servers.chat_server import ChatServer
from tests.stories.conftest import Person

QUESTION = "When is the lamp lit?"


@pytest.fixture
def asker(one_window: Person, server: ChatServer) -> Person:
    """A person in a new chat, whose endpoint may be silent for half a second."""
    one_window.begins_a_chat(server.endpoint(timeout_s=0.5))
    return one_window


@pytest.mark.everyday
def test_the_answer_is_written_with_its_source(
    person: Person, papers: Path, server: ChatServer
) -> None:
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
    person.asks(QUESTION)
    person.sees("The lamp is lit at dusk")
    person.sees("Cited · 1")
    person.sees("test-model")
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


def test_what_was_sent_is_shown_word_for_word(asker: Person, server: ChatServer) -> None:
    asker.asks(QUESTION)
    asker.sees("test-model · ")
    asker.clicks("What was sent to the model")
    dialog = asker.in_the_dialog()
    dialog.sees(f"To test-model at {urlsplit(server.base_url).netloc}, ")
    sent = next(chat for chat in server.chats if QUESTION in str(chat))
    for turn in sent["messages"]:
        dialog.sees(turn["content"])
    dialog.sees('"stream": true')
    dialog.clicks("Copy")
    assert sent["messages"][0]["content"] in QGuiApplication.clipboard().text()
    dialog.clicks("Close")
    asker.comes_back()
    home = asker.app.services.home.root
    rules = sent["messages"][0]["content"].encode()
    assert not [p for p in home.rglob("*") if p.is_file() and rules in p.read_bytes()]


def test_what_an_earlier_run_sent_is_not_kept(
    open_window: Callable[[], Person], papers: Path, server: ChatServer
) -> None:
    first = open_window()
    first.drops(papers)
    first.sees("2 searchable")
    first.begins_a_chat(server.endpoint())
    first.asks(QUESTION)
    first.sees("test-model · ")
    first.closes_the_window()
    person = open_window()
    person.waits_until(lambda: bool(person.rows("Chats")))
    person.opens_row("Chats", 0)
    person.clicks("What was sent to the model")
    person.in_the_dialog().sees("kept in memory only")
    person.in_the_dialog().clicks("Close")
