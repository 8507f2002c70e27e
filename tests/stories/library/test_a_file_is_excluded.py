"""One file is excluded, by key or menu, and included again; one failed file is retried."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu

from desktop_rag.ui.library.documents_panel import DocumentsTable
from tests.stories.conftest import Person


@pytest.mark.everyday
def test_an_excluded_file_is_undone_and_included_again(person: Person, papers: Path) -> None:
    person.drops(papers)
    person.sees("3 files: 2 searchable, 1 not read")
    selects(person, "lamp.md")
    person.clicks("Exclude")
    person.sees("“lamp.md” is excluded.")
    person.waits_until(lambda: cells(person, "lamp.md")[3] == "Excluded by you")
    person.clicks("Undo")
    person.sees("3 files: 2 searchable, 1 not read")
    selects(person, "lamp.md")
    QTest.keyClick(table(person), Qt.Key.Key_Delete)
    person.waits_until(lambda: cells(person, "lamp.md")[3] == "Excluded by you")
    person.clicks("Excluded 1")
    assert [row[0] for row in person.rows("Files")] == ["lamp.md"]
    person.presses("Ctrl+1")
    person.asks("When is the lamp lit at dusk?")
    person.sees("Nothing in your documents")
    person.presses("Ctrl+2")
    selects(person, "lamp.md")
    person.clicks("Include again")
    person.clicks("Clear filters")
    person.sees("3 files: 2 searchable, 1 not read")


def test_several_files_by_the_context_menu_of_the_keyboard(person: Person, papers: Path) -> None:
    person.drops(papers)
    person.sees("3 files: 2 searchable, 1 not read")
    table(person).setFocus()
    table(person).selectAll()
    QTest.keyClick(table(person), Qt.Key.Key_F10, Qt.KeyboardModifier.ShiftModifier)
    chooses(person, "Exclude 3 files")
    person.sees("3 files are excluded.")
    person.waits_until(lambda: all(row[3] == "Excluded by you" for row in person.rows("Files")))


def test_one_failed_file_is_read_again(person: Person, papers: Path) -> None:
    person.drops(papers)
    person.sees("3 files: 2 searchable, 1 not read")
    read_before = indexed_at(person, "broken.pdf")
    selects(person, "broken.pdf")
    QTest.keyClick(table(person), Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    person.waits_until(lambda: indexed_at(person, "broken.pdf") > read_before)
    person.waits_until(lambda: cells(person, "broken.pdf")[2] == "Not read")


def test_all_failed_files_are_read_again_and_the_person_is_told(
    person: Person, papers: Path
) -> None:
    person.drops(papers)
    person.sees("3 files: 2 searchable, 1 not read")
    person.clicks("Retry failed")
    person.sees("1 file is read again.")
    person.sees("0 of 1 file could be read.")
    person.sees("The column Reason says what is wrong with the others.")


def indexed_at(person: Person, name: str) -> float:
    documents = person.app.services.library.documents.all()
    return next(d.indexed_at for d in documents if d.path.name == name)


def table(person: Person) -> DocumentsTable:
    [found] = person.window.findChildren(DocumentsTable)
    return found


def selects(person: Person, name: str) -> None:
    row = next(n for n, row in enumerate(person.rows("Files")) if row[0] == name)
    person.opens_row("Files", row)
    table(person).setFocus()


def cells(person: Person, name: str) -> list[str]:
    return next(row for row in person.rows("Files") if row[0] == name)


def chooses(person: Person, action: str) -> None:
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    next(a for a in menu.actions() if a.text() == action).trigger()
    menu.close()
