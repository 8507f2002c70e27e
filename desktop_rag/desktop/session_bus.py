"""A connection to the session bus of a Linux desktop, with the signals that come over it."""

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

FAULTS = (OSError, ValueError, KeyError, DBusErrorResponse, RouterClosed, TimeoutError,
          AuthenticationError)  # fmt: skip
REPLY_S = 5.0
# A path, the name of a program, and an interface.
Address = tuple[str, str, str]


class SessionBus:
    """An open connection. Its methods raise FAULTS; one thread at a time."""

    def __init__(self) -> None:
        self._connection = open_dbus_connection()
        self._router = DBusRouter(self._connection)
        self._signals: queue.Queue[Message | None] = queue.Queue()
        self._close_heard: Callable[[], None] = lambda: None
        self.is_open = True

    @property
    def own_name(self) -> str:
        """The name that the bus gave this connection."""
        return str(self._connection.unique_name)

    def call(
        self, where: Address, method: str, signature: str = "", arguments: tuple[object, ...] = ()
    ) -> tuple[object, ...]:
        """Call a method of another program; its results."""
        return self._answer(new_method_call(DBusAddress(*where), method, signature, arguments))

    def hear(
        self, interface: str, member: str, hearer: Callable[..., object], thread_name: str
    ) -> None:
        """Pass the values of each such signal to the hearer, on a thread of its own. Once."""

        def read() -> None:
            while signal := self._signals.get():
                hearer(*signal.body)

        rule = MatchRule(type="signal", interface=interface, member=member)
        heard = self._router.filter(rule, queue=self._signals)
        thread = threading.Thread(target=read, name=thread_name, daemon=True)
        thread.start()

        def close_heard() -> None:
            self._signals.put(None)
            thread.join()
            heard.close()

        self._close_heard = close_heard
        self._answer(message_bus.AddMatch(rule))

    def ask(
        self, where: Address, method: str, signature: str, arguments: tuple[object, ...],
        answer: MatchRule, limit_s: float,
    ) -> tuple[object, ...]:  # fmt: skip
        """Call a method that answers by a signal; its values. `queue.Empty` after the limit."""
        # Listened for before the call: the answer may come first.
        self._answer(message_bus.AddMatch(answer))
        try:
            with self._router.filter(answer) as answers:
                self.call(where, method, signature, arguments)
                return answers.get(timeout=limit_s).body
        finally:
            self._answer(message_bus.RemoveMatch(answer))

    def close(self) -> None:
        """End the connection, and the thread that hears."""
        self.is_open = False
        self._close_heard()
        self._router.close()
        self._connection.close()

    def _answer(self, message: Message) -> tuple[object, ...]:
        reply = self._router.send_and_get_reply(message, timeout=REPLY_S)
        if reply.header.message_type is MessageType.error:
            raise DBusErrorResponse(reply)
        return tuple(reply.body)
