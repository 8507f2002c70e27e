"""Pages of one part or several, and the search above their names."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QListWidget, QTabBar, QWidget
from pytestqt.qtbot import QtBot

from desktop_rag.ui.settings.page_list import PageList
from desktop_rag.ui.settings.settings_parts import Part, Setting, settings_in
from desktop_rag.ui.widgets.controls import PlainLabel
from desktop_rag.ui.widgets.form_fields import SettingsSection
from desktop_rag.ui.widgets.scrolled_page import ScrolledPage
from tests.unit.ui.rooms import button, field, texts

ORDER = ("Models", "App", "Advanced")


class Server(ScrolledPage):
    """A part that is built late, with a switch far down."""

    def __init__(self) -> None:
        super().__init__("Server")
        for height in (2000, 10):
            above = QWidget()
            above.setFixedHeight(height)
            self.column.addWidget(above)
        section = SettingsSection("Local")
        section.add_row("Access", QCheckBox("Let others ask"), words="API, network")
        section.add_row("Visitors", PlainLabel("They are let in elsewhere."), words="guests")
        self.column.addWidget(section)


@pytest.fixture
def built() -> list[str]:
    """The names of the parts that were built late."""
    return []


@pytest.fixture
def pages(qtbot: QtBot, built: list[str]) -> PageList:
    def server() -> QWidget:
        built.append("Server")
        return Server()

    theme = SettingsSection("Look")
    theme.add_row("Theme", QCheckBox("Dark"), words="night, Gemütlich")
    look = ScrolledPage("App")
    look.column.addWidget(theme)
    pages = PageList("Settings", ORDER)
    qtbot.addWidget(pages)
    pages.add_part(Part("Models", "Models", QWidget()))
    declared = (
        Setting("Let others ask", "API, network", "Local"),
        Setting("Visitors", "guests", "Local"),
    )
    pages.add_part(Part("Advanced", "Last", QWidget(), is_last=True))
    pages.add_part(Part("Advanced", "Server", server, declared, "hosts"))
    pages.add_part(Part("App", "App", look, settings_in(theme)))
    pages.resize(1000, 600)
    pages.show()
    qtbot.waitActive(pages)
    return pages


def names(pages: PageList) -> QListWidget:
    return field(pages, QListWidget, "Settings")


def listed(view: QListWidget) -> list[str]:
    return [view.item(row).text() for row in range(view.count())]


def found(pages: PageList) -> list[str]:
    return listed(field(pages, QListWidget, "Settings found"))


def written(pages: PageList, text: str) -> QLineEdit:
    line = field(pages, QLineEdit, "Search the settings")
    line.setText(text)
    return line


def test_pages_stand_in_their_order_and_parts_below_their_tabs(
    pages: PageList, built: list[str]
) -> None:
    assert listed(names(pages)) == list(ORDER)
    assert names(pages).currentItem().text() == "Models"
    tabs = field(pages, QTabBar, "Advanced")
    assert [tabs.tabText(n) for n in range(tabs.count())] == ["Server", "Last"]
    assert not field(pages, QTabBar, "App").isVisibleTo(pages)
    assert built == []
    pages.show_page(2)
    pages.show_page(0)
    pages.show_page(2)
    assert tabs.isVisible()
    assert built == ["Server"], "once, when it was first shown"


def test_the_drop_down_list_has_the_same_order(pages: PageList) -> None:
    choice = field(pages, QComboBox, "Settings")
    assert [choice.itemText(n) for n in range(choice.count())] == list(ORDER)
    pages.show_named("Server")
    assert choice.currentText() == "Advanced"
    choice.activated.emit(1)
    assert names(pages).currentItem().text() == "App"


def test_a_page_or_part_is_shown_by_its_name(pages: PageList) -> None:
    assert isinstance(pages.show_named("Server"), Server)
    assert names(pages).currentItem().text() == "Advanced"
    assert pages.show_named("App") is not None
    assert names(pages).currentItem().text() == "App"
    assert pages.show_named("Nowhere") is None
    assert names(pages).currentItem().text() == "App"


def test_the_title_is_written_once(pages: PageList) -> None:
    pages.show_named("App")
    assert texts(pages).count("App") == 1
    pages.show_named("Server")
    assert "Server" not in texts(pages), "its tab says it"


@pytest.mark.parametrize(
    "text", ["night", "THEME", "look", "dark", "app theme", "gemut", "Gemüt", "nig gem"]
)
def test_words_are_found_in_any_order_without_case_and_accents(pages: PageList, text: str) -> None:
    written(pages, text)
    assert "Dark" in found(pages)


def test_one_short_word_of_a_question_finds_nothing(pages: PageList) -> None:
    written(pages, "network for contracts")
    assert found(pages) == []
    written(pages, "network access")
    assert "Let others ask" in found(pages)


def test_the_search_builds_nothing_and_leads_to_the_field(
    pages: PageList, built: list[str], qtbot: QtBot
) -> None:
    names(pages).setFocus()
    QTest.keySequence(pages, "Ctrl+F")
    line = field(pages, QLineEdit, "Search the settings")
    assert pages.focusWidget() is line
    qtbot.keyClicks(line, "network")
    assert found(pages) == ["Let others ask"]
    assert built == []
    qtbot.keyClick(line, Qt.Key.Key_Return)
    switch = button(pages, "Let others ask")
    assert switch.isVisible()
    assert not switch.visibleRegion().isEmpty()
    assert pages.focusWidget() is switch
    assert line.text() == ""


def test_a_setting_that_is_only_a_text_gives_the_focus_to_no_other(
    pages: PageList, qtbot: QtBot
) -> None:
    QTest.keySequence(pages, "Ctrl+F")
    line = written(pages, "guests")
    qtbot.keyClick(line, Qt.Key.Key_Return)
    assert "They are let in elsewhere." in texts(pages)
    assert pages.focusWidget() is line


def test_down_chooses_the_next_and_escape_clears(pages: PageList, qtbot: QtBot) -> None:
    line = written(pages, "a")
    results = field(pages, QListWidget, "Settings found")
    assert len(found(pages)) > 1
    assert results.currentRow() == 0
    qtbot.keyClick(line, Qt.Key.Key_Down)
    assert results.currentRow() == 1
    line.setFocus()
    QTest.keySequence(line, "Esc")
    assert line.text() == ""
    assert not results.isVisible()


def test_a_click_opens_what_was_found(pages: PageList, qtbot: QtBot) -> None:
    written(pages, "hosts")
    results = field(pages, QListWidget, "Settings found")
    said = results.item(0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert said == "Server, Advanced"
    place = results.visualItemRect(results.item(0)).center()
    qtbot.mouseClick(results.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert names(pages).currentItem().text() == "Advanced"
    written(pages, "nowhere at all")
    assert "No setting has these words. Try others." in texts(pages)


def test_a_narrow_window_keeps_the_search(pages: PageList, qtbot: QtBot) -> None:
    pages.resize(600, 500)
    line = written(pages, "network")
    qtbot.waitUntil(line.isVisible)
    assert not names(pages).isVisible()
    assert found(pages) == ["Let others ask"]
