"""The pages of the window are built when they are first shown, and show what happened before."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QAbstractButton, QLabel, QWidget
from pytestqt.qtbot import QtBot

from desktop_rag.core.library_events import IndexProgress, ProgressChanged
from desktop_rag.core.paths import Home
from desktop_rag.core.pictures import PictureHold, WaitingPictures
from desktop_rag.core.settings import AppearanceSettings, ColourScheme, LongReading, Settings
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.library.library_page import PicturesBar
from desktop_rag.ui.window.main_window import MainWindow
from desktop_rag.ui.window.window_pages import CHAT, LIBRARY, SEARCH, SETTINGS
from tests.unit.ui.rooms import button, make_chat, make_library, opened_store


@pytest.fixture
def window(theme: Theme, bridge: Bridge, qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    """A window in the background."""
    home = Home(tmp_path / "home")
    with opened_store(home.root) as database:
        library, chat = make_library(database, home.root), make_chat(database, None)
        window = MainWindow(bridge, library, chat, theme, Settings(), home, lambda _: None, ["PDF"])
        qtbot.addWidget(window)
        yield window
        bridge.close()
        library.close()
        chat.close()


def built(window: MainWindow) -> list[int]:
    """The positions of the pages that are built."""
    return [position for position in range(4) if window.pages.is_built(position)]


@pytest.mark.slow
def test_in_the_background_no_page_is_built(window: MainWindow, bridge: Bridge) -> None:
    bridge.post(ProgressChanged(IndexProgress()))
    window.show_settings(Settings())
    window.refresh_chats()
    assert built(window) == []


@pytest.mark.slow
def test_a_page_is_built_when_it_is_shown(window: MainWindow, qtbot: QtBot) -> None:
    window.show()
    qtbot.waitActive(window)
    assert built(window) == [CHAT]
    for position in (SEARCH, SETTINGS, LIBRARY):
        window.show_page(position)
        assert window.pages.currentWidget() is window.pages.page_at(position)
        assert window.pages.page_at(position).isVisible()
    assert built(window) == [CHAT, LIBRARY, SEARCH, SETTINGS]


@pytest.mark.slow
def test_a_page_shown_first_in_the_background_is_the_only_one(window: MainWindow) -> None:
    window.show_page(SETTINGS)
    window.show()
    assert built(window) == [SETTINGS]


@pytest.mark.everyday
def test_a_page_shows_what_happened_before_it_was_built(
    window: MainWindow, bridge: Bridge, qtbot: QtBot
) -> None:
    loaded = window.chats.overview.loaded
    with qtbot.waitSignals([loaded, window.chats.feed.loaded]):
        window.refresh_chats()
    window.show_settings(replace(Settings(), appearance=AppearanceSettings(ColourScheme.DARK)))
    window.show()
    qtbot.waitUntil(lambda: "Add a folder of documents" in "".join(_texts(window.chat_page)))
    window.show_page(SEARCH)
    assert any("folder" in text for text in _texts(window.search_page))
    window.show_page(SETTINGS)
    assert button(window.settings_page, "Theme: Dark").isChecked()


@pytest.mark.slow
def test_the_overview_of_shortcuts_has_those_of_pages_that_were_never_shown(
    window: MainWindow, qtbot: QtBot
) -> None:
    window.show()
    with qtbot.waitSignal(window.shortcuts_requested):
        window.show_shortcuts()
    assert built(window) == [CHAT, LIBRARY, SEARCH, SETTINGS]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "chosen"), [("Not now", LongReading.WAIT), ("Read", LongReading.READ)]
)
def test_pictures_that_take_long_are_asked_about_and_the_answer_is_a_setting(
    window: MainWindow, bridge: Bridge, qtbot: QtBot, name: str, chosen: LongReading
) -> None:
    window.show()
    asked = ProgressChanged(IndexProgress(pictures=WaitingPictures(2400, 7200, PictureHold.ASKED)))
    for _ in range(2):
        bridge.post(asked)
    question = "Read 2,400 pictures and scanned pages? That takes about 2 h."
    qtbot.waitUntil(lambda: sum(question in text for text in _texts(window)) == 1)
    window.show_page(LIBRARY)
    # What is shown there is for the test of the bar.
    [bar] = window.library_page.findChildren(PicturesBar)
    button(bar, name).click()
    assert window.settings.value.index.long_pictures is chosen


def _texts(page: QWidget) -> list[str]:
    shown = [*page.findChildren(QLabel), *page.findChildren(QAbstractButton)]
    return [widget.text() for widget in shown if widget.isVisible()]
