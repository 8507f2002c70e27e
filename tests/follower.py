"""A watcher of real folders with a listener, for the tests of watching."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from desktop_rag.ingest.scanning.disk_walk import RootOffline, scan
from desktop_rag.ingest.scanning.ignore import IgnoreRules
from desktop_rag.ingest.scanning.reconcile import KnownFile, rescan
from desktop_rag.ingest.watching import watcher
from desktop_rag.ingest.watching.watcher import FolderWatcher, WatchTimes

WAIT_S = 30.0
RULES = IgnoreRules(lambda name: name.lower().endswith(".md"), max_size_bytes=1000)
FAST = WatchTimes(quiet_s=0.05, storm_s=1.0, probe_s=0.1, poll_s=0.1)


class Listener(Protocol):
    """Records the watcher's reports."""

    def on_dirty(self, root: Path, places: frozenset[Path], /) -> None: ...
    def on_polling(self, root: Path, reason: str, /) -> None: ...


@contextlib.contextmanager
def watching(
    listener: Listener,
    times: WatchTimes = FAST,
    *,
    is_remote: Callable[[Path], bool] = watcher.is_remote,
    wall_clock: Callable[[], float] = time.time,
) -> Iterator[FolderWatcher]:
    """A watcher connected to the listener, closed at the end."""
    watcher = FolderWatcher(
        listener.on_dirty, listener.on_polling, RULES, times, is_remote, wall_clock
    )
    try:
        yield watcher
    finally:
        watcher.close()


def write_docs(folder: Path) -> Path:
    """A folder `docs` with three files, two of them in subfolders."""
    root = folder / "docs"
    for name in ("a.md", "sub/b.md", "sub/deep/c.md"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    return root


class Follower:
    """Mirrors a library: it rescans the reported places, and no others."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.known: dict[Path, dict[str, KnownFile]] = {}
        self.places: list[Path] = []
        self.moved: list[str] = []
        self.new: list[str] = []
        self.offline: set[Path] = set()
        self.polled: list[tuple[Path, str]] = []

    def on_dirty(self, root: Path, places: frozenset[Path]) -> None:
        with self.changed:
            self.places += sorted(places)
            with contextlib.suppress(RootOffline):
                self.offline.add(root)
                self.look(root, places)
                self.offline.discard(root)
            self.changed.notify_all()

    def look(self, root: Path, places: frozenset[Path] | None = None) -> None:
        store = self.known.setdefault(root, {})
        changes = rescan(root, RULES, list(store.values()), threading.Event(), places)
        for gone in (*changes.vanished, *(match.known for match in changes.moved)):
            del store[gone.location]
        self.moved += [match.found.location for match in changes.moved]
        self.new += [file.location for file in changes.new]
        matches = (*changes.moved, *changes.changed)
        for file in (*changes.new, *(match.found for match in matches)):
            store[file.location] = KnownFile("", *file[:5])

    def on_polling(self, root: Path, reason: str) -> None:
        with self.changed:
            self.polled.append((root, reason))
            self.changed.notify_all()

    def wait_until(self, is_so: Callable[[], bool]) -> None:
        with self.changed:
            assert self.changed.wait_for(is_so, WAIT_S), (self.places[-20:], self.known)

    def wait_until_right(self, root: Path) -> None:
        """Wait until the mirror equals the disk."""
        disk = {file.location: file.stat for file in scan(root, RULES, threading.Event())}
        self.wait_until(
            lambda: disk == {name: file.stat for name, file in self.known.get(root, {}).items()}
        )
