"""Checks the free space of the home and of the folder for temporary files."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from threading import Event

from desktop_rag.diagnosis.finding import Finding, State
from desktop_rag.diagnosis.subject import Subject

_MB = 1_000_000
# Enough, and the least with which the next document or chat can be stored.
_HOME = (1000 * _MB, 100 * _MB)
# Files sent by mail or packed in others are unpacked here, one at a time.
_TEMPORARY = (500 * _MB, 50 * _MB)
_FEW_FILES = 1000


def check_space(subject: Subject, _: Event) -> Iterator[Finding]:
    """A finding for each of the two places."""
    yield space("library", subject.home.root, *_HOME)
    yield space("temporary files", Path(tempfile.gettempdir()), *_TEMPORARY)


def space(what: str, folder: Path, enough_bytes: int, least_bytes: int) -> Finding:
    """The finding for a folder, or for the one in which it will be created."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        free = shutil.disk_usage(folder).free
        files = _free_files(folder)
    except OSError as exc:
        title = f"The free space of {folder} cannot be read ({exc.strerror})."
        return Finding("space", State.NOT_CHECKED, title)
    hint = f"Free some space on its disk; {_size(enough_bytes)} are enough."
    if files < _FEW_FILES:
        title = f"Only {files:,} more files fit on the disk with the {what} in {folder}."
        return Finding("space", State.PROBLEM, title, "Delete files that you do not need.")
    little = f"Only {_size(free)} are free for the {what} in {folder}."
    if free < least_bytes:
        return Finding("space", State.PROBLEM, little, hint)
    if free < enough_bytes:
        return Finding("space", State.WARNING, little, hint)
    title = f"{_size(free)} are free for the {what} in {folder}."
    return Finding("space", State.OK, title)


def _free_files(folder: Path) -> int:
    """The number of files that can still be created; large where that has no limit."""
    if not hasattr(os, "statvfs"):
        return _FEW_FILES
    found = os.statvfs(folder)
    return found.f_favail if found.f_files else _FEW_FILES


def _size(count: int) -> str:
    if count >= 1000 * _MB:
        return f"{count / (1000 * _MB):,.1f} GB"
    return f"{count / _MB:,.0f} MB"
