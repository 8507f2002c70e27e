"""The window is closed, and the app goes on in the background."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from desktop_rag.core.files.settings_file import load_settings
from desktop_rag.core.settings import WhenClosed
from tests.stories.conftest import Person


def chooses(person: Person, name: str) -> None:
    """Press this button of the question that is open."""
    person.waits_until(lambda: bool(person.window.findChildren(QMessageBox)))
    [box] = person.window.findChildren(QMessageBox)
    button = next(b for b in box.buttons() if b.text().replace("&", "") == name)
    button.click()


def test_it_goes_on_indexing_without_a_window(person: Person, papers: Path) -> None:
    person.drops(papers)
    person.sees("2 searchable")
    person.window.close()
    chooses(person, "Keep running")
    person.waits_until(lambda: not person.window.isVisible())
    (papers / "wick.md").write_text("# Wick\n\nThe wick is of cotton.")
    library = person.app.services.library
    person.waits_until(lambda: library.documents.counts().searchable == 3)
    person.waits_until(lambda: person.app.presence.tray.tooltip.startswith("desktop-rag\n4 files"))
    # The answer was kept: it is not asked again.
    person.window.show()
    person.window.close()
    assert not person.window.isVisible()
    assert not person.window.findChildren(QMessageBox)
    settings = person.app.services.home.settings
    person.waits_until(lambda: load_settings(settings)[0].background.when_closed is WhenClosed.STAY)


def test_it_quits_when_the_person_wants_that(person: Person, qtbot: QtBot) -> None:
    person.window.close()
    with qtbot.waitSignal(person.app.presence.quit_requested):
        chooses(person, "Quit")


def test_cancel_leaves_the_window_open(person: Person) -> None:
    person.window.close()
    chooses(person, "Cancel")
    assert person.window.isVisible()
    assert person.window.settings.value.background.when_closed is WhenClosed.ASK


def test_the_tray_offers_a_pause_and_what_failed(
    open_window: Callable[[], Person], papers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = open_window()
    person.drops(papers)
    person.sees("1 not read")
    menu = person.app.presence.tray.menu
    actions = {action.text(): action for action in menu.actions()}
    person.waits_until(lambda: "Show what failed (1)" in {a.text() for a in menu.actions()})
    actions["Pause indexing for an hour"].trigger()
    assert person.app.services.library.indexing.is_paused
    assert "Resume indexing" in {a.text() for a in menu.actions()}
    actions["Pause indexing for an hour"].trigger()
    assert not person.app.services.library.indexing.is_paused
    next(a for a in menu.actions() if a.text().startswith("Show what failed")).trigger()
    person.waits_until(lambda: len(person.rows("Files")) == 1)
