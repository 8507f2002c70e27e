"""Chooses the way to global hotkeys on this desktop. Any thread."""

import os
import sys

from desktop_rag.desktop.hotkeys.hotkey import HotkeyDesktop, OnPressed


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
