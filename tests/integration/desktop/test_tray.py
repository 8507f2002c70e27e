"""The icon in a tray of the test's own, as the desktop sees it from outside the app."""

import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from desktop_rag.app import Services
from desktop_rag.core.paths import Home
from tests.command_line import run, settled, wait_for_window
from tests.displays import session_bus, visible_windows, x_server
from tests.servers.tray_host import TrayHost

if sys.platform != "linux":
    pytest.skip("this tray is on Linux", allow_module_level=True)

_ENOUGH_S = 50.0
_POPUP, _WINDOW = "Quick ask — desktop-rag", "desktop-rag"


@pytest.fixture(autouse=True)
def display(monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """Qt has no tray without a display."""
    with x_server() as name, session_bus(monkeypatch):
        monkeypatch.setenv("DISPLAY", name)
        monkeypatch.setenv("QT_QPA_PLATFORM", "xcb")
        yield


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    """Two documents and a file that can't be read."""
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "lamp.md").write_text("# Lamp\n\nThe lamp is lit at dusk by the keeper.")
    (folder / "wick.md").write_text("# Wick\n\nThe wick is trimmed twice a night.")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7\nnothing else")
    return settled(folder)


@contextmanager
def app_in_background() -> Generator["subprocess.Popen[bytes]"]:
    command = [sys.executable, "-m", "desktop_rag", "--background"]
    app = subprocess.Popen(command, stderr=subprocess.PIPE)
    try:
        yield app
    finally:
        app.kill()
        app.communicate()


def test_the_icon_follows_the_library_and_its_menu_does_the_work(
    build_services: Callable[[], Services], papers: Path
) -> None:
    services = build_services()
    services.library.sources.add(papers, "")
    services.close()
    with TrayHost() as tray, app_in_background() as app:
        tray.wait_for_icon()
        tray.wait_until(lambda: "3 files, 1 not read" in tray.tooltip())
        tray.wait_until(lambda: "1 file could not be read" in tray.tooltip())
        assert "Show what failed (1)" in tray.labels()
        assert {(p.width, p.height) for p in tray.pictures()} >= {(16, 16), (22, 22), (44, 44)}
        up_to_date = tray.pictures()

        tray.press("Pause indexing for an hour")
        tray.wait_until(lambda: "Paused until" in tray.tooltip())
        tray.wait_until(lambda: tray.pictures() != up_to_date)
        tray.press("Resume indexing")
        tray.wait_until(lambda: tray.pictures() == up_to_date)
        assert "Paused" not in tray.tooltip()

        assert visible_windows() == set()
        tray.click()
        tray.wait_until(lambda: visible_windows() == {_POPUP})
        tray.press("Open desktop-rag")
        tray.wait_until(lambda: _WINDOW in visible_windows())
        tray.press("Quit")
        assert app.wait(_ENOUGH_S) == 0
        assert app.stderr
        assert b"leaked" not in app.stderr.read()


def test_a_later_tray_gets_the_icon_and_a_second_start_the_window(home: Home) -> None:
    with app_in_background() as app:
        wait_for_window(home, app)
        with TrayHost() as tray:
            tray.wait_for_icon()
            tray.wait_until(lambda: "No folder yet" in tray.tooltip())
            # A second start shows the window of the first.
            assert run().returncode == 0
            tray.wait_until(lambda: visible_windows() == {_WINDOW})
            tray.press("Quit")
            assert app.wait(_ENOUGH_S) == 0
