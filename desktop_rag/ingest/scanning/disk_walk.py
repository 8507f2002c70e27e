"""Walks the files of a source on disk. Runs on the calling worker thread."""

import os
import stat
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from pathlib import Path
from threading import Event
from typing import NamedTuple

from desktop_rag.core.domain import FileStat
from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.core.library_events import FolderPreview, LeftOut
from desktop_rag.ingest.scanning.ignore import HIDDEN, GitIgnores, IgnoreRules, is_only_in_cloud

# A folder's status, as far as patterns ask for it.
_FOLDER = os.stat_result((stat.S_IFDIR, *[0] * 9))
# Elsewhere the time of the last change is not kept: there it is that of the file's making.
KEEPS_CHANGE_TIMES = sys.platform != "win32"
LeftOutHook = Callable[[str, str], None]
_HAS_CLOUD_FILES = sys.platform in {"win32", "darwin"}
# Names match in other letter case and with other accents too.
_FOLDS_NAMES = sys.platform in {"win32", "darwin"}


class RootOffline(AppError):  # noqa: N818  a state of the source, raised like an error
    """The source is missing, unreadable or suddenly empty. Nothing of it counts as deleted."""

    def __init__(self, root: Path) -> None:
        super().__init__(
            f"{root.name or root} cannot be reached.",
            f"{root} is missing, empty or cannot be opened. What was read from it stays"
            " searchable; it is looked at again when it comes back.",
        )


class FoundFile(NamedTuple):
    r"""A visible file on disk. A tuple, since there may be 50,000 of them at once.

    `location` is the path as text, as the store holds it; bytes of a name that are not text are
    written as `\xNN`. `reason` says why the file is skipped, empty if it is to be read.
    `is_unreadable`: this file or folder could not be looked at just now, so nothing is known of
    it and of what lies below. `links` is how many names the file has. `ctime_ns` is when the system
    last changed anything of it, which no program can set back; 0 where that is not kept.
    """

    location: str
    size_bytes: int = 0
    mtime_ns: int = 0
    inode: int = 0
    reason: str = ""
    links: int = 1
    is_unreadable: bool = False
    ctime_ns: int = 0

    @property
    def path(self) -> Path:
        """The location as a path."""
        return Path(self.location)

    @property
    def stat(self) -> FileStat:
        """Size, time and inode: different for another state of the file."""
        return FileStat(self.size_bytes, self.mtime_ns, self.inode)


def scan(
    root: Path,
    rules: IgnoreRules,
    cancel: Event,
    parts: frozenset[Path] | None = None,
    left_out: LeftOutHook | None = None,
) -> Iterator[FoundFile]:
    """Yield the visible files below the root (or at and below its parts), each once.

    `left_out(location, reason)` is called for each file and folder that is excluded silently.

    The root is a folder or a single file. Links to folders are not followed, nor links to
    visible files inside the root: what they lead to is found under its own name. A link to a
    file that is hidden inside the root is taken; one that leads out is skipped with a reason.
    Hard links are two files, which tell how many `links` there are. Raises RootOffline (also when
    the root goes away on the way, so then nothing yielded may be used) and Cancelled.
    """
    walk = _Walk(root, rules, cancel, left_out)
    if parts is None or root in parts:
        yield from walk.everything()
    else:
        places = {str(part) for part in parts}
        for part in sorted(parts):
            if not is_covered(str(part.parent), places):
                yield from walk.part(part)
    walk.check_root()


def is_covered(location: str, places: AbstractSet[str]) -> bool:
    """True when the location or one of its parent folders is one of the places."""
    while places:
        if location in places:
            return True
        cut = location.rfind(os.sep)
        if cut <= 0:
            break
        location = location[:cut]
    return False


class _Walk:
    def __init__(
        self, root: Path, rules: IgnoreRules, cancel: Event, left_out: LeftOutHook | None
    ) -> None:
        self._left_out = left_out
        self._prefix = len(str(root)) + 1
        self._gitignores = GitIgnores(str(root)) if rules.uses_gitignore else None
        self._has_patterns = rules.excluded is not None or rules.uses_gitignore
        self._root = root
        self._rules = rules
        self._is_cancelled = cancel.is_set
        self._real_root = root.resolve()
        self._identity = self._look_at_root()
        self._visited = {self._identity}
        self._folders: list[str] = []
        if rules.home is not None and rules.home.exists():
            status = rules.home.stat()
            self._visited.add((status.st_dev, status.st_ino))

    def everything(self) -> Iterator[FoundFile]:
        """All below the root, or the root itself if it is a file."""
        if self._root.is_file():
            yield self._file(str(self._root), self._root.name, self._root.stat())
        else:
            self._folders.append(str(self._root))
            yield from self._walk()

    def part(self, path: Path) -> Iterator[FoundFile]:
        """The files at and below one path inside the root; none if it is invisible or gone."""
        if not self._is_direct(path) or (_FOLDS_NAMES and not _is_listed(path)):
            return
        if self._rules.hides(self._root, path):
            self._pass_over(str(path), HIDDEN)
            return
        if self._has_patterns and (reason := self._reason_of_folders(path)):
            self._pass_over(str(path), reason)
            return
        for place in (*reversed(path.relative_to(self._root).parents), path):
            # A folder whose name isn't text is reported itself, not what is in it.
            if not _is_text(place.name):
                path = self._root / place
                break
        found = self._examine(str(path), path.name)
        if found is not None:
            yield found
        yield from self._walk()

    def _reason_of_folders(self, path: Path) -> str:
        """Why a folder on the way to the path is left out by a pattern; empty if none is."""
        for parent in path.relative_to(self._root).parents:
            if parent.name and (reason := self._pattern_reason(str(self._root / parent), _FOLDER)):
                return reason
        return ""

    def check_root(self) -> None:
        """Raise RootOffline if the root is gone or another one, say after a drive was pulled."""
        if self._look_at_root() != self._identity:
            raise RootOffline(self._root)

    def _look_at_root(self) -> tuple[int, int]:
        try:
            status = self._root.stat()
        except OSError as exc:
            raise RootOffline(self._root) from exc
        if stat.S_ISREG(status.st_mode):
            return (0, 0)  # saving a single file may replace it
        return (status.st_dev, status.st_ino)

    def _is_direct(self, path: Path) -> bool:
        """True when no folder on the way from the root to the path is a link."""
        if not path.is_relative_to(self._root):
            return False
        return path.parent.resolve() == self._real_root / path.parent.relative_to(self._root)

    def _walk(self) -> Iterator[FoundFile]:
        while self._folders:
            folder = self._folders.pop()
            try:
                with os.scandir(folder) as listing:
                    entries = list(listing)
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError as exc:
                if folder == str(self._root):
                    raise RootOffline(self._root) from exc
                yield _unreadable(folder, exc)
                continue
            examine = self._examine
            for entry in entries:
                found = examine(entry.path, entry.name, entry)
                if found is not None:
                    yield found

    def _examine(
        self, location: str, name: str, entry: "os.DirEntry[str] | None" = None
    ) -> FoundFile | None:
        if self._is_cancelled():
            raise Cancelled
        if invisible := self._rules.invisible_reason(name):
            return self._pass_over(location, invisible)
        if not (name.isascii() or _is_text(name)):
            shown = os.fsencode(location).decode("utf-8", "backslashreplace")
            return FoundFile(shown, reason="its name is not valid text")
        try:
            status = entry.stat(follow_symlinks=False) if entry else os.lstat(location)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as exc:
            return _unreadable(location, exc)
        if self._has_patterns and (reason := self._pattern_reason(location, status)):
            return self._pass_over(location, reason)
        kind = stat.S_IFMT(status.st_mode)
        if kind == stat.S_IFREG:
            return self._file(location, name, status)
        return self._other(location, name, status, kind)

    def _pass_over(self, location: str, reason: str) -> None:
        if self._left_out is not None:
            self._left_out(location, reason)

    def _pattern_reason(self, location: str, status: os.stat_result) -> str:
        is_folder = stat.S_ISDIR(status.st_mode)
        relative = location[self._prefix :].replace(os.sep, "/") + "/" * is_folder
        reason = self._rules.excluded_reason(relative)
        if not reason and self._gitignores is not None:
            reason = self._gitignores.reason(location, is_folder=is_folder)
        return reason

    def _other(
        self, location: str, name: str, status: os.stat_result, kind: int
    ) -> FoundFile | None:
        if kind == stat.S_IFDIR:
            self._enter(location, status)
            return None
        if kind == stat.S_IFLNK:
            return self._link(location, name)
        return FoundFile(location, reason="a device, pipe or socket")

    def _file(self, location: str, name: str, status: os.stat_result) -> FoundFile:
        reason = self._rules.reason(name, status.st_size)
        if self._rules.excluded_files:
            relative = location[self._prefix :].replace(os.sep, "/") or "."
            reason = self._rules.file_reason(relative) or reason
        if _HAS_CLOUD_FILES and not reason:
            attributes: int = getattr(status, "st_file_attributes", 0)
            flags: int = getattr(status, "st_flags", 0)
            if is_only_in_cloud(attributes, flags):
                reason = "only in the cloud, not on this computer"
        return FoundFile(
            location, status.st_size, status.st_mtime_ns, status.st_ino, reason, status.st_nlink,
            ctime_ns=status.st_ctime_ns if KEEPS_CHANGE_TIMES else 0,
        )  # fmt: skip

    def _enter(self, location: str, status: os.stat_result) -> None:
        """Look into a folder later, unless it was visited: a mount can put it inside itself."""
        if sys.platform == "win32" and status.st_reparse_tag == stat.IO_REPARSE_TAG_MOUNT_POINT:
            return  # a junction: a link in other words
        identity = (status.st_dev, status.st_ino)
        if status.st_ino and identity in self._visited:
            return
        self._visited.add(identity)
        self._folders.append(location)

    def _link(self, location: str, name: str) -> FoundFile | None:
        try:
            target = Path(location).resolve(strict=True)
            status = target.stat()
        except (OSError, RuntimeError):
            return None  # it leads nowhere, or in a circle
        if not target.is_relative_to(self._real_root):
            return FoundFile(location, reason="a link that leads out of the folder")
        if stat.S_ISREG(status.st_mode) and self._rules.hides(self._real_root, target):
            return self._file(location, name, status)
        return None


def _is_listed(path: Path) -> bool:
    """True when its folder lists it by exactly this name."""
    try:
        with os.scandir(path.parent) as listing:
            return any(entry.name == path.name for entry in listing)
    except OSError:
        return True  # looking at it will tell why


def _is_text(name: str) -> bool:
    """True when the store can hold the name: undecodable bytes become lone surrogates."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _unreadable(location: str, exc: OSError) -> FoundFile:
    return FoundFile(location, reason=f"cannot be opened: {exc.strerror}", is_unreadable=True)


_MOST_EXAMPLES = 3


def preview(path: Path, rules: IgnoreRules, cancel: Event) -> FolderPreview:
    """Count the files that adding a folder would index, and what is left out and why; opens none.

    Stops when cancelled, with what was counted until then. RootOffline when it can't be opened.
    """
    count = FileCount(path)
    is_complete = True
    try:
        for file in scan(path, rules, cancel, left_out=count.leave_out):
            count.add(file)
    except Cancelled:
        is_complete = False
    return count.result(is_complete=is_complete)


class FileCount:
    """Counts the files of a preview, below a root."""

    def __init__(self, root: Path) -> None:
        self._prefix = len(str(root)) + 1
        self._files = 0
        self._bytes = 0
        self._formats: Counter[str] = Counter()
        self._left_out: Counter[str] = Counter()
        self._examples: dict[str, list[str]] = {}

    def add(self, file: FoundFile) -> None:
        """Count a visible file."""
        if file.reason:
            self.leave_out(file.location, file.reason)
            return
        name = file.location[file.location.rfind(os.sep) + 1 :]
        dot = name.rfind(".")
        suffix = name[dot:].lower() if dot > 0 else ""
        self._files += 1
        self._bytes += file.size_bytes
        self._formats[suffix or name] += 1

    def leave_out(self, location: str, reason: str) -> None:
        """Count a file, or a folder with all in it, that is not read."""
        self._left_out[reason] += 1
        examples = self._examples.setdefault(reason, [])
        if len(examples) < _MOST_EXAMPLES:
            examples.append(location[self._prefix :] or location)

    def result(self, *, is_complete: bool) -> FolderPreview:
        """The counts, the most frequent reasons first."""
        return FolderPreview(
            files=self._files,
            size_bytes=self._bytes,
            by_format=dict(self._formats.most_common()),
            left_out=tuple(
                LeftOut(reason, count, tuple(self._examples[reason]))
                for reason, count in self._left_out.most_common()
            ),
            is_complete=is_complete,
        )
