"""Global hotkeys on Windows: RegisterHotKey, on a thread with a message loop of its own."""

import sys
import threading

from desktop_rag.desktop.hotkeys.hotkey import (
    FUNCTION_KEYS,
    Action,
    Binding,
    Bound,
    Hotkey,
    Hotkeys,
    OnPressed,
)

_MODIFIERS = {"Alt": 1, "Ctrl": 2, "Shift": 4, "Meta": 8}
_NO_REPEAT = 0x4000
_VK_F1 = 0x70
_VIRTUAL_KEYS = {
    "Space": 0x20,
    "Return": 0x0D,
    "Tab": 0x09,
    "Insert": 0x2D,
    "Delete": 0x2E,
    "Home": 0x24,
    "End": 0x23,
    "PgUp": 0x21,
    "PgDown": 0x22,
}
_WM_HOTKEY, _WM_APP_BIND, _WM_QUIT = 0x0312, 0x8001, 0x0012
_ALREADY_REGISTERED = 1409
_READY_S = 5.0

if sys.platform == "win32":
    import ctypes
    from ctypes import wintypes

    class WindowsHotkeys:
        """`on_pressed` is called on the thread of the message loop."""

        def __init__(self, on_pressed: OnPressed) -> None:
            self._on_pressed = on_pressed
            self._user = ctypes.WinDLL("user32", use_last_error=True)
            self._wanted: Hotkeys = {}
            self._outcome: dict[Action, Bound] = {}
            self._bound: list[Action] = []
            self._done = threading.Event()
            self._thread_id = 0
            self._thread = threading.Thread(target=self._loop, name="hotkeys", daemon=True)
            self._thread.start()
            self._done.wait(_READY_S)

        def bind(self, hotkeys: Hotkeys) -> dict[Action, Bound]:
            """Replace all bindings by these; they belong to the thread that registers them."""
            self._wanted = hotkeys
            self._done.clear()
            self._user.PostThreadMessageW(self._thread_id, _WM_APP_BIND, 0, 0)
            self._done.wait(_READY_S)
            return dict(self._outcome)

        def close(self) -> None:
            """Give all keys back. Idempotent."""
            if self._thread.is_alive():
                self._user.PostThreadMessageW(self._thread_id, _WM_QUIT, 0, 0)
                self._thread.join()

        def _loop(self) -> None:
            self._thread_id = ctypes.WinDLL("kernel32").GetCurrentThreadId()
            message = wintypes.MSG()
            # The first look makes the thread's queue, which messages can then be posted to.
            self._user.PeekMessageW(ctypes.byref(message), None, 0, 0, 0)
            self._done.set()
            while self._user.GetMessageW(ctypes.byref(message), None, 0, 0) > 0:
                if message.message == _WM_APP_BIND:
                    self._rebind()
                elif message.message == _WM_HOTKEY and message.wParam < len(self._bound):
                    self._on_pressed(self._bound[message.wParam])
            self._release()

        def _rebind(self) -> None:
            self._release()
            self._outcome = {
                action: self._register(action, key) for action, key in self._wanted.items()
            }
            self._done.set()

        def _register(self, action: Action, hotkey: Hotkey) -> Bound:
            modifiers = sum(_MODIFIERS[name] for name in hotkey.modifiers) | _NO_REPEAT
            number = len(self._bound)
            if self._user.RegisterHotKey(None, number, modifiers, virtual_key(hotkey.key)):
                self._bound.append(action)
                return Bound(Binding.BOUND)
            code = ctypes.get_last_error()
            if code == _ALREADY_REGISTERED:
                return Bound(Binding.TAKEN, "Another program uses this key.")
            return Bound(Binding.FAILED, f"Windows refused it (error {code}).")

        def _release(self) -> None:
            for number in range(len(self._bound)):
                self._user.UnregisterHotKey(None, number)
            self._bound.clear()


def virtual_key(key: str) -> int:
    """The virtual-key code of a key, as in winuser.h."""
    if key in FUNCTION_KEYS:
        return _VK_F1 + FUNCTION_KEYS[key] - 1
    return _VIRTUAL_KEYS.get(key) or ord(key)
