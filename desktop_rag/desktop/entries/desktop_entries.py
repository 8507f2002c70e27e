"""Adds the app to one person's menus, links and file managers, and removes it. Worker threads.

They start this installation by its absolute path. Files of Linux desktops are below a data folder:
`~/.local/share` for one person, `/usr/share` for all.
"""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from xml.etree import ElementTree as Xml

from desktop_rag.core.errors import AppError, os_error_as
from desktop_rag.core.files.own_files import persons_mask, write_atomically
from desktop_rag.desktop.launching import (
    APP_ID,
    APP_NAME,
    ASK_ABOUT,
    SUMMARY,
    URL_SCHEME,
    app_command,
    quoted,
)

ICON_SIZES_PX = (16, 22, 24, 32, 48, 64, 96, 128, 256, 512)
DESKTOP_FILE = PurePosixPath("applications", f"{APP_ID}.desktop")
NAUTILUS_SCRIPT = PurePosixPath("nautilus", "scripts", ASK_ABOUT)
_SERVICE_MENU = PurePosixPath("kio", "servicemenus", f"{APP_ID}.desktop")
_NEMO_ACTION = PurePosixPath("nemo", "actions", f"{APP_ID}.nemo_action")
_ICONS = PurePosixPath("icons", "hicolor")


@dataclass(frozen=True, slots=True)
class EntryFile:
    """A file below the data folder."""

    path: PurePosixPath
    content: bytes
    is_executable: bool = False


def entry_files(
    command: Sequence[str], drawing: bytes, icons: Mapping[int, bytes]
) -> list[EntryFile]:
    """All files for a command line; `drawing` is the SVG icon, `icons` PNGs by size in pixels."""
    return [
        EntryFile(DESKTOP_FILE, _desktop_file(command).encode()),
        # Dolphin takes one that lies in a person's own folder only if it is executable.
        EntryFile(_SERVICE_MENU, _service_menu(command).encode(), is_executable=True),
        EntryFile(_NEMO_ACTION, _nemo_action(command).encode()),
        EntryFile(_icon_path("scalable", "svg"), drawing),
        *(EntryFile(_icon_path(f"{px}x{px}", "png"), icons[px]) for px in ICON_SIZES_PX),
    ]


def nautilus_script(command: Sequence[str]) -> EntryFile:
    """The script of GNOME's file manager, which looks for it in a person's own folder only.

    The names are relative to the folder shown; without any, that folder is meant.
    """
    text = (
        "#!/bin/sh\n"
        '[ "$#" -gt 0 ] || set -- "$PWD"\n'
        "for path do\n"
        "  shift\n"
        '  case $path in /*) ;; *) path="$PWD/$path" ;; esac\n'
        '  set -- "$@" "$path"\n'
        "done\n"
        f'exec {shlex.join(_about(command))} "$@"\n'
    )
    return EntryFile(NAUTILUS_SCRIPT, text.encode(), is_executable=True)


def _about(command: Sequence[str]) -> list[str]:
    return [*command, "quick-ask", "--about"]


def _desktop_file(command: Sequence[str]) -> str:
    return f"""[Desktop Entry]
Version=1.0
Type=Application
Name={APP_NAME}
GenericName=Document Assistant
Comment={SUMMARY}
Exec={quoted([*command, "open-url"])} %u
Icon={APP_ID}
Terminal=false
Categories=Office;
Keywords=ask;question;answer;documents;search;files;chat;
MimeType=x-scheme-handler/{URL_SCHEME};
StartupNotify=true
StartupWMClass={APP_NAME}
Actions=quick-ask;

[Desktop Action quick-ask]
Name=Quick Ask
Icon={APP_ID}
Exec={quoted([*command, "quick-ask"])}
"""


def _service_menu(command: Sequence[str]) -> str:
    """The menu of KDE's file manager; the line with ServiceTypes is for its versions before 6."""
    return f"""[Desktop Entry]
Type=Service
X-KDE-ServiceTypes=KonqPopupMenu/Plugin
MimeType=application/octet-stream;inode/directory;
Actions=ask-about;

[Desktop Action ask-about]
Name={ASK_ABOUT}
Icon={APP_ID}
Exec={quoted(_about(command))} %F
"""


def _nemo_action(command: Sequence[str]) -> str:
    return f"""[Nemo Action]
Name={ASK_ABOUT}
Comment={SUMMARY}
Exec={shlex.join(_about(command))} %F
Icon-Name={APP_ID}
Selection=notnone
Extensions=any;
Quote=double
"""


def _icon_path(size: str, ending: str) -> PurePosixPath:
    return _ICONS / size / "apps" / f"{APP_ID}.{ending}"


# --- the registry of Windows ---------------------------------------------------------------------

_CLASSES = r"Software\Classes"
# All files, and all folders.
_MENUS = (rf"{_CLASSES}\*\shell\{APP_NAME}", rf"{_CLASSES}\Directory\shell\{APP_NAME}")
_SCHEME = rf"{_CLASSES}\{URL_SCHEME}"

Keys = Mapping[str, Mapping[str, str]]


def registry_keys(command: Sequence[str]) -> Keys:
    """The values of each key below HKEY_CURRENT_USER; "" names a key's own value.

    They add links, and entries in the menus of Explorer. The installer has the app write them.
    """
    icon = {"Icon": f'"{command[0]}"'}
    keys = {
        _SCHEME: {"": f"URL:{APP_NAME}", "URL Protocol": ""},
        rf"{_SCHEME}\DefaultIcon": {"": f'"{command[0]}"'},
        rf"{_SCHEME}\shell\open\command": {"": _line(command, "open-url")},
    }
    for menu in _MENUS:
        keys[menu] = {"": ASK_ABOUT, **icon}
        keys[rf"{menu}\command"] = {"": _line(command, "quick-ask", "--about")}
    return keys


def _line(command: Sequence[str], *arguments: str) -> str:
    # No path of Windows holds a quotation mark.
    return " ".join(f'"{part}"' for part in [*command, *arguments, "%1"])


if sys.platform == "win32":
    import contextlib
    import winreg

    def write_keys(keys: Keys) -> None:
        """Write them all; OSError when one is refused."""
        for path, values in keys.items():
            with winreg.CreateKey(winreg.HKEY_CURRENT_USER, path) as key:
                for name, text in values.items():
                    winreg.SetValueEx(key, name, 0, winreg.REG_SZ, text)

    def delete_keys(keys: Keys) -> None:
        """Delete them, and the keys between, which hold nothing else."""
        for path in (*keys, rf"{_SCHEME}\shell\open", rf"{_SCHEME}\shell"):
            _delete_tree(path)

    def _delete_tree(path: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            with winreg.OpenKey(winreg.HKEY_CURRENT_USER, path) as key:
                below = [winreg.EnumKey(key, n) for n in range(winreg.QueryInfoKey(key)[0])]
            for name in below:
                _delete_tree(rf"{path}\{name}")
            winreg.DeleteKey(winreg.HKEY_CURRENT_USER, path)


# --- Thunar, Xfce's file manager -----------------------------------------------------------------

# Thunar keeps all actions in one file. The person's own replaces that of the system, so the actions
# of the latter are copied when the first is written.
_SYSTEM = Path("/etc/xdg/Thunar/uca.xml")
_KINDS = ("directories", "audio-files", "image-files", "other-files", "text-files", "video-files")


def actions_path() -> Path:
    """The person's file of actions."""
    config = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(config) / "Thunar" / "uca.xml"


def add_action(command: Sequence[str], system: Path = _SYSTEM) -> bool:
    """Add the action, or renew it; False where there is no Thunar, or its file is unreadable."""
    path = actions_path()
    if not path.parent.is_dir() and not system.is_file():
        return False
    actions = _actions(path if path.is_file() else system)
    if actions is None:
        return False
    _without_ours(actions).append(_action(command))
    _write_actions(path, actions)
    return True


def remove_action() -> bool:
    """Remove the action; False when there is none."""
    path = actions_path()
    actions = _actions(path) if path.is_file() else None
    if actions is None or not _ours(actions):
        return False
    _write_actions(path, _without_ours(actions))
    return True


def _actions(path: Path) -> Xml.Element | None:
    if not path.is_file():
        return Xml.Element("actions")
    try:
        root = Xml.parse(path).getroot()
    except Xml.ParseError:
        return None
    return root if root.tag == "actions" else None


def _ours(actions: Xml.Element) -> list[Xml.Element]:
    return [found for found in actions if found.findtext("unique-id") == APP_ID]


def _without_ours(actions: Xml.Element) -> Xml.Element:
    for found in _ours(actions):
        actions.remove(found)
    return actions


def _action(command: Sequence[str]) -> Xml.Element:
    action = Xml.Element("action")
    for name, text in (
        ("icon", APP_ID),
        ("name", ASK_ABOUT),
        ("unique-id", APP_ID),
        ("command", f"{quoted([*command, 'quick-ask', '--about'])} %F"),
        ("description", SUMMARY),
        ("patterns", "*"),
    ):
        Xml.SubElement(action, name).text = text
    for kind in _KINDS:
        Xml.SubElement(action, kind)
    return action


def _write_actions(path: Path, actions: Xml.Element) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Xml.indent(actions, "\t")
    text = Xml.tostring(actions, encoding="unicode")
    write_atomically(path, f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n')


# --- all entries ---------------------------------------------------------------------------------

_EXECUTABLE = 0o100
_REFRESH_S = 20.0
_DATA_DIRS = "/usr/local/share:/usr/share"


def install(drawing: bytes, icons: Mapping[int, bytes]) -> list[str]:
    """Add the app's missing entries; returns what was written. AppError when that fails."""
    if sys.platform == "darwin":
        raise _is_in_the_bundle()
    command = app_command()
    if sys.platform == "win32":
        keys = registry_keys(command)
        return _done(lambda: write_keys(keys), list(keys))
    files = [nautilus_script(command)]
    # A package of the system has entered the rest for all users.
    if not is_entered_for_all():
        files += entry_files(command, drawing, icons)
    written = [str(_data_home() / file.path) for file in files]

    def write() -> None:
        for file in files:
            _write(file)
        if add_action(command):
            written.append(str(actions_path()))

    _done(write, written)
    _refresh()
    return written


def remove(drawing: bytes, icons: Mapping[int, bytes]) -> list[str]:
    """Remove all that `install` writes; returns what was there. AppError when that fails."""
    if sys.platform == "darwin":
        raise _is_in_the_bundle()
    command = app_command()
    if sys.platform == "win32":
        keys = registry_keys(command)
        return _done(lambda: delete_keys(keys), list(keys))
    files = [nautilus_script(command), *entry_files(command, drawing, icons)]
    removed = [path for file in files if (path := _data_home() / file.path).exists()]
    told = list(map(str, removed))

    def delete() -> None:
        for path in removed:
            path.unlink()
        if remove_action():
            told.append(str(actions_path()))

    _done(delete, told)
    _refresh()
    return told


def is_entered_for_all() -> bool:
    """True when a package of the system has installed the desktop file."""
    folders = (os.environ.get("XDG_DATA_DIRS") or _DATA_DIRS).split(":")
    return any((Path(folder) / DESKTOP_FILE).is_file() for folder in folders if folder)


def _done(act: Callable[[], None], told: list[str]) -> list[str]:
    title = "The entries of the app in this desktop could not be changed."
    # They are the person's files, and other programs read them.
    with os_error_as(title), persons_mask():
        act()
    return told


def _write(file: EntryFile) -> None:
    path = _data_home() / file.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(file.content)
    if file.is_executable:
        path.chmod(path.stat().st_mode | _EXECUTABLE)


def _refresh() -> None:
    """Tell the desktop which program opens the app's links; most check by themselves."""
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
