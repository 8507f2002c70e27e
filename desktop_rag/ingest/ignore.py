"""Which files of a source are looked at. Pure rules; the scan and the watcher ask them on their
own threads.

A file is *invisible* (it is as if it weren't there), or *skipped* with a reason that is shown, or
taken.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

# Folders of tools and systems that hold no documents. Dot names (.git, .venv …) are hidden anyway.
_FOLDERS = frozenset(
    {
        "__macosx",
        "__pycache__",
        "__pypackages__",
        "$recycle.bin",
        "@eadir",
        "bower_components",
        "cvs",
        "lost+found",
        "node_modules",
        "site-packages",
        "system volume information",
    }
)
_FILES = frozenset({"desktop.ini", "icon\r", "thumbs.db"})
_PREFIXES = (".", "~$")
_SUFFIXES = (
    "~",
    ".crdownload",
    ".download",
    ".opdownload",
    ".part",
    ".partial",
    ".swo",
    ".swp",
    ".temp",
    ".tmp",
)
_MEGABYTE = 1 << 20
# FILE_ATTRIBUTE_OFFLINE, _RECALL_ON_OPEN, _RECALL_ON_DATA_ACCESS; and SF_DATALESS.
_WINDOWS_PLACEHOLDER = 0x1000 | 0x40000 | 0x400000
_MACOS_PLACEHOLDER = 0x40000000


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """What is left out of every source.

    `is_readable` says of a file's name whether it can be read. `home` is the app's own folder,
    absolute: watching it would make the app read what it writes.
    """

    is_readable: Callable[[str], bool]
    max_size_bytes: int
    home: Path | None = None

    def is_invisible(self, name: str) -> bool:
        """Whether a file or folder of this name is left out without a word.

        Hidden names, folders of tools, and the lock and temporary files that editors, Office and
        browsers put beside a document.
        """
        lowered = name.lower()
        return (
            lowered.startswith(_PREFIXES)
            or lowered.endswith(_SUFFIXES)
            or lowered in _FOLDERS
            or lowered in _FILES
            or (lowered[0] == "#" and lowered[-1] == "#")
        )

    def hides(self, root: Path, path: Path) -> bool:
        """Whether a path below the root is invisible, or lies in a folder that is.

        The root itself was chosen by the person and may have any name.
        """
        if path == root:
            return False
        home = self.home
        if home is not None and home.is_relative_to(root) and path.is_relative_to(home):
            return True
        return any(self.is_invisible(name) for name in path.parts[len(root.parts) :])

    def reason(self, name: str, size_bytes: int) -> str:
        """Why a visible file of this name and size is skipped; empty if it is taken."""
        dot = name.rfind(".")
        suffix = name[dot:].lower() if dot > 0 else ""
        if not self.is_readable(name):
            return f"not supported: {suffix}" if suffix else "not supported: no file extension"
        if size_bytes > self.max_size_bytes:
            return f"larger than {self.max_size_bytes // _MEGABYTE} MB"
        return ""


def is_only_in_cloud(attributes: int, flags: int) -> bool:
    """Whether a file's content is not on this computer and reading it would fetch it.

    `attributes` is `st_file_attributes` of Windows, `flags` is `st_flags` of macOS; 0 elsewhere.
    """
    return bool(attributes & _WINDOWS_PLACEHOLDER or flags & _MACOS_PLACEHOLDER)
