"""Whether a desktop of X11 has a tray of the older kind, XEMBED.

That is a window which owns a selection by its name; asked through ctypes, as for hotkeys: libxcb is
there wherever Qt draws on X11.
"""

import ctypes
import os
from ctypes import POINTER, Structure, c_char_p, c_int, c_uint8, c_uint16, c_uint32, c_void_p
from ctypes.util import find_library


class _Cookie(Structure):
    _fields_ = (("sequence", ctypes.c_uint),)


class _Reply(Structure):
    """The head of a reply, and the one number that both replies hold."""

    _fields_ = (
        ("response_type", c_uint8), ("pad", c_uint8), ("sequence", c_uint16), ("length", c_uint32),
        ("number", c_uint32),
    )  # fmt: skip


def has_x11_tray() -> bool:
    """True when the display of this session has such a tray; blocks for one answer of the server.

    False without an X server, and below Wayland, where Qt asks no X server.
    """
    if not os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        return False
    try:
        xcb = _load()
    except (OSError, AttributeError):
        return False
    screen = c_int(0)
    connection = xcb.xcb_connect(None, ctypes.byref(screen))
    try:
        if xcb.xcb_connection_has_error(connection):
            return False
        name = f"_NET_SYSTEM_TRAY_S{screen.value}".encode()
        asked = xcb.xcb_intern_atom(connection, 1, len(name), name)
        atom = _number(xcb.xcb_intern_atom_reply(connection, asked, None))
        if not atom:
            return False
        asked = xcb.xcb_get_selection_owner(connection, atom)
        return bool(_number(xcb.xcb_get_selection_owner_reply(connection, asked, None)))
    finally:
        xcb.xcb_disconnect(connection)


def _number(address: int | None) -> int:
    """The number of a reply, 0 for none. The reply is freed."""
    if not address:
        return 0
    number = int(_Reply.from_address(address).number)
    ctypes.CDLL(None).free(c_void_p(address))
    return number


def _load() -> ctypes.CDLL:
    xcb = ctypes.CDLL(find_library("xcb") or "libxcb.so.1")
    for name, result, arguments in (
        ("xcb_connect", c_void_p, [c_char_p, POINTER(c_int)]),
        ("xcb_connection_has_error", c_int, [c_void_p]),
        ("xcb_intern_atom", _Cookie, [c_void_p, c_uint8, c_uint16, c_char_p]),
        ("xcb_intern_atom_reply", c_void_p, [c_void_p, _Cookie, c_void_p]),
        ("xcb_get_selection_owner", _Cookie, [c_void_p, c_uint32]),
        ("xcb_get_selection_owner_reply", c_void_p, [c_void_p, _Cookie, c_void_p]),
        ("xcb_disconnect", None, [c_void_p]),
    ):
        function = getattr(xcb, name)
        function.restype, function.argtypes = result, arguments
    return xcb
