"""Collects changed paths until they settle, as a few places to scan. Pure.

Events are hints: a path may be scanned although nothing is different there, but none is missed.
Nothing here locks or reads a clock: the watcher calls it on its own threads with the time.
"""

from collections.abc import Iterable
from pathlib import Path


def places(paths: Iterable[Path], folders: frozenset[Path]) -> frozenset[Path]:
    """The paths without those below one of the changed `folders`, whose scan covers them."""
    if not folders:
        return frozenset(paths)
    return frozenset(path for path in paths if folders.isdisjoint(path.parents))


class PendingChanges:
    """The changed paths below one root that were not scanned yet. Times are monotonic seconds.

    They are due after `quiet_s` without a change, and after `storm_s` at the latest. More than
    `max_paths` paths become the root itself, because a full scan is faster then.
    """

    def __init__(self, root: Path, quiet_s: float, storm_s: float, max_paths: int = 10_000) -> None:
        self._root = root
        self._quiet_s = quiet_s
        self._storm_s = storm_s
        self._max_paths = max_paths
        self._paths: set[Path] = set()
        self._folders: set[Path] = set()
        self._is_whole = False
        self._first_s: float | None = None
        self._last_s = 0.0

    @property
    def due_at_s(self) -> float | None:
        """The time for `take`; None while nothing is pending."""
        if self._first_s is None:
            return None
        return min(self._last_s + self._quiet_s, self._first_s + self._storm_s)

    def add(self, path: Path, now_s: float, *, is_folder: bool = False) -> None:
        """Add a changed file, or a folder that is to be scanned with everything below it."""
        if self._first_s is None:
            self._first_s = now_s
        self._last_s = now_s
        if self._is_whole:
            return
        self._paths.add(path)
        if is_folder:
            self._folders.add(path)
        self._is_whole = len(self._paths) > self._max_paths

    def add_root(self, now_s: float) -> None:
        """Mark the whole root as changed. This does not postpone pending changes."""
        self._is_whole = True
        if self._first_s is None:
            self._first_s = self._last_s = now_s

    def take(self) -> frozenset[Path]:
        """The places to scan, empty if there are none; nothing is pending afterwards."""
        is_whole = self._is_whole or self._root in self._paths
        found = (
            frozenset({self._root}) if is_whole else places(self._paths, frozenset(self._folders))
        )
        self._paths, self._folders = set(), set()
        self._is_whole = False
        self._first_s = None
        return found
