"""The window with the passages of a document, over a real library."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLineEdit, QListView, QWidget
from pytestqt.qtbot import QtBot

from desktop_rag.ingest.library import Library
from desktop_rag.store.duckdb.database.database import Database
from desktop_rag.ui.documents.document_opener import DocumentDetails
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.viewers.viewer import DocumentSpan
from tests.unit.ui.rooms import button, field, make_library, marked_words, texts

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
        view.resize(1_040, 720)
        view.show()
        qtbot.waitUntil(lambda: says(view, name))
        return view

    return open_view


def says(view: DocumentDetails, text: str) -> bool:
    return any(text in shown for shown in texts(view))


@pytest.mark.everyday
def test_it_shows_the_passage_and_the_quote_in_it(
    show: Callable[..., DocumentDetails], qtbot: QtBot
) -> None:
    view = show("lamp.md", "trims the wick")
    qtbot.waitUntil(lambda: marked_words(view) == ["trims the wick"])
    assert field(view, QListView, "Passages").currentIndex().row() == 0
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
    qtbot.waitUntil(lambda: marked_words(view) == ["The 🔦 keeper trims the wick at dusk."])
    button(view, "Next passage").click()
    qtbot.waitUntil(lambda: marked_words(view) == ["Oil comes by boat."])
    button(view, "Next passage").click()
    assert field(view, QListView, "Passages").currentIndex().row() == 1
    button(view, "Copy passage").click()
    assert QGuiApplication.clipboard().text() == "Oil comes by boat."
    button(view, "Previous passage").click()
    assert says(view, "1 of 2 · Lamp")


@pytest.mark.slow
def test_words_are_found_in_the_text(show: Callable[..., DocumentDetails], qtbot: QtBot) -> None:
    view = show("lamp.md")
    qtbot.waitUntil(lambda: bool(marked_words(view)))
    button(view, "Find in the document (Ctrl+F)").click()
    find = field(view, QLineEdit, "Find in the document")
    find.setText("BOAT")
    qtbot.waitUntil(lambda: "boat" in marked_words(view))
    find.setText("submarine")
    qtbot.waitUntil(lambda: "boat" not in marked_words(view))


@pytest.mark.everyday
def test_a_document_without_passages_shows_the_reason(show: Callable[..., DocumentDetails]) -> None:
    view = show("nothing.txt")
    assert says(view, "Empty file.")
    assert not button(view, "Next passage").isEnabled()
