"""Notifications without a tray, on a session bus of the test's own."""

import sys
import threading
from collections.abc import Generator

import pytest

from desktop_rag.desktop.launching import APP_ID
from desktop_rag.desktop.notifier import Notifier
from tests.displays import session_bus
from tests.servers.notification_server import NotificationServer

if sys.platform != "linux":
    pytest.skip("other systems have a tray", allow_module_level=True)

_SOON_S = 20.0


@pytest.fixture
def bus(monkeypatch: pytest.MonkeyPatch) -> Generator[str]:
    with session_bus(monkeypatch) as address:
        yield address


@pytest.mark.usefixtures("bus")
def test_it_is_shown_replaced_and_pressed() -> None:
    pressed = threading.Event()
    notifier = Notifier(pressed.set)
    with NotificationServer() as desktop:
        assert notifier.notify("desktop-rag", "Your answer is ready.")
        first = desktop.shown.get(timeout=_SOON_S)
        assert (first.title, first.text) == ("desktop-rag", "Your answer is ready.")
        assert (first.icon, first.hints["desktop-entry"]) == (APP_ID, ("s", APP_ID))
        assert first.actions[0] == "default"
        assert notifier.notify("desktop-rag", "A folder is offline.")
        assert desktop.shown.get(timeout=_SOON_S).replaced == first.number
        desktop.press(first.number + 1)  # of another program
        desktop.press(first.number)
        assert pressed.wait(_SOON_S)
        notifier.close()


@pytest.mark.usefixtures("bus")
def test_a_press_for_another_program_is_not_ours() -> None:
    pressed: list[threading.Thread] = []
    notifier = Notifier(lambda: pressed.append(threading.current_thread()))
    with NotificationServer() as desktop:
        assert notifier.notify("desktop-rag", "Your answer is ready.")
        desktop.press(desktop.shown.get(timeout=_SOON_S).number + 1)
        # The bus keeps the order: what was pressed before has arrived with this reply.
        assert notifier.notify("desktop-rag", "Your answer is ready.")
        notifier.close()
    assert pressed == []


@pytest.mark.usefixtures("bus")
def test_a_desktop_without_notifications_is_no_error() -> None:
    notifier = Notifier(lambda: None)
    assert not notifier.notify("desktop-rag", "Your answer is ready.")
    with NotificationServer() as desktop:
        # It may start later.
        assert notifier.notify("desktop-rag", "Your answer is ready.")
        desktop.shown.get(timeout=_SOON_S)
        notifier.close()


def test_without_a_session_bus_nothing_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere")
    assert not Notifier(lambda: None).notify("desktop-rag", "Your answer is ready.")
