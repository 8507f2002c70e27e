"""The app's names on the desktop, its command line, its start at login, and what a window needs
of the system. Any thread.
"""

import ctypes
import os
import plistlib
import sys
from collections.abc import Sequence
from pathlib import Path

from desktop_rag.core.errors import AppError, os_error_as
from desktop_rag.core.files.own_files import write_atomically

# Windows, desktop file, icon, portals, autostart and the bundle of macOS all use the one id. GNOME
# binds hotkeys only for an id of several parts with dots, and macOS allows no underscore in one.
APP_ID = "app.desktoprag.desktoprag"
APP_NAME = "desktop-rag"
URL_SCHEME = "desktop-rag"
ASK_ABOUT = f"Ask {APP_NAME} about this"
SUMMARY = "Ask questions about the documents on your own computer"
_WITHOUT_CONSOLE = "desktop-rag-window.exe"


# The libraries of the system that Qt loads, with their packages on Debian and Ubuntu.
_QT_LIBRARIES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
}
_X11_LIBRARIES = {
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
}


def check_qt_libraries() -> None:
    """AppError with what is missing: without it, Qt ends the process with a word of its own."""
    if sys.platform != "linux":
        return
    platform = os.environ.get("QT_QPA_PLATFORM", "" if "WAYLAND_DISPLAY" in os.environ else "xcb")
    is_x11 = platform.startswith("xcb") and "DISPLAY" in os.environ
    needed = _QT_LIBRARIES | (_X11_LIBRARIES if is_x11 else {})
    if missing := [name for name in needed if not _is_there(name)]:
        raise AppError(
            f"The window needs {', '.join(missing)}, which this system lacks.",
            f"Install {' '.join(needed[name] for name in missing)} (as Debian and Ubuntu call it),"
            " then start again.",
        )


def _is_there(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def app_command(*arguments: str) -> list[str]:
    """The command line that starts the app, with absolute paths, whatever the folder and PATH."""
    if getattr(sys, "frozen", False):
        return [str(_frozen_program()), *arguments]
    name = "desktop-rag.exe" if sys.platform == "win32" else "desktop-rag"
    script = Path(sys.executable).with_name(name)
    if script.exists():
        return [str(script), *arguments]
    return [sys.executable, "-m", "desktop_rag", *arguments]


def terminal_command(*arguments: str) -> list[str]:
    """As `app_command`, for a program that uses its standard input and output."""
    program, *rest = app_command(*arguments)
    console = Path(program).with_name("desktop-rag.exe")
    has_none = Path(program).name == _WITHOUT_CONSOLE and console.exists()
    return [str(console) if has_none else program, *rest]


def quoted(command: Sequence[str]) -> str:
    """A command for the Exec line of a desktop file, quoted as its specification asks."""
    return " ".join(_quoted_argument(part) for part in command)


def _quoted_argument(part: str) -> str:
    escaped = "".join(f"\\{c}" if c in '"`$\\' else c for c in part).replace("%", "%%")
    # The value of a key is unescaped before the quotes are read.
    return '"' + escaped.replace("\\", "\\\\") + '"'


def _frozen_program() -> Path:
    # An AppImage is unpacked to another place each time.
    program = Path(os.environ.get("APPIMAGE") or sys.executable)
    # Beside the program of the command line there is one that opens no console.
    without_console = program.with_name(_WITHOUT_CONSOLE)
    return without_console if without_console.exists() else program


_RUN_KEY = r"Software\Microsoft\Windows\CurrentVersion\Run"


def set_autostart(is_wanted: bool) -> None:
    """Start at login in the background, or don't. AppError when that can't be written.

    Linux: a desktop file in the autostart folder (XDG's Desktop Application Autostart
    Specification). macOS: a launch agent. Windows: a value under the user's Run key.
    """
    with os_error_as("Starting at login could not be changed."):
        if sys.platform == "win32":
            _set_run_key(is_wanted)
        else:
            _set_file(_login_file(), is_wanted)


def starts_at_login() -> bool:
    """True when the desktop will start this app at login."""
    if sys.platform == "win32":
        return _has_run_key()
    return _login_file().exists()


def _login_file() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "LaunchAgents" / f"{APP_ID}.plist"
    config = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(config) / "autostart" / f"{APP_ID}.desktop"


def _set_file(path: Path, is_wanted: bool) -> None:
    if not is_wanted:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, _agent() if path.suffix == ".plist" else _entry())


def _entry() -> str:
    command = quoted(app_command("--background"))
    return (
        f"[Desktop Entry]\nType=Application\nName={APP_NAME}\n"
        f"Exec={command}\nIcon={APP_ID}\nX-GNOME-Autostart-enabled=true\n"
    )


def _agent() -> str:
    agent = {
        "Label": APP_ID, "ProgramArguments": app_command("--background"), "RunAtLoad": True,
        "ProcessType": "Background",
    }  # fmt: skip
    return plistlib.dumps(agent).decode()


if sys.platform == "win32":
    import winreg

    def _set_run_key(is_wanted: bool) -> None:
        with winreg.CreateKey(winreg.HKEY_CURRENT_USER, _RUN_KEY) as key:
            if is_wanted:
                # No path of Windows holds a quotation mark.
                command = " ".join(f'"{part}"' for part in app_command("--background"))
                winreg.SetValueEx(key, APP_NAME, 0, winreg.REG_SZ, command)
            elif _has_run_key():
                winreg.DeleteValue(key, APP_NAME)

    def _has_run_key() -> bool:
        try:
            with winreg.OpenKey(winreg.HKEY_CURRENT_USER, _RUN_KEY) as key:
                winreg.QueryValueEx(key, APP_NAME)
        except FileNotFoundError:
            return False
        return True
