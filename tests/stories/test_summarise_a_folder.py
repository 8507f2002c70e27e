"""A summary of a folder, with and without a model."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication, QMenu

from desktop_rag.core.settings import Settings
from desktop_rag.ui.library.documents_panel import DocumentsTable
from tests.servers.chat_server import ChatServer
from tests.stories.conftest import Person


@pytest.mark.everyday
def test_every_file_is_summarised(person: Person, papers: Path) -> None:
    person.drops(papers)
    person.sees("3 files: 2 searchable, 1 not read")
    person.clicks("Folders")
    person.clicks("Summarise papers")
    person.sees("About: papers")
    person.sees("Lamp: The lamp is lit at dusk by the keeper.")
    person.sees("Searched only in papers. Passages of 2 files were read")


def test_all_documents_are_summarised_from_an_empty_chat(person: Person, papers: Path) -> None:
    person.drops(papers)
    person.sees("3 files: 2 searchable, 1 not read")
    person.presses("Ctrl+1")
    person.clicks("Summarise the documents")
    person.sees("Lamp: The lamp is lit at dusk by the keeper.")


def test_one_file_is_summarised_by_the_model(
    person: Person, papers: Path, server: ChatServer
) -> None:
    person.app.services.chat.apply(replace(Settings(), endpoint=server.endpoint()))
    person.drops(papers)
    person.sees("3 files: 2 searchable, 1 not read")
    row = next(n for n, cells in enumerate(person.rows("Files")) if "lamp.md" in cells[0])
    chooses(person, row, "Summarise")
    person.sees("About: lamp.md")
    person.sees("Lamp: The lamp is lit at dusk")
    assert any("a part of a document, in order" in str(body) for body in server.chats)
    person.clicks("What was sent to the model")
    sent = person.in_the_dialog()
    sent.sees("a part of a document, in order")
    sent.sees("The lamp is lit at dusk by the keeper.")
    sent.clicks("Close")


def chooses(person: Person, row: int, action: str) -> None:
    """Open the context menu of a row and choose an entry."""
    [table] = person.window.findChildren(DocumentsTable)
    place = table.visualRect(table.model().index(row, 0)).center()
    table.customContextMenuRequested.emit(QPoint(place))
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    next(a for a in menu.actions() if a.text() == action).trigger()
    menu.close()
