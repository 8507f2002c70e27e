"""Pages in a column: their places, and marks through which the print stays readable."""

import pytest
from PySide6.QtGui import QColor, QImage, QPainter
from pytestqt.qtbot import QtBot

from desktop_rag.core.parsed import Box
from desktop_rag.core.settings import AppearanceSettings, ColourScheme
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.viewers.pages_viewer import GAP_PX, PageCanvas, PageLayout, PagePicture

MARK = Box(0.2, 0.2, 0.8, 0.4)


def test_pages_lie_below_each_other_and_the_widest_fills_the_width() -> None:
    layout = PageLayout([(600, 800), (300, 400), (600, 800)], 600 + 2 * GAP_PX, 1.0)
    assert layout.rect(1) == (GAP_PX, GAP_PX, 600, 800)
    assert layout.rect(2) == (GAP_PX + 150, 800 + 2 * GAP_PX, 300, 400)
    assert [layout.page_at(y) for y in (0, 800, 830, 10_000)] == [1, 1, 2, 3]
    assert PageLayout([(600, 800)], 600, 2.0).width_px > 1_000


def printed_page() -> QImage:
    """White paper with a black bar across."""
    image = QImage(400, 400, QImage.Format.Format_RGB32)
    image.fill(QColor("white"))
    painter = QPainter(image)
    painter.fillRect(0, 110, 400, 20, QColor("black"))
    painter.end()
    return image


@pytest.fixture
def canvas(theme: Theme, qtbot: QtBot) -> PageCanvas:
    canvas = PageCanvas(theme)
    qtbot.addWidget(canvas)
    canvas.resize(500, 500)
    canvas.show()
    canvas.show_pages([(400, 400)])
    return canvas


@pytest.mark.parametrize("scheme", [ColourScheme.LIGHT, ColourScheme.DARK])
@pytest.mark.parametrize("is_hit", [False, True])
def test_black_print_stays_black_under_a_mark(
    canvas: PageCanvas, theme: Theme, scheme: ColourScheme, is_hit: bool
) -> None:
    theme.apply(AppearanceSettings(scheme))
    cited, hits = ((), ((MARK,),)) if is_hit else ((MARK,), ())
    canvas.show_pictures({1: PagePicture(printed_page(), cited, hits)}, None)
    shot = canvas.viewport().grab().toImage()
    width = canvas.width_of(1)

    def colour(x: float, y: float) -> QColor:
        return shot.pixelColor(GAP_PX + round(x * width), GAP_PX + round(y * width))

    assert colour(0.5, 0.3).lightness() < 10
    paper, ground = colour(0.1, 0.25), colour(0.5, 0.25)
    assert paper == QColor("white")
    assert ground != paper
    assert ground == theme.colour("page_hit" if is_hit else "page_mark")
    assert ground.lightness() > 150
    assert colour(0.1, 0.3).lightness() < 10


def test_it_scrolls_to_a_place_and_keeps_it_when_zoomed(canvas: PageCanvas) -> None:
    canvas.show_pages([(400, 600)] * 50)
    canvas.scroll_to(30, MARK)
    assert canvas.page == 30
    canvas.set_zoom(2.0)
    assert 30 in canvas.visible_pages
    canvas.set_zoom(100)
    assert canvas.zoom < 10
    canvas.scroll_to(1)
    assert canvas.page == 1
