"""The files that add the app to menus, links and file managers of Linux desktops. Pure.

Paths are below a data folder: `~/.local/share` for one person, `/usr/share` for all.
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from desktop_rag.desktop.launching import APP_ID, APP_NAME, ASK_ABOUT, SUMMARY, URL_SCHEME, quoted

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
