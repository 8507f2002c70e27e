"""Global hotkeys on X11: keys grabbed at the root window, events read on a thread of their own."""

import ctypes
import itertools
import logging
import os
import select
import threading
from ctypes import POINTER, Structure, c_char_p, c_int, c_uint8, c_uint16, c_uint32, c_void_p
from ctypes.util import find_library

from desktop_rag.desktop.hotkeys.hotkey import (
    FUNCTION_KEYS,
    Action,
    Binding,
    Bound,
    Hotkey,
    Hotkeys,
    OnPressed,
)

log = logging.getLogger(__name__)

_MASKS = {"Shift": 1, "Ctrl": 4, "Alt": 8, "Meta": 64}
_ALL = sum(_MASKS.values())
# Caps Lock and Num Lock count as modifiers for the server, not for the person.
_LOCKS = (0, 2, 16, 2 | 16)
_F1 = 0xFFBE
_KEYSYMS = {
    "Space": 0x20, "Return": 0xFF0D, "Tab": 0xFF09, "Insert": 0xFF63, "Delete": 0xFFFF,
    "Home": 0xFF50, "End": 0xFF57, "PgUp": 0xFF55, "PgDown": 0xFF56,
}  # fmt: skip
# The few functions of libxcb that global hotkeys need are called through ctypes. libxcb and
# libxcb-keysyms are there wherever Qt draws on X11. The Python bindings are unmaintained
# (python-xlib) or compile on installation (xcffib). Xlib's error handler belongs to the whole
# process, while libxcb reports an error for each request.
_KEY_PRESS = 2
_MAPPING_NOTIFY = 34
_BAD_ACCESS = 10
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
        ("response_type", c_uint8), ("detail", c_uint8), ("sequence", c_uint16), ("time", c_uint32),
        ("windows", c_uint32 * 3), ("places", c_uint16 * 4), ("state", c_uint16),
    )  # fmt: skip


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
        keys = list(itertools.takewhile(bool, (int(codes[n]) for n in itertools.count())))
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
        """Release the key."""
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
        """Close the connection."""
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


class X11Hotkeys:
    """`on_pressed` is called on a thread of its own."""

    def __init__(self, on_pressed: OnPressed, display: str = "") -> None:
        """OSError without an X server."""
        self._server = XConnection(display)
        self._on_pressed = on_pressed
        self._wanted: Hotkeys = {}
        self._grabbed: dict[tuple[int, int], Action] = {}
        self._lock = threading.Lock()
        self._wake_read, self._wake_write = os.pipe()
        self._thread = threading.Thread(target=self._read_events, name="hotkeys", daemon=True)
        self._thread.start()

    def bind(self, hotkeys: Hotkeys) -> dict[Action, Bound]:
        """Replace all bindings."""
        with self._lock:
            self._release()
            self._wanted = dict(hotkeys)
            return {action: self._grab(action, hotkey) for action, hotkey in hotkeys.items()}

    def close(self) -> None:
        """Release all keys. Idempotent."""
        if not self._thread.is_alive():
            return
        os.write(self._wake_write, b"x")
        self._thread.join()
        with self._lock:
            self._release()
            self._server.close()
        os.close(self._wake_read)
        os.close(self._wake_write)

    def _grab(self, action: Action, hotkey: Hotkey) -> Bound:
        keycodes = self._server.keycodes(_keysym(hotkey.key))
        if not keycodes:
            return Bound(Binding.UNKNOWN_KEY, "This keyboard has no such key.")
        modifiers = sum(_MASKS[name] for name in hotkey.modifiers)
        for lock in _LOCKS:
            error = self._server.grab(keycodes[0], modifiers | lock)
            if error == _BAD_ACCESS:
                self._release(action)
                return Bound(Binding.TAKEN, "Another program uses this key.")
            if error:
                self._release(action)
                return Bound(Binding.FAILED, f"The X server refused it (error {error}).")
            self._grabbed[keycodes[0], modifiers | lock] = action
        return Bound(Binding.BOUND)

    def _release(self, only: Action | None = None) -> None:
        for place, action in list(self._grabbed.items()):
            if only in (None, action):
                self._server.ungrab(*place)
                del self._grabbed[place]

    def _read_events(self) -> None:
        while True:
            ready, _, _ = select.select([self._server.descriptor, self._wake_read], [], [])
            if self._wake_read in ready or self._server.has_ended:
                return
            while event := self._server.next_event():
                self._handle(*event)

    def _handle(self, kind: int, keycode: int, state: int) -> None:
        if kind == _MAPPING_NOTIFY:
            outcome = self.bind(self._wanted)
            log.info("the keyboard changed, hotkeys: %s", [b.outcome for b in outcome.values()])
        elif kind == _KEY_PRESS:
            with self._lock:
                action = self._grabbed.get((keycode, state & _ALL))
            if action:
                self._on_pressed(action)


def _keysym(key: str) -> int:
    """The X11 symbol of a key, as in X11/keysymdef.h."""
    if key in FUNCTION_KEYS:
        return _F1 + FUNCTION_KEYS[key] - 1
    return _KEYSYMS.get(key) or ord(key.lower())
