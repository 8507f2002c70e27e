"""Counts the files that adding a folder would index, opening none. Any worker thread."""

import os
from collections import Counter
from pathlib import Path
from threading import Event

from desktop_rag.core.errors import Cancelled
from desktop_rag.core.library_events import FolderPreview, LeftOut
from desktop_rag.ingest.scanning.disk_walk import FoundFile, scan
from desktop_rag.ingest.scanning.ignore import IgnoreRules

_MOST_EXAMPLES = 3
# Measured on two cores with the bundled model (benchmarks/indexing.py): seconds to open and read a
# file, and to make the text of a megabyte searchable by meaning.
_SECONDS_A_FILE = 0.007
_SECONDS_A_MEGABYTE = 14.0
_MEGABYTE = 1e6
# How much of a file's bytes is text, by suffix; of others all of it.
_TEXT_SHARES = {
    ".pdf": 0.04, ".docx": 0.1, ".docm": 0.1, ".doc": 0.1, ".odt": 0.1, ".epub": 0.3, ".rtf": 0.2,
    ".pptx": 0.01, ".ppt": 0.02, ".odp": 0.01, ".xlsx": 0.5, ".xls": 0.3, ".ods": 0.5,
    ".html": 0.3, ".htm": 0.3, ".xml": 0.5, ".mbox": 0.2, ".eml": 0.2, ".msg": 0.1,
    ".png": 0.001, ".jpg": 0.001, ".jpeg": 0.001, ".tif": 0.001, ".tiff": 0.001, ".gif": 0.001,
    ".webp": 0.001, ".bmp": 0.0001,
}  # fmt: skip


def preview(path: Path, rules: IgnoreRules, cancel: Event) -> FolderPreview:
    """Count what would be read below the path, and what is left out and why.

    Stops when cancelled, with what was counted until then. RootOffline when it can't be opened.
    """
    count = _Count(path)
    is_complete = True
    try:
        for file in scan(path, rules, cancel, left_out=count.leave_out):
            count.add(file)
    except Cancelled:
        is_complete = False
    return count.result(is_complete=is_complete)


class _Count:
    """Adds up one folder."""

    def __init__(self, root: Path) -> None:
        self._prefix = len(str(root)) + 1
        self._files = 0
        self._bytes = 0
        self._seconds = 0.0
        self._formats: Counter[str] = Counter()
        self._left_out: Counter[str] = Counter()
        self._examples: dict[str, list[str]] = {}

    def add(self, file: FoundFile) -> None:
        """A visible file."""
        if file.reason:
            self.leave_out(file.location, file.reason)
            return
        name = file.location[file.location.rfind(os.sep) + 1 :]
        dot = name.rfind(".")
        suffix = name[dot:].lower() if dot > 0 else ""
        megabytes = file.size_bytes * _TEXT_SHARES.get(suffix, 1.0) / _MEGABYTE
        self._files += 1
        self._bytes += file.size_bytes
        self._seconds += _SECONDS_A_FILE + _SECONDS_A_MEGABYTE * megabytes
        self._formats[suffix or name] += 1

    def leave_out(self, location: str, reason: str) -> None:
        """A file, or a folder with all in it, that is not read."""
        self._left_out[reason] += 1
        examples = self._examples.setdefault(reason, [])
        if len(examples) < _MOST_EXAMPLES:
            examples.append(location[self._prefix :] or location)

    def result(self, *, is_complete: bool) -> FolderPreview:
        """All of it, the most frequent reasons first."""
        return FolderPreview(
            files=self._files,
            size_bytes=self._bytes,
            seconds=self._seconds,
            by_format=dict(self._formats.most_common()),
            left_out=tuple(
                LeftOut(reason, count, tuple(self._examples[reason]))
                for reason, count in self._left_out.most_common()
            ),
            is_complete=is_complete,
        )
