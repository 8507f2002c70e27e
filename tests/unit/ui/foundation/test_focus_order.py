"""The focus stays near what had it when that is hidden or disabled."""

import pytest
from PySide6.QtCore import QObject
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLayoutItem,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot
from shiboken6 import Shiboken, isValid

from desktop_rag.ui.foundation.focus_order import step, stops_of


class Window(QWidget):
    """Two parts: a rail on the left, and a page with three fields in two rows."""

    def __init__(self) -> None:
        super().__init__()
        self.rail, self.first, self.second = QPushButton(), QPushButton(), QPushButton()
        self.below = QLineEdit()
        page = QWidget()
        row = QWidget()
        QHBoxLayout(row).addWidget(self.first)
        row.layout().addWidget(self.second)  # pyright: ignore[reportOptionalMemberAccess]
        column = QVBoxLayout(page)
        column.addWidget(row)
        column.addWidget(self.below)
        whole = QHBoxLayout(self)
        whole.addWidget(self.rail)
        whole.addWidget(page)

    def focusNextPrevChild(self, next: bool) -> bool:  # noqa: A002  the name in Qt
        return step(self, is_forward=next)


@pytest.fixture
def window(qtbot: QtBot) -> Window:
    window = Window()
    qtbot.addWidget(window)
    window.show()
    qtbot.waitActive(window)
    return window


@pytest.mark.parametrize("ends", ["hide", "disable"])
def test_the_neighbour_gets_the_focus_and_not_the_first_of_the_window(
    window: Window, ends: str
) -> None:
    def end(widget: QWidget) -> None:
        if ends == "hide":
            widget.hide()
        else:
            widget.setEnabled(False)

    window.first.setFocus()
    end(window.first)
    assert window.focusWidget() is window.second
    end(window.second)
    assert window.focusWidget() is window.below
    window.first.setVisible(True)
    window.first.setEnabled(True)
    end(window.below)
    assert window.focusWidget() is window.first


def test_a_scroll_bar_that_is_kept_outlives_a_step(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    area, content, beside = QScrollArea(), QWidget(), QPushButton()
    content.setMinimumHeight(2_000)
    area.setWidget(content)
    column = QVBoxLayout(window)
    column.addWidget(area)
    column.addWidget(beside)
    window.resize(200, 200)
    window.show()
    bar = area.verticalScrollBar()
    assert bar.isVisible()
    step(window, is_forward=True)
    step(window, is_forward=False)
    assert isValid(bar)


def test_no_item_of_a_layout_is_left_for_what_is_made_at_its_address(window: Window) -> None:
    before = _layout_items()
    assert stops_of(window) == [window.rail, window.first, window.second, window.below]
    assert _layout_items() == before


def _layout_items() -> int:
    wrappers = Shiboken.getAllValidWrappers()
    return sum(isinstance(w, QLayoutItem) and not isinstance(w, QObject) for w in wrappers)
