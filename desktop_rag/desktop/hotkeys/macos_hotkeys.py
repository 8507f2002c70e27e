"""Global hotkeys on macOS: Carbon's RegisterEventHotKey, which needs no right to read the keyboard.

Qt's event loop dispatches Carbon events, so all of it runs on the Qt thread.
"""

import ctypes
from ctypes import Structure, byref, c_int32, c_uint32, c_void_p

from desktop_rag.desktop.hotkeys.hotkey import Action, Binding, Bound, Hotkey, Hotkeys, OnPressed

_MODIFIERS = {"Meta": 0x0100, "Shift": 0x0200, "Alt": 0x0800, "Ctrl": 0x1000}
_KEYBOARD_CLASS = int.from_bytes(b"keyb", "big")
_SIGNATURE = int.from_bytes(b"drag", "big")
_PRESSED = 5
_PARAMETER, _HOTKEY_ID_TYPE = int.from_bytes(b"----", "big"), int.from_bytes(b"hkid", "big")
_ALREADY_EXISTS = -9878
# Virtual key codes of an ANSI keyboard, as in HIToolbox/Events.h.
_LETTERS = "asdfhgzxcv\0bqweryt123465=97-80]ou[ip\rlj'k;\\,/nm."
_KEYS = {
    "Return": 0x24, "Tab": 0x30, "Space": 0x31, "Delete": 0x75, "Home": 0x73, "End": 0x77,
    "PgUp": 0x74, "PgDown": 0x79, "F1": 0x7A, "F2": 0x78, "F3": 0x63, "F4": 0x76, "F5": 0x60,
    "F6": 0x61, "F7": 0x62, "F8": 0x64, "F9": 0x65, "F10": 0x6D, "F11": 0x67, "F12": 0x6F,
}  # fmt: skip


class _HotkeyId(Structure):
    _fields_ = (("signature", c_uint32), ("id", c_uint32))


class _EventType(Structure):
    _fields_ = (("event_class", c_uint32), ("event_kind", c_uint32))


_Handler = ctypes.CFUNCTYPE(c_int32, c_void_p, c_void_p, c_void_p)


class MacHotkeys:
    """`on_pressed` is called on the Qt thread, as everything else here."""

    def __init__(self, on_pressed: OnPressed) -> None:
        """OSError when Carbon is missing, as everywhere but on macOS."""
        self._on_pressed = on_pressed
        self._carbon = ctypes.CDLL("/System/Library/Frameworks/Carbon.framework/Carbon")
        self._carbon.GetApplicationEventTarget.restype = c_void_p
        self._bound: list[tuple[Action, c_void_p]] = []
        # Kept: Carbon holds the pointer only.
        self._handler = _Handler(self._on_event)
        kind = _EventType(_KEYBOARD_CLASS, _PRESSED)
        self._carbon.InstallEventHandler(
            c_void_p(self._target), self._handler, 1, byref(kind), None, None
        )

    def bind(self, hotkeys: Hotkeys) -> dict[Action, Bound]:
        """Replace all bindings by these."""
        self.close()
        return {action: self._register(action, hotkey) for action, hotkey in hotkeys.items()}

    def close(self) -> None:
        """Give all keys back. Idempotent."""
        for _action, reference in self._bound:
            self._carbon.UnregisterEventHotKey(reference)
        self._bound.clear()

    @property
    def _target(self) -> int:
        return int(self._carbon.GetApplicationEventTarget())

    def _register(self, action: Action, hotkey: Hotkey) -> Bound:
        code = key_code(hotkey.key)
        if code is None:
            return Bound(Binding.UNKNOWN_KEY, "This keyboard has no such key.")
        reference = c_void_p()
        modifiers = sum(_MODIFIERS[name] for name in hotkey.modifiers)
        error = self._carbon.RegisterEventHotKey(
            c_uint32(code), c_uint32(modifiers), _HotkeyId(_SIGNATURE, len(self._bound)),
            c_void_p(self._target), c_uint32(0), byref(reference),
        )  # fmt: skip
        if error == _ALREADY_EXISTS:
            return Bound(Binding.TAKEN, "Another program uses this key.")
        if error:
            return Bound(Binding.FAILED, f"macOS refused it (error {error}).")
        self._bound.append((action, reference))
        return Bound(Binding.BOUND)

    def _on_event(self, _next: int, event: int, _data: int) -> int:
        found = _HotkeyId()
        self._carbon.GetEventParameter(
            c_void_p(event), c_uint32(_PARAMETER), c_uint32(_HOTKEY_ID_TYPE), None,
            c_uint32(ctypes.sizeof(found)), None, byref(found),
        )  # fmt: skip
        if found.signature == _SIGNATURE and found.id < len(self._bound):
            self._on_pressed(self._bound[found.id][0])
        return 0


def key_code(key: str) -> int | None:
    """The virtual key code of a key; None when a Mac's keyboard has none."""
    if key in _KEYS:
        return _KEYS[key]
    place = _LETTERS.find(key.lower()) if len(key) == 1 else -1
    return place if place >= 0 else None
