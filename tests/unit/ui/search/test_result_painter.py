"""Lines of text in the rows of a search and of the quick ask."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPointF, QRect, Qt
from PySide6.QtGui import QFont, QFontMetrics, QImage, QPainter
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from desktop_rag.core.settings import AppearanceSettings, ColourScheme
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.quick_ask.popup import PassageList
from desktop_rag.ui.search.result_list import ResultList
from desktop_rag.ui.widgets.form_fields import draw_line
from tests.unit.ui.search.test_found_files import passage, results

NAME = "BESTBUY_2023_10K gjpqy.pdf"
SIDES = [Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft]


def ink(image: QImage, columns: range, rows: range) -> tuple[int, int]:
    """The first and the last of these rows that have a pixel that is not background."""
    ground = image.pixel(0, 0)
    inked = [y for y in rows if any(image.pixel(x, y) != ground for x in columns)]
    return inked[0], inked[-1]


def ink_height(font: QFont, text: str) -> int:
    """Rows of ink of a text that nothing cuts."""
    metrics = QFontMetrics(font)
    width = metrics.horizontalAdvance(text) + 20
    image = QImage(width, 3 * metrics.height(), QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    painter.setFont(font)
    painter.drawText(QPointF(10, 2 * metrics.height()), text)
    painter.end()
    first, last = ink(image, range(width), range(image.height()))
    return last - first + 1


@pytest.fixture(params=[100, 200])
def sized(theme: Theme, request: pytest.FixtureRequest) -> Iterator[Theme]:
    """The theme with text of the usual size, and of twice that."""
    theme.apply(AppearanceSettings(ColourScheme.LIGHT, text_percent=request.param))
    yield theme
    theme.apply(AppearanceSettings(ColourScheme.LIGHT))


@pytest.mark.parametrize("is_by_file", [True, False])
def test_names_keep_their_underscores_and_descenders(
    sized: Theme, qtbot: QtBot, *, is_by_file: bool
) -> None:
    shown = ResultList(sized)
    qtbot.addWidget(shown)
    shown.resize(1800, 600)
    # Without text of the passage all ink is that of the names.
    shown.show_results(results(passage(1, NAME, text=" ")), is_by_file=is_by_file)
    shown.show()
    image = shown.viewport().grab().toImage()
    row = shown.visualRect(shown.model().index(0, 0))
    bold = QFont(shown.font())
    bold.setBold(True)
    name = range(32, 32 + QFontMetrics(bold).horizontalAdvance(NAME))
    first, last = ink(image, name, range(1, row.bottom()))
    assert last - first + 1 == ink_height(bold, NAME)


def test_quick_ask_keeps_them_too(sized: Theme, qtbot: QtBot) -> None:
    shown = PassageList(sized)
    qtbot.addWidget(shown)
    shown.setFixedWidth(1600)
    shown.show_passages("lamp", [passage(1, NAME, text=" ")])
    shown.show()
    image = shown.viewport().grab().toImage()
    right = range(image.width() // 2, image.width())
    first, last = ink(image, right, range(image.height()))
    assert last - first + 1 == ink_height(shown.font(), NAME)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("at_end", [False, True])
def test_a_line_stands_at_the_side_where_reading_begins_or_ends(
    qapp: QApplication, side: Qt.LayoutDirection, *, at_end: bool
) -> None:
    image = QImage(300, 40, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    painter.setFont(qapp.font())
    painter.setLayoutDirection(side)
    draw_line(painter, QRect(10, 0, 280, 40), "a_name.pdf", at_end=at_end)
    painter.end()
    ground = image.pixel(0, 0)
    inked = [x for x in range(300) if any(image.pixel(x, y) != ground for y in range(40))]
    is_right = (side is Qt.LayoutDirection.RightToLeft) != at_end
    assert (inked[-1] >= 285) if is_right else (inked[0] <= 15)
    assert inked[0] >= 9
    assert inked[-1] <= 290
