"""The file given to a reader, and the exception for a file without readable text.

Runs in the parser process; `open_descriptor` also in its parent.
"""

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

from desktop_rag.ingest.read.foundation.read_limits import Reason


class Unreadable(Exception):  # noqa: N818  it is about the file, not about an error of ours
    """The file has no readable text. `title` and `hint` are shown to the person."""

    def __init__(self, reason: Reason, title: str, hint: str = "") -> None:
        super().__init__(title)
        self.reason: Reason = reason
        self.title = title
        self.hint = hint


@dataclass(frozen=True, slots=True)
class SourceFile:
    """The bytes of a file as they stood at one moment, and its path for the name only.

    `passwords` are tried if it is encrypted, also for files inside it. With `is_unlocked` one of
    them has opened it.
    """

    path: Path
    data: bytes
    passwords: tuple[str, ...] = field(default=(), repr=False)
    is_unlocked: bool = False

    @property
    def suffix(self) -> str:
        """The last suffix in lower case, with its dot."""
        return self.path.suffix.lower()

    @property
    def stem(self) -> str:
        """The title of a document that has none."""
        return self.path.stem or self.path.name


def open_descriptor(path: Path) -> int:
    """Open a file for reading; OSError on failure. Never waits for the other end of a pipe."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    return os.open(path, flags | getattr(os, "O_CLOEXEC", 0))


def open_source(path: Path, max_bytes: int) -> SourceFile:
    """Read a regular file whole. Raises Unreadable for anything else and for a larger one."""
    try:
        descriptor = open_descriptor(path)
    except FileNotFoundError as exc:
        raise Unreadable("missing", "The file is gone") from exc
    except OSError as exc:
        raise Unreadable("no access", "The file can't be opened", str(exc.strerror)) from exc
    return read_opened(descriptor, path, max_bytes)


def read_opened(descriptor: int, path: Path, max_bytes: int) -> SourceFile:
    """Read a regular file whole and close it; Unreadable as from `open_source`.

    The opened descriptor is judged, so what the path leads to can't change in between.
    """
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable("not a file", "Not a regular file")
        if status.st_size > max_bytes:
            raise _too_large(max_bytes)
        # Unbuffered: one copy of the bytes.
        with open(descriptor, "rb", buffering=0, closefd=False) as file:
            data = file.readall()
    except OSError as exc:
        raise Unreadable("no access", "The file can't be read", str(exc.strerror)) from exc
    finally:
        os.close(descriptor)
    if len(data) > max_bytes:
        raise _too_large(max_bytes)
    return SourceFile(path, data)


def _too_large(max_bytes: int) -> Unreadable:
    limit = f"Files above {max_bytes // (1024 * 1024)} MB are not read."
    return Unreadable("too large", "The file is too large", limit)
