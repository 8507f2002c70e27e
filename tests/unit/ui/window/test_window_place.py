"""The window fits its screen, and comes back where it was."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QRect
from PySide6.QtWidgets import QMainWindow
from pytestqt.qtbot import QtBot

from desktop_rag.ui.window.main_window import MINIMUM_SIZE, fitted, place_of, place_window

LAPTOP = QRect(0, 0, 1366, 728)
# A laptop's screen at twice the size of everything.
ENLARGED = QRect(0, 0, 683, 364)


@pytest.mark.parametrize("screen", [LAPTOP, ENLARGED, QRect(1920, 40, 800, 600)])
def test_a_window_larger_than_the_screen_becomes_smaller(screen: QRect) -> None:
    assert screen.contains(fitted(QRect(screen.topLeft(), screen.size() * 2), screen))


@given(st.integers(-4000, 4000), st.integers(-4000, 4000), st.integers(0, 4000))
def test_a_place_off_the_screen_is_moved_onto_it(left: int, top: int, width: int) -> None:
    place = fitted(QRect(left, top, width, 600), LAPTOP)
    assert LAPTOP.contains(place)
    assert place.width() >= MINIMUM_SIZE.width()


def test_the_window_comes_back_where_it_was(qtbot: QtBot) -> None:
    first, second = QMainWindow(), QMainWindow()
    for window in (first, second):
        qtbot.addWidget(window)
    place_window(first, {})
    assert first.screen().availableGeometry().size().width() >= first.width()
    first.setGeometry(20, 30, 600, 400)
    place_window(second, place_of(first))
    assert second.geometry() == QRect(20, 30, 600, 400)
    assert not second.isMaximized()


@pytest.mark.parametrize("kept", [{"left": 3}, {"left": "a", "top": 1, "width": 1, "height": 1}])
def test_a_damaged_place_is_left_out(qtbot: QtBot, kept: dict[str, object]) -> None:
    window = QMainWindow()
    qtbot.addWidget(window)
    place_window(window, kept)
    assert window.width() >= MINIMUM_SIZE.width()
