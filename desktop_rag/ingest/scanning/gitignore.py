"""The rules of the .gitignore files in a folder tree. Runs on the thread of the scan."""

import logging
import os

from desktop_rag.ingest.scanning.patterns import Patterns

log = logging.getLogger(__name__)

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
