"""The answers to a scheduled question: what of them can be opened, and what can't."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QHelpEvent, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.parsed import Anchor
from desktop_rag.features.schedules.ui.schedule_reading import RunView
from desktop_rag.features.schedules.values.scheduled_question import (
    ComparedSentence,
    ScheduledRun,
    SentenceChange,
)
from desktop_rag.ui.foundation.theme import Theme

SOURCE = SourceRef(
    1, "d", "/papers/lamp.md", "Lamp", Anchor(page=2), "At dusk.", 1.0, "At dusk.", is_cited=True
)
RUN = ScheduledRun("r", "q", 1.0, "When?", "It is lit **at dusk** [1], not at [2].",
                  sources=(SOURCE,))  # fmt: skip
CHANGED = replace(RUN, compared=(
    ComparedSentence(SentenceChange.CHANGED, "It is <b>lit</b> at dusk.", "At noon.", (1, 2)),
))  # fmt: skip


@pytest.fixture
def view(theme: Theme, qtbot: QtBot) -> RunView:
    view = RunView(theme)
    qtbot.addWidget(view)
    view.resize(500, 400)
    view.show()
    qtbot.waitActive(view)
    return view


def place_of(view: RunView, words: str) -> QPoint:
    cursor = QTextCursor(view.document())
    cursor.setPosition(view.toPlainText().index(words) + 1)
    return view.cursorRect(cursor).center() + QPoint(2, 0)


def click(view: RunView, words: str) -> None:
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place_of(view, words))


@pytest.mark.parametrize("run", [RUN, CHANGED])
@pytest.mark.parametrize("words", ["[1]", "[1] /papers/lamp.md, page 2"])
def test_a_citation_and_a_source_are_read(view: RunView, run: ScheduledRun, words: str) -> None:
    read: list[SourceRef] = []
    view.read_requested.connect(read.append)
    view.show_run(run)
    click(view, words)
    assert read == [SOURCE]


@pytest.mark.parametrize("run", [RUN, CHANGED])
def test_a_number_without_a_source_is_text(view: RunView, run: ScheduledRun) -> None:
    view.show_run(run)
    assert view.anchorAt(place_of(view, "[1]"))
    assert not view.anchorAt(place_of(view, "[2]"))


def test_the_keyboard_reaches_a_citation(view: RunView) -> None:
    read: list[SourceRef] = []
    view.read_requested.connect(read.append)
    view.show_run(RUN)
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_Tab)
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert read == [SOURCE]


def test_sentences_of_documents_stay_text(view: RunView) -> None:
    view.show_run(CHANGED)
    assert "Changed: It is <b>lit</b> at dusk. [1] [2]" in view.toPlainText()


def test_the_pointer_on_a_citation_shows_the_passage(view: RunView, qtbot: QtBot) -> None:
    view.show_run(RUN)
    place = place_of(view, "[1]")
    event = QHelpEvent(QEvent.Type.ToolTip, place, view.viewport().mapToGlobal(place))
    QApplication.sendEvent(view.viewport(), event)
    qtbot.waitUntil(lambda: "At dusk." in QToolTip.text())
    assert "lamp.md" in QToolTip.text()
