"""The start of the app: what it shows and takes while its library is being opened."""

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMessageBox
from pytestqt.qtbot import QtBot

from desktop_rag.app import RunVerb, Services
from desktop_rag.cli.running import run_for_another
from desktop_rag.core.errors import AppError
from desktop_rag.core.paths import Home
from desktop_rag.desktop.requests import QuickAskRequested
from desktop_rag.window_start import OpeningWindow, WindowStart

_WAIT_MS = 20_000


class Opening:
    """A start that is held up where it opens the library, until `go_on`."""

    def __init__(self, home: Home, qtbot: QtBot, *, is_shown: bool) -> None:
        home.create()
        self._qtbot = qtbot
        self._held = threading.Event()
        self._error: BaseException | None = None
        self.codes: list[int] = []
        self.start = WindowStart(home, self._verbs, is_shown=is_shown, starts_demo=False)
        self.start.ended.connect(self.codes.append)
        self.start.begin()

    def go_on(self, error: BaseException | None = None) -> None:
        """Let it be opened, or fail."""
        self._error = error
        self._held.set()

    def until(self, is_so: Callable[[], object]) -> None:
        """Wait for it."""
        self._qtbot.waitUntil(lambda: bool(is_so()), timeout=_WAIT_MS)

    def _verbs(self) -> RunVerb:
        assert self._held.wait(_WAIT_MS / 1000)
        if self._error:
            raise self._error
        return run_for_another


@pytest.fixture
def opened(home: Home, qtbot: QtBot) -> Iterator[Callable[..., Opening]]:
    """Begins a start, and ends it after the test."""
    all_opened: list[Opening] = []

    def begin(*, is_shown: bool = False) -> Opening:
        all_opened.append(Opening(home, qtbot, is_shown=is_shown))
        return all_opened[-1]

    yield begin
    for each in all_opened:
        each.go_on()
        each.start.end()


def small_window() -> OpeningWindow | None:
    """The window that says what takes so long, while it is on the screen."""
    shown = (w for w in QApplication.topLevelWidgets() if isinstance(w, OpeningWindow))
    return next((window for window in shown if window.isVisible()), None)


@pytest.mark.slow
def test_a_request_is_kept_until_it_is_open(opened: Callable[..., Opening]) -> None:
    opening = opened()
    opening.start.request(QuickAskRequested("When is the lamp lit?"))
    opening.go_on()
    opening.until(lambda: opening.start.app and opening.start.app.presence.popup.isVisible())
    assert opening.start.app
    assert not opening.start.app.window.isVisible()
    assert opening.start.app.presence.popup.field.text == "When is the lamp lit?"


@pytest.mark.slow
def test_it_can_be_ended_before_it_is_open(
    opened: Callable[..., Opening], build_services: Callable[[], Services]
) -> None:
    opening = opened()
    opening.start.quit()
    opening.go_on()
    opening.until(lambda: opening.codes == [0])
    opening.start.end()
    assert opening.start.app is None
    # It would still be locked.
    assert build_services().library.documents.all() == []


@pytest.mark.slow
def test_a_repair_is_told_while_it_lasts(home: Home, opened: Callable[..., Opening]) -> None:
    home.create()
    home.repair_request.touch()
    opening = opened(is_shown=True)
    opening.until(small_window)
    window = small_window()
    assert window
    assert "Repairing the library" in window.text
    opening.go_on()
    opening.until(lambda: opening.start.app and opening.start.app.window.isVisible())
    assert small_window() is None


def test_an_error_is_shown_and_ends_it(opened: Callable[..., Opening]) -> None:
    texts: list[str] = []

    def press() -> None:
        box = QApplication.activeModalWidget()
        if isinstance(box, QMessageBox):
            texts.append(box.text())
            box.accept()

    pressing = QTimer(interval=20)
    pressing.timeout.connect(press)
    pressing.start()
    opening = opened()
    opening.go_on(AppError("The library is open elsewhere.", "Close it there."))
    opening.until(lambda: opening.codes == [1])
    assert texts == ["The library is open elsewhere.\n\nClose it there."]


def test_a_bug_is_loud(home: Home, qtbot: QtBot) -> None:
    opening = Opening(home, qtbot, is_shown=False)
    opening.go_on(ValueError("a bug"))
    opening.until(lambda: opening.codes == [1])
    with pytest.raises(ValueError, match="a bug"):
        opening.start.end()


@pytest.mark.slow
def test_the_window_waits_for_no_page_beside_the_settings() -> None:
    script = (
        "import sys, desktop_rag.window_app as _\n"
        "rooms = ('desktop_rag.settings_pages', 'desktop_rag.ui.')\n"
        "print(*(m for m in sys.modules if m.startswith(rooms) and m.endswith(('pages', '_page'))))"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    holders = {"desktop_rag.ui.widgets.scrolled_page", "desktop_rag.ui.window.window_pages"}
    assert set(done.stdout.split()) == holders
