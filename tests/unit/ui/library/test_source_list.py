"""The column of source cards: what is asked or new stands where the person looks."""

from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from desktop_rag.core.domain import Source
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.library.document_model import DocumentModel
from desktop_rag.ui.library.source_list import SourceList
from tests.unit.ui.rooms import button

SOURCES = [Source(f"s{n}", "c", Path(f"/docs/folder-{n}"), float(n)) for n in range(9)]


@pytest.fixture
def sources(theme: Theme, qtbot: QtBot) -> SourceList:
    frame = QWidget()
    qtbot.addWidget(frame)
    frame.resize(900, 240)
    shown = SourceList(theme, DocumentModel(frame), frame, frame)
    shown.resize(900, 240)
    shown.set_sources(SOURCES[:8], {})
    frame.show()
    qtbot.waitActive(frame)
    return shown


def test_the_question_of_the_last_card_opens_in_its_place(
    sources: SourceList, qtbot: QtBot
) -> None:
    bar = sources.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 0)
    bar.setValue(bar.maximum())
    last = sources.cards[-1]
    button(last, "Remove folder-7 from the library").click()
    confirm = button(last, "Remove")
    qtbot.waitUntil(lambda: is_whole(confirm))
    button(last, "Keep").click()
    qtbot.waitUntil(lambda: is_whole(button(last, "Open folder-7")))


def test_a_new_card_is_scrolled_to(sources: SourceList, qtbot: QtBot) -> None:
    assert sources.verticalScrollBar().value() == 0
    sources.set_sources(SOURCES, {})
    qtbot.waitUntil(lambda: is_whole(button(sources.cards[-1], "Open folder-8")))


def test_a_card_that_comes_back_stands_in_its_place(sources: SourceList, qtbot: QtBot) -> None:
    sources.set_sources(SOURCES[1:4], {})
    sources.set_sources(SOURCES[:4], {})
    assert [card.source.source_id for card in sources.cards] == ["s0", "s1", "s2", "s3"]
    qtbot.waitUntil(lambda: all(a.y() < b.y() for a, b in pairwise(sources.cards)))


def is_whole(widget: QWidget) -> bool:
    """True when no part of the widget is hidden or scrolled away."""
    return widget.visibleRegion().boundingRect() == widget.rect()
