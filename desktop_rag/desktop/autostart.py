"""Starting the app at login, in the background. Any thread.

Linux: a desktop file in the autostart folder (Desktop Application Autostart Specification, XDG).
macOS: a launch agent. Windows: a value under the user's Run key.
"""

import os
import plistlib
import sys
from pathlib import Path

from desktop_rag.core.errors import AppError
from desktop_rag.core.files.atomic_file import write_atomically
from desktop_rag.desktop.identity import APP_ID, APP_NAME
from desktop_rag.desktop.launching import app_command, quoted

_RUN_KEY = r"Software\Microsoft\Windows\CurrentVersion\Run"


def set_autostart(is_wanted: bool) -> None:
    """Start at login, or don't. AppError when the desktop's settings can't be written."""
    try:
        if sys.platform == "win32":
            _set_run_key(is_wanted)
        else:
            _set_file(_agent_path() if sys.platform == "darwin" else _entry_path(), is_wanted)
    except OSError as exc:
        raise AppError(
            "Starting at login could not be changed.",
            f"{exc.filename or APP_NAME}: {exc.strerror}.",
        ) from exc


def starts_at_login() -> bool:
    """True when the desktop will start this app at login."""
    if sys.platform == "win32":
        return _has_run_key()
    return (_agent_path() if sys.platform == "darwin" else _entry_path()).exists()


def _entry_path() -> Path:
    config = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(config) / "autostart" / f"{APP_ID}.desktop"


def _agent_path() -> Path:
    return Path.home() / "Library" / "LaunchAgents" / f"{APP_ID}.plist"


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
        "Label": APP_ID,
        "ProgramArguments": app_command("--background"),
        "RunAtLoad": True,
        "ProcessType": "Background",
    }
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
