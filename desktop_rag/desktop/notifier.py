"""Notifications of the desktop where no tray shows them: org.freedesktop.Notifications.

Its specification: Notify returns an id, and ActionInvoked names the id of a pressed one. Linux
only: other systems have a tray.
"""

import logging
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from desktop_rag.desktop.launching import APP_ID, APP_NAME

if TYPE_CHECKING:
    from desktop_rag.desktop.session_bus import SessionBus

log = logging.getLogger(__name__)

_PROGRAM = "org.freedesktop.Notifications"
_NOTIFICATIONS = ("/org/freedesktop/Notifications", _PROGRAM, _PROGRAM)
# The action of a press on the notification itself, and as long as the desktop likes.
_DEFAULT, _SHOWN_MS = "default", -1


class Notifier:
    """Shows notifications, connecting with the first one."""

    def __init__(self, on_pressed: Callable[[], None]) -> None:
        """`on_pressed` is called on a thread of its own when the last one is pressed."""
        self._on_pressed = on_pressed
        self._lock = threading.Lock()
        self._shown_id = 0
        self._bus: SessionBus | None = None

    def notify(self, title: str, text: str) -> bool:
        """Show a notification in place of the last one; False where the desktop shows none.

        Worker threads.
        """
        if sys.platform != "linux":
            return False
        from desktop_rag.desktop.session_bus import FAULTS, SessionBus  # noqa: PLC0415

        hints = {"desktop-entry": ("s", APP_ID)}
        with self._lock:
            actions = [_DEFAULT, "Open"]
            told = (APP_NAME, self._shown_id, APP_ID, title, text, actions, hints, _SHOWN_MS)
            try:
                if not self._bus:
                    self._bus = SessionBus()
                    self._bus.hear(_PROGRAM, "ActionInvoked", self._on_action, "notifications")
                [shown_id] = self._bus.call(_NOTIFICATIONS, "Notify", "susssasa{sv}i", told)
            except FAULTS as exc:
                log.info("no notification was shown: %r", exc)
                self._end()
                return False
            self._shown_id = int(str(shown_id))
        return True

    def close(self) -> None:
        """End the connection; the desktop keeps what it shows. Idempotent."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        bus, self._bus = self._bus, None
        if bus:
            bus.close()

    def _on_action(self, notification_id: int, _action: str) -> None:
        if notification_id == self._shown_id:
            self._on_pressed()
