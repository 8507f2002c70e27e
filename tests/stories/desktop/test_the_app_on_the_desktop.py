"""The app among other programs: keys they have, a desktop without a tray, a start from nothing."""

import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QMessageBox

from desktop_rag.app import Services
from desktop_rag.core.paths import Home
from tests.command_line import run, settled, wait_for_window
from tests.displays import session_bus, wait_for_windows, x_server
from tests.servers.notification_server import NotificationServer
from tests.stories.conftest import Person

if sys.platform != "linux":
    pytest.skip("X11 and the session bus are on Linux", allow_module_level=True)
from desktop_rag.desktop.hotkeys.hotkey import Action, Hotkey
from desktop_rag.desktop.hotkeys.x11_hotkeys import X11Hotkeys

_SOON_S = 20.0
_POPUP = "Quick ask — desktop-rag"


@pytest.fixture
def display(monkeypatch: pytest.MonkeyPatch) -> Generator[str]:
    """The X server that hotkeys are bound on; the window itself needs none here."""
    with x_server() as name:
        monkeypatch.setenv("DISPLAY", name)
        monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
        yield name


@pytest.fixture
def desktop(monkeypatch: pytest.MonkeyPatch) -> Iterator[NotificationServer]:
    """A desktop that shows notifications and has no tray."""
    with session_bus(monkeypatch), NotificationServer() as server:
        yield server


def test_a_key_of_another_program_is_told_and_another_is_chosen(
    display: str, open_window: Callable[[], Person]
) -> None:
    taken = Hotkey.parse("Ctrl+Alt+Space")
    assert taken
    other = X11Hotkeys(lambda _action: None, display)
    other.bind({Action.ASK: taken})
    try:
        person = open_window()
        person.opens_settings("App")
        person.sees("Another program uses this key.")
        field = person.field("Hotkey of the quick ask")
        assert isinstance(field, QLineEdit)
        field.setFocus()
        QTest.keySequence(field, "Ctrl+Alt+F9")
        person.sees("In use")
        person.sees_no_longer("Another program uses this key.")
    finally:
        other.close()


def test_without_a_tray_the_app_goes_on_and_tells_by_the_desktop(
    desktop: NotificationServer, open_window: Callable[[], Person], papers: Path
) -> None:
    person = open_window()
    assert not person.app.presence.tray.is_there
    person.window.close()
    person.waits_until(lambda: bool(person.window.findChildren(QMessageBox)))
    [box] = person.window.findChildren(QMessageBox)
    assert "This desktop has no tray" in box.text()
    assert "desktop-rag quick-ask" in box.text()
    next(b for b in box.buttons() if b.text().replace("&", "") == "Keep running").click()
    person.waits_until(lambda: not person.window.isVisible())
    person.app.services.library.sources.add(papers)
    person.waits_until(lambda: not desktop.shown.empty())
    shown = desktop.shown.get()
    assert shown.text == "Your documents are indexed. You can ask about all of them."
    desktop.press(shown.number)
    person.waits_until(person.window.isVisible)


def test_a_quick_ask_starts_the_app_when_none_runs(
    display: str,
    home: Home,
    build_services: Callable[[], Services],
    papers: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert display
    services = build_services()
    services.library.sources.add(settled(papers))
    services.close()
    monkeypatch.setenv("QT_QPA_PLATFORM", "xcb")
    asked = [sys.executable, "-m", "desktop_rag", "quick-ask", "When is the lamp lit?"]
    with subprocess.Popen(asked, stderr=subprocess.PIPE) as app:
        try:
            wait_for_window(home, app)
            wait_for_windows({_POPUP})
            assert run("quit").returncode == 0
            assert app.wait(_SOON_S) == 0
        finally:
            app.kill()
