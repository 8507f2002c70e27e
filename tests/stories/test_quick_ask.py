"""A question from anywhere on the desktop, in the popup over everything."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from desktop_rag.core.settings import Settings
from desktop_rag.desktop.requests import PassageRequested, QuickAskRequested
from desktop_rag.ui.documents.document_view import DocumentView
from tests.servers.chat_server import ChatServer
from tests.stories.conftest import Person


@pytest.fixture
def popup(person: Person, papers: Path) -> Person:
    """A person who has a library and has just pressed the hotkey."""
    person.drops(papers)
    person.sees("2 searchable")
    person.app.bridge.post(QuickAskRequested())
    there = person.in_quick_ask()
    there.waits_until(there.window.isVisible)
    return there


def test_typing_finds_the_passage_and_enter_opens_it(popup: Person) -> None:
    popup.types("Question", "lamp dusk")
    popup.waits_until(lambda: popup.app.presence.popup.passages.rows > 0)
    assert popup.rows("Passages")[0] == ["Lamp"]
    QTest.keyClick(popup.field("Question"), Qt.Key.Key_Down)
    popup.sees("Enter to open it at its place")
    QTest.keyClick(popup.field("Question"), Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert "lit at dusk" in QGuiApplication.clipboard().text()
    assert "lamp.md" in QGuiApplication.clipboard().text()
    QTest.keyClick(popup.field("Question"), Qt.Key.Key_Return)
    popup.waits_until(lambda: bool(popup.place.findChildren(DocumentView)))


def test_an_answer_and_a_follow_up_in_the_popup_go_on_in_the_window(popup: Person) -> None:
    popup.asks("When is the lamp lit?")
    popup.sees("The lamp is lit at dusk by the keeper.")
    popup.sees("Excerpts from your documents")
    popup.waits_until(lambda: not popup.app.presence.popup.is_answering)
    popup.asks("How often is the wick trimmed?")
    popup.sees("The wick is trimmed twice a night.")
    popup.waits_until(lambda: not popup.app.presence.popup.is_answering)
    popup.clicks("Go on in the window")
    assert not popup.place.isVisible()
    person = popup.in_the_window()
    person.sees("The wick is trimmed twice a night.")
    person.sees("When is the lamp lit?")
    assert len(person.rows("Chats")) == 1


def test_a_question_not_sent_yet_goes_to_the_window(popup: Person) -> None:
    popup.types("Question", "When is the lamp")
    popup.clicks("Go on in the window")
    person = popup.in_the_window()
    person.waits_until(lambda: person.typed("Question") == "When is the lamp")


def test_esc_closes_it_and_keeps_the_question(popup: Person) -> None:
    popup.types("Question", "When is the")
    popup.presses("Esc")
    assert not popup.place.isVisible()
    popup.app.bridge.post(QuickAskRequested())
    popup.waits_until(popup.place.isVisible)
    assert popup.typed("Question") == "When is the"


def test_selected_text_is_shown_and_can_be_removed(popup: Person) -> None:
    QGuiApplication.clipboard().setText("Fresnel <b>lens</b>")
    popup.app.bridge.post(QuickAskRequested(takes_selection=True))
    popup.sees("Selected text: “Fresnel <b>lens</b>”")
    popup.clicks("Remove the selected text")
    popup.sees_no_longer("Fresnel")


def test_a_collection_is_chosen_by_its_name(popup: Person) -> None:
    popup.app.services.library.collections.find_or_add("Lighthouse")
    popup.presses("Esc")
    popup.app.bridge.post(QuickAskRequested())
    popup.waits_until(popup.place.isVisible)
    popup.types("Question", "@light")
    popup.waits_until(lambda: popup.app.presence.popup.field.is_completing)
    QTest.keyClick(popup.field("Question"), Qt.Key.Key_Return)
    popup.sees("Collection: Lighthouse")
    assert popup.typed("Question") == ""
    popup.clicks("Ask all documents instead")
    popup.sees_no_longer("Collection: Lighthouse")


def test_an_endpoint_that_fails_says_so_in_the_popup(popup: Person) -> None:
    with ChatServer(mode="status") as server:
        popup.window.settings_page.change(Settings(endpoint=server.endpoint()))
        popup.asks("When is the lamp lit?")
        popup.sees("Something broke.")
        popup.clicks("Retry")


def test_a_link_shows_a_passage(person: Person, papers: Path) -> None:
    person.drops(papers)
    person.sees("2 searchable")
    documents = person.app.services.library.documents.all()
    lamp = next(d for d in documents if d.path.name == "lamp.md")
    person.app.bridge.post(PassageRequested(lamp.document_id, 8, 20))
    person.waits_until(lambda: bool(person.window.findChildren(DocumentView)))
