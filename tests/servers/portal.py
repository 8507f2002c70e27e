"""A desktop's portal for global shortcuts, on the session bus: a stand-in that can also refuse."""

import threading
from types import TracebackType
from typing import Any, Self

from jeepney import (
    DBusAddress,
    HeaderFields,
    Message,
    MessageType,
    message_bus,
    new_error,
    new_method_return,
    new_signal,
)
from jeepney.io.blocking import DBusConnection, open_dbus_connection

PATH = "/org/freedesktop/portal/desktop"
SHORTCUTS = "org.freedesktop.portal.GlobalShortcuts"
REQUEST = "org.freedesktop.portal.Request"
_POLL_S = 0.05


class Portal:
    """`response` answers BindShortcuts: 0 accepted, 1 refused by the person, 2 ended.

    `known` are bound from an earlier run. `binds` is False for a desktop that accepts and binds
    nothing. `methods` are the calls it heard.
    """

    def __init__(
        self, *, response: int = 0, known: tuple[str, ...] = (), binds: bool = True
    ) -> None:
        self.response = response
        self.known = known
        self.binds = binds
        self.methods: list[str] = []
        self.session = ""
        self._is_closed = threading.Event()
        self._connection: DBusConnection | None = None
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        self._connection = connection = open_dbus_connection()
        connection.send_and_get_reply(message_bus.RequestName("org.freedesktop.portal.Desktop"))
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
        if self._connection:
            self._connection.close()

    def press(self, shortcut: str, session: str = "") -> None:
        """The person presses the key of a shortcut."""
        assert self._connection
        body = (session or self.session, shortcut, 0, {})
        self._connection.send(
            new_signal(DBusAddress(PATH, interface=SHORTCUTS), "Activated", "osta{sv}", body)
        )

    def _serve(self) -> None:
        assert self._connection
        while not self._is_closed.is_set():
            try:
                call = self._connection.receive(timeout=_POLL_S)
            except TimeoutError:
                continue
            if call.header.message_type is MessageType.method_call:
                self._answer(call)

    def _answer(self, call: Message) -> None:
        assert self._connection
        method = str(call.header.fields[HeaderFields.member])
        self.methods.append(method)
        if method == "Register":
            self._connection.send(new_error(call, "org.freedesktop.DBus.Error.UnknownMethod"))
            return
        if method == "Close":
            self._connection.send(new_method_return(call))
            return
        options = call.body[-1]
        sender = str(call.header.fields[HeaderFields.sender]).lstrip(":").replace(".", "_")
        request = f"{PATH}/request/{sender}/{options['handle_token'][1]}"
        self._connection.send(new_method_return(call, "o", (request,)))
        code, results = self._result(method, sender, call)
        self._connection.send(
            new_signal(
                DBusAddress(request, interface=REQUEST), "Response", "ua{sv}", (code, results)
            )
        )

    def _result(self, method: str, sender: str, call: Message) -> tuple[int, dict[str, Any]]:
        if method == "CreateSession":
            token = call.body[0]["session_handle_token"][1]
            self.session = f"{PATH}/session/{sender}/{token}"
            return 0, {"session_handle": ("s", self.session)}
        names = self.known
        if method == "BindShortcuts":
            wanted = tuple(name for name, _options in call.body[1])
            names = wanted if self.binds else ()
            if self.response:
                return self.response, {}
        told = [(name, {"trigger_description": ("s", "Ctrl+Alt+Space")}) for name in names]
        return 0, {"shortcuts": ("a(sa{sv})", told)}
