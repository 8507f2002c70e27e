"""From an answer to a schedule, and from a changed answer to what changed."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QWidget

from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from desktop_rag.ui.reading.reading_pane import ReadingPane
from tests.servers.chat_server import ChatServer
from tests.stories.conftest import Person
from tests.unit.ui.rooms import marked_words

QUESTION = "When is the lamp lit?"
PAGE = "Scheduled questions"


@pytest.fixture
def asker(
    home: Home, server: ChatServer, open_window: Callable[[], Person], papers: Path
) -> Person:
    """A person who has an answer of a model in a chat."""
    home.create()
    save_settings(home.settings, Settings(endpoint=server.endpoint()))
    person = open_window()
    person.drops(papers)
    person.sees("2 searchable")
    person.presses("Ctrl+1")
    person.asks(QUESTION)
    person.sees("The lamp is lit at dusk")
    return person


def schedules_page(person: Person) -> QWidget:
    """What is shown in place of the chat."""
    return person.window.chat_page.show_below_chats(PAGE)


def schedules(person: Person, when: str = "Every day") -> None:
    """The person schedules the question of the last answer."""
    person.chooses_entry("More for this answer", "Ask this regularly…")
    person.sees("What was missed is made up once.")
    field = person.field("When")
    assert isinstance(field, QComboBox)
    field.setCurrentText(when)
    person.clicks("Save")
    person.sees("Scheduled: “When is the lamp lit?”.")


@pytest.mark.everyday
def test_what_changed_is_marked(asker: Person, server: ChatServer) -> None:
    person = asker
    schedules(asker)
    person.clicks("Show")
    person.sees("Every day")
    person.sees("The lamp is lit at dusk [1].")
    server.answer = "The lamp is lit at noon [1]."
    person.clicks("Ask now")
    person.sees("The answer to “When is the lamp lit?” has changed.")
    person.sees("Changed: The lamp is lit at noon.")
    person.sees("Before: The lamp is lit at dusk.")
    person.sees("lamp.md")


def test_the_quick_ask_offers_it_too(asker: Person) -> None:
    popup = asker.in_quick_ask()
    asker.app.presence.quick_ask(QUESTION)
    popup.asks(QUESTION)
    popup.sees("The lamp is lit at dusk")
    popup.chooses_entry("More for this answer", "Ask this regularly…")
    asker.waits_until(asker.window.isActiveWindow)


def reads(person: Person, words: str) -> ReadingPane:
    """The person clicks these words of the answer, and the document opens at the cited ones."""
    person.clicks_words(words)
    panes = schedules_page(person).findChildren(ReadingPane)
    person.waits_until(lambda: any(pane.isVisible() and marked_words(pane) for pane in panes))
    [pane] = [pane for pane in panes if pane.isVisible()]
    assert "lit at dusk" in " ".join(marked_words(pane))
    return pane


def test_sources_open_beside_the_answer(asker: Person, server: ChatServer) -> None:
    person = asker
    schedules(asker)
    person.clicks("Show")
    person.sees("The lamp is lit at dusk [1].")
    QTest.keyClick(reads(person, "[1]"), Qt.Key.Key_Escape)
    person.sees("The lamp is lit at dusk [1].")
    assert not schedules_page(person).findChildren(ReadingPane)[0].isVisible()
    reads(person, "lamp.md").close_requested.emit()
    server.answer = "The lamp is lit at noon [1]."
    person.clicks("Ask now")
    person.sees("Changed: The lamp is lit at noon. [1]")
    reads(person, "[1]")
    # Without room for both, the document takes the place of the answer, and gives it back.
    person.window.resize(740, 600)
    person.sees_no_longer("Changed: The lamp is lit at noon.")
    person.clicks("Close the document (Esc)")
    person.sees("Changed: The lamp is lit at noon.")


def test_a_failure_says_what_to_do(asker: Person, server: ChatServer) -> None:
    person = asker
    schedules(asker, "Every week")
    person.clicks("Show")
    server.mode, server.status = "status", 401
    person.clicks("Ask now")
    person.sees("or with “Ask now”.")
    server.mode = "answer"
    person.clicks("Ask now")
    person.sees_no_longer("or with “Ask now”.")


def test_a_question_is_paused_and_deleted_and_comes_back(asker: Person, server: ChatServer) -> None:
    person = asker
    schedules(asker)
    person.clicks("Show")
    person.clicks("Pause")
    person.sees("Paused")
    person.clicks("Resume")
    person.sees("Next: ")
    person.clicks("Delete")
    person.sees("Deleted “When is the lamp lit?”.")
    person.sees("A question that you ask again and again")
    person.clicks("Undo")
    person.sees("Every day")


def test_it_stands_in_place_of_the_chat(asker: Person) -> None:
    asker.clicks(PAGE)
    asker.sees("A question that you ask again and again")
    asker.sees_no_longer("The lamp is lit at dusk")
    asker.clicks(PAGE)
    asker.sees("The lamp is lit at dusk")
    asker.clicks(PAGE)
    asker.opens_row("Chats", 0)
    asker.sees("The lamp is lit at dusk")
    asker.clicks(PAGE)
    asker.presses("Ctrl+1")
    asker.waits_until(asker.field("Question").hasFocus)


def test_a_question_is_written_on_the_page(person: Person, papers: Path) -> None:
    """Without a model the answers are excerpts, and nothing leaves the computer."""
    person.drops(papers)
    person.sees("2 searchable")
    person.presses("Ctrl+1")
    person.clicks(PAGE)
    person.clicks("New…")
    person.sees("No model is connected: the answers are excerpts")
    person.types("Scheduled question", QUESTION)
    person.clicks("Save")
    person.clicks("Ask now")
    person.sees("lit at dusk by the keeper")
