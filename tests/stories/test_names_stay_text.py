"""S-03: names that look like HTML are shown literally everywhere, and load nothing.

All open widgets are searched, so that any new label, tooltip or dialog is covered.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QDialog,
    QFileDialog,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QMessageBox,
    QTextEdit,
    QWidget,
)
from pytestqt.qtbot import QtBot

from desktop_rag.core.assistant import Assistant
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import Notice
from desktop_rag.core.settings import EndpointSettings, Settings
from desktop_rag.ui.composer.model_choice import AssistantChoice
from desktop_rag.ui.documents.document_opener import confirm_and_open
from desktop_rag.ui.library.documents_panel import DocumentsTable
from desktop_rag.ui.widgets.controls import PlainLabel
from tests.plain_widgets import kinds_that_show, markup_risks
from tests.servers.chat_server import ChatServer
from tests.stories.conftest import Person

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has no such names of files"
)
MARK = "<img src=&#47;dev&#47;zero>"
# Other names than file names may contain slashes.
WORSE = f'{MARK}<b>x</b><img src="/dev/zero">&amp;'
EMAIL = f"Subject: {WORSE} mail\nFrom: {MARK} <a@b.example>\nContent-Type: text/plain\n\nLamp.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / f"papers <b>{MARK}"
    made.mkdir()
    (made / f"a{MARK}.md").write_text(
        f"# {WORSE} lamp\n\nThe lamp {WORSE} is lit at dusk by {MARK}."
    )
    (made / f"b{MARK}.pdf").write_bytes(b"%PDF-1.7\nnothing else")
    (made / f"c{MARK}.eml").write_text(EMAIL)
    (made / f"d{MARK}.csv").write_text(f"{WORSE},lamp\n{WORSE},3\n")
    return made


@pytest.fixture
def indexed(person: Person, folder: Path) -> Person:
    collection = person.app.services.library.collections.add(WORSE)
    person.app.services.library.sources.add(folder, collection.collection_id)
    person.presses("Ctrl+2")
    person.sees("4 files: 3 searchable, 1 not read")
    return person


def shows(*kinds: str) -> None:
    """The mark is shown in these kinds of places, and nowhere treated as HTML."""
    for widget in QApplication.topLevelWidgets():
        if widget.isVisible():
            widget.grab()
    assert markup_risks(MARK) == []
    assert kinds_that_show(MARK) >= set(kinds)


def dialogs(person: Person) -> list[QDialog]:
    return [d for d in person.window.findChildren(QDialog) if d.isVisible()]


# --- the detection itself --------------------------------------------------------------------


def raw_label() -> QWidget:
    return QLabel(f"a{MARK}")


def raw_tooltip() -> QWidget:
    widget = PlainLabel("a")
    widget.setToolTip(f"a{MARK}.pdf")
    return widget


def raw_box() -> QWidget:
    box = QMessageBox()
    box.setText(f"a{MARK}")
    return box


def raw_rows() -> QWidget:
    rows = QListWidget()
    item = QListWidgetItem("a", rows)
    item.setData(Qt.ItemDataRole.ToolTipRole, f"a{MARK}")
    return rows


def raw_text() -> QWidget:
    edit = QTextEdit()
    edit.setPlainText(MARK)
    return edit


def raw_menu() -> QWidget:
    menu = QMenu()
    menu.setToolTipsVisible(True)
    menu.addAction(f"a{MARK}")
    return menu


@pytest.mark.parametrize("make", [raw_label, raw_tooltip, raw_box, raw_rows, raw_text, raw_menu])
def test_an_unsafe_widget_is_detected(make: Callable[[], QWidget], qtbot: QtBot) -> None:
    widget = make()
    qtbot.addWidget(widget)
    assert markup_risks(MARK)


# --- the window ------------------------------------------------------------------------------


def test_the_added_folder(person: Person, folder: Path) -> None:
    person.drops_without_confirming(folder)
    person.waits_until(lambda: bool(dialogs(person)))
    shows("window title")
    dialogs(person)[0].reject()


def test_the_library_page(indexed: Person) -> None:
    shows("label", "tooltip", "row")
    indexed.clicks("Not read 1")
    [row] = indexed.rows("Files")
    assert MARK in row[0]
    shows("row", "tooltip")


@pytest.mark.parametrize(
    "button",
    ["Collections…", "Add web links…", f"Options for papers <b>{MARK}"],
    ids=["collections", "links", "options"],
)
def test_the_dialogs_of_the_library(indexed: Person, button: str) -> None:
    if button.startswith("Options"):
        indexed.clicks("Folders")
    indexed.clicks(button)
    indexed.waits_until(lambda: bool(dialogs(indexed)))
    shows("row")
    dialogs(indexed)[0].reject()


def test_the_text_of_a_document(indexed: Person) -> None:
    table = indexed.window.findChildren(DocumentsTable)[0]
    for document in indexed.app.services.library.documents.all():
        table.view_requested.emit(document)
        indexed.clicks("Open in a window of its own")
    indexed.waits_until(lambda: {"text", "window title"} <= kinds_that_show(MARK))
    shows("label", "text", "window title", "row")


def test_a_chat_about_it(indexed: Person, server: ChatServer) -> None:
    server.answer = (
        f"{WORSE} is lit [1]. ![{WORSE}]({WORSE}) <{WORSE}> [{WORSE}](http://a.b/{MARK})"
    )
    use(indexed, server)
    indexed.presses("Ctrl+1")
    indexed.asks(f"When is {WORSE} lamp lit?")
    indexed.sees("Cited · 1")
    shows("label", "tooltip", "row", "text")
    indexed.waits_until(lambda: any(check.isVisible() for check in checks(indexed)))
    next(check for check in checks(indexed) if check.isVisible()).click()
    shows("label", "text")
    indexed.clicks("Rewrite answer")
    indexed.waits_until(lambda: bool(dialogs(indexed)))
    shows("text")
    dialogs(indexed)[0].reject()


def test_faults_of_an_endpoint(indexed: Person, server: ChatServer) -> None:
    server.mode, server.error = "status", {"error": {"message": f"no {WORSE}"}}
    use(indexed, server)
    indexed.presses("Ctrl+1")
    indexed.asks(f"When is {WORSE} lamp lit?")
    indexed.sees("The endpoint failed.")
    shows("label")


def test_models_and_the_result_of_their_test(indexed: Person, server: ChatServer) -> None:
    server.models = (f"m{WORSE}", WORSE)
    use(indexed, server, model=WORSE)
    indexed.presses("Ctrl+4")
    indexed.clicks("Test")
    indexed.sees("answered after")
    shows("label", "row", "field")


def test_notices_and_questions(person: Person, qtbot: QtBot) -> None:
    person.app.bridge.post(AppError(WORSE, WORSE))
    person.sees(WORSE)
    person.window.notices.offer(Notice(WORSE, WORSE), "Undo", lambda: None)
    shows("label")
    box = confirm_and_open("https://a.example/?q=%3Cb%3E", person.window)
    assert box is not None
    assert box.textFormat() is Qt.TextFormat.PlainText
    box.reject()


def test_a_chat_of_that_name(indexed: Person, tmp_path: Path) -> None:
    indexed.presses("Ctrl+1")
    indexed.asks(f"{WORSE} lamp?")
    indexed.sees("Excerpts from your documents")
    shows("row", "tooltip", "label")
    exported(indexed, tmp_path / f"{MARK}.md")
    indexed.sees(f"Exported to {tmp_path / MARK}.md")
    shows("label")


def test_assistants_of_that_name(indexed: Person, server: ChatServer) -> None:
    use(indexed, server, model=WORSE)
    assistants = indexed.app.services.chat.assistants
    keeper = assistants.add(Assistant("", f"a{WORSE}"[:80], WORSE, server.base_url, WORSE))
    indexed.presses("Ctrl+1")
    page = indexed.window.chat_page
    page.refresh()
    [choice] = indexed.window.findChildren(AssistantChoice)
    indexed.waits_until(lambda: len(choice.menu().actions()) > 3)
    choice.choose(keeper.assistant_id)
    shows("button", "tooltip")
    choice.list_requested.emit()
    indexed.clicks("Edit…")
    indexed.waits_until(lambda: len(dialogs(indexed)) == 2)
    shows("row", "label", "field", "text")
    indexed.clicks("Cancel")
    indexed.clicks("Delete")
    indexed.sees(f"Deleted “a{WORSE}"[:60])
    shows("label")
    indexed.clicks("Close")


def checks(person: Person) -> list[QAbstractButton]:
    """The results of the checks below the answers."""
    return person.window.findChildren(QAbstractButton, "claimSummary")


def exported(person: Person, path: Path) -> None:
    """Export the open chat to a file."""
    menus = person.window.chat_page.findChildren(QMenu)
    [export] = [a for menu in menus for a in menu.actions() if a.text() == "Export…"]
    export.trigger()
    dialog = person.window.findChildren(QFileDialog)[-1]
    # The proposed name must not look like HTML, because Qt's own question guesses.
    assert not any("<" in name for name in dialog.selectedFiles())
    dialog.fileSelected.emit(str(path))
    dialog.reject()


def use(person: Person, server: ChatServer, model: str = "test-model") -> None:
    settings = Settings(endpoint=EndpointSettings(server.base_url, model))
    person.app.services.chat.apply(settings)
    person.window.show_settings(settings)
