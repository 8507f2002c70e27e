"""Notifications of the desktop without a tray: org.freedesktop.Notifications on the session bus.

Its specification: Notify returns an id, and ActionInvoked names the id of a pressed one.
"""

import logging
import queue
import threading
from collections.abc import Callable

from jeepney import (
    AuthenticationError,
    DBusAddress,
    DBusErrorResponse,
    MatchRule,
    Message,
    MessageType,
    message_bus,
    new_method_call,
)
from jeepney.io.threading import DBusRouter, RouterClosed, open_dbus_connection

from desktop_rag.desktop.launching import APP_ID, APP_NAME

log = logging.getLogger(__name__)

_NOTIFICATIONS = DBusAddress(
    "/org/freedesktop/Notifications",
    "org.freedesktop.Notifications",
    "org.freedesktop.Notifications",
)
_REPLY_S = 5.0
# The action of a press on the notification itself, and as long as the desktop likes.
_DEFAULT, _SHOWN_MS = "default", -1
_FAULTS = (OSError, ValueError, KeyError, DBusErrorResponse, RouterClosed, TimeoutError,
           AuthenticationError)  # fmt: skip


class BusNotifier:
    """Shows notifications, connecting with the first one. One thread at a time."""

    def __init__(self, on_pressed: Callable[[], None]) -> None:
        """`on_pressed` is called on a thread of its own when the last notification is pressed."""
        self._on_pressed = on_pressed
        self._shown_id = 0
        self._listening: _Listening | None = None

    def notify(self, title: str, text: str) -> bool:
        """Show a notification in place of the last one; False where the desktop shows none."""
        try:
            if not self._listening:
                self._listening = _Listening(self._on_action)
            self._shown_id = self._listening.notify(self._shown_id, title, text)
        except _FAULTS as exc:
            log.info("no notification was shown: %r", exc)
            self.close()
            return False
        return True

    def close(self) -> None:
        """End the connection; the desktop keeps what it shows. Idempotent."""
        listening, self._listening = self._listening, None
        if listening:
            listening.close()

    def _on_action(self, notification_id: int) -> None:
        if notification_id == self._shown_id:
            self._on_pressed()


class _Listening:
    """A connection to the session bus that receives presses."""

    def __init__(self, on_action: Callable[[int], None]) -> None:
        self._on_action = on_action
        self._connection = open_dbus_connection()
        self._router = DBusRouter(self._connection)
        self._pressed: queue.Queue[Message | None] = queue.Queue()
        rule = MatchRule(type="signal", interface=_NOTIFICATIONS.interface, member="ActionInvoked")
        self._filter = self._router.filter(rule, queue=self._pressed)
        self._thread = threading.Thread(target=self._read, name="notifications", daemon=True)
        self._thread.start()
        try:
            self._call(message_bus.AddMatch(rule))
        except BaseException:
            self.close()
            raise

    def notify(self, replaced_id: int, title: str, text: str) -> int:
        hints = {"desktop-entry": ("s", APP_ID)}
        arguments = (
            APP_NAME, replaced_id, APP_ID, title, text, [_DEFAULT, "Open"], hints, _SHOWN_MS
        )  # fmt: skip
        called = new_method_call(_NOTIFICATIONS, "Notify", "susssasa{sv}i", arguments)
        return int(self._call(called).body[0])

    def close(self) -> None:
        self._pressed.put(None)
        self._thread.join()
        self._filter.close()
        self._router.close()
        self._connection.close()

    def _call(self, message: Message) -> Message:
        reply = self._router.send_and_get_reply(message, timeout=_REPLY_S)
        if reply.header.message_type is MessageType.error:
            raise DBusErrorResponse(reply)
        return reply

    def _read(self) -> None:
        while message := self._pressed.get():
            self._on_action(int(message.body[0]))
