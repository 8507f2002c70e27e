"""Questions about files, folders and collections that the person names, and about none at all."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QListWidget

from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.paths import Home
from desktop_rag.core.question_scope import QuestionScope, ScopeItem
from desktop_rag.core.settings import Settings
from desktop_rag.ui.composer.composer import WITHOUT
from desktop_rag.ui.composer.scope_bar import ScopeBar
from tests.servers.chat_server import ChatServer
from tests.stories.conftest import Person

QUESTION = "When is the lamp lit?"
ALL = "Ask about all documents instead"


def write_old(papers: Path) -> None:
    """Write a second file about a lamp."""
    (papers / "old").mkdir()
    (papers / "old" / "old lamp.md").write_text("The old lamp was lit at noon by the priest.")


@pytest.fixture(scope="module")
def old(one_window: Person) -> Path:
    """The folder of that file, in the library of all stories."""
    [source] = one_window.app.services.library.sources.all()
    write_old(source.path)
    one_window.sees("3 searchable")
    return source.path / "old"


@pytest.fixture
def library(one_window: Person, old: Path) -> Person:
    """A person whose library has two files about a lamp."""
    assert old.exists()
    one_window.begins_a_chat()
    if scope(one_window).is_limited:  # a new chat is about what the one before was to be about
        one_window.clicks(ALL)
    return one_window


@pytest.fixture
def alone(person: Person, papers: Path) -> Person:
    """The same in a window of their own."""
    write_old(papers)
    person.drops(papers)
    person.sees("3 searchable")
    person.presses("Ctrl+1")
    return person


def names_with_at(person: Person, typed: str, wanted: str) -> None:
    """Type after an @, and take the row that begins so."""
    person.types("Question", f"@{typed}")
    person.waits_until(lambda: any(row.startswith(f"@{wanted}") for row in _offered(person)))
    field = person.field("Question")
    row = next(n for n, row in enumerate(_offered(person)) if row.startswith(f"@{wanted}"))
    for _ in range(row):
        QTest.keyClick(field, Qt.Key.Key_Down)
    QTest.keyClick(field, Qt.Key.Key_Return)
    person.waits_until(lambda: not _offered(person))


def _offered(person: Person) -> list[str]:
    lists = [rows for rows in person.window.findChildren(QListWidget) if rows.isVisible()]
    named = [rows for rows in lists if rows.objectName() == "nameList"]
    return [rows.item(n).text() for rows in named for n in range(rows.count())]


def scope(person: Person) -> QuestionScope:
    bars = person.window.chat_page.findChildren(ScopeBar)
    return bars[0].scope


def chooses(person: Person, words: str) -> None:
    box = person.field("Documents")
    assert isinstance(box, QComboBox)
    box.setCurrentIndex(box.findText(words))


@pytest.mark.everyday
def test_a_file_is_named_with_an_at_and_asked_alone(
    alone: Person, open_window: Callable[[], Person]
) -> None:
    person = alone
    names_with_at(person, "lamp", "lamp.md")
    person.sees("lamp.md")
    assert person.typed("Question") == ""
    person.asks(QUESTION)
    person.sees("About: lamp.md")
    person.sees("lit at dusk")
    person.sees("Searched only in lamp.md.")
    assert "priest" not in person.screen()
    person.closes_the_window()

    person = open_window()
    person.waits_until(lambda: bool(person.rows("Chats")))
    person.opens_row("Chats", 0)
    person.sees("About: lamp.md")
    person.waits_until(lambda: scope(person).is_limited)
    person.clicks(ALL)
    assert not scope(person).is_limited
    person.asks("Who lit the old lamp?")
    person.sees("priest")


def test_a_name_is_found_by_its_parts_with_spaces_between(library: Person) -> None:
    names_with_at(library, "lamp old", "old lamp.md")
    assert [item.name for item in scope(library).items] == ["old lamp.md"]
    assert library.typed("Question") == ""
    library.types("Question", "@lamp and nothing of that name")
    library.waits_until(lambda: not _offered(library))


def test_a_name_within_a_sentence_stays_in_it(library: Person) -> None:
    library.types("Question", "What does ")
    names_with_at(library, "lamp", "lamp.md")
    library.types("Question", " say about dusk?")
    assert library.typed("Question") == "What does lamp.md say about dusk?"
    assert [item.name for item in scope(library).items] == ["lamp.md"]


def test_a_folder_and_a_file_are_asked_together(library: Person) -> None:
    names_with_at(library, "old", "old   Folder")
    names_with_at(library, "fees", "fees.csv")
    library.sees("fees.csv")
    library.asks(QUESTION)
    library.sees("About: old, fees.csv")
    library.sees("priest")
    assert "dusk" not in library.screen()


def test_the_keyboard_takes_a_chip_out_and_brings_it_back(library: Person) -> None:
    names_with_at(library, "fees", "fees.csv")
    field = library.field("Question")
    QTest.keyClick(field, Qt.Key.Key_Backspace)
    assert not scope(library).is_limited
    QTest.keyClick(field, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert scope(library).is_limited
    QTest.keyClick(field, Qt.Key.Key_Tab, Qt.KeyboardModifier.ShiftModifier)
    button = library.window.focusWidget()
    assert button is not None
    assert button.accessibleName() == ALL, (button, button.parent())
    QTest.keyClick(button, Qt.Key.Key_Space)
    assert not scope(library).is_limited
    assert library.window.focusWidget() is field


def test_a_file_that_is_deleted_says_so_with_ways_out(alone: Person, papers: Path) -> None:
    names_with_at(alone, "fees", "fees.csv")
    (papers / "fees.csv").unlink()
    alone.sees("“fees.csv”: it is no longer in the library.")
    alone.asks("What does a child pay?")
    alone.sees("fees.csv: it is no longer in the library")
    alone.clicks("Leave it out")
    alone.sees_no_longer("“fees.csv”: it is no longer")
    assert not scope(alone).is_limited


@pytest.mark.slow
def test_a_folder_with_nothing_in_it_leads_to_the_library(library: Person, tmp_path: Path) -> None:
    library.window.ask_about(QuestionScope.of(ScopeItem.of_folder(tmp_path / "letters")))
    library.sees("“letters”: nothing in it can be searched yet.")
    library.clicks("Open the library")
    library.waits_until(library.window.library_page.isVisible)


def test_other_pages_can_ask(library: Person, old: Path) -> None:
    folder = QuestionScope.of(ScopeItem.of_folder(old))
    library.window.ask_about(folder, QUESTION)
    library.sees("About: old")
    library.sees("priest")
    library.window.ask_about(folder)
    library.waits_until(lambda: scope(library) == folder)
    assert "priest" not in library.screen()
    library.presses("Ctrl+N")
    assert not library.typed("Question")


def test_a_chat_without_documents(
    home: Home, open_window: Callable[[], Person], papers: Path, server: ChatServer
) -> None:
    home.create()
    save_settings(home.settings, Settings(endpoint=server.endpoint()))
    person = open_window()
    person.drops(papers)
    person.sees("2 searchable")
    person.presses("Ctrl+1")
    chooses(person, WITHOUT)
    person.sees("Chat without documents")
    person.sees("Your documents are not searched")
    server.answer = "At dusk, most likely."
    person.asks(QUESTION)
    person.sees("Without documents, as you chose: nothing was searched.")
    person.sees("At dusk, most likely.")
    assert "The wick is trimmed" not in str(server.chats)
    person.waits_until(lambda: not person.window.chat_page.is_answering)
    assert "This answer has no sources" not in person.screen()
    assert "were read" not in person.screen()


def test_a_chat_without_documents_takes_a_model(alone: Person) -> None:
    chooses(alone, WITHOUT)
    alone.sees("No model is connected, and without documents only a model can answer.")
    alone.asks(QUESTION)
    alone.sees("Without documents, only a model can answer.")
    alone.clicks("Open settings")
    alone.waits_until(alone.window.settings_page.isVisible)
