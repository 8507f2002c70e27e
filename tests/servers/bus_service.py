"""A program on the session bus that answers calls: what the stand-ins for a desktop share."""

import threading
from types import TracebackType
from typing import Self

from jeepney import Message, MessageType, message_bus
from jeepney.io.blocking import DBusConnection, open_dbus_connection

_POLL_S = 0.05


class BusService:
    """Owns `name` while it is entered; `answer` is called on a thread of its own."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._is_closed = threading.Event()
        self._connection: DBusConnection | None = None
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        self._connection = open_dbus_connection()
        self._connection.send_and_get_reply(message_bus.RequestName(self._name))
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._is_closed.set()
        self._thread.join()
        self.connection.close()

    @property
    def connection(self) -> DBusConnection:
        """The connection to the bus, once it is entered."""
        assert self._connection
        return self._connection

    def answer(self, call: Message) -> None:
        """Answer a call of a method."""
        raise NotImplementedError

    def _serve(self) -> None:
        while not self._is_closed.is_set():
            try:
                message = self.connection.receive(timeout=_POLL_S)
            except TimeoutError:
                continue
            if message.header.message_type is MessageType.method_call:
                self.answer(message)
