"""A question from anywhere on the desktop, in the popup over everything."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QWidget

from desktop_rag.core.settings import Settings
from desktop_rag.desktop.requests import PassageRequested, QuickAskRequested
from desktop_rag.models.embedding.joined_embedding import OnnxEmbedder
from desktop_rag.models.ports import Vectors
from desktop_rag.ui.library.dialogs.folder_dialog import FolderDialog
from desktop_rag.ui.reading.reading_pane import ReadingWindow
from tests.servers.chat_server import ChatServer
from tests.stories.conftest import Person


@pytest.fixture
def popup(one_window: Person) -> Iterator[Person]:
    """A person who has a library and has just pressed the hotkey, to ask something new."""
    one_window.begins_a_chat()
    one_window.app.bridge.post(QuickAskRequested())
    there = one_window.in_quick_ask()
    there.waits_until(there.place.isActiveWindow)
    there.presses("Ctrl+N")
    yield there
    for window in there.place.findChildren(ReadingWindow):
        window.close()
    there.waits_until(lambda: not there.place.findChildren(ReadingWindow))
    there.place.hide()


def found(popup: Person) -> list[list[str]]:
    """The passages; none while the list is hidden."""
    return popup.rows("Passages") if popup.app.presence.popup.passages.isVisible() else []


@pytest.mark.everyday
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
    popup.waits_until(lambda: bool(popup.place.findChildren(ReadingWindow)))


def test_a_source_takes_the_place_of_the_popup_until_its_key_is_pressed(popup: Person) -> None:
    popup.asks("When is the lamp lit?")
    popup.sees("Excerpts from your documents")
    popup.waits_until(lambda: not popup.app.presence.popup.is_answering)
    popup.clicks_citation(1)
    [window] = popup.place.findChildren(ReadingWindow)
    popup.waits_until(window.isActiveWindow)
    assert not popup.place.isVisible()
    popup.app.bridge.post(QuickAskRequested())
    popup.waits_until(popup.place.isActiveWindow)
    popup.sees("The lamp is lit at dusk by the keeper.")
    window.activateWindow()
    popup.waits_until(lambda: not popup.place.isVisible())


def test_a_half_typed_word_finds_what_it_may_become(popup: Person) -> None:
    popup.types("Question", "trimm")
    popup.waits_until(lambda: popup.app.presence.popup.passages.rows > 0)
    assert popup.rows("Passages")[0] == ["Lamp"]


def test_words_do_not_wait_for_the_search_by_meaning(
    popup: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, may_end = threading.Event(), threading.Event()
    embed = OnnxEmbedder.embed_query

    def slowly(embedder: OnnxEmbedder, text: str) -> Vectors:
        begun.set()
        may_end.wait()
        return embed(embedder, text)

    monkeypatch.setattr(OnnxEmbedder, "embed_query", slowly)
    try:
        popup.types("Question", "keeper")  # in no other story, whose meaning would be known
        popup.waits_until(begun.is_set)
        popup.waits_until(lambda: found(popup) == [["Lamp"]])
        popup.types("Question", " adult")
        popup.waits_until(lambda: ["fees · cells A1:B3"] in found(popup))
    finally:
        may_end.set()


def test_an_answer_and_a_follow_up_in_the_popup_go_on_in_the_window(popup: Person) -> None:
    before = len(popup.app.services.chat.history.all())
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
    assert len(person.rows("Chats")) == before + 1


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
    popup.waits_until(popup.place.isActiveWindow)
    assert popup.typed("Question") == "When is the"


def test_selected_text_is_shown_and_can_be_removed(popup: Person) -> None:
    QGuiApplication.clipboard().setText("Fresnel <b>lens</b>")
    popup.app.bridge.post(QuickAskRequested(takes_selection=True))
    popup.sees("Selected text: “Fresnel <b>lens</b>”")
    popup.clicks("Remove the selected text")
    popup.sees_no_longer("Fresnel")


def test_a_collection_is_chosen_by_its_name(popup: Person) -> None:
    popup.app.services.library.collections.find_or_add("Lighthouse")
    popup.types("Question", "@light")
    popup.waits_until(lambda: popup.app.presence.popup.field.is_completing)
    QTest.keyClick(popup.field("Question"), Qt.Key.Key_Return)
    popup.sees("Lighthouse")
    assert popup.typed("Question") == ""
    popup.clicks("Ask about all documents instead")
    popup.sees_no_longer("Lighthouse")


def test_an_endpoint_that_fails_says_so_in_the_popup(popup: Person) -> None:
    with ChatServer(mode="status") as server:
        popup.window.settings.change(Settings(endpoint=server.endpoint()))
        popup.asks("When is the lamp lit?")
        popup.sees("Something broke.")
        # What was asked is still there to be asked again.
        popup.sees("When is the lamp lit?")
        popup.clicks("Retry")


def test_a_link_shows_a_passage(person: Person, papers: Path) -> None:
    person.drops(papers)
    person.sees("2 searchable")
    documents = person.app.services.library.documents.all()
    lamp = next(d for d in documents if d.path.name == "lamp.md")
    person.app.bridge.post(PassageRequested(lamp.document_id, 8, 20))
    person.waits_until(lambda: bool(person.window.findChildren(ReadingWindow)))


def test_without_a_folder_it_says_so_and_offers_to_add_one(person: Person) -> None:
    person.app.bridge.post(QuickAskRequested())
    popup = person.in_quick_ask()
    popup.sees("No folder yet")
    popup.clicks("Add a folder")
    assert not popup.place.isVisible()
    person.waits_until(lambda: bool(person.window.findChildren(QFileDialog)))


def test_a_word_of_no_document_is_said_to_be_in_none(popup: Person) -> None:
    popup.types("Question", "zzyzx")
    popup.sees("No passage has these words.")


def test_a_screen_reader_hears_the_field_the_passages_and_the_buttons(popup: Person) -> None:
    popup.types("Question", "lamp dusk")
    found = "Lamp, lamp.md: The lamp is lit at dusk"
    popup.waits_until(lambda: any(name.startswith(found) for _, name in _heard(popup.place)))
    heard = {(role, name) for role, name in _heard(popup.place)}
    assert (QAccessible.Role.EditableText, "Question") in heard
    assert (QAccessible.Role.List, "Passages") in heard
    assert (QAccessible.Role.Button, "Ask") in heard
    assert (QAccessible.Role.Button, "Go on in the window") in heard
    assert any(role is QAccessible.Role.ListItem for role, name in heard if name.startswith(found))


def _heard(widget: QWidget) -> Iterator[tuple[QAccessible.Role, str]]:
    """Roles and names of the visible parts of a window, as assistive programs get them."""
    waiting = [QAccessible.queryAccessibleInterface(widget)]
    while waiting:
        part = waiting.pop()
        if part is None or part.state().invisible:
            continue
        yield part.role(), part.text(QAccessible.Text.Name)
        waiting += [part.child(number) for number in range(part.childCount())]


# --- about what a file manager named --------------------------------------------------------------


@pytest.fixture
def library(person: Person, papers: Path) -> Person:
    """A person whose library has the papers and, beside the lamp, an older one."""
    old = papers / "old lamp.md"
    old.write_text("# Old lamp\n\nThe old lamp was lit at noon by the priest.")
    person.drops(papers)
    person.sees("3 searchable")
    return person


def asks_about(person: Person, *paths: Path) -> Person:
    person.app.bridge.post(QuickAskRequested(about=paths))
    there = person.in_quick_ask()
    there.waits_until(there.window.isVisible)
    return there


def test_only_the_file_is_searched_until_the_person_wants_all(
    library: Person, papers: Path
) -> None:
    popup = asks_about(library, papers / "lamp.md")
    popup.sees("lamp.md")
    popup.types("Question", "when was the lamp lit")
    passages = popup.app.presence.popup.passages
    popup.waits_until(lambda: passages.rows == 1)
    popup.clicks("Ask about all documents instead")
    popup.waits_until(lambda: passages.rows > 1)
    popup = asks_about(library, papers / "lamp.md")
    popup.sees("lamp.md")
    popup.asks("When is the lamp lit?")
    popup.sees("lit at dusk")
    popup.waits_until(lambda: not popup.app.presence.popup.is_answering)
    assert "priest" not in popup.screen()


def test_a_file_that_is_not_in_the_library_can_be_attached(library: Person, tmp_path: Path) -> None:
    """Its name is foreign text."""
    stranger = tmp_path / "<b>tide & moon.md"
    stranger.write_text("# Tides\n\nThe spring tide follows the full moon by two days.")
    popup = asks_about(library, stranger)
    popup.sees("“<b>tide & moon.md” is not in your library.")
    popup.clicks("Attach it")
    popup.waits_until(lambda: popup.app.presence.popup.field.scope_bar.attached != ())
    popup.types("Question", "What does the spring tide follow?")
    QTest.keyClick(popup.field("Question"), Qt.Key.Key_Return)
    popup.sees("The spring tide follows the full moon by two days.")
    popup.waits_until(lambda: not popup.app.presence.popup.is_answering)
    popup.clicks("New question")
    popup.sees_no_longer("tide & moon.md")


def test_its_folder_can_be_added(library: Person, tmp_path: Path) -> None:
    (folder := tmp_path / "letters").mkdir()
    (folder / "tide.md").write_text("The spring tide follows the full moon by two days.")
    popup = asks_about(library, folder / "tide.md")
    popup.clicks("Add its folder")
    library.waits_until(lambda: bool(library.window.findChildren(FolderDialog)))
    assert not popup.place.isVisible()


def test_what_cannot_be_asked_is_told(library: Person, papers: Path, tmp_path: Path) -> None:
    popup = asks_about(library, papers / "broken.pdf", tmp_path / "gone.md")
    popup.sees("“broken.pdf” is in your library, but can’t be searched.")
    popup.sees("“gone.md” was not found.")
    assert not popup.app.presence.popup.field.scope_bar.scope.is_limited
