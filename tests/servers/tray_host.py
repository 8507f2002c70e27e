"""A desktop's tray on the session bus: it takes one icon, reads it, and presses its menu.

The protocols are StatusNotifierItem and com.canonical.dbusmenu, which KDE, Xfce, LXQt and GNOME's
extension AppIndicator speak.
"""

import queue
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from jeepney import (
    DBusAddress,
    DBusErrorResponse,
    HeaderFields,
    MatchRule,
    Message,
    MessageType,
    Properties,
    message_bus,
    new_method_call,
    new_method_return,
)
from jeepney.io.threading import DBusRouter, open_dbus_connection

from tests.servers.bus_service import BusService

WATCHER = "org.kde.StatusNotifierWatcher"
_ITEM = "org.kde.StatusNotifierItem"
_ITEM_PATH = "/StatusNotifierItem"
_MENU = "com.canonical.dbusmenu"
_REPLY_S = 10.0
_SOON_S = 20.0
_POLL_S = 0.2
_WATCHER_PROPERTIES = {
    "IsStatusNotifierHostRegistered": ("b", True),
    "ProtocolVersion": ("i", 0),
    "RegisteredStatusNotifierItems": ("as", []),
}


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of the menu as the desktop would draw it."""

    number: int
    label: str
    is_enabled: bool
    entries: tuple["Entry", ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """One size of the icon: 32 bits a pixel."""

    width: int
    height: int
    pixels: bytes


class TrayHost(BusService):
    """Watcher and host in one, for the first icon that registers."""

    def __init__(self) -> None:
        super().__init__(WATCHER)
        self._registered: queue.Queue[str] = queue.Queue()
        self._item = ""

    def __enter__(self) -> Self:
        super().__enter__()
        self._host = open_dbus_connection()
        self._router = DBusRouter(self._host)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._router.close()
        self._host.close()
        super().__exit__(kind, error, trace)

    def answer(self, call: Message) -> None:
        method = call.header.fields[HeaderFields.member]
        match method:
            case "RegisterStatusNotifierItem":
                self._registered.put(str(call.header.fields[HeaderFields.sender]))
                reply = new_method_return(call)
            case "Get":
                reply = new_method_return(call, "v", (_WATCHER_PROPERTIES[call.body[1]],))
            case "GetAll":
                reply = new_method_return(call, "a{sv}", (_WATCHER_PROPERTIES,))
            case _:
                reply = new_method_return(call)
        self.connection.send(reply)

    # --- the icon ----------------------------------------------------------------------------

    def wait_for_icon(self) -> None:
        """Return once an icon has registered."""
        self._item = self._registered.get(timeout=_SOON_S)

    def tooltip(self) -> str:
        """The title and the text beside the icon."""
        _icon, _pictures, title, text = self._property("ToolTip")
        return "\n".join(part for part in (title, text) if part)

    def pictures(self) -> list[Picture]:
        """The icon at every size that the app offers."""
        return [Picture(*picture) for picture in self._property("IconPixmap")]

    def click(self) -> None:
        """The person clicks the icon."""
        address = DBusAddress(_ITEM_PATH, self._item, _ITEM)
        self._call(new_method_call(address, "Activate", "ii", (0, 0)))

    # --- the menu ----------------------------------------------------------------------------

    def menu(self) -> tuple[Entry, ...]:
        """The visible entries, without separators."""
        body = (0, -1, [])
        _revision, layout = self._call(
            new_method_call(self._menu_address(), "GetLayout", "iias", body)
        ).body
        return _entry(layout).entries

    def labels(self) -> list[str]:
        """The words of the visible entries."""
        return [entry.label for entry in self.menu()]

    def press(self, label: str) -> None:
        """The person presses the entry with these words, in the menu or in a menu below it."""
        entries = self.menu()
        everything = [*entries, *(below for entry in entries for below in entry.entries)]
        number = next(entry.number for entry in everything if entry.label == label)
        body = (number, "clicked", ("i", 0), int(time.time()))
        self._call(new_method_call(self._menu_address(), "Event", "isvu", body))

    def wait_until(self, is_so: Callable[[], bool]) -> None:
        """Return once a condition holds; every signal of the icon is a reason to look again."""
        rule = MatchRule(type="signal", sender=self._item)
        self._call(message_bus.AddMatch(rule))
        deadline = time.monotonic() + _SOON_S
        with self._router.filter(rule) as signals:
            while not is_so():
                assert time.monotonic() < deadline, (self.tooltip(), self.menu())
                try:
                    signals.get(timeout=_POLL_S)
                except queue.Empty:
                    continue

    def _menu_address(self) -> DBusAddress:
        return DBusAddress(str(self._property("Menu")), self._item, _MENU)

    def _property(self, name: str) -> Any:
        address = DBusAddress(_ITEM_PATH, self._item, _ITEM)
        return self._call(Properties(address).get(name)).body[0][1]

    def _call(self, message: Message) -> Message:
        reply = self._router.send_and_get_reply(message, timeout=_REPLY_S)
        if reply.header.message_type is MessageType.error:
            raise DBusErrorResponse(reply)
        return reply


def _entry(layout: tuple[int, dict[str, tuple[str, Any]], list[tuple[str, Any]]]) -> Entry:
    number, properties, below = layout
    told = {key: value for key, (_signature, value) in properties.items()}
    visible = [part for _, part in below if _is_drawn(part[1])]
    return Entry(
        number,
        _drawn(str(told.get("label", ""))),
        bool(told.get("enabled", True)),
        tuple(_entry(part) for part in visible),
    )


def _is_drawn(properties: dict[str, tuple[str, Any]]) -> bool:
    is_separator = properties.get("type", ("s", ""))[1] == "separator"
    return bool(properties.get("visible", ("b", True))[1]) and not is_separator


def _drawn(label: str) -> str:
    """A label without the underline of its mnemonic: `_` marks a letter, `__` is one `_`."""
    return label.replace("__", "\0").replace("_", "").replace("\0", "_")
