"""A list that says in words when it is empty."""

from PySide6.QtGui import QImage
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from desktop_rag.ui.widgets.item_list import ItemList


def picture(widget: QWidget) -> QImage:
    return widget.grab().toImage()


def test_only_an_empty_list_shows_its_text(qtbot: QtBot) -> None:
    silent, told = ItemList("Runs"), ItemList("Runs", "No runs yet.")
    for each in (silent, told):
        qtbot.addWidget(each)
        each.resize(300, 120)
    assert picture(told) != picture(silent)
    assert told.accessibleDescription() == "No runs yet."
    for each in (silent, told):
        each.addItem("small · done")
    assert picture(told) == picture(silent)
    assert told.accessibleDescription() == ""
    told.clear()
    assert told.accessibleDescription() == "No runs yet."
