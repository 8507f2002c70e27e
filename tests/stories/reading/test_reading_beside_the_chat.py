"""A press on a citation opens the document beside the chat, at the cited words."""

from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QHelpEvent, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QTableView, QToolTip

from desktop_rag.core.files.own_files import read_part
from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from desktop_rag.ui.chat.source_reading import SidePanels
from desktop_rag.ui.messages.answer_body import SegmentView
from desktop_rag.ui.reading.reading_pane import ReadingPane, ReadingWindow
from desktop_rag.ui.viewers.pages_viewer import PagesViewer
from desktop_rag.ui.viewers.sheet_viewer import SheetModel
from desktop_rag.ui.window.window_pages import CHAT
from tests.servers.chat_server import ChatServer
from tests.stories.conftest import Person
from tests.unit.ingest.read.samples import make_pdf, make_zip
from tests.unit.ui.rooms import marked_words

LAMP = "The lamp is lit at dusk by the keeper."
PAGES = [
    "Contents of the report on the harbour.",
    f"{LAMP} The wick is trimmed twice a night.",
    "Oil comes by boat in the month of June.",
]


def mail() -> bytes:
    message = EmailMessage()
    message["From"], message["To"] = "Ada <ada@example.org>", "Keeper <keeper@example.org>"
    message["Subject"] = "The lamp"
    message.set_content(f"Dear keeper,\n\n{LAMP}\n")
    return bytes(message)


def slides() -> bytes:
    namespace = (
        'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
        'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
    )

    def slide(text: str) -> str:
        return (
            f"<p:sld {namespace}><p:cSld><p:spTree><p:sp><p:txBody><a:p><a:r><a:t>{text}</a:t>"
            "</a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>"
        )

    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    related = "http://schemas.openxmlformats.org/package/2006/relationships"
    texts = {1: "Welcome to the harbour.", 2: LAMP, 3: "Oil comes by boat."}
    relations = "".join(
        f'<Relationship Id="r{n}" Type="{kind}/slide" Target="slides/slide{n}.xml"/>' for n in texts
    )
    ids = "".join(f'<p:sldId id="{255 + n}" r:id="r{n}"/>' for n in texts)
    return make_zip(
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": f'<Relationships xmlns="{related}"><Relationship Id="r1" '
            f'Type="{kind}/officeDocument" Target="ppt/presentation.xml"/></Relationships>',
            "ppt/presentation.xml": f'<p:presentation {namespace} xmlns:r="{kind}"><p:sldIdLst>'
            f"{ids}</p:sldIdLst></p:presentation>",
            "ppt/_rels/presentation.xml.rels": f'<Relationships xmlns="{related}">{relations}'
            "</Relationships>",
            **{f"ppt/slides/slide{n}.xml": slide(text) for n, text in texts.items()},
        }
    )


FILES: dict[str, Callable[[], bytes]] = {
    "lamp.md": f"# Lamp\n\nBuilt in *1901*.\n\n{LAMP}\n".encode,
    "report.pdf": lambda: make_pdf(PAGES),
    "duties.csv": ("when,what\n" + "noon,nothing\n" * 60 + f"dusk,{LAMP}\n").encode,
    "oil.eml": mail,
    "lamp.py": ("x = 1\n" * 90 + f"# {LAMP}\n" + "y = 2\n" * 90).encode,
    "harbour.pptx": slides,
}


@pytest.fixture
def reader(home: Home, open_window: Callable[[], Person], server: ChatServer) -> Person:
    """A person with an endpoint that cites the source with the lamp."""
    home.create()
    server.answer_to = lambda prompt: f"The lamp is lit at dusk [{number_of(LAMP, prompt)}]."
    save_settings(home.settings, Settings(endpoint=server.endpoint()))
    person = open_window()
    person.window.resize(1366, 768)
    return person


def number_of(words: str, prompt: str) -> int:
    """The number of the first source of a prompt with these words, white space aside."""
    for source in prompt.split("</source-"):
        if " ".join(words.split()) in " ".join(source.split()):
            return int(source.rpartition("\n[")[2].partition("]")[0])
    return 1


def press_citation(person: Person, tmp_path: Path, *names: str) -> ReadingPane:
    """Ask about files of these names, and press the citation."""
    folder = tmp_path / "papers"
    folder.mkdir()
    for name in names:
        (folder / name).write_bytes(FILES[name]())
    person.drops(folder)
    person.sees(f"{len(names)} searchable")
    # Not by keys: the window gets them back only some time after the dialog.
    person.app.window.show_page(CHAT)
    person.asks("When is the lamp lit?")
    # Only a finished answer has the exact words behind each number.
    person.sees("Backed by sources")
    [chat] = person.app.services.chat.history.all()
    answer = person.app.services.chat.history.messages(chat.conversation_id)[-1]
    person.clicks_citation(next(source.n for source in answer.sources if source.is_cited))
    pane = person.app.window.chat_page.reading.pane
    person.waits_until(pane.isVisible)
    return pane


@pytest.mark.slow
@pytest.mark.parametrize("name", ["lamp.md", "oil.eml", "lamp.py", "harbour.pptx"])
def test_the_words_are_marked_in_the_document(reader: Person, tmp_path: Path, name: str) -> None:
    pane = press_citation(reader, tmp_path, name)
    reader.waits_until(lambda: any(LAMP[:-1] in words for words in marked_words(pane)))
    if name == "harbour.pptx":
        reader.sees("Slide 2 of 3")
    if name == "oil.eml":
        reader.sees("Ada <ada@example.org>")


@pytest.mark.everyday
def test_a_pdf_is_shown_at_the_page(reader: Person, tmp_path: Path) -> None:
    pane = press_citation(reader, tmp_path, "report.pdf")
    reader.sees("page 2 of 3")
    [pages] = pane.findChildren(PagesViewer)
    reader.waits_until(lambda: pages.is_settled)
    reader.clicks("Next page")
    reader.sees("page 3 of 3")


@pytest.mark.slow
def test_a_sheet_is_shown_at_its_cells(reader: Person, tmp_path: Path) -> None:
    pane = press_citation(reader, tmp_path, "duties.csv")
    reader.sees("cell A62")
    model = pane.findChildren(QTableView)[0].model()
    assert isinstance(model, SheetModel)
    assert model.is_cited(61, 1)
    assert not model.is_cited(30, 1)


@pytest.mark.slow
def test_find_back_and_a_window_of_its_own(reader: Person, tmp_path: Path) -> None:
    pane = press_citation(reader, tmp_path, "lamp.md")
    reader.waits_until(lambda: bool(marked_words(pane)))
    QTest.keySequence(pane, QKeySequence("Ctrl+F"))
    field = reader.field("Find in the document")
    assert isinstance(field, QLineEdit)
    field.setText("1901")
    reader.sees("1 of 1")
    QTest.keyClick(field, Qt.Key.Key_Escape)
    reader.clicks("Open in a window of its own")
    windows = reader.window.findChildren(ReadingWindow)
    reader.waits_until(lambda: bool(windows) and bool(marked_words(windows[0])))
    windows[0].close()
    QTest.keyClick(pane, Qt.Key.Key_Escape)
    assert not pane.isVisible()
    reader.sees("1 source")


def test_a_document_that_is_gone_shows_what_is_stored(reader: Person, tmp_path: Path) -> None:
    pane = press_citation(reader, tmp_path, "lamp.md")
    reader.waits_until(lambda: bool(marked_words(pane)))
    source = reader.app.services.library.sources.all()[0]
    reader.app.services.library.sources.remove(source.source_id)
    reader.clicks_citation(1)
    reader.sees("This document is no longer in your library.")
    reader.sees(LAMP)


def test_the_pointer_on_a_citation_shows_the_passage(reader: Person, tmp_path: Path) -> None:
    press_citation(reader, tmp_path, "lamp.md")
    view = next(v for v in reader.window.findChildren(SegmentView) if v.isVisible())
    cursor = view.document().find("1]")
    place = view.cursorRect(cursor).center() - QPoint(6, 0)
    help_event = QHelpEvent(QHelpEvent.Type.ToolTip, place, view.viewport().mapToGlobal(place))
    QApplication.sendEvent(view.viewport(), help_event)
    reader.waits_until(lambda: LAMP in QToolTip.text())
    assert "lamp.md" in QToolTip.text()


def test_the_width_is_remembered(
    reader: Person, open_window: Callable[[], Person], tmp_path: Path
) -> None:
    pane = press_citation(reader, tmp_path, "lamp.md")
    sides = reader.window.findChildren(SidePanels)[0]
    right = sides.widget(2)
    assert right
    sides.moveSplitter(right.x() - 60, 2)
    width = pane.width()
    kept = reader.app.services.home.window
    reader.waits_until(lambda: bool(read_part(kept, "reading")))
    reader.closes_the_window()
    again = open_window()
    again.window.resize(1366, 768)
    again.waits_until(lambda: len(again.rows("Chats")) == 1)
    again.opens_row("Chats", 0)
    again.sees("lit at dusk")
    again.clicks_citation(1)
    pane = again.app.window.chat_page.reading.pane
    again.waits_until(lambda: pane.isVisible() and abs(pane.width() - width) < 4)
