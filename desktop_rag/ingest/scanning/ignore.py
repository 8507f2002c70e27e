"""Rules that include or exclude files of a source. Pure; used by the scan and the watcher on their
own threads.

A file is *invisible* (it is as if it weren't there), or *skipped* with a reason that is shown, or
taken.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from desktop_rag.core.domain import EXCLUDED, SourceRules
from desktop_rag.ingest.scanning.patterns import Patterns

# Folders of tools and systems that hold no documents.
_TOOL_NAMES = (
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
    "desktop.ini",
    "icon\r",
    "thumbs.db",
)
# Left out even where hidden folders are read: what version control and the system keep for itself.
_NEVER = (".bzr", ".git", ".hg", ".svn", ".trash", ".trashes", ".venv", ".ds_store", ".cache")
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
HIDDEN = "hidden"
_TOOLS = "a folder of tools or of the system"
_TEMPORARY = "a temporary file"
_PATTERN = "left out by a pattern of yours"
_NAMES = dict.fromkeys(_NEVER, HIDDEN) | dict.fromkeys(_TOOL_NAMES, _TOOLS)
# FILE_ATTRIBUTE_OFFLINE, _RECALL_ON_OPEN, _RECALL_ON_DATA_ACCESS; and SF_DATALESS.
_WINDOWS_PLACEHOLDER = 0x1000 | 0x40000 | 0x400000
_MACOS_PLACEHOLDER = 0x40000000


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rules for excluding files, for all sources until `of` adds those of one.

    `is_readable` says of a file's name whether it can be read. `home` is the app's own folder,
    absolute: watching it would make the app read what it writes. `recordings` says why a recording
    is skipped, "" if it is taken, None for the name of any other file.
    """

    is_readable: Callable[[str], bool]
    max_size_bytes: int
    home: Path | None = None
    recordings: Callable[[str], str | None] = lambda _name: None
    uses_gitignore: bool = False
    includes_hidden: bool = False
    excluded: Patterns | None = None
    excluded_files: frozenset[str] = frozenset()

    def of(self, rules: SourceRules) -> "IgnoreRules":
        """These with the rules of one source."""
        size_bytes = rules.max_file_mb * _MEGABYTE
        return replace(
            self,
            max_size_bytes=min(size_bytes or self.max_size_bytes, self.max_size_bytes),
            uses_gitignore=rules.uses_gitignore,
            includes_hidden=rules.includes_hidden,
            excluded=Patterns(rules.excluded) if rules.excluded else None,
            excluded_files=frozenset(rules.excluded_files),
        )

    def is_invisible(self, name: str) -> bool:
        """True when a file or folder of this name is excluded silently."""
        return bool(self.invisible_reason(name))

    def invisible_reason(self, name: str) -> str:
        """Why a file or folder of this name is left out without a word; empty if it isn't.

        Hidden names, folders of tools, and the lock and temporary files that editors, Office and
        browsers put beside a document.
        """
        lowered = name.lower()
        if lowered in _NAMES:
            return _NAMES[lowered]
        first = lowered[0]
        if first == "." and not self.includes_hidden:
            return HIDDEN
        is_lock = first in ".~" and lowered.startswith(("~$", ".~", ".#"))
        is_copy = first == "#" and lowered[-1] == "#"
        return _TEMPORARY if is_lock or is_copy or lowered.endswith(_SUFFIXES) else ""

    def excluded_reason(self, relative: str) -> str:
        """Why the person's patterns leave out a path below the root, empty if they don't.

        A folder's path ends in a slash.
        """
        is_excluded = self.excluded is not None and self.excluded.leaves_out(relative)
        return _PATTERN if is_excluded else ""

    def file_reason(self, relative: str) -> str:
        """Why a single file, by its path below the root, is skipped; empty if it isn't."""
        return EXCLUDED if relative in self.excluded_files else ""

    def hides(self, root: Path, path: Path) -> bool:
        """True when a path below the root is invisible, or lies in a folder that is.

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
        refusal = self.recordings(name)
        if refusal:
            return refusal
        if refusal is None and not self.is_readable(name):
            dot = name.rfind(".")
            suffix = name[dot:].lower() if dot > 0 else ""
            return f"not supported: {suffix}" if suffix else "not supported: no file extension"
        if size_bytes > self.max_size_bytes:
            return f"larger than {self.max_size_bytes // _MEGABYTE} MB"
        return ""


def is_only_in_cloud(attributes: int, flags: int) -> bool:
    """True when a file's content is in the cloud and reading it would download it.

    `attributes` is `st_file_attributes` of Windows, `flags` is `st_flags` of macOS; 0 elsewhere.
    """
    return bool(attributes & _WINDOWS_PLACEHOLDER or flags & _MACOS_PLACEHOLDER)
