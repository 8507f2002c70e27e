"""Queries the desktop's session bus on Linux, without starting services or registering names."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import cast

from jeepney import (
    AuthenticationError,
    DBusAddress,
    DBusErrorResponse,
    Message,
    MessageFlag,
    MessageType,
    Properties,
    message_bus,
)
from jeepney.io.blocking import DBusConnection, open_dbus_connection

_LIMIT_S = 2.0
_FAULTS = (OSError, ValueError, RuntimeError, KeyError, AuthenticationError, DBusErrorResponse)


class SessionBus:
    """An open connection."""

    def __init__(self, connection: DBusConnection) -> None:
        self._connection = connection

    def has(self, name: str) -> bool:
        """True when a program owns this name."""
        return bool(self._answer(message_bus.NameHasOwner(name))[0])

    def property_of(self, name: str, path: str, interface: str, key: str) -> object:
        """The value of a property, None when the object does not have it."""
        try:
            asked = Properties(DBusAddress(path, name, interface)).get(key)
            _signature, value = cast("tuple[str, object]", self._answer(asked)[0])
        except DBusErrorResponse:
            return None
        return value

    def _answer(self, message: Message) -> tuple[object, ...] | list[object]:
        message.header.flags |= MessageFlag.no_auto_start
        reply = self._connection.send_and_get_reply(message, timeout=_LIMIT_S)
        if reply.header.message_type is MessageType.error:
            raise DBusErrorResponse(reply)
        return reply.body


@contextmanager
def session_bus() -> Generator[SessionBus | None]:
    """The bus of this desktop session; None when there is none or it can't be reached."""
    connection = _connected()
    if connection is None:
        yield None
        return
    try:
        yield SessionBus(connection)
    finally:
        connection.close()


def _connected() -> DBusConnection | None:
    if not os.environ.get("DBUS_SESSION_BUS_ADDRESS"):
        return None
    try:
        return open_dbus_connection("SESSION")
    except _FAULTS:
        return None
