"""Chooses the way to global hotkeys on this desktop. Any thread."""

import ctypes
import os
import sys
from ctypes import POINTER, Structure, c_char_p, c_int, c_uint8, c_uint16, c_uint32, c_void_p
from ctypes.util import find_library

from desktop_rag.desktop.hotkeys.hotkey import HotkeyDesktop, OnPressed

# The few functions of libxcb that global hotkeys need, through ctypes.
#
# libxcb and libxcb-keysyms are there wherever Qt draws on X11. The Python bindings are not kept up
# (python-xlib) or compile when installed (xcffib). Xlib's error handler belongs to the whole
# process;
# libxcb reports errors by request.

KEY_PRESS = 2
MAPPING_NOTIFY = 34
BAD_ACCESS = 10
_ASYNC = 1
_SENT_EVENT = 0x80


class _Cookie(Structure):
    _fields_ = (("sequence", ctypes.c_uint),)


class _ScreenIterator(Structure):
    _fields_ = (("data", POINTER(c_uint32)), ("rem", c_int), ("index", c_int))


class _Error(Structure):
    _fields_ = (("response_type", c_uint8), ("error_code", c_uint8))


class _Event(Structure):
    _fields_ = (
        ("response_type", c_uint8),
        ("detail", c_uint8),
        ("sequence", c_uint16),
        ("time", c_uint32),
        ("windows", c_uint32 * 3),
        ("places", c_uint16 * 4),
        ("state", c_uint16),
    )


class XConnection:
    """A connection of our own to the X server. Requests from any thread; events on one."""

    def __init__(self, display: str = "") -> None:
        """OSError when there is no X server or its libraries are missing."""
        self._xcb, self._keysyms = _load()
        self._connection = self._xcb.xcb_connect(display.encode() or None, None)
        if self._xcb.xcb_connection_has_error(self._connection):
            self._xcb.xcb_disconnect(self._connection)
            raise OSError("no X server answers")
        setup = self._xcb.xcb_get_setup(self._connection)
        self._root = int(self._xcb.xcb_setup_roots_iterator(setup).data[0])
        self._symbols = self._keysyms.xcb_key_symbols_alloc(self._connection)

    @property
    def descriptor(self) -> int:
        """The file descriptor that becomes readable when events arrive."""
        return int(self._xcb.xcb_get_file_descriptor(self._connection))

    def keycodes(self, keysym: int) -> list[int]:
        """The keys that type this symbol."""
        found = self._keysyms.xcb_key_symbols_get_keycode(self._symbols, keysym)
        if not found:
            return []
        codes = ctypes.cast(found, POINTER(c_uint8))
        keys: list[int] = []
        while codes[len(keys)]:
            keys.append(int(codes[len(keys)]))
        _free(found)
        return keys

    def grab(self, keycode: int, modifiers: int) -> int:
        """Receive this key everywhere; the error code, 0 for none."""
        cookie = self._xcb.xcb_grab_key_checked(
            self._connection, 0, self._root, modifiers, keycode, _ASYNC, _ASYNC
        )
        error = self._xcb.xcb_request_check(self._connection, cookie)
        if not error:
            return 0
        code = int(error.contents.error_code)
        _free(error)
        return code

    def ungrab(self, keycode: int, modifiers: int) -> None:
        """Give the key back."""
        self._xcb.xcb_ungrab_key(self._connection, keycode, self._root, modifiers)
        self._xcb.xcb_flush(self._connection)

    def next_event(self) -> tuple[int, int, int] | None:
        """The kind, the key and the modifiers of the next event that has arrived; None for none."""
        event = self._xcb.xcb_poll_for_event(self._connection)
        if not event:
            return None
        found = event.contents
        kind = int(found.response_type) & ~_SENT_EVENT
        told = kind, int(found.detail), int(found.state)
        _free(event)
        return told

    @property
    def has_ended(self) -> bool:
        """True when the server is gone."""
        return bool(self._xcb.xcb_connection_has_error(self._connection))

    def close(self) -> None:
        """Give everything back."""
        self._keysyms.xcb_key_symbols_free(self._symbols)
        self._xcb.xcb_disconnect(self._connection)


def _free(pointer: object) -> None:
    libc = ctypes.CDLL(None)
    libc.free.argtypes = [c_void_p]
    libc.free.restype = None
    libc.free(ctypes.cast(pointer, c_void_p))  # type: ignore[arg-type]


def _load() -> tuple[ctypes.CDLL, ctypes.CDLL]:
    xcb = ctypes.CDLL(find_library("xcb") or "libxcb.so.1")
    keysyms = ctypes.CDLL(find_library("xcb-keysyms") or "libxcb-keysyms.so.1")
    for library, name, result, arguments in (
        (xcb, "xcb_connect", c_void_p, [c_char_p, POINTER(c_int)]),
        (xcb, "xcb_connection_has_error", c_int, [c_void_p]),
        (xcb, "xcb_get_setup", c_void_p, [c_void_p]),
        (xcb, "xcb_setup_roots_iterator", _ScreenIterator, [c_void_p]),
        (xcb, "xcb_get_file_descriptor", c_int, [c_void_p]),
        (xcb, "xcb_grab_key_checked", _Cookie,
         [c_void_p, c_uint8, c_uint32, c_uint16, c_uint8, c_uint8, c_uint8]),
        (xcb, "xcb_ungrab_key", _Cookie, [c_void_p, c_uint8, c_uint32, c_uint16]),
        (xcb, "xcb_request_check", POINTER(_Error), [c_void_p, _Cookie]),
        (xcb, "xcb_flush", c_int, [c_void_p]),
        (xcb, "xcb_poll_for_event", POINTER(_Event), [c_void_p]),
        (xcb, "xcb_disconnect", None, [c_void_p]),
        (keysyms, "xcb_key_symbols_alloc", c_void_p, [c_void_p]),
        (keysyms, "xcb_key_symbols_get_keycode", c_void_p, [c_void_p, c_uint32]),
        (keysyms, "xcb_key_symbols_free", None, [c_void_p]),
    ):  # fmt: skip
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return xcb, keysyms


def has_portal_only() -> bool:
    """True on Wayland, where the desktop asks the person before a program gets a key."""
    return sys.platform == "linux" and bool(os.environ.get("WAYLAND_DISPLAY"))


def open_hotkeys(on_pressed: OnPressed) -> HotkeyDesktop:
    """The hotkeys of this desktop; OSError where it has none for programs."""
    if sys.platform == "win32":
        from desktop_rag.desktop.hotkeys.windows_hotkeys import WindowsHotkeys  # noqa: PLC0415

        return WindowsHotkeys(on_pressed)
    if sys.platform == "darwin":
        from desktop_rag.desktop.hotkeys.macos_hotkeys import MacHotkeys  # noqa: PLC0415

        return MacHotkeys(on_pressed)
    if has_portal_only():
        from desktop_rag.desktop.hotkeys.portal_hotkeys import PortalHotkeys  # noqa: PLC0415

        return PortalHotkeys(on_pressed)
    from desktop_rag.desktop.hotkeys.x11_hotkeys import X11Hotkeys  # noqa: PLC0415

    return X11Hotkeys(on_pressed)
