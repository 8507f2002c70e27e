"""Global hotkeys on X11: keys grabbed at the root window, events read on a thread of their own."""

import logging
import os
import select
import threading

from desktop_rag.desktop.hotkeys.desktop_hotkeys import (
    BAD_ACCESS,
    KEY_PRESS,
    MAPPING_NOTIFY,
    XConnection,
)
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
    "Space": 0x20,
    "Return": 0xFF0D,
    "Tab": 0xFF09,
    "Insert": 0xFF63,
    "Delete": 0xFFFF,
    "Home": 0xFF50,
    "End": 0xFF57,
    "PgUp": 0xFF55,
    "PgDown": 0xFF56,
}


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
        """Replace all bindings by these."""
        with self._lock:
            self._release()
            self._wanted = dict(hotkeys)
            return {action: self._grab(action, hotkey) for action, hotkey in hotkeys.items()}

    def close(self) -> None:
        """Give all keys back. Idempotent."""
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
            if error == BAD_ACCESS:
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
        if kind == MAPPING_NOTIFY:
            outcome = self.bind(self._wanted)
            log.info("the keyboard changed, hotkeys: %s", [b.outcome for b in outcome.values()])
        elif kind == KEY_PRESS:
            with self._lock:
                action = self._grabbed.get((keycode, state & _ALL))
            if action:
                self._on_pressed(action)


def _keysym(key: str) -> int:
    """The X11 symbol of a key, as in X11/keysymdef.h."""
    if key in FUNCTION_KEYS:
        return _F1 + FUNCTION_KEYS[key] - 1
    return _KEYSYMS.get(key) or ord(key.lower())
