"""The list of shortcuts, made from those that work."""

from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from desktop_rag.ui.foundation.shortcuts import EVERYWHERE, NamedShortcut, bind, shortcuts_of


def test_the_two_keys_of_enter_are_one(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    bind(window, "Return Enter Space", "Read", lambda: None)
    bind(window, "Ctrl+Return Ctrl+Enter", "Open", lambda: None)
    assert shortcuts_of([window]) == [
        NamedShortcut(EVERYWHERE, "Read", "Enter or Space"),
        NamedShortcut(EVERYWHERE, "Open", "Ctrl+Enter"),
    ]
