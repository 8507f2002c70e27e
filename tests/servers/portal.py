"""A desktop's portal for global shortcuts, on the session bus: a stand-in that can also refuse."""

from typing import Any

from jeepney import DBusAddress, HeaderFields, Message, new_error, new_method_return, new_signal

from tests.servers.bus_service import BusService

PATH = "/org/freedesktop/portal/desktop"
SHORTCUTS = "org.freedesktop.portal.GlobalShortcuts"
REQUEST = "org.freedesktop.portal.Request"


class Portal(BusService):
    """`response` answers BindShortcuts: 0 accepted, 1 refused by the person, 2 ended.

    `known` are bound from an earlier run. `binds` is False for a desktop that accepts and binds
    nothing. `methods` are the calls it heard.
    """

    def __init__(
        self, *, response: int = 0, known: tuple[str, ...] = (), binds: bool = True
    ) -> None:
        super().__init__("org.freedesktop.portal.Desktop")
        self.response = response
        self.known = known
        self.binds = binds
        self.methods: list[str] = []
        self.session = ""

    def press(self, shortcut: str, session: str = "") -> None:
        """The person presses the key of a shortcut."""
        body = (session or self.session, shortcut, 0, {})
        self.connection.send(
            new_signal(DBusAddress(PATH, interface=SHORTCUTS), "Activated", "osta{sv}", body)
        )

    def answer(self, call: Message) -> None:
        method = str(call.header.fields[HeaderFields.member])
        self.methods.append(method)
        if method == "Register":
            self.connection.send(new_error(call, "org.freedesktop.DBus.Error.UnknownMethod"))
            return
        if method == "Close":
            self.connection.send(new_method_return(call))
            return
        options = call.body[-1]
        sender = str(call.header.fields[HeaderFields.sender]).lstrip(":").replace(".", "_")
        request = f"{PATH}/request/{sender}/{options['handle_token'][1]}"
        self.connection.send(new_method_return(call, "o", (request,)))
        code, results = self._result(method, sender, call)
        self.connection.send(
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
