"""Untrusted text in the message view: nothing is loaded, only citations and web links work."""

import socket
from collections.abc import Iterator
from dataclasses import replace
from typing import cast

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt, QUrl
from PySide6.QtGui import QGuiApplication, QHelpEvent, QTextCursor, QTextLine
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.parsed import Anchor
from desktop_rag.features.evaluation.ui.judging_dialog import AnswerText
from desktop_rag.ui.documents.sources_panel import PassageText
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.markdown.markdown_html import cited_places
from desktop_rag.ui.messages.answer_body import AnswerBody, SegmentView
from desktop_rag.ui.messages.cited_text import citation_tip
from desktop_rag.ui.viewers.page_viewer import PageBrowser

SOURCES = tuple(
    SourceRef(n, f"d{n}", f"{n}.md", "A <b>title</b>", Anchor(page=n), f"<b>Text</b> of {n}.", 0.5)
    for n in (1, 2)
)


@pytest.fixture
def server() -> Iterator[socket.socket]:
    """A listening socket that must never be connected to."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        yield server


@pytest.fixture
def body(theme: Theme, qtbot: QtBot) -> AnswerBody:
    body = AnswerBody(theme)
    qtbot.addWidget(body)
    body.resize(600, 400)
    body.show()
    return body


def views(body: AnswerBody) -> list[SegmentView]:
    return body.findChildren(SegmentView)


@pytest.mark.parametrize("is_streamed", [False, True])
def test_images_are_never_loaded(
    body: AnswerBody, server: socket.socket, *, is_streamed: bool
) -> None:
    """S-01, for streamed and stored answers."""
    port = server.getsockname()[1]
    text = (
        "![one](file:///dev/zero) ![two](//evil/share/a.png) "
        f"![three](http://127.0.0.1:{port}/a) <img src='file:///dev/zero'> "
        "&lt;img src=/dev/zero&gt; ![four](data:image/svg+xml;base64,AAAA) "
        f"![five][1]\n\n[1]: http://127.0.0.1:{port}/b\n[five]: file:///dev/zero"
    )
    for end in range(1, len(text), 7) if is_streamed else ():
        body.show_text(text[:end], SOURCES, is_live=True)
        body.grab()
    body.show_text(text, SOURCES)
    body.grab()
    shown = views(body)[0].toPlainText()
    assert all(f"[image: {name}]" in shown for name in ("one", "two", "three", "four"))
    assert "<img src='file:///dev/zero'>" in shown
    assert "\N{OBJECT REPLACEMENT CHARACTER}" not in shown
    with pytest.raises(TimeoutError):
        server.accept()


def test_even_html_that_asks_for_files_gets_none(theme: Theme, qtbot: QtBot) -> None:
    view = SegmentView(theme)
    qtbot.addWidget(view)
    view.resize(300, 200)
    view.show()
    view.show_html("<img src='file:///dev/zero'><img src='/dev/zero'>x", ())
    view.grab()
    assert view.toPlainText().endswith("x")


@pytest.mark.parametrize("name", ["file:///dev/zero", "/dev/zero", "http://127.0.0.1/a", "qrc:/x"])
@pytest.mark.parametrize("kind", [1, 2, 3, 100])
def test_every_resource_is_an_empty_picture(
    theme: Theme, qtbot: QtBot, name: str, kind: int
) -> None:
    """S-02: with None, Qt would read the file itself."""
    text = PassageText(theme, "text", "")
    for view in (SegmentView(theme), text, PageBrowser(theme), AnswerText(theme, "answer")):
        qtbot.addWidget(view)
        assert view.loadResource(kind, QUrl(name)).isNull()


def first_view(body: AnswerBody, qtbot: QtBot) -> SegmentView:
    """The first segment, once it is laid out."""
    qtbot.waitUntil(lambda: views(body)[0].width() == body.width())
    return views(body)[0]


def pill(view: SegmentView, n: int) -> QPoint:
    """A point inside the citation of source n."""
    rect = view.cursorRect(cursor_at(view, f"[{n}]"))
    return rect.center() + QPoint(4, 0)


def cursor_at(view: SegmentView, text: str) -> QTextCursor:
    cursor = QTextCursor(view.document())
    cursor.setPosition(view.toPlainText().index(text) + 1)
    return cursor


def test_a_click_on_a_citation_emits_its_source(body: AnswerBody, qtbot: QtBot) -> None:
    body.show_text("First [1] and second [2], but not [3].", SOURCES)
    view = first_view(body, qtbot)
    with qtbot.waitSignal(body.citation_clicked) as clicked:
        qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=pill(view, 2))
    assert clicked.args == [SOURCES[1]]
    assert view.anchorAt(pill(view, 3)) == ""


TABLE = """Of the lamp [1].

| What | 2024 |
|---|---|
| Oil for the lamp | 700 [1] |
| Wicks for the lamp | 120 [1] |
"""


@pytest.mark.parametrize(
    ("text", "number", "quote"),
    [
        ("The lamp burns [1]. 😀 The keeper sleeps by day [1].", 0, "The lamp burns all night."),
        ("The lamp burns [1]. 😀 The keeper sleeps by day [1].", 1, "By day the keeper sleeps."),
        ("The lamp burns.\n\n[1] The keeper sleeps.", 0, "By day the keeper sleeps."),
        (TABLE, 1, "Oil for the lamp 700 650"),
        (TABLE, 2, "Wicks for the lamp 120 90"),
        ("Of ships [1].", 0, ""),
    ],
)
def test_a_citation_quotes_what_supports_its_own_sentence(
    body: AnswerBody, qtbot: QtBot, text: str, number: int, quote: str
) -> None:
    passage = (
        "The lamp burns all night.\nOil for the lamp 700 650\nWicks for the lamp 120 90\n"
        "By day the keeper sleeps."
    )
    source = replace(SOURCES[0], text=passage, start=100, end=100 + len(passage))
    body.show_text(text, [source])
    qtbot.waitUntil(lambda: body.is_rendered and views(body)[0].width() == body.width())
    cited = [(view, start) for view in views(body) for start, _ in cited_places(view.document())]
    view, start = cited[number]
    cursor = QTextCursor(view.document())
    cursor.setPosition(start + 1)
    place = view.cursorRect(cursor).center() + QPoint(4, 0)
    with qtbot.waitSignal(body.citation_clicked) as clicked:
        qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert clicked.args
    [quoting] = clicked.args
    assert quoting.quote == quote
    assert passage[quoting.start - 100 : quoting.end - 100] == (quote or passage)
    assert quote.removesuffix(" 650").removesuffix(" 90") in tooltip_at(view, place)


def test_a_click_on_a_web_link_is_emitted_not_followed(body: AnswerBody, qtbot: QtBot) -> None:
    body.show_text("See [the page](https://example.org/a).", SOURCES)
    view = first_view(body, qtbot)
    point = view.cursorRect(cursor_at(view, "the page")).center() + QPoint(4, 0)
    with qtbot.waitSignal(body.address_clicked) as clicked:
        qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=point)
    assert clicked.args == ["https://example.org/a"]


@pytest.mark.parametrize("href", ["cite:9", "file:///etc/passwd", "cite:../x", "javascript:x"])
def test_forged_links_do_nothing(body: AnswerBody, qtbot: QtBot, href: str) -> None:
    body.show_text("Text [1].", SOURCES)
    view = views(body)[0]
    with (
        qtbot.assertNotEmitted(body.citation_clicked),
        qtbot.assertNotEmitted(body.address_clicked),
    ):
        view.anchorClicked.emit(QUrl(href))


def tooltip_at(view: SegmentView, point: QPoint) -> str:
    place = view.viewport().mapToGlobal(point)
    QApplication.sendEvent(view.viewport(), QHelpEvent(QEvent.Type.ToolTip, point, place))
    return QToolTip.text()


def test_hovering_a_citation_shows_its_passage_literally(body: AnswerBody, qtbot: QtBot) -> None:
    body.show_text("First [1] and [a page](https://example.org/a) and so on.", SOURCES)
    view = first_view(body, qtbot)
    words = "&lt;b&gt;Text&lt;/b&gt; of 1."
    assert tooltip_at(view, pill(view, 1)) == f"<qt>{words}<br><br>1.md · page 1</qt>"
    point = view.cursorRect(cursor_at(view, "a page")).center() + QPoint(4, 0)
    assert tooltip_at(view, point) == "<qt>https://example.org/a</qt>"
    tooltip_at(view, QPoint(580, 5))
    qtbot.waitUntil(lambda: not QToolTip.isVisible())


def test_a_long_passage_is_shortened_to_its_cited_words() -> None:
    long = replace(SOURCES[0], text="before " * 90 + "The words." + " after" * 90)
    assert len(citation_tip(long)) < 400
    assert citation_tip(replace(long, quote="The words.")) == "The words.\n\n1.md · page 1"


@pytest.mark.parametrize(
    "text",
    [
        "يضاء المصباح عند الغسق [1] كل ليلة [2].",
        "המנורה נדלקת [1] עם ערב [2].",
        "At dusk [1], yes [2].",
    ],
)
def test_a_pill_covers_its_number_and_no_word(body: AnswerBody, qtbot: QtBot, text: str) -> None:
    body.show_text(text, SOURCES)
    view = first_view(body, qtbot)
    view.grab()
    pills = view.pills()
    assert len(pills) == 2
    assert all(10 < rect.width() < 40 for rect in pills)
    block = view.document().begin()
    line = block.layout().lineAt(0)
    for place, letter in enumerate(block.text()):
        if letter.isalpha():
            middle = middle_of(line, place)
            assert not any(rect.left() <= middle <= rect.right() for rect in pills), letter
    digit = block.text().index("1")
    assert any(rect.left() <= middle_of(line, digit) <= rect.right() for rect in pills)


def middle_of(line: QTextLine, place: int) -> float:
    """The middle of a character; Qt gives each edge with its place."""
    edges = [cast("tuple[float, int]", line.cursorToX(place, edge)) for edge in QTextLine.Edge]
    return sum(x for x, _ in edges) / 2


def test_a_copied_citation_keeps_its_brackets(body: AnswerBody) -> None:
    body.show_text("First [1] and second [2].", SOURCES)
    views(body)[0].selectAll()
    views(body)[0].copy()
    assert QGuiApplication.clipboard().text() == "First [1] and second [2]."


def test_it_is_as_high_as_its_text(body: AnswerBody, qtbot: QtBot) -> None:
    body.show_text("One line.", SOURCES)
    view = first_view(body, qtbot)
    low = view.height()
    body.show_text("Many words. " * 100, SOURCES)
    qtbot.waitUntil(lambda: view.height() > 3 * low)
    wide = view.height()
    body.resize(300, 400)
    qtbot.waitUntil(lambda: view.height() > wide)


def test_the_passage_is_shown_literally(theme: Theme, qtbot: QtBot) -> None:
    text = "A <img src=&#47;dev&#47;zero> <b>passage</b> & more."
    passage = PassageText(theme, text, "<b>passage</b>")
    qtbot.addWidget(passage)
    passage.grab()
    assert passage.toPlainText() == text
