"""What this desktop offers: a system tray, and hotkeys that work in every program.

The app works without either, so that a desktop without them needs no attention.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event

from desktop_rag.diagnosis.finding import Finding, State
from desktop_rag.diagnosis.subject import Subject

if sys.platform == "linux":
    from desktop_rag.diagnosis.session_bus import session_bus

_TRAY = "org.kde.StatusNotifierWatcher"
_PORTAL = "org.freedesktop.portal.Desktop"
_PORTAL_PATH = "/org/freedesktop/portal/desktop"
_SHORTCUTS = "org.freedesktop.portal.GlobalShortcuts"
_DISPLAYS = Path("/", "tmp", ".X11-unix")
_UNKNOWN = "Not known without a desktop session."
_GNOME = "On GNOME the extension AppIndicator adds one. The app works without it."
_OWN_KEY = "Bind “desktop-rag quick-ask” to a key in the settings of your desktop instead."


def check_tray(_: Subject, __: Event) -> Iterator[Finding]:
    """A system tray."""
    if sys.platform != "linux":
        yield Finding("tray", State.OK, "This system has a tray.")
        return
    with session_bus() as bus:
        if bus is None:
            yield Finding("tray", State.NOT_CHECKED, _UNKNOWN)
        elif bus.has(_TRAY):
            yield Finding("tray", State.OK, "This desktop offers a system tray.")
        else:
            yield Finding("tray", State.OK, "This desktop offers no system tray.", _GNOME)


def check_hotkeys(_: Subject, __: Event) -> Iterator[Finding]:
    """Global hotkeys."""
    if sys.platform != "linux":
        yield Finding("hotkeys", State.OK, "This system lets an app register hotkeys.")
        return
    with session_bus() as bus:
        version = None
        if bus is not None and bus.has(_PORTAL):
            version = bus.property_of(_PORTAL, _PORTAL_PATH, _SHORTCUTS, "version")
    if version:
        title = f"This desktop lets an app ask for hotkeys (portal version {version})."
        yield Finding("hotkeys", State.OK, title)
    elif _has_x11():
        yield Finding("hotkeys", State.OK, "X11 lets an app register hotkeys.")
    elif bus is None and not os.environ.get("WAYLAND_DISPLAY"):
        yield Finding("hotkeys", State.NOT_CHECKED, _UNKNOWN)
    else:
        title = "This desktop lets no app register hotkeys."
        yield Finding("hotkeys", State.OK, title, _OWN_KEY)


def _has_x11() -> bool:
    """True in a session of X11 itself: below Wayland, keys reach X11 programs only."""
    display = os.environ.get("DISPLAY", "")
    if os.environ.get("WAYLAND_DISPLAY") or not display.startswith(":"):
        return False
    return (_DISPLAYS / f"X{display[1:].split('.')[0]}").exists()
