"""Append-only files of lines, synced before each call returns. One thread per file."""

import os
from collections.abc import Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from desktop_rag.core.errors import disk_error

_SYNCING = 8


def append_lines(file: Path, lines: bytes) -> None:
    """Append whole lines to a file, created if missing and readable by this user only.

    The folder above that of the file must exist: a home whose disk is away is not made anew.
    OSError when the disk refuses; the next call ends a line that was written in part.
    """
    if _append(file, lines):
        _sync_folder(file.parent)


def append_to_files(lines: Mapping[Path, bytes]) -> None:
    """As `append_lines`, for many files; several are synced in parallel."""
    if len(lines) > _SYNCING:
        with ThreadPoolExecutor(_SYNCING, thread_name_prefix="journal-sync") as pool:
            are_new = list(pool.map(_append, lines, lines.values()))
    else:
        are_new = [_append(file, own) for file, own in lines.items()]
    for folder in {file.parent for file, is_new in zip(lines, are_new, strict=True) if is_new}:
        _sync_folder(folder)


def _append(file: Path, lines: bytes) -> bool:
    """True when the file is new, so that its folder must be synced, too."""
    file.parent.mkdir(mode=0o700, exist_ok=True)
    with _opened(file) as written:
        if written.seek(0, os.SEEK_END) and not _ends_a_line(file):
            written.write(b"\n")  # the line before was cut off
        is_new = not written.tell()
        written.write(lines)
        written.flush()
        os.fsync(written.fileno())
    return is_new


def _opened(file: Path) -> BinaryIO:
    return os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab")


def _sync_folder(folder: Path) -> None:
    """Make the name of a new file durable; Windows does so by itself."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _ends_a_line(file: Path) -> bool:
    with file.open("rb") as content:
        content.seek(-1, os.SEEK_END)
        return content.read(1) == b"\n"


@contextmanager
def mapping_journal_errors() -> Generator[None]:
    """Turn failures to write the journal into DiskError."""
    try:
        yield
    except OSError as exc:
        raise disk_error(exc.errno, f"{exc.filename}: a change could not be saved.") from exc
