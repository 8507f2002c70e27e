"""Files and folders owned by the app: atomic writes, kept objects, access rights. Any thread."""

import contextlib
import json
import logging
import math
import os
import shutil
import stat
import threading
import time
from collections.abc import Collection, Generator, Iterable, Mapping
from pathlib import Path
from typing import Any, cast

log = logging.getLogger(__name__)

_MOST_PIXELS = 1 << 20
_LONGEST_FILE_NAME = 60


def file_name_of(title: str) -> str:
    """The name of a file for something with this title, without an ending."""
    kept = "".join(c if c.isalnum() or c in " -_" else " " for c in title)
    return " ".join(kept.split())[:_LONGEST_FILE_NAME].strip() or "untitled"


def write_atomically(path: Path, content: str | bytes) -> None:
    """Replace the file once the new content is on disk; its rights stay. OSError on failure."""
    # Hidden, as it may be in a folder whose files are indexed.
    temporary = path.with_name(f".{path.name}.new")
    try:
        with temporary.open("wb") as file:
            if path.exists():
                shutil.copymode(path, temporary)
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def object_in(content: bytes) -> dict[str, Any]:
    """The JSON object in the content of a file; ValueError for anything that the app can't write.

    All its numbers fit the columns and clocks of a computer.
    """
    try:
        found = json.loads(content, parse_int=_whole, parse_float=_finite, parse_constant=_finite)
    except RecursionError as exc:
        raise ValueError("nested too deeply") from exc
    if not isinstance(found, dict):
        raise ValueError("no object")
    return cast("dict[str, Any]", found)


def _whole(digits: str) -> int:
    if not -(2**63) <= (number := int(digits)) < 2**63:
        raise ValueError("a number is out of range")
    return number


def _finite(digits: str) -> float:
    if not math.isfinite(number := float(digits)):
        raise ValueError("a number is out of range")
    return number


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object in the file; an empty one when it is missing or unreadable."""
    try:
        return object_in(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as exc:
        log.info("%s cannot be read and is replaced: %s", path.name, type(exc).__name__)
        return {}


def pixels_in(content: Mapping[str, Any], *names: str) -> list[int]:
    """The lengths of these names, none unless all are whole numbers that a screen can have."""
    found = [content.get(name) for name in names]
    lengths = [n for n in found if type(n) is int and abs(n) < _MOST_PIXELS]
    return lengths if len(lengths) == len(names) else []


def set_aside_damaged(paths: Iterable[Path]) -> list[Path]:
    """Rename what is in the place of files but none, and JSON files without an object.

    Returns the new paths. What the disk doesn't let be read or renamed stays where it is.
    """
    kept: list[Path] = []
    for path in paths:
        is_none = path.is_dir() or (path.is_symlink() and not path.exists())
        if is_none or (path.suffix == ".json" and not _holds_object(path)):
            aside = path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
            with contextlib.suppress(OSError):
                kept.append(path.rename(aside))
    return kept


def _holds_object(path: Path) -> bool:
    try:
        object_in(path.read_bytes())
    except OSError:
        return True
    except ValueError:
        return False
    return True


def write_object(path: Path, content: dict[str, Any]) -> None:
    """Write a JSON object that can be rebuilt: failures are logged, not raised."""
    try:
        write_atomically(path, json.dumps(content, ensure_ascii=False, indent=1))
    except OSError as exc:
        log.info("%s could not be saved: %s", path.name, exc.strerror)


_updating = threading.Lock()


def update_object(path: Path, **parts: object) -> None:
    """Write these parts of an object and leave the others; failures are logged, not raised."""
    with _updating:
        write_object(path, read_object(path) | parts)


def read_part(path: Path, name: str) -> dict[str, Any]:
    """One part of an object, itself an object; an empty one when it is missing or unreadable."""
    # Earlier versions kept it in a file of its own.
    part = read_object(path).get(name) or read_object(path.with_name(f"{name}.json"))
    return cast("dict[str, Any]", part) if isinstance(part, dict) else {}


class ContentFolder:
    """JSON objects that take long to make again, one file per content hash (with `.` and a suffix).

    They survive a change of readers, a move of the file and a repair of the library.
    """

    def __init__(self, folder: Path) -> None:
        """The folder is created with the first file."""
        self._folder = folder

    @property
    def has_any(self) -> bool:
        """True when something is kept."""
        try:
            return any(self._folder.iterdir())
        except OSError:
            return False

    def read(self, name: str) -> dict[str, Any]:
        """The object of this name, empty when there is none."""
        return read_object(self._path(name))

    def write(self, name: str, fields: dict[str, Any]) -> None:
        """Replace the object of this name; OSError on failure."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        write_atomically(self._path(name), json.dumps(fields, ensure_ascii=False))

    def remove(self, name: str) -> None:
        """Delete the object of this name."""
        self._path(name).unlink(missing_ok=True)

    def keep_only(self, content_hashes: Collection[str]) -> None:
        """Delete what belongs to any other content."""
        if not self.has_any:
            return
        for path in list(self._folder.iterdir()):
            if path.name.partition(".")[0] not in content_hashes:
                log.info("what was kept of a file that is gone is removed")
                path.unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.json"


# A mask for the whole process, not a mode per file: the database engine creates its log and
# temporary files itself. Only entry points set it; a program that uses the package keeps its own.

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_switching = threading.RLock()
# The mask of the person's shell or desktop; a mask belongs to the process, and so does this.
_masks_before: list[int] = []


def keep_files_private() -> None:
    """Create files for this user alone from now on. Called when a process of the app starts."""
    with _switching:
        before = os.umask(_OTHERS)
        if not _masks_before:
            _masks_before.append(before)


@contextlib.contextmanager
def persons_mask() -> Generator[None]:
    """Use the mask from before `keep_files_private`, for exports and for starting programs.

    Files that other threads create meanwhile are in the home, which is closed to others.
    """
    with _switching:
        ours = os.umask(_masks_before[0]) if _masks_before else None
        try:
            yield
        finally:
            if ours is not None:
                os.umask(ours)


def close_to_others(path: Path) -> None:
    """Remove other users' rights to a file, or to a folder and all it holds."""
    try:
        mode = path.stat().st_mode
        if os.name == "posix" and mode & _OTHERS:
            path.chmod(stat.S_IMODE(mode) & ~_OTHERS)
    except FileNotFoundError:
        pass  # removed meanwhile
    except OSError as exc:
        # A file system without modes, or the file of another user: not the app's to change.
        log.warning("%s stays open to other users: %s", path, exc.strerror)
