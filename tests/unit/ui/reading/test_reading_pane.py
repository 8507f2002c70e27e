"""The pane that shows documents, over a real library."""

import os
from collections.abc import Callable, Iterator
from email.message import EmailMessage
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLineEdit, QSpinBox, QTableView, QTextEdit
from pytestqt.qtbot import QtBot

from desktop_rag.core.library_events import Notice
from desktop_rag.ingest.library import Library
from desktop_rag.store.duckdb.database.database import Database
from desktop_rag.ui.documents.document_opener import DocumentOpener
from desktop_rag.ui.foundation.ask_request import Wanted
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.reading.reading_pane import ReadingPane
from desktop_rag.ui.viewers.code_viewer import CodeEditor
from desktop_rag.ui.viewers.page_viewer import PageBrowser
from desktop_rag.ui.viewers.pages_viewer import PageCanvas, PagesViewer
from desktop_rag.ui.viewers.sheet_viewer import SheetModel, SheetViewer
from desktop_rag.ui.viewers.viewer import DocumentSpan
from desktop_rag.ui.widgets.marked_text import MarkedText
from tests.unit.ingest.read.samples import make_pdf
from tests.unit.ui.rooms import button, field, make_library, marked_words, texts

PAGES = ["First page of all", "The wick is trimmed twice", "Oil comes by boat", "The wick again"]
LAMP = "# Lamp\n\nThe 🔦 keeper **trims** the wick at dusk.\n\n# Oil\n\nOil comes by boat.\n"
CODE = (
    'def lit(hour):\n    """At dusk."""\n    return hour > 18\n' + "x = 1\n" * 200 + "late = 20\n"
)
NOTE = (
    "# Our note\n\nTrimmed twice [[1]](report.pdf). Oil by boat [[2]](report.pdf). See"
    " [the lamp](lamp.md#oil), [secret](../../etc/a%20b) and [web](https://example.org).\n\n"
    "## Sources\n\n1. [report](report.pdf), page 2\n2. [report](report.pdf), page 3\n"
)
ROWS = "region,keeper\n" + "".join(f"north,keeper {n}\n" for n in range(2, 400))

Read = Callable[[str, str], ReadingPane]


def mail() -> bytes:
    message = EmailMessage()
    message["From"], message["To"] = "Ada <ada@example.org>", "Keeper <keeper@example.org>"
    message["Subject"], message["Date"] = "Oil in June", "Fri, 11 Jul 2025 21:00:37 +0200"
    message.set_content("Dear keeper,\n\nthe oil comes by boat.\n")
    message.add_attachment(b"Forty barrels.", maintype="text", subtype="plain", filename="list.txt")
    return bytes(message)


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("papers")
    (folder / "lamp.md").write_text(LAMP, encoding="utf-8")
    (folder / "lamp.py").write_text(CODE)
    (folder / "our note.md").write_text(NOTE)
    (folder / "keepers.csv").write_text(ROWS)
    (folder / "report.pdf").write_bytes(make_pdf(PAGES))
    (folder / "oil.eml").write_bytes(mail())
    return folder


@pytest.fixture
def library(store: Database, tmp_path: Path, papers: Path) -> Iterator[Library]:
    made = make_library(store, tmp_path / "home")
    made.sources.add(papers)
    made.start(watch=False)
    assert made.indexing.wait_until_idle(30)
    yield made
    made.close()


@pytest.fixture
def pane(library: Library, theme: Theme, bridge: Bridge, qtbot: QtBot) -> ReadingPane:
    pane = ReadingPane(bridge, library, theme)
    qtbot.addWidget(pane)
    DocumentOpener(bridge, library, theme, pane).serve(pane)
    pane.resize(620, 500)
    pane.show()
    return pane


def place_of(library: Library, name: str, quote: str) -> DocumentSpan:
    document = next(d for d in library.documents.all() if d.name == name)
    start = library.documents.text(document.document_id).index(quote)
    return DocumentSpan(document.document_id, start, start + len(quote), quote, name, quote)


@pytest.fixture
def read(pane: ReadingPane, library: Library, qtbot: QtBot) -> Read:
    def open_at(name: str, quote: str) -> ReadingPane:
        pane.read(place_of(library, name, quote))
        qtbot.waitUntil(lambda: pane.viewers.viewer is not None and says(pane, name))
        return pane

    return open_at


def says(pane: ReadingPane, text: str) -> bool:
    return any(text in shown for shown in texts(pane))


@pytest.mark.slow
def test_markdown_is_a_page_with_the_words_marked(read: Read, qtbot: QtBot) -> None:
    pane = read("lamp.md", "keeper **trims** the wick")
    qtbot.waitUntil(lambda: marked_words(pane) == ["keeper trims the wick"])
    assert says(pane, "Lamp")
    assert "**" not in field(pane, QTextEdit, "Document").toPlainText()


@pytest.mark.slow
def test_code_has_colours_and_the_line(read: Read, theme: Theme, qtbot: QtBot) -> None:
    pane = read("lamp.py", "late = 20")
    qtbot.waitUntil(lambda: marked_words(pane) == ["late = 20"])
    code = field(pane, CodeEditor, "Source code")
    qtbot.waitUntil(lambda: says(pane, "line 204"))

    def colours() -> set[str]:
        code.grab()
        block = code.firstVisibleBlock()
        return {f.format.foreground().color().name() for f in block.layout().formats()}

    qtbot.waitUntil(lambda: theme.colour("code_number").name() in colours(), timeout=20_000)


@pytest.mark.slow
def test_a_sheet_is_a_grid_with_the_cell_marked(read: Read, qtbot: QtBot) -> None:
    pane = read("keepers.csv", "keeper 300")
    table = pane.findChildren(SheetViewer)[0].table
    model = table.model()
    assert isinstance(model, SheetModel)
    qtbot.waitUntil(lambda: model.is_cited(299, 1))
    assert not model.is_cited(299, 0)
    assert not model.is_cited(298, 1)
    assert model.headerData(299, Qt.Orientation.Vertical) == "300"
    shown = table.visualRect(model.index(299, 1))
    assert table.viewport().rect().contains(shown.center())
    qtbot.waitUntil(lambda: says(pane, "cell B300"))
    ground = table.viewport().grab().toImage().pixelColor(shown.right() - 3, shown.center().y())
    assert ground == model.data(model.index(299, 1), Qt.ItemDataRole.BackgroundRole).color()


@pytest.mark.slow
def test_a_mail_has_its_head_and_attachments_that_open(read: Read, qtbot: QtBot) -> None:
    pane = read("oil.eml", "the oil comes")
    qtbot.waitUntil(lambda: "the oil comes" in marked_words(pane))
    head = {line.accessibleName(): line.toPlainText() for line in pane.findChildren(MarkedText)}
    assert head["From"] == "Ada <ada@example.org>"
    assert head["Subject"] == "Oil in June"
    button(pane, "list.txt").click()
    qtbot.waitUntil(lambda: "Forty barrels." in page_text(pane))
    QTest.keySequence(pane, QKeySequence("Alt+Left"))
    qtbot.waitUntil(lambda: "the oil comes" in marked_words(pane))
    QTest.keySequence(pane, QKeySequence("Alt+Right"))
    qtbot.waitUntil(lambda: "Forty barrels." in page_text(pane))


def page_text(pane: ReadingPane) -> str:
    return "\n".join(page.toPlainText() for page in pane.findChildren(QTextEdit))


@pytest.mark.slow
def test_a_pdf_is_drawn_at_the_words_and_stepped_through(read: Read, qtbot: QtBot) -> None:
    pane = read("report.pdf", "wick is trimmed")
    qtbot.waitUntil(lambda: says(pane, "page 2 of 4"), timeout=20_000)
    canvas = field(pane, PageCanvas, "Pages")
    assert canvas.page == 2
    button(pane, "Next page").click()
    assert canvas.page == 3
    number = field(pane, QSpinBox, "Page number")
    assert number.lineEdit().width() > number.fontMetrics().horizontalAdvance("444")
    number.setValue(1)
    assert canvas.page == 1
    before = canvas.width_of(1)
    button(pane, "Zoom in").click()
    assert canvas.width_of(1) > before
    button(pane, "Fit width").click()
    assert canvas.width_of(1) == before


@pytest.mark.slow
def test_hits_on_the_pages_are_walked(read: Read, qtbot: QtBot) -> None:
    pane = read("report.pdf", "Oil comes")
    qtbot.waitUntil(lambda: says(pane, "page 3 of 4"), timeout=20_000)
    find(pane, "WICK", qtbot)
    qtbot.waitUntil(lambda: says(pane, "2 of 2"))
    viewer = pane.findChildren(PagesViewer)[0]
    qtbot.waitUntil(lambda: viewer.is_settled and viewer.canvas.page == 4, timeout=20_000)
    QTest.keySequence(pane, QKeySequence("F3"))
    qtbot.waitUntil(lambda: says(pane, "1 of 2") and viewer.canvas.page in {1, 2})


@pytest.mark.slow
def test_a_glance_at_a_pdf_is_at_its_page_and_leaves_the_keyboard(
    pane: ReadingPane, library: Library, qtbot: QtBot
) -> None:
    pane.preview(place_of(library, "report.pdf", "The wick again"), "again the wick")
    qtbot.waitUntil(lambda: says(pane, "page 4 of 4"), timeout=20_000)
    viewer = pane.findChildren(PagesViewer)[0]
    qtbot.waitUntil(lambda: viewer.is_settled and viewer.has_cited_words, timeout=20_000)
    assert viewer.canvas.page == 4
    assert not viewer.isAncestorOf(pane.window().focusWidget())


def find(pane: ReadingPane, words: str, qtbot: QtBot) -> QLineEdit:
    QTest.keySequence(pane, QKeySequence("Ctrl+F"))
    line = field(pane, QLineEdit, "Find in the document")
    assert line.isVisible()
    line.setText(words)
    return line


@pytest.mark.slow
def test_words_are_found_marked_and_walked(read: Read, qtbot: QtBot) -> None:
    pane = read("lamp.md", "Oil comes")
    qtbot.waitUntil(lambda: bool(marked_words(pane)))
    line = find(pane, "OIL", qtbot)
    qtbot.waitUntil(lambda: says(pane, "2 of 2"))
    qtbot.waitUntil(lambda: marked_words(pane).count("Oil") == 2)
    QTest.keyClick(line, Qt.Key.Key_Return)
    assert says(pane, "1 of 2")
    QTest.keyClick(line, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert says(pane, "2 of 2")
    line.setText("submarine")
    qtbot.waitUntil(lambda: says(pane, "Not found"))
    QTest.keyClick(line, Qt.Key.Key_Escape)
    assert not line.isVisible()
    with qtbot.waitSignal(pane.close_requested):
        QTest.keyClick(pane, Qt.Key.Key_Escape)


@pytest.mark.slow
def test_a_file_that_is_gone_is_said_with_its_stored_text(
    library: Library, pane: ReadingPane, papers: Path, qtbot: QtBot
) -> None:
    place = place_of(library, "lamp.md", "Oil comes by boat.")
    (papers / "lamp.md").rename(papers / "away")
    try:
        pane.read(place)
        qtbot.waitUntil(lambda: says(pane, "lamp.md was moved or deleted."))
        assert says(pane, "Below is the text that is stored of it.")
        qtbot.waitUntil(lambda: marked_words(pane) == ["Oil comes by boat."])
        assert button(pane, "Show its folder").isVisible()
    finally:
        (papers / "away").rename(papers / "lamp.md")


@pytest.mark.everyday
def test_a_changed_file_and_changed_words_are_said(
    library: Library, pane: ReadingPane, papers: Path, qtbot: QtBot
) -> None:
    place = place_of(library, "lamp.md", "Oil comes by boat.")
    stat = (papers / "lamp.md").stat()
    (papers / "lamp.md").write_text(LAMP + "More.", encoding="utf-8")
    try:
        pane.read(place)
        qtbot.waitUntil(lambda: says(pane, "The file has changed since it was read."))
    finally:
        (papers / "lamp.md").write_text(LAMP, encoding="utf-8")
        os.utime(papers / "lamp.md", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    lost = DocumentSpan(place.document_id, 3, 20, "Nobody ever wrote these words here.")
    pane.read(lost)
    qtbot.waitUntil(lambda: says(pane, "the cited words are no longer in it"))


@pytest.mark.slow
def test_a_document_that_is_not_in_the_library_shows_its_passage(
    pane: ReadingPane, bridge: Bridge, qtbot: QtBot
) -> None:
    wanted: list[Wanted] = []
    bridge.hear(Wanted, wanted.append)
    pane.read(DocumentSpan("none", 3, 9, "", "Old report", "The passage that was cited."))
    qtbot.waitUntil(lambda: says(pane, "This document is no longer in your library."))
    qtbot.waitUntil(lambda: "The passage that was cited." in page_text(pane))
    button(pane, "Open the library").click()
    qtbot.waitUntil(lambda: wanted == [Wanted.LIBRARY])


@pytest.mark.everyday
def test_without_a_program_it_is_said_quietly(
    read: Read, bridge: Bridge, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    posted: list[object] = []
    bridge.hear(object, posted.append)
    pane = read("lamp.md", "Oil comes by boat.")
    button(pane, "Open in another program").click()
    qtbot.waitUntil(lambda: says(pane, "No program on this computer opens lamp.md."))
    assert not [event for event in posted if not isinstance(event, Notice)]
    assert button(pane, "Show its folder").isVisible()


@pytest.mark.slow
def test_everything_has_a_name_and_is_reached_by_keys(read: Read, qtbot: QtBot) -> None:
    pane = read("report.pdf", "wick is trimmed")
    qtbot.waitUntil(lambda: says(pane, "page 2 of 4"), timeout=20_000)
    canvas = field(pane, PageCanvas, "Pages")
    assert canvas.focusPolicy() & Qt.FocusPolicy.TabFocus
    for control in pane.findChildren(QAbstractButton):
        if control.isVisible():
            face = QAccessible.queryAccessibleInterface(control)
            assert face.text(QAccessible.Text.Name)
            roles = {
                QAccessible.Role.Button,
                QAccessible.Role.CheckBox,
                QAccessible.Role.ButtonMenu,
            }
            assert face.role() in roles, face.text(QAccessible.Text.Name)
    assert QAccessible.queryAccessibleInterface(pane).text(QAccessible.Text.Name) == "Document"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "role"),
    [("lamp.md", QAccessible.Role.StaticText), ("keepers.csv", QAccessible.Role.Table)],
)
def test_the_content_has_its_role(
    read: Read, name: str, role: QAccessible.Role, qtbot: QtBot
) -> None:
    pane = read(name, "keeper")
    kinds = {"lamp.md": (QTextEdit, "Document"), "keepers.csv": (QTableView, "Cells")}
    widget = field(pane, *kinds[name])
    assert QAccessible.queryAccessibleInterface(widget).role() == role


def click_words(pane: ReadingPane, words: str, qtbot: QtBot) -> None:
    """Click the first of these words of a page, once they are there."""
    qtbot.waitUntil(lambda: words in page_text(pane))
    page = field(pane, PageBrowser, "Document")
    cursor = page.document().find(words)
    cursor.setPosition(cursor.selectionStart() + 1)
    place = page.cursorRect(cursor).center() + QPoint(2, 0)
    QTest.mouseClick(page.viewport(), Qt.MouseButton.LeftButton, pos=place)


@pytest.mark.slow
def test_links_of_a_note_lead_to_their_places_in_the_library(read: Read, qtbot: QtBot) -> None:
    pane = read("our note.md", "Trimmed twice")
    click_words(pane, "[1]", qtbot)
    qtbot.waitUntil(lambda: says(pane, "page 2 of 4"))
    QTest.keySequence(pane, QKeySequence("Alt+Left"))
    click_words(pane, "[2]", qtbot)
    qtbot.waitUntil(lambda: says(pane, "page 3 of 4"))
    QTest.keySequence(pane, QKeySequence("Alt+Left"))
    click_words(pane, "the lamp", qtbot)
    qtbot.waitUntil(lambda: "The 🔦 keeper" in page_text(pane))


@pytest.mark.slow
def test_a_link_to_what_the_library_has_not_says_so(read: Read, qtbot: QtBot) -> None:
    pane = read("our note.md", "Trimmed twice")
    click_words(pane, "secret", qtbot)
    qtbot.waitUntil(lambda: says(pane, "What this link names is not in your library."))
    assert says(pane, "../../etc/a b")
    assert "Trimmed twice" in page_text(pane)
