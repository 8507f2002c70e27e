"""The file given to a reader, and the refusals of files without readable text.

Runs in the parser process; `open_descriptor` also in its parent.
"""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from desktop_rag.core.parsed import EncodingHints

# Limits on the result of a reader: the parser process keeps them, its parent checks them again.
MAX_MARKS = 500_000
MAX_HEADINGS = 200_000
MAX_BOXES = 2000
MAX_PAGE_WORDS = 6000
MAX_WORD_CHARS = 200
MAX_PAGE_SIZES = 10_000
MAX_PAGE_POINTS = 20_000.0
MAX_COLOURED_CHARS = 2_000_000
MAX_COLOUR_SPANS = 300_000
MAX_VIEW_PX = 2000
MAX_VIEW_HEIGHT_PX = 4000

Reason = Literal[
    "unsupported", "encrypted", "empty", "damaged", "too large", "no text", "not a file",
    "no access", "missing", "crashed", "timeout",
]  # fmt: skip
"""Why a file has no text. The first six stay true until the file changes."""


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
    them has opened it. `hints` tell its encoding where it does not name it.
    """

    path: Path
    data: bytes
    passwords: tuple[str, ...] = field(default=(), repr=False)
    is_unlocked: bool = False
    hints: EncodingHints = field(default_factory=EncodingHints)

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


WORD = "Word before version 6"
POWERPOINT = "PowerPoint before version 4"
POWERPOINT_95 = "PowerPoint 4 or 95"

# First bytes by program, after the signatures that the Unix command `file` and Apache Tika know.
TOO_OLD: Mapping[str, tuple[bytes, ...]] = MappingProxyType(
    {
        "Excel 2": (b"\x09\x00\x04\x00",),
        "Excel 3": (b"\x09\x02\x06\x00",),
        "Excel 4": (b"\x09\x04\x06\x00",),
        # For Windows 1 and 2, for DOS, for the Macintosh 3 to 5.
        WORD: (
            b"\x9b\xa5", b"\xdb\xa5", b"\x31\xbe\0\0\0\xab", b"\xfe\x34\0", b"\xfe\x37\0",
        ),
        "Windows Write": (b"\x31\xbe\0\0", b"\x32\xbe\0\0"),
        POWERPOINT: (b"\x0b\xad\xde\xed", b"\xed\xde\xad\x0b"),
        POWERPOINT_95: (),
    }
)  # fmt: skip


def too_old(kind: str) -> Unreadable:
    """The refusal of a file of a program so old that no reader knows it; it isn't damaged."""
    hint = "Open it in a newer program, such as LibreOffice, and save it in a format of today."
    return Unreadable("unsupported", f"Too old: {kind}", hint)
