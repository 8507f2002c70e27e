"""A desktop's notifications on the session bus: it writes down what is shown, and presses it."""

import queue
from dataclasses import dataclass
from typing import Any

from jeepney import DBusAddress, HeaderFields, Message, new_method_return, new_signal

from tests.servers.bus_service import BusService

_NAME = "org.freedesktop.Notifications"
_ADDRESS = DBusAddress("/org/freedesktop/Notifications", interface=_NAME)


@dataclass(frozen=True, slots=True)
class Shown:
    """One notification as the desktop got it."""

    number: int
    replaced: int
    icon: str
    title: str
    text: str
    actions: list[str]
    hints: dict[str, tuple[str, Any]]


class NotificationServer(BusService):
    """`shown` gets each notification."""

    def __init__(self) -> None:
        super().__init__(_NAME)
        self.shown: queue.Queue[Shown] = queue.Queue()
        self._number = 6

    def press(self, number: int) -> None:
        """The person presses the notification of this number."""
        body = (number, "default")
        self.connection.send(new_signal(_ADDRESS, "ActionInvoked", "us", body))

    def answer(self, call: Message) -> None:
        assert call.header.fields[HeaderFields.member] == "Notify"
        _app, replaced, icon, title, text, actions, hints, _limit_ms = call.body
        self._number = replaced or self._number + 1
        self.connection.send(new_method_return(call, "u", (self._number,)))
        self.shown.put(Shown(self._number, replaced, icon, title, text, actions, hints))
