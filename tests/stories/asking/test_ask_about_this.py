"""“Ask about this” wherever a file or folder is shown."""

from pathlib import Path

import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtTest import QTest

from desktop_rag.core.question_scope import QuestionScope
from desktop_rag.ui.composer.scope_bar import ScopeBar
from desktop_rag.ui.library.documents_panel import DocumentsTable
from tests.stories.conftest import Person

QUESTION = "When is the lamp lit?"


@pytest.fixture
def library(person: Person, papers: Path) -> Person:
    """A person on the library page, with two files about a lamp."""
    (papers / "old").mkdir()
    (papers / "old" / "old lamp.md").write_text("The old lamp was lit at noon by the priest.")
    person.drops(papers)
    person.sees("3 searchable")
    return person


def table(person: Person) -> DocumentsTable:
    [found] = person.window.library_page.findChildren(DocumentsTable)
    return found


def selects(person: Person, *names: str) -> None:
    """Select the rows of these files."""
    files = table(person)
    person.waits_until(lambda: {row[0] for row in person.rows("Files")} >= set(names))
    flags = QItemSelectionModel.SelectionFlag
    files.setFocus()
    files.clearSelection()
    for row, cells in enumerate(person.rows("Files")):
        if cells[0] in names:
            index = files.model().index(row, 0)
            files.selectionModel().setCurrentIndex(index, flags.Select | flags.Rows)


def scope(person: Person) -> QuestionScope:
    return person.window.chat_page.findChildren(ScopeBar)[0].scope


def names(person: Person) -> list[str]:
    return sorted(item.name for item in scope(person).items)


def test_selected_files_are_asked_about_together(library: Person) -> None:
    selects(library, "lamp.md", "fees.csv")
    keys = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    QTest.keyClick(table(library), Qt.Key.Key_Return, keys)
    library.waits_until(lambda: names(library) == ["fees.csv", "lamp.md"])
    library.asks(QUESTION)
    library.sees("lit at dusk")
    assert "priest" not in library.screen()


def test_the_button_below_the_table_waits_for_a_selection(library: Person) -> None:
    selects(library, "old lamp.md")
    library.clicks("Ask about this")
    library.waits_until(lambda: names(library) == ["old lamp.md"])
    library.waits_until(library.window.chat_page.isVisible)
    assert library.window.focusWidget() is library.field("Question")


def test_a_folder_is_asked_about_from_its_card(library: Person, papers: Path) -> None:
    library.clicks("Folders")
    library.clicks(f"Ask about {papers.name}")
    library.waits_until(lambda: names(library) == [papers.name])


def test_a_source_and_a_document_are_asked_about_in_the_same_chat(library: Person) -> None:
    library.presses("Ctrl+1")
    library.asks(QUESTION)
    library.sees("lit at dusk")
    library.waits_until(lambda: not library.window.chat_page.is_answering)
    library.clicks("Ask about these files only")
    library.waits_until(lambda: scope(library).is_limited)
    library.clicks("Read source 1")
    library.clicks("Ask about this document")
    library.waits_until(lambda: len(scope(library).items) == 1)
    library.asks("Who lights it?")
    library.sees("About: ")
    assert len(library.rows("Chats")) == 1
