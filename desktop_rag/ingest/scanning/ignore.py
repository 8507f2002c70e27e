"""Rules that include or exclude files of a source, and those of .gitignore files in it.

A file is *invisible* (it is as if it weren't there), or *skipped* with a reason that is shown, or
taken. The scan and the watcher ask on their own threads.
"""

import logging
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from desktop_rag.core.domain import EXCLUDED, SourceRules

log = logging.getLogger(__name__)


# The group in pathspec's expressions that holds the slash behind the folder a pattern names.
_SLASH = "ps_d"


class Patterns:
    """Lines of a .gitignore file, decided as Git does; lines that are no pattern count as none.

    pathspec turns the lines into expressions; the deciding is done here. Its own goes by file and
    lets a folder's pattern speak for all below it, so that in `*`, `!*/`, `!note.md` or in
    `build/**`, `!build/note.md` the last line has no say. A scan asks for each folder on its way,
    so a pattern need only speak for what it names.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

        self._patterns: list[tuple[bool, re.Pattern[str]]] = []
        for line in lines:
            try:
                pattern = GitIgnoreSpecPattern(line)
            except ValueError:
                log.info("a line of the patterns is no pattern")
                continue
            if pattern.include is not None and pattern.regex is not None:
                self._patterns.insert(0, (pattern.include, pattern.regex))

    def leaves_out(self, path: str) -> bool | None:
        """True when the last pattern that matches the path excludes it; None if none matches.

        The path is relative, with slashes; that of a folder ends in one.
        """
        for leaves_out, expression in self._patterns:
            if any(_names(match, path) for match in expression.finditer(path)):
                return leaves_out
        return None


def _names(match: re.Match[str], path: str) -> bool:
    if _SLASH not in match.re.groupindex:
        # Of `build/**`: all in the folder, but not the folder.
        return match.end() < len(path) or not path.endswith("/")
    return match.start(_SLASH) in (-1, len(path) - 1)


# Folders of tools and systems that hold no documents.
_TOOL_NAMES = (
    "__macosx", "__pycache__", "__pypackages__", "$recycle.bin", "@eadir", "bower_components",
    "cvs", "lost+found", "node_modules", "site-packages", "system volume information",
    "desktop.ini", "icon\r", "thumbs.db",
)  # fmt: skip
# Left out even where hidden folders are read: those of version control and the system.
_NEVER = (".bzr", ".git", ".hg", ".svn", ".trash", ".trashes", ".venv", ".ds_store", ".cache")
_SUFFIXES = (
    "~", ".crdownload", ".download", ".opdownload", ".part", ".partial", ".swo", ".swp", ".temp",
    ".tmp",
)  # fmt: skip
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
    absolute: watching it would make the app read what it writes. `late` says why a file
    whose text comes later is skipped, "" if it is taken, None for the name of any other file.
    """

    is_readable: Callable[[str], bool]
    max_size_bytes: int
    home: Path | None = None
    late: Callable[[str], str | None] = lambda _name: None
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
        """Why a file or folder of this name is silently left out; empty if it isn't.

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
        refusal = self.late(name)
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


GITIGNORE = ".gitignore"
_MAX_BYTES = 1_000_000
REASON = "named in .gitignore"


class GitIgnores:
    """The .gitignore files met below a root, each read when its folder is first asked for."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._specs: dict[str, Patterns | None] = {}

    def reason(self, location: str, *, is_folder: bool) -> str:
        """The reason for excluding a path below the root, or "". The nearest file decides."""
        folder = os.path.dirname(location)  # noqa: PTH120  once for each of 50,000 files
        suffix = "/" if is_folder else ""
        while True:
            spec = self._spec(folder)
            if spec is not None:
                below = location[len(folder) + 1 :].replace(os.sep, "/") + suffix
                is_left_out = spec.leaves_out(below)
                if is_left_out is not None:
                    return REASON if is_left_out else ""
            if len(folder) <= len(self._root):
                return ""
            folder = os.path.dirname(folder)  # noqa: PTH120

    def _spec(self, folder: str) -> Patterns | None:
        if folder not in self._specs:
            self._specs[folder] = _read(os.path.join(folder, GITIGNORE))  # noqa: PTH118
        return self._specs[folder]


def _read(path: str) -> Patterns | None:
    try:
        if not os.path.isfile(path):  # noqa: PTH113  a pipe would be waited for
            return None
        with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123
            return Patterns(file.read(_MAX_BYTES).splitlines())
    except OSError as exc:
        log.info("a .gitignore file can't be read: %s", exc.strerror)
        return None
