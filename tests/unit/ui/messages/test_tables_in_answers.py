"""Tables in a narrow answer: words stay whole, and what has no room is scrolled to."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QTextBlock, QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.parsed import Anchor
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.messages.answer_body import AnswerBody, CopyButton, SegmentView

SOURCES = (SourceRef(1, "d", "d.md", "A title", Anchor(), "Text.", 0.5),)
WIDE = """Before the table.

| Company | Fiscal year | Revenue (million USD) | Operating income | Net income | Remarks |
|---|---:|---:|---:|---:|---|
| 3M Company | 2018 | 32,765 | 7,207 | 5,349 | Restructuring charges [1] of the year |
"""
LONG = "| Word |\n|---|\n| " + 3 * "Donaudampfschifffahrtsgesellschaft" + " |"


@pytest.fixture
def body(theme: Theme, qtbot: QtBot) -> AnswerBody:
    body = AnswerBody(theme)
    qtbot.addWidget(body)
    return body


def shown(body: AnswerBody, text: str, width: int) -> SegmentView:
    """The part of the answer with its first table."""
    body.resize(width, 400)
    body.show()
    body.show_text(text, SOURCES)
    while not body.is_rendered:
        QApplication.processEvents()
    QApplication.processEvents()
    return next(v for v in body.findChildren(SegmentView) if v.findChildren(CopyButton))


def lines(view: SegmentView) -> Iterator[list[str]]:
    """The lines of each paragraph as they are shown."""
    block: QTextBlock = view.document().begin()
    while block.isValid():
        layout = block.layout()
        rows = (layout.lineAt(n) for n in range(layout.lineCount()))
        yield [block.text()[r.textStart() : r.textStart() + r.textLength()] for r in rows]
        block = block.next()


@pytest.mark.parametrize("width", [340, 400, 450, 500, 700])
def test_words_stay_whole(body: AnswerBody, width: int) -> None:
    view = shown(body, WIDE, width)
    ends = [line[-1] for rows in lines(view) for line in rows[:-1]]
    assert ends, "something wraps"
    assert set(ends) == {" "}


@pytest.mark.parametrize(("width", "is_scrolled"), [(400, True), (560, False), (700, False)])
def test_a_table_is_scrolled_where_its_words_have_no_room(
    body: AnswerBody, *, width: int, is_scrolled: bool
) -> None:
    view = shown(body, WIDE, width)
    bar = view.horizontalScrollBar()
    assert bar.isVisible() == is_scrolled
    room = view.height() - view.document().size().height()
    assert room >= (bar.height() if is_scrolled else 0), "the bar covers no text"


def test_citations_and_buttons_move_with_the_table(body: AnswerBody) -> None:
    view = shown(body, WIDE, 400)
    copy, before = view.findChildren(CopyButton)[0], view.cursorRect().left()
    at = copy.x()
    turned = QWheelEvent(
        QPointF(5, 5), QPointF(5, 5), QPoint(-40, 0), QPoint(-120, 0),
        Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(view.viewport(), turned)
    moved = view.horizontalScrollBar().value()
    assert moved > 0
    assert at - copy.x() == before - view.cursorRect().left() == moved


def test_a_wide_table_is_scrolled_by_itself(body: AnswerBody) -> None:
    shown(body, f"{WIDE}\nAfter the table.\n\n| A | B |\n|---|---|\n| a | b |", 400)
    views = body.findChildren(SegmentView)
    assert [v.toPlainText().split()[0] for v in views] == ["Before", "Company", "After"]
    assert [v.horizontalScrollBar().isVisible() for v in views] == [False, True, False]


def test_a_very_long_word_is_broken(body: AnswerBody) -> None:
    view = shown(body, LONG, 400)
    assert not view.horizontalScrollBar().isVisible()
    assert max(map(len, lines(view))) > 1
