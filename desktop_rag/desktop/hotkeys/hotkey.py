"""Hotkeys, and the outcome of binding them on a desktop. Frozen values; any thread."""

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class Action(StrEnum):
    """The action of a global hotkey; the value is its id for the desktop."""

    ASK = "quick-ask"
    ASK_ABOUT_SELECTION = "quick-ask-selection"


# As desktops show them in their settings.
DESCRIPTIONS = {
    Action.ASK: "Ask your documents",
    Action.ASK_ABOUT_SELECTION: "Ask about the selected text",
}
MODIFIERS = ("Ctrl", "Alt", "Shift", "Meta")
FUNCTION_KEYS = {f"F{number}": number for number in range(1, 25)}
NAMED_KEYS = ("Space", "Return", "Tab", "Insert", "Delete", "Home", "End", "PgUp", "PgDown")


@dataclass(frozen=True, slots=True)
class Hotkey:
    """One key, by its name, with at least one modifier unless it is a function key."""

    key: str
    modifiers: frozenset[str]

    @classmethod
    def parse(cls, text: str) -> "Hotkey | None":
        """The hotkey written as `Ctrl+Alt+Space`; None for "" or what can't be one."""
        *modifiers, key = text.split("+") if text else [""]
        is_named = key in NAMED_KEYS or key in FUNCTION_KEYS
        is_character = len(key) == 1 and key.isascii() and key.isalnum()
        is_safe = bool(set(modifiers) - {"Shift"}) or key in FUNCTION_KEYS
        if set(modifiers) - set(MODIFIERS) or not (is_named or is_character) or not is_safe:
            return None
        return cls(key.upper() if is_character else key, frozenset(modifiers))

    def __str__(self) -> str:
        return "+".join([name for name in MODIFIERS if name in self.modifiers] + [self.key])


class Binding(StrEnum):
    """The outcome of binding one hotkey."""

    BOUND = "bound"
    TAKEN = "taken"
    UNKNOWN_KEY = "unknown key"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Bound:
    """The outcome for one action; `words` are the reason of a failure, or the key chosen."""

    outcome: Binding
    words: str = ""


OnPressed = Callable[[Action], None]
Hotkeys = Mapping[Action, Hotkey]


class HotkeyDesktop(Protocol):
    """Global hotkeys of one kind of desktop."""

    def bind(self, hotkeys: Hotkeys) -> dict[Action, Bound]:
        """Replace all bindings. May wait for the person; not on the Qt thread."""
        ...

    def close(self) -> None:
        """Release all keys. Idempotent."""
        ...


def has_portal_only() -> bool:
    """True on Wayland, where the desktop asks the person before a program gets a key."""
    return sys.platform == "linux" and bool(os.environ.get("WAYLAND_DISPLAY"))
