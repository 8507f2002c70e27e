"""The title above a document has room in every width."""

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.reading.document_loading import ReadingHeader
from desktop_rag.ui.widgets.controls import ElidedLabel, IconButton
from tests.unit.ui.rooms import make_document

TITLE = "Volunteers, 2026"


@pytest.mark.parametrize(("width", "is_among_buttons"), [(330, False), (420, False), (700, True)])
def test_the_title_has_a_row_of_its_own_where_the_buttons_need_theirs(
    theme: Theme, qtbot: QtBot, *, width: int, is_among_buttons: bool
) -> None:
    header = ReadingHeader(theme, is_window=False, has_details=True)
    qtbot.addWidget(header)
    header.show_document(TITLE, make_document("a.pdf"), has_pages=True, is_text=False)
    header.show()
    for each in (900, width):
        header.resize(each, 120)
        QApplication.processEvents()
    title = next(w for w in header.findChildren(ElidedLabel) if w.full_text == TITLE)
    assert title.text() == TITLE
    close = header.findChildren(IconButton)[-1]
    below = title.mapTo(header, QPoint()).y() >= close.geometry().bottom()
    assert below != is_among_buttons


def test_a_title_in_arabic_begins_where_the_window_does(theme: Theme, qtbot: QtBot) -> None:
    header = ReadingHeader(theme, is_window=False, has_details=True)
    qtbot.addWidget(header)
    header.show_document("المنارة", make_document("a.md"), has_pages=False, is_text=True)
    header.resize(800, 100)
    header.show()
    QApplication.processEvents()
    title = next(w for w in header.findChildren(ElidedLabel) if w.full_text == "المنارة")
    painted = title.grab().toImage()
    ground = painted.pixel(painted.width() - 1, 0)
    words_px = round(
        title.fontMetrics().horizontalAdvance(title.text()) * painted.devicePixelRatio()
    )
    beyond = range(2 * words_px, painted.width())
    assert all(painted.pixel(x, y) == ground for x in beyond for y in range(painted.height()))
