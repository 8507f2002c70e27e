"""Words of printed pages that are selected and copied."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication, QImage
from pytestqt.qtbot import QtBot

from desktop_rag.core.parsed import Box, PageWord
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.viewers.pages_viewer import (
    GAP_PX,
    PageCanvas,
    PagePicture,
    is_on_a_word,
    selected,
    text_of,
    word_at,
)

FIRST = (
    PageWord("The", Box(0.1, 0.1, 0.2, 0.15)),
    PageWord("lamp", Box(0.25, 0.1, 0.4, 0.15), ends_line=True),
    PageWord("is", Box(0.1, 0.2, 0.2, 0.25)),
    PageWord("lit.", Box(0.25, 0.2, 0.4, 0.25)),
)
WORDS = {1: FIRST, 2: (PageWord("Dusk", Box(0.1, 0.1, 0.3, 0.15)),)}


def test_the_nearest_word_is_of_the_line_that_is_pointed_at() -> None:
    assert word_at(FIRST, 0.3, 0.12) == 1
    assert word_at(FIRST, 0.9, 0.23) == 3, "right of the line"
    assert word_at((), 0.5, 0.5) is None
    assert is_on_a_word(FIRST, 0.3, 0.12)
    assert not is_on_a_word(FIRST, 0.9, 0.9)


@pytest.mark.parametrize(
    ("start", "end", "text"),
    [
        ((1, 0), (1, 0), "The"),
        ((1, 3), (1, 1), "lamp\nis lit."),
        ((1, 2), (2, 0), "is lit.\n\nDusk"),
        ((1, 0), (3, 5), "The lamp\nis lit.\n\nDusk"),
    ],
)
def test_the_text_has_the_lines_of_the_page(
    start: tuple[int, int], end: tuple[int, int], text: str
) -> None:
    assert text_of(WORDS, selected(WORDS, start, end)) == text


@pytest.fixture
def canvas(theme: Theme, qtbot: QtBot) -> PageCanvas:
    canvas = PageCanvas(theme)
    qtbot.addWidget(canvas)
    canvas.resize(500, 500)
    canvas.show()
    canvas.show_pages([(400, 400)])
    paper = QImage(400, 400, QImage.Format.Format_RGB32)
    paper.fill(Qt.GlobalColor.white)
    canvas.show_pictures({1: PagePicture(paper, words=FIRST)}, None)
    return canvas


def place(canvas: PageCanvas, x: float, y: float) -> QPoint:
    width = canvas.width_of(1)
    return QPoint(GAP_PX + round(x * width), GAP_PX + round(y * width))


def test_words_are_dragged_over_and_copied(canvas: PageCanvas, theme: Theme, qtbot: QtBot) -> None:
    view, left = canvas.viewport(), Qt.MouseButton.LeftButton
    qtbot.mousePress(view, left, pos=place(canvas, 0.3, 0.12))
    qtbot.mouseMove(view, place(canvas, 0.15, 0.22))
    qtbot.mouseRelease(view, left, pos=place(canvas, 0.15, 0.22))
    assert canvas.selected_text == "lamp\nis"
    canvas.copy()
    assert QGuiApplication.clipboard().text() == "lamp\nis"
    shot = view.grab().toImage()
    assert shot.pixelColor(place(canvas, 0.3, 0.12)) == theme.colour("page_selection")
    qtbot.mouseClick(view, left, pos=place(canvas, 0.8, 0.8))
    assert canvas.selected_text == ""


def test_a_double_click_takes_a_word_and_ctrl_a_the_page(canvas: PageCanvas, qtbot: QtBot) -> None:
    spot = place(canvas, 0.3, 0.22)
    qtbot.mouseDClick(canvas.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    assert canvas.selected_text == "lit."
    canvas.select_page()
    assert canvas.selected_text == "The lamp\nis lit."
    # A picture that is let go of takes no words with it.
    canvas.show_pictures({}, None)
    assert canvas.selected_text == "The lamp\nis lit."


def test_another_document_has_no_selection(canvas: PageCanvas) -> None:
    canvas.select_page()
    canvas.show_pages([(400, 400)])
    assert canvas.selected_text == ""
