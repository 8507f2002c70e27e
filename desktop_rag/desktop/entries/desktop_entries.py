"""Entering this installation of the app in the desktop of one person, and removing it again.

Any worker thread. Menus, links and file managers then start it by its absolute path.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from desktop_rag.core.errors import AppError
from desktop_rag.core.files.private_files import persons_mask
from desktop_rag.desktop.entries import thunar_actions, windows_keys
from desktop_rag.desktop.entries.linux_files import (
    DESKTOP_FILE,
    EntryFile,
    entry_files,
    nautilus_script,
)
from desktop_rag.desktop.launching import app_command

_EXECUTABLE = 0o100
_REFRESH_S = 20.0
_DATA_DIRS = "/usr/local/share:/usr/share"


def install(drawing: bytes, icons: Mapping[int, bytes]) -> list[str]:
    """Enter the app; returns what was written. AppError when that fails.

    What a package of the system has entered for all is left to it.
    """
    if sys.platform == "darwin":
        raise _is_in_the_bundle()
    command = app_command()
    if sys.platform == "win32":
        keys = windows_keys.registry_keys(command)
        return _done(lambda: windows_keys.write_keys(keys), list(keys))
    files = [nautilus_script(command)]
    if not is_entered_for_all():
        files += entry_files(command, drawing, icons)
    written = [str(_data_home() / file.path) for file in files]

    def write() -> None:
        for file in files:
            _write(file)
        if thunar_actions.add_action(command):
            written.append(str(thunar_actions.actions_path()))

    _done(write, written)
    _refresh()
    return written


def remove(drawing: bytes, icons: Mapping[int, bytes]) -> list[str]:
    """Remove all that `install` writes; returns what was there. AppError when that fails."""
    if sys.platform == "darwin":
        raise _is_in_the_bundle()
    command = app_command()
    if sys.platform == "win32":
        keys = windows_keys.registry_keys(command)
        return _done(lambda: windows_keys.delete_keys(keys), list(keys))
    files = [nautilus_script(command), *entry_files(command, drawing, icons)]
    removed = [path for file in files if (path := _data_home() / file.path).exists()]
    told = list(map(str, removed))

    def delete() -> None:
        for path in removed:
            path.unlink()
        if thunar_actions.remove_action():
            told.append(str(thunar_actions.actions_path()))

    _done(delete, told)
    _refresh()
    return told


def is_entered_for_all() -> bool:
    """True when a package of the system has brought the desktop file."""
    folders = (os.environ.get("XDG_DATA_DIRS") or _DATA_DIRS).split(":")
    return any((Path(folder) / DESKTOP_FILE).is_file() for folder in folders if folder)


def _done(act: Callable[[], None], told: list[str]) -> list[str]:
    try:
        # They are the person's files, and other programs read them.
        with persons_mask():
            act()
    except OSError as exc:
        where = exc.filename or "the desktop's settings"
        raise AppError(
            "The entries of the app in this desktop could not be changed.",
            f"{where}: {exc.strerror}.",
        ) from exc
    return told


def _write(file: EntryFile) -> None:
    path = _data_home() / file.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(file.content)
    if file.is_executable:
        path.chmod(path.stat().st_mode | _EXECUTABLE)


def _refresh() -> None:
    """Tell the desktop which program opens the app's links; most look by themselves."""
    applications = _data_home() / DESKTOP_FILE.parent
    tool = shutil.which("update-desktop-database")
    if tool and applications.is_dir():
        # An old answer is all that a failure leaves behind.
        subprocess.run(
            [tool, "-q", str(applications)], check=False, timeout=_REFRESH_S, capture_output=True
        )


def _data_home() -> Path:
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")


def _is_in_the_bundle() -> AppError:
    return AppError(
        "On macOS the entries belong to the app in the Applications folder.",
        "The user guide shows how to add “Ask desktop-rag about this” to Finder.",
    )
