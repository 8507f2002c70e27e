"""The window with the passages of a document, over a real library."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLineEdit, QListView, QWidget
from pytestqt.qtbot import QtBot

from desktop_rag.ingest.library import Library
from desktop_rag.store.duckdb.database.database import Database
from desktop_rag.ui.documents.document_opener import DocumentDetails, DocumentText
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.viewers.viewer import DocumentSpan
from tests.unit.ui.rooms import button, field, make_library, texts

Widget = TypeVar("Widget", bound=QWidget)
FRONT_MATTER = "---\ndate: 2024-05-01\ntags: [roof, oil lamp]\n---\n"
TEXT = "# Lamp\n\nThe 🔦 keeper trims the wick at dusk.\n\n# Oil\n\nOil comes by boat.\n"


@pytest.fixture
def library(store: Database, tmp_path: Path) -> Iterator[Library]:
    made = make_library(store, tmp_path / "home")
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "lamp.md").write_text(FRONT_MATTER + TEXT)
    (folder / "nothing.txt").write_text("")
    made.sources.add(folder)
    made.start(watch=False)
    assert made.indexing.wait_until_idle(30)
    yield made
    made.close()


@pytest.fixture
def show(
    library: Library, theme: Theme, bridge: Bridge, qtbot: QtBot
) -> Callable[..., DocumentDetails]:
    parent = QWidget()
    qtbot.addWidget(parent)

    def open_view(name: str, quote: str = "") -> DocumentDetails:
        ids = {d.path.name: d.document_id for d in library.documents.all()}
        text = library.documents.text(ids[name])
        start = text.find(quote) if quote else 0
        end = start + len(quote) if quote else 0
        view = DocumentDetails(bridge, library, theme, DocumentSpan(ids[name], start, end), parent)
        view.show()
        qtbot.waitUntil(lambda: says(view, name))
        return view

    return open_view


def inside(view: DocumentDetails, kind: type[Widget]) -> Widget:
    found = view.findChild(kind)
    assert isinstance(found, kind)
    return found


def says(view: DocumentDetails, text: str) -> bool:
    return any(text in shown for shown in texts(view))


def marked(view: DocumentDetails) -> list[str]:
    texts = inside(view, DocumentText).extraSelections()
    return [selection.cursor.selectedText() for selection in texts]


@pytest.mark.everyday
def test_it_shows_the_passage_and_the_quote_in_it(show: Callable[..., DocumentDetails]) -> None:
    view = show("lamp.md", "trims the wick")
    assert marked(view) == ["The 🔦 keeper trims the wick at dusk.", "trims the wick"]
    assert says(view, "1 of 2 · Lamp")


@pytest.mark.slow
def test_it_shows_the_date_and_the_tags_of_the_front_matter(
    show: Callable[..., DocumentDetails],
) -> None:
    view = show("lamp.md")
    assert says(view, "2024-05-01 · #roof, #oil lamp")
    assert not says(view, "tags:")


@pytest.mark.slow
def test_stepping_through_the_passages(show: Callable[..., DocumentDetails], qtbot: QtBot) -> None:
    view = show("lamp.md")
    button(view, "Next passage").click()
    assert marked(view) == ["Oil comes by boat."]
    button(view, "Next passage").click()
    assert field(view, QListView, "Passages").currentIndex().row() == 1
    button(view, "Copy passage").click()
    assert QGuiApplication.clipboard().text() == "Oil comes by boat."
    button(view, "Previous passage").click()
    assert says(view, "1 of 2 · Lamp")


@pytest.mark.slow
def test_words_are_found_in_the_text(show: Callable[..., DocumentDetails], qtbot: QtBot) -> None:
    view = show("lamp.md")
    find = field(view, QLineEdit, "Find in text")
    find.setText("BOAT")
    qtbot.keyClick(find, Qt.Key.Key_Return)
    assert inside(view, DocumentText).textCursor().selectedText() == "boat"
    find.setText("submarine")
    qtbot.keyClick(find, Qt.Key.Key_Return)
    assert says(view, "Not found")


@pytest.mark.everyday
def test_a_document_without_passages_shows_the_reason(show: Callable[..., DocumentDetails]) -> None:
    view = show("nothing.txt")
    assert says(view, "Empty file.")
    assert not button(view, "Next passage").isEnabled()
