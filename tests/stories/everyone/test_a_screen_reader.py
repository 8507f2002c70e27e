"""Every page and dialog as assistive programs get it, and as the Tab key goes through it."""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QWidget

from desktop_rag.core.assistant import Assistant
from desktop_rag.core.conversation import Interaction, InteractionOutcome, PastAnswer
from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.paths import Home
from desktop_rag.core.question_scope import QuestionScope, ScopeItem
from desktop_rag.core.settings import Settings
from desktop_rag.features.backup.manifest import BackupContents
from desktop_rag.features.backup.ui.backup_page import ImportDialog
from desktop_rag.ui.chat.source_reading import ImageView
from desktop_rag.ui.composer.model_choice import AssistantChoice
from desktop_rag.ui.foundation.focus_order import stops_of
from desktop_rag.ui.library.documents_panel import DocumentsTable
from desktop_rag.ui.passwords.password_actions import PasswordDialog
from desktop_rag.ui.personal.memory_actions import PastAnswersDialog
from desktop_rag.ui.search.filter_choices import FilterKind, folder_filter
from desktop_rag.ui.window.window_pages import NavigationRail
from tests.heard import heard
from tests.servers.chat_server import ChatServer
from tests.stories.conftest import Person

QUESTION = "When is the lamp lit?"


def faults(widget: QWidget) -> list[str]:
    return [fault for part in heard(widget) for fault in part.faults()]


@pytest.fixture
def reader(
    home: Home, open_window: Callable[[], Person], papers: Path, server: ChatServer
) -> Person:
    """A person with two questions answered by a model, and a library."""
    home.create()
    save_settings(home.settings, Settings(endpoint=server.endpoint()))
    person = open_window()
    person.drops(papers)
    person.sees("2 searchable")
    person.presses("Ctrl+1")
    for question in (QUESTION, "Who trims the wick?"):
        person.asks(question)
        person.waits_until(lambda: not person.window.chat_page.is_answering)
    return person


def test_every_page_has_names_and_roles_and_no_markup(reader: Person, papers: Path) -> None:
    found: list[str] = []
    for keys in ("Ctrl+1", "Ctrl+2", "Ctrl+4", "Ctrl+3"):
        reader.presses(keys)
        found += faults(reader.window)
    search = reader.window.search_page
    reader.types("Search your files", "keeper of the lamp")
    reader.waits_until(lambda: bool(search.results.results.passages) and search.is_settled)
    search.filters.add(folder_filter(papers))
    search.results.choose_first()
    reader.waits_until(lambda: search.side.pane.place is not None)
    found += faults(reader.window)
    reader.presses("Ctrl+4")
    for part in reader.window.settings_page.parts:
        reader.window.settings_page.show_part(part)
        found += faults(reader.window)
    reader.window.ask_about(QuestionScope.of(ScopeItem.of_folder(papers / "none")))
    reader.sees("nothing in it can be searched yet")
    found += faults(reader.window)
    assert not found, "\n".join(dict.fromkeys(found))


def test_messages_are_heard_in_the_order_they_are_read(reader: Person) -> None:
    def said(person: Person) -> list[str]:
        names = [part.name for part in heard(person.window.chat_page)]
        return [n for n in names if n.startswith("You asked:")]

    assert said(reader) == [f"You asked: {QUESTION}", "You asked: Who trims the wick?"]
    # Loaded anew, messages are built from the newest upwards.
    reader.presses("Ctrl+N")
    reader.opens_row("Chats", 0)
    reader.waits_until(lambda: len(said(reader)) == 2)
    assert said(reader) == [f"You asked: {QUESTION}", "You asked: Who trims the wick?"]


def _tab_walk(window: QWidget) -> list[QWidget]:
    """The widgets that Tab reaches, from the one that has the focus until it is back there."""
    stops = stops_of(window)
    if len(stops) == 1:
        return stops
    walked: list[QWidget] = []
    for _ in range(400):
        focused = window.focusWidget()
        assert focused is not None
        if walked and focused is walked[0] and len(walked) > 1:
            return walked
        # In a text, Tab goes through the links first.
        if not walked or focused is not walked[-1]:
            assert focused not in walked, f"twice: {focused.accessibleName()}"
            walked.append(focused)
        QTest.keyClick(focused, Qt.Key.Key_Tab)
    raise AssertionError([widget.accessibleName() for widget in walked])


def test_tab_goes_through_a_page_once_and_comes_back(reader: Person) -> None:
    for keys in ("Ctrl+1", "Ctrl+2", "Ctrl+3", "Ctrl+4"):
        reader.presses(keys)
        walked = _tab_walk(reader.window)
        assert len(walked) > 5
        stops = stops_of(reader.window)
        here = stops.index(walked[0])
        assert walked == [*stops[here:], *stops[:here]]
        # The other way round it is the same way back.
        QTest.keyClick(walked[0], Qt.Key.Key_Tab, Qt.KeyboardModifier.ShiftModifier)
        assert reader.window.focusWidget() is walked[-1]
        assert not list(_leaps(walked))


def _leaps(walked: list[QWidget]) -> Iterator[str]:
    """Steps upwards within one container: the one before stands wholly below the next."""
    for before, after in itertools.pairwise(walked):
        if before.parentWidget() is after.parentWidget():
            top, bottom = before.geometry().top(), after.geometry().bottom()
            if top > bottom:
                yield f"{before.accessibleName()} → {after.accessibleName()}"


def _opens(person: Person, act: Callable[[], object]) -> QDialog:
    """The dialog that opens."""
    before = set(QApplication.topLevelWidgets())
    act()

    def fresh() -> list[QDialog]:
        tops = (w for w in QApplication.topLevelWidgets() if w not in before)
        return [w for w in tops if isinstance(w, QDialog) and w.isVisible()]

    person.waits_until(lambda: bool(fresh()))
    return fresh()[0]


def _picks(person: Person, words: str) -> None:
    [choice] = person.window.findChildren(AssistantChoice)
    next(action for action in choice.menu().actions() if action.text() == words).trigger()


def _manages_assistants(person: Person) -> None:
    person.app.services.chat.assistants.add(Assistant("", "Keeper"))
    person.window.chat_page.refresh()
    [choice] = person.window.findChildren(AssistantChoice)
    words = "Manage assistants…"
    person.waits_until(lambda: words in [action.text() for action in choice.menu().actions()])
    _picks(person, words)


def _tags(person: Person) -> None:
    [table] = person.window.library_page.findChildren(DocumentsTable)
    table.setFocus()
    table.selectRow(0)
    QTest.keySequence(table, "Ctrl+T")


def _dates(person: Person) -> None:
    filters = person.window.search_page.filters
    filters.menu(FilterKind.DATE).aboutToShow.emit()
    actions = filters.menu(FilterKind.DATE).actions()
    next(action for action in actions if action.text() == "Other days…").trigger()


def _password(person: Person) -> None:
    [document, *_] = person.app.services.library.documents.all()
    PasswordDialog(document, person.window).open()


def _past_answers(person: Person) -> None:
    past = [PastAnswer("a", QUESTION), PastAnswer("gone", "Who trims the wick?")]
    known = Interaction("a", "c", QUESTION, QUESTION, "At dusk.", InteractionOutcome.DONE, 1.0)
    PastAnswersDialog(past, [known], person.window).open()


def _backup(person: Person) -> None:
    contents = BackupContents(
        "2026-11-03", 1.0, "1.0", "", {"chats": 3}, has_index=True, has_settings=True,
        missing=("/gone",), addresses=("http://localhost:1/v1",),
    )  # fmt: skip
    ImportDialog("backup.drb", contents, person.window).open()


DIALOGS: dict[str, tuple[str, Callable[[Person], object]]] = {
    "links": ("Ctrl+2", lambda person: person.clicks("Add web links…")),
    "collections": ("Ctrl+2", lambda person: person.clicks("Collections…")),
    "tags": ("Ctrl+2", _tags),
    "rewrite": ("Ctrl+1", lambda person: person.clicks("Rewrite answer")),
    "assistants": ("Ctrl+1", _manages_assistants),
    "assistant": ("Ctrl+1", lambda person: _picks(person, "New assistant…")),
    "prompts": ("Ctrl+1", lambda person: person.window.chat_page.prompts.manage()),
    "folder": (
        "Ctrl+2",
        lambda person: person.window.library_page.add_paths([person.app.services.home.root]),
    ),
    "shortcuts": ("Ctrl+4", lambda person: person.clicks("Keyboard shortcuts")),
    "dates": ("Ctrl+3", _dates),
    "password": ("Ctrl+2", _password),
    "past answers": ("Ctrl+1", _past_answers),
    "backup": ("Ctrl+4", _backup),
    "image": ("Ctrl+1", lambda person: ImageView("lamp.png", None, person.window).open()),
}


# In one window, which takes longer to open than all of them.
@pytest.mark.timeout(180)
def test_every_dialog_has_names_and_roles_and_a_way_round(reader: Person) -> None:
    for name, (keys, act) in DIALOGS.items():
        reader.window.activateWindow()
        reader.waits_until(reader.window.isActiveWindow)
        reader.presses(keys)
        dialog = _opens(reader, lambda act=act: act(reader))
        assert not faults(dialog), name
        dialog.activateWindow()
        reader.waits_until(lambda dialog=dialog: dialog.focusWidget() is not None)
        assert set(_tab_walk(dialog)) == set(stops_of(dialog)), name
        dialog.close()


def test_pages_are_buttons_and_the_current_one_says_so(reader: Person) -> None:
    [rail] = reader.window.findChildren(NavigationRail)
    parts = {part.name: part for part in heard(rail)}
    assert {parts[name].role for name in ("Chat", "Library", "Search", "Settings")} == {
        QAccessible.Role.Button
    }
    assert parts["Chat"].description == "The current page, Ctrl+1"
    reader.presses("Ctrl+2")
    parts = {part.name: part for part in heard(rail)}
    assert parts["Library"].description == "The current page, Ctrl+2"
    assert "current" not in parts["Chat"].description
