"""Notifications of the desktop where no tray shows them. Linux only: other systems have a tray."""

import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from desktop_rag.desktop.bus_notifier import BusNotifier


class Notifier:
    """Shows notifications, connecting with the first one."""

    def __init__(self, on_pressed: Callable[[], None]) -> None:
        """`on_pressed` is called on a thread of its own when the last one is pressed."""
        self._on_pressed = on_pressed
        self._lock = threading.Lock()
        self._bus: BusNotifier | None = None

    def notify(self, title: str, text: str) -> bool:
        """Show a notification; False where the desktop shows none. Worker threads."""
        if sys.platform != "linux":
            return False
        from desktop_rag.desktop.bus_notifier import BusNotifier  # noqa: PLC0415

        with self._lock:
            self._bus = self._bus or BusNotifier(self._on_pressed)
            return self._bus.notify(title, text)

    def close(self) -> None:
        """End the connection; the desktop keeps what it shows. Idempotent."""
        with self._lock:
            if self._bus:
                self._bus.close()
