"""Pages in groups."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QListWidget, QWidget
from pytestqt.qtbot import QtBot

from desktop_rag.ui.settings.page_list import PageList


@pytest.fixture
def pages(qtbot: QtBot) -> PageList:
    pages = PageList("Settings", ("Answering", "App"))
    qtbot.addWidget(pages)
    for name, group in (("Models", "Answering"), ("Desktop", "App"), ("Rails", "Answering")):
        pages.add_page(name, QWidget(), group)
    return pages


def names(pages: PageList) -> QListWidget:
    return pages.findChildren(QListWidget)[0]


def listed(pages: PageList) -> list[str]:
    return [names(pages).item(row).text() for row in range(names(pages).count())]


def test_pages_stand_below_the_heading_of_their_group(pages: PageList) -> None:
    assert listed(pages) == ["Answering", "Models", "Rails", "App", "Desktop"]
    assert names(pages).currentItem().text() == "Models"


def test_headings_are_passed_over(pages: PageList, qtbot: QtBot) -> None:
    shown: list[QWidget | None] = []
    for _ in range(2):
        qtbot.keyClick(names(pages), Qt.Key.Key_Down)
        shown.append(pages.show_named(names(pages).currentItem().text()))
    assert shown == [pages.pages[2], pages.pages[1]]


def test_the_drop_down_list_has_the_same_order(pages: PageList) -> None:
    choice = pages.findChildren(QComboBox)[0]
    assert [choice.itemText(n) for n in range(choice.count())] == ["Models", "Rails", "", "Desktop"]
    pages.show_named("Desktop")
    assert choice.currentText() == "Desktop"
    choice.activated.emit(1)
    assert names(pages).currentItem().text() == "Rails"


def test_a_heading_is_no_page(pages: PageList) -> None:
    assert pages.show_named("App") is None


def test_the_last_page_of_a_long_list_is_scrolled_to(pages: PageList) -> None:
    for number in range(20):
        pages.add_page(f"Page {number}", QWidget(), "App")
    pages.resize(1400, 430)
    pages.show()
    view = names(pages)
    assert view.verticalScrollBar().isVisible()
    pages.show_named("Page 19")
    assert view.viewport().rect().contains(view.visualItemRect(view.item(view.count() - 1)))
