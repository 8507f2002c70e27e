"""The window on real services: pages, shortcuts, events, settings, accessible names."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QLineEdit,
    QStackedWidget,
    QTableView,
    QWidget,
)
from pytestqt.qtbot import QtBot

from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import (
    DocumentsChanged,
    IndexProgress,
    Notice,
    ProgressChanged,
    SourcesChanged,
    Stage,
    StepProgress,
)
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import AppearanceSettings, ColourScheme, Settings
from desktop_rag.ui.composer.composer import QuestionField
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.messages.message_model import MessageModel
from desktop_rag.ui.window.main_window import MainWindow, StatusStrip
from desktop_rag.ui.window.window_pages import CHAT, LIBRARY, SEARCH, SETTINGS, NavigationRail
from tests.unit.ui.rooms import make_chat, make_library, opened_store


@dataclass
class Opened:
    """A window, and the settings it saved."""

    window: MainWindow
    saved: list[Settings]
    may_save: threading.Event

    @property
    def page(self) -> int:
        return self.window.findChildren(QStackedWidget)[0].currentIndex()

    def strip(self) -> StatusStrip:
        return self.window.findChildren(StatusStrip)[0]


@pytest.fixture
def opened(theme: Theme, bridge: Bridge, qtbot: QtBot, tmp_path: Path) -> Iterator[Opened]:
    home = Home(tmp_path / "home")
    saved: list[Settings] = []
    may_save = threading.Event()
    may_save.set()

    def save(settings: Settings) -> None:
        may_save.wait(10)
        saved.append(settings)

    with opened_store(home.root) as database:
        library, chat = make_library(database, home.root), make_chat(database, None)
        window = MainWindow(bridge, library, chat, theme, Settings(), home, save, ["PDF", "Word"])
        qtbot.addWidget(window)
        window.show()
        qtbot.waitActive(window)
        yield Opened(window, saved, may_save)
        bridge.close()
        library.close()
        chat.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "page"), [("2", LIBRARY), ("3", SEARCH), ("4", SETTINGS), ("1", CHAT)]
)
def test_keys_lead_to_the_pages(opened: Opened, qtbot: QtBot, key: str, page: int) -> None:
    opened.window.show_page(LIBRARY if page == CHAT else CHAT)
    qtbot.keyClick(opened.window, key, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: opened.page == page)


@pytest.mark.slow
@pytest.mark.parametrize("key", ["K", "L", "N"])
def test_keys_lead_to_the_composer(opened: Opened, qtbot: QtBot, key: str) -> None:
    opened.window.show_page(SETTINGS)
    qtbot.keyClick(opened.window, key, Qt.KeyboardModifier.ControlModifier)
    field = opened.window.findChildren(QuestionField)[0]
    qtbot.waitUntil(lambda: opened.page == CHAT and field.hasFocus())


@pytest.mark.slow
def test_the_rail_leads_to_the_pages(opened: Opened) -> None:
    for name, page in (("Settings", SETTINGS), ("Library", LIBRARY), ("Chat", CHAT)):
        rail = opened.window.findChildren(NavigationRail)[0]
        next(b for b in rail.findChildren(QAbstractButton) if b.text() == name).click()
        assert opened.page == page


@pytest.mark.slow
def test_asking_shows_the_chat(opened: Opened, qtbot: QtBot) -> None:
    opened.window.show_page(SETTINGS)
    opened.window.ask("Why?")
    assert opened.page == CHAT
    models = opened.window.findChildren(MessageModel)
    model = next(model for model in models if model.rows)
    qtbot.waitUntil(lambda: model.rows == 2 and not model.turn(-1).is_live)


@pytest.mark.everyday
def test_notices_and_errors_are_shown_newest_first(
    opened: Opened, bridge: Bridge, qtbot: QtBot
) -> None:
    bridge.post(Notice("Offline.", "Plug it in."))
    bridge.post(AppError("The disk is full.", "Free some space."))
    expected = (Notice("The disk is full.", "Free some space."), Notice("Offline.", "Plug it in."))
    qtbot.waitUntil(lambda: opened.window.notices.notices == expected)


@pytest.mark.slow
def test_the_status_line_shows_progress_and_opens_the_library(
    opened: Opened, bridge: Bridge, qtbot: QtBot
) -> None:
    step = StepProgress(Stage.READING, files_total=10, files_done=3, seconds_left=130.0)
    progress = IndexProgress(Stage.READING, 10, 3, "notes\n.md", 0.31, 130.0, (step,))
    bridge.post(ProgressChanged(progress))
    line = "Reading files · 3 of 10 files · about 2 min left · notes□.md"
    qtbot.waitUntil(lambda: opened.strip().line == line)
    opened.strip().click()
    assert opened.page == LIBRARY


@pytest.mark.slow
def test_library_events_are_handled(opened: Opened, bridge: Bridge, qtbot: QtBot) -> None:
    bridge.post(SourcesChanged(()))
    bridge.post(DocumentsChanged(()))
    bridge.post(Notice("All taken."))
    qtbot.waitUntil(lambda: opened.window.notices.notices == (Notice("All taken."),))


@pytest.mark.slow
def test_a_notice_moves_nothing_on_the_page(opened: Opened, bridge: Bridge, qtbot: QtBot) -> None:
    pages = opened.window.pages
    before = pages.mapTo(opened.window, pages.rect().topLeft()), pages.size()
    bridge.post(Notice("Offline.", "Plug it in."))
    qtbot.waitUntil(opened.window.notices.isVisible)
    qtbot.waitUntil(lambda: opened.window.notices.height() > 0)
    QApplication.processEvents()
    assert (pages.mapTo(opened.window, pages.rect().topLeft()), pages.size()) == before
    notices = opened.window.notices
    top = opened.window.childAt(notices.mapTo(opened.window, notices.rect().center()))
    assert top in [notices, *notices.findChildren(QWidget)]


@pytest.mark.everyday
def test_a_question_of_another_program_is_shown_unsent(opened: Opened) -> None:
    opened.window.showMinimized()
    opened.window.show_page(SETTINGS)
    opened.window.raise_window("Why?")
    field = opened.window.findChildren(QuestionField)[0]
    assert field.toPlainText() == "Why?"
    assert not opened.window.isMinimized()
    assert opened.page == CHAT


@pytest.mark.slow
def test_settings_are_saved_in_order_with_the_newest_last(
    opened: Opened, theme: Theme, qtbot: QtBot
) -> None:
    opened.may_save.clear()
    page = opened.window.settings_page
    for words in ("Theme: Dark", "Theme: Light", "Theme: Dark"):
        buttons = page.findChildren(QAbstractButton)
        next(b for b in buttons if b.accessibleName() == words).click()
    assert theme.is_dark
    opened.may_save.set()
    qtbot.waitUntil(lambda: bool(opened.saved) and opened.saved[-1].appearance.scheme == "dark")
    assert len(opened.saved) <= 3


@pytest.mark.slow
def test_an_error_while_saving_settings_is_shown(
    theme: Theme, bridge: Bridge, qtbot: QtBot, tmp_path: Path
) -> None:
    home = Home(tmp_path / "home")

    def save(_settings: Settings) -> None:
        raise AppError("The settings cannot be saved.", "The disk is full.")

    with opened_store(home.root) as database:
        library, chat = make_library(database, home.root), make_chat(database, None)
        window = MainWindow(bridge, library, chat, theme, Settings(), home, save, ["PDF", "Word"])
        qtbot.addWidget(window)
        buttons = window.settings_page.findChildren(QAbstractButton)
        next(b for b in buttons if b.accessibleName() == "Theme: Dark").click()
        qtbot.waitUntil(lambda: bool(window.notices.notices))
        assert window.notices.notices[0].title == "The settings cannot be saved."
        bridge.close()
        library.close()
        chat.close()


@pytest.mark.slow
def test_settings_changed_elsewhere_are_shown(opened: Opened, theme: Theme) -> None:
    settings = replace(Settings(), appearance=AppearanceSettings(ColourScheme.DARK))
    opened.window.show_settings(settings)
    assert theme.is_dark
    assert opened.window.settings.value == settings


@pytest.mark.slow
def test_closing_asks_the_application(opened: Opened, qtbot: QtBot) -> None:
    with qtbot.waitSignal(opened.window.close_requested):
        opened.window.close()


@pytest.mark.slow
def test_every_button_has_an_accessible_name(opened: Opened) -> None:
    nameless = [
        f"{type(widget).__name__} in {type(widget.parent()).__name__}"
        for widget in opened.window.findChildren(QAbstractButton)
        if not (widget.text() or widget.accessibleName() or is_inside_a_field(widget))
    ]
    assert nameless == []


def is_inside_a_field(widget: QWidget) -> bool:
    """True for buttons that Qt creates and names itself, such as a line edit's clear button."""
    return isinstance(widget.parent(), QLineEdit | QAbstractSpinBox | QTableView)
