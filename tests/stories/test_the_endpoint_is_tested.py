"""An address is typed and Test is pressed at once: the press counts, and nothing moves under it."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication

from desktop_rag.ui.widgets.controls import PlainLabel
from tests.servers.chat_server import ChatServer
from tests.stories.conftest import Person


@pytest.mark.everyday
def test_the_first_press_on_test_counts(open_window: Callable[[], Person]) -> None:
    with ChatServer() as server:
        server.models = ("small", "large")
        person = open_window()
        person.presses("Ctrl+4")
        person.types("Address", server.base_url)
        buttons = person.window.findChildren(QAbstractButton)
        button = next(b for b in buttons if b.text() == "Test" and b.isVisible())
        QApplication.processEvents()
        place = button.mapTo(person.window, button.rect().center())

        # Through the window system's queue, as the mouse of a person.
        handle = person.window.windowHandle()
        left, plain = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
        QTest.mousePress(handle, left, plain, place)
        for _ in range(20):
            QApplication.processEvents()
        assert button.mapTo(person.window, button.rect().center()) == place
        QTest.mouseRelease(handle, left, plain, place)

        person.sees("The endpoint answers. Choose a model.")
        assert _tone_of(person, "The endpoint answers. Choose a model.") == "warning"


def _tone_of(person: Person, text: str) -> object:
    label = next(w for w in person.window.findChildren(PlainLabel) if w.text() == text)
    return label.property("on")
