"""Enter presses a button with the focus as Space does, and dialogs keep their default button."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QDialog, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.widgets.controls import ElidedButton, IconButton, TextButton

KEYS = [Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space]


def shown_in(place: QWidget, buttons: list[QAbstractButton], qtbot: QtBot) -> list[str]:
    """Show the buttons; returns the names of those pressed from now on."""
    pressed: list[str] = []
    column = QVBoxLayout(place)
    for button in buttons:
        column.addWidget(button)
        button.clicked.connect(lambda _=False, b=button: pressed.append(b.accessibleName()))
    qtbot.addWidget(place)
    place.show()
    qtbot.waitExposed(place)
    return pressed


def named(button: QAbstractButton, name: str) -> QAbstractButton:
    button.setAccessibleName(name)
    return button


@pytest.mark.parametrize("key", KEYS)
def test_the_button_with_the_focus_is_pressed(key: Qt.Key, theme: Theme, qtbot: QtBot) -> None:
    buttons = [
        named(TextButton("Remove"), "text"),
        IconButton(theme, "plus", "icon"),
        ElidedButton("elided", "quiet"),
    ]
    place = QWidget()
    pressed = shown_in(place, buttons, qtbot)
    for button in buttons:
        button.setFocus()
        qtbot.keyClick(button, key)
    assert pressed == ["text", "icon", "elided"]


def test_a_button_that_is_off_is_not_pressed(qtbot: QtBot) -> None:
    button = named(TextButton("Remove"), "off")
    place = QWidget()
    pressed = shown_in(place, [button], qtbot)
    button.setEnabled(False)
    qtbot.keyClick(button, Qt.Key.Key_Return)
    assert not pressed


def test_enter_presses_once_in_a_dialog(theme: Theme, qtbot: QtBot) -> None:
    default, other = named(TextButton("Save"), "Save"), named(TextButton("Cancel"), "Cancel")
    icon = IconButton(theme, "plus", "More")
    dialog = QDialog()
    pressed = shown_in(dialog, [default, other, icon], qtbot)
    assert isinstance(default, TextButton)
    default.setDefault(True)
    for button in (other, icon):
        button.setFocus()
        qtbot.keyClick(button, Qt.Key.Key_Return)
    assert pressed == ["Cancel", "Save"]
