"""Detects changes below the watched roots and reports the places to scan.

Watchdog's threads pass paths on to the debouncer, whose thread calls back; that thread also
looks after roots that went away, came back or cannot be watched.
"""

import errno
import logging
import os
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from watchdog.events import (
    DirAttribEvent,
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileAttribEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver, ObservedWatch
from watchdog.observers.polling import PollingObserverVFS

from desktop_rag.core.errors import AppError
from desktop_rag.ingest.background.indexing_pauses import RetryTimes
from desktop_rag.ingest.scanning.ignore import GITIGNORE, IgnoreRules
from desktop_rag.ingest.scanning.scanner import RecheckTimes

log = logging.getLogger(__name__)

_REMOTE_FILE_SYSTEMS = frozenset(
    {
        *("afs", "ceph", "cifs", "davfs", "glusterfs", "lustre", "ncpfs", "nfs", "nfs4"),
        *("afpfs", "smb2", "smb3", "smbfs", "webdav"),
        *("fuse.davfs2", "fuse.glusterfs", "fuse.gvfsd-fuse", "fuse.rclone", "fuse.s3fs"),
        *("fuse.sshfs", "fuse.vmhgfs-fuse"),
        *("9p", "prl_fs", "vboxsf", "virtiofs", "vmhgfs"),  # shared with a virtual machine
    }
)


def is_remote(path: Path) -> bool:
    """True for network file systems, whose changes by others the kernel does not report."""
    real = path.resolve()
    if real.drive.startswith("\\\\"):
        return True
    mounts = [
        mount for mount in psutil.disk_partitions(all=True) if real.is_relative_to(mount.mountpoint)
    ]
    # Of two mounts at one place the later one is seen.
    mount = max(reversed(mounts), key=lambda mount: len(mount.mountpoint), default=None)
    if mount is None:
        return False
    return mount.fstype.lower() in _REMOTE_FILE_SYSTEMS or "remote" in mount.opts.split(",")


def identity(root: Path) -> tuple[int, int] | None:
    """The identity of a folder, or of the folder of a file; None if it is missing.

    Another value says that the folder was replaced, or its drive was mounted or unmounted.
    """
    try:
        status = root.stat()
        if stat.S_ISREG(status.st_mode):
            status = root.resolve().parent.stat()
    except OSError:
        return None
    return (status.st_dev, status.st_ino)


def places(paths: Iterable[Path], folders: frozenset[Path]) -> frozenset[Path]:
    """The paths without those below one of the changed `folders`, whose scan covers them."""
    if not folders:
        return frozenset(paths)
    return frozenset(path for path in paths if folders.isdisjoint(path.parents))


class PendingChanges:
    """The changed paths below one root that were not scanned yet. Times are monotonic seconds.

    They are due after `quiet_s` without a change, and after `storm_s` at the latest. More than
    `max_paths` paths become the root itself, because a full scan is faster then. A path may be
    scanned although nothing changed there, but none is missed. The caller locks and tells the time.
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


# The computer was asleep when the wall clock advanced by this much more than the wait.
_SLEPT_S = 60.0


@dataclass(frozen=True, slots=True)
class WatchTimes:
    """Quiet before a hand-over and the longest wait for it; how often a root is looked at for
    having come or gone; between polls; and between whole rescans that make up for lost events,
    of roots that tell of events and of polled ones. `recheck` are the times of the scanner's
    rechecks, `space` those of the wait for room on a full disk.
    """

    quiet_s: float = 1.5
    storm_s: float = 10.0
    probe_s: float = 5.0
    poll_s: float = 60.0
    rescan_s: float = 3600.0
    polled_rescan_s: float = 600.0
    recheck: RecheckTimes = field(default_factory=RecheckTimes)
    retry: RetryTimes = field(default_factory=RetryTimes)


@dataclass(slots=True)
class _Waiting:
    """The pending changes of one root; guarded by the debouncer's condition."""

    pending: PendingChanges
    rescan_s: float
    next_rescan_s: float
    needs_check: bool = False


class Debouncer:
    """Collects changes a root and calls `on_dirty(root, places)` when they settle.

    It calls `check(root)` every `probe_s`, when asked to, and before each hand-over; in it the
    root may be marked as a whole. Both are called on the debouncer's thread, one at a time. After
    an AppError of `on_dirty` the root is handed over again, whole.
    """

    def __init__(
        self,
        on_dirty: Callable[[Path, frozenset[Path]], None],
        check: Callable[[Path], None],
        times: WatchTimes,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self._on_dirty = on_dirty
        self._check = check
        self._times = times
        self._wall_clock = wall_clock
        self._condition = threading.Condition()
        self._roots: dict[Path, _Waiting] = {}
        self._is_closing = False
        self._next_probe_s = 0.0
        self._thread = threading.Thread(target=self._run, name="folder-watcher", daemon=True)
        self._thread.start()

    def add(self, root: Path) -> None:
        """Collect the changes of this root from now on."""
        pending = PendingChanges(root, self._times.quiet_s, self._times.storm_s)
        rescan_s = self._times.rescan_s
        with self._condition:
            self._roots[root] = _Waiting(pending, rescan_s, time.monotonic() + rescan_s)

    def rescan_polled(self, root: Path) -> None:
        """Rescan the root as often as polled roots."""
        with self._condition:
            if waiting := self._roots.get(root):
                waiting.rescan_s = min(waiting.rescan_s, self._times.polled_rescan_s)
                soon_s = time.monotonic() + waiting.rescan_s
                waiting.next_rescan_s = min(waiting.next_rescan_s, soon_s)

    def remove(self, root: Path) -> None:
        """Forget the root and its pending changes."""
        with self._condition:
            self._roots.pop(root, None)

    def note(self, root: Path, path: Path, *, is_folder: bool) -> None:
        """Note a change. Quick, from any thread; ignored if the root was removed."""
        with self._condition:
            waiting = self._roots.get(root)
            if waiting is None:
                return
            is_first = waiting.pending.due_at_s is None
            waiting.pending.add(path, time.monotonic(), is_folder=is_folder)
            if is_first:
                self._condition.notify_all()

    def mark_whole(self, root: Path) -> None:
        """Take the whole root as changed."""
        with self._condition:
            if root in self._roots:
                self._roots[root].pending.add_root(time.monotonic())
                self._condition.notify_all()

    def check_soon(self, root: Path) -> None:
        """Call `check` for the root without delay."""
        with self._condition:
            if root in self._roots:
                self._roots[root].needs_check = True
                self._condition.notify_all()

    def close(self) -> None:
        """Stop the thread and wait for it. No call comes afterwards."""
        with self._condition:
            self._is_closing = True
            self._condition.notify_all()
        self._thread.join()

    def _run(self) -> None:
        while True:
            asleep_at = self._wall_clock()
            with self._condition:
                pause_s = self._pause_s()
                if pause_s > 0 and not self._is_closing:
                    self._condition.wait(pause_s)
                roots = [] if self._is_closing else list(self._roots)
            if self._is_closing:
                return
            has_slept = self._wall_clock() - asleep_at > pause_s + _SLEPT_S
            now_s = time.monotonic()
            is_probe = now_s >= self._next_probe_s
            if is_probe:
                self._next_probe_s = now_s + self._times.probe_s
            for root in roots:
                self._tend(root, now_s, is_probe=is_probe, has_slept=has_slept)

    def _pause_s(self) -> float:
        """The time until something is due, unless a change comes first."""
        wakes = [self._next_probe_s]
        for waiting in self._roots.values():
            if waiting.needs_check:
                return 0.0
            if waiting.pending.due_at_s is not None:
                wakes.append(waiting.pending.due_at_s)
        return max(0.0, min(wakes) - time.monotonic())

    def _tend(self, root: Path, now_s: float, *, is_probe: bool, has_slept: bool) -> None:
        with self._condition:
            waiting = self._roots.get(root)
            if waiting is None or self._is_closing:
                return
            if has_slept or now_s >= waiting.next_rescan_s:
                waiting.next_rescan_s = now_s + waiting.rescan_s
                waiting.pending.add_root(now_s)
            is_due = _is_due(waiting, now_s)
            needs_check = waiting.needs_check or is_probe or is_due
            waiting.needs_check = False
        if needs_check:
            # Also before a hand-over: all files of a drive just unmounted seem to be deleted.
            self._check(root)
        if is_due:
            self._hand_over(root)

    def _hand_over(self, root: Path) -> None:
        with self._condition:
            waiting = self._roots.get(root)
            if waiting is None or self._is_closing:
                return
            places = waiting.pending.take()
        if places:
            try:
                self._on_dirty(root, places)
            except AppError as error:
                log.info("a change is looked up again: %s", error.title)
                self.mark_whole(root)


def _is_due(waiting: _Waiting, now_s: float) -> bool:
    due_at_s = waiting.pending.due_at_s
    return due_at_s is not None and now_s >= due_at_s


if sys.platform == "linux":
    from watchdog.observers.inotify import InotifyFullEmitter
    from watchdog.observers.inotify_c import (
        CallbackId,
        InotifyEvent,
        InotifyFD,
        Mask,
        WatchCallback,
        WatchDescriptor,
    )


# Not asked for: opened and closed unchanged (reading is no change), and modified folders, which
# come along with every file in them.
_EVENTS: list[type[FileSystemEvent]] = [
    DirAttribEvent, DirCreatedEvent, DirDeletedEvent, DirMovedEvent, FileAttribEvent,
    FileClosedEvent, FileCreatedEvent, FileDeletedEvent, FileModifiedEvent, FileMovedEvent,
]  # fmt: skip
_LIMITS = {errno.ENOSPC, errno.EMFILE, errno.ENFILE, errno.ENOMEM}
LIMIT_REASON = "The system cannot watch any more folders for changes."
REMOTE_REASON = "Network folders do not tell when something changes."


@dataclass(slots=True)
class _Root:
    """A watched root. The scheduling lock guards it, but any thread may set the last flags.

    `identity` is None while it is not watched. `refused` are folders in it that may not be read.
    """

    path: Path
    real: Path
    rules: IgnoreRules
    identity: tuple[int, int] | None = None
    observer: BaseObserver | None = None
    watch: ObservedWatch | None = None
    is_polling_reported: bool = False
    polling_reason: str = ""
    needs_rewatch: bool = False
    refused: set[str] = field(default_factory=set[str])


class FolderWatcher:
    """Watches folders and single files, and calls `on_dirty(root, places)` when they changed.

    A place is a changed file or a folder to be scanned with all below it; the root itself means
    the whole. It comes after `quiet_s` without changes, in a storm after `storm_s`, and for the
    whole root when that vanished, came back, lost events or slept. `on_polling(root, reason)`
    says that a root is polled since it cannot be watched. Both are called on one thread, one at
    a time, and must not call `close`. A root may be missing: it is waited for.
    """

    def __init__(
        self,
        on_dirty: Callable[[Path, frozenset[Path]], None],
        on_polling: Callable[[Path, str], None],
        rules: IgnoreRules,
        times: WatchTimes | None = None,
        is_remote: Callable[[Path], bool] = is_remote,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self._on_polling = on_polling
        self._rules = rules
        self._times = times or WatchTimes()
        self._is_remote = is_remote
        self._scheduling = threading.Lock()
        self._roots: dict[Path, _Root] = {}
        self._native: BaseObserver | None = None
        self._polling: BaseObserver | None = None
        self._debouncer = Debouncer(on_dirty, self._check, self._times, wall_clock)

    def watch(self, root: Path, rules: IgnoreRules | None = None) -> None:
        """Begin to watch; changes after the return are noticed. Takes seconds on huge trees.

        `rules` are those of this root, from now on also if it is watched already.
        """
        with self._scheduling:
            if root in self._roots:
                self._roots[root].rules = rules or self._rules
                return
            entry = self._roots[root] = _Root(root, root.resolve(), rules or self._rules)
            self._debouncer.add(root)
            self._begin(entry)
        self._debouncer.check_soon(root)

    def unwatch(self, root: Path) -> None:
        """Stop watching. A call that is already on its way may still arrive."""
        self._debouncer.remove(root)
        with self._scheduling:
            entry = self._roots.pop(root, None)
            if entry is not None:
                self._end(entry)

    def close(self) -> None:
        """Stop all threads and wait for them. No call comes afterwards."""
        self._debouncer.close()
        with self._scheduling:
            for observer in (self._native, self._polling):
                if observer is not None:
                    observer.stop()
                    observer.join()

    # --- on watchdog's threads; the scheduling lock must not be waited for -----------------------

    def _on_event(self, root: Path, path: Path, is_folder: bool) -> None:
        entry = self._roots.get(root)
        if entry is None:
            return
        if entry.rules.uses_gitignore and path.name == GITIGNORE:
            # It may exclude other files than before.
            path, is_folder = path.parent, True
        if not entry.rules.hides(root, path):
            self._debouncer.note(root, path, is_folder=is_folder)

    def _on_events_lost(self) -> None:
        for root in list(self._roots.values()):
            if root.observer is not None and root.observer is self._native:
                root.needs_rewatch = True
                self._debouncer.check_soon(root.path)

    def _on_limit(self, location: str) -> None:
        for root in list(self._roots.values()):
            if Path(location).is_relative_to(root.real):
                root.polling_reason = LIMIT_REASON
                root.needs_rewatch = True
                self._debouncer.check_soon(root.path)

    def _on_refused(self, location: str) -> None:
        for root in list(self._roots.values()):
            if Path(location).is_relative_to(root.real):
                root.refused.add(location)

    # --- on the debouncer's thread ---------------------------------------------------------------

    def _check(self, path: Path) -> None:
        """Watch the root again if it came, went, was replaced, lost events or hit the limit."""
        with self._scheduling:
            root = self._roots.get(path)
            if root is None:
                return
            if root.needs_rewatch or identity(path) != root.identity or _is_opened(root):
                was_watched = root.identity is not None
                self._end(root)
                if self._begin(root) or was_watched:
                    log.info("A watched root came, went or lost events: it is scanned as a whole")
                    self._debouncer.mark_whole(path)
            reason = "" if root.is_polling_reported else root.polling_reason
            root.is_polling_reported = bool(root.polling_reason)
        if reason:
            self._on_polling(path, reason)

    # --- under the scheduling lock ---------------------------------------------------------------

    def _begin(self, root: _Root) -> bool:
        """Give the root to an observer. False if it isn't there or can't be opened."""
        root.needs_rewatch = False
        root.refused = set()
        found = identity(root.path)
        if found is None:
            return False
        root.real = root.path.resolve()
        if not root.polling_reason and self._is_remote(root.path):
            root.polling_reason = REMOTE_REASON
        try:
            if not root.polling_reason and not self._schedule_natively(root):
                root.polling_reason = LIMIT_REASON
            if root.polling_reason:  # also if there was no watch left for a folder in it
                self._end(root)
                self._schedule(root, self._polling_observer())
                self._debouncer.rescan_polled(root.path)
                root.needs_rewatch = False
        except OSError as exc:
            log.info("A root cannot be watched now: %s", exc.strerror)
            return False
        root.identity = found
        return True

    def _schedule_natively(self, root: _Root) -> bool:
        """False if the system has no watches left."""
        try:
            self._schedule(root, self._native_observer())
        except OSError as exc:
            if exc.errno not in _LIMITS:
                raise
            return False
        return True

    def _schedule(self, root: _Root, observer: BaseObserver) -> None:
        root.observer = observer
        root.watch = observer.schedule(
            _Handler(root, self._on_event), str(root.real), recursive=True, event_filter=_EVENTS
        )

    def _end(self, root: _Root) -> None:
        if root.observer is not None and root.watch is not None:
            root.observer.unschedule(root.watch)
        root.observer = root.watch = root.identity = None

    def _native_observer(self) -> BaseObserver:
        if self._native is None:
            if sys.platform == "linux":
                observer = _InotifyObserver(self._on_events_lost, self._on_limit, self._on_refused)
            else:
                observer = Observer()
            observer.name = "folder-events"
            observer.start()
            self._native = observer
        return self._native

    def _polling_observer(self) -> BaseObserver:
        if self._polling is None:
            # lstat: a link in a circle must not be followed.
            self._polling = PollingObserverVFS(
                os.lstat, _entries, polling_interval=self._times.poll_s
            )
            self._polling.name = "folder-polls"
            self._polling.start()
        return self._polling


def _is_opened(root: _Root) -> bool:
    """True when a folder that could not be watched is readable now."""
    return any(os.access(location, os.R_OK) for location in list(root.refused))


def _entries(folder: str | None) -> Iterator[os.DirEntry[str]]:
    return os.scandir(folder)


class _Handler(FileSystemEventHandler):
    """Passes a root's events on, with paths as the root was given."""

    def __init__(self, root: _Root, on_event: Callable[[Path, Path, bool], None]) -> None:
        self._root = root.path
        self._real = str(root.real)
        self._on_event = on_event

    def dispatch(self, event: FileSystemEvent) -> None:
        """Pass an event on, unless it repeats that of its folder. Runs on an observer's thread."""
        if event.is_synthetic:
            return
        self._pass(event.src_path, event.is_directory)
        self._pass(event.dest_path, event.is_directory)

    def _pass(self, location: bytes | str, is_folder: bool) -> None:
        text = os.fsdecode(location)
        below = text.removeprefix(self._real)
        if text == self._real or (below != text and below.startswith(os.sep)):
            path = self._root / below.lstrip(os.sep)
            self._on_event(self._root, path, is_folder)


if sys.platform == "linux":

    class _InotifyFD(InotifyFD):
        """inotify that says when events were lost and when there are no watches left.

        Watchdog adds its watches again after an overflow but tells no handler, and it passes
        over subfolders for which the system has no watch left.
        """

        def __init__(
            self,
            on_events_lost: Callable[[], None],
            on_limit: Callable[[str], None],
            on_refused: Callable[[str], None],
        ) -> None:
            super().__init__()
            self.name = "folder-inotify"
            self._on_events_lost = on_events_lost
            self._on_limit = on_limit
            self._on_refused = on_refused

        def handle_event(self, event: InotifyEvent) -> None:
            try:
                super().handle_event(event)
            except KeyError:
                # WORKAROUND watchdog 7.1: two folders of one name, each moved out of the root
                # and deleted there, break its bookkeeping, which would end this thread.
                log.info("The watch of a folder that was moved away is lost; all are added again")
                self._on_events_lost()
            if event.is_queue_overflow:
                self._on_events_lost()

        def _add_callback(
            self, path: bytes, mask: Mask, callback: WatchCallback, id_: CallbackId
        ) -> WatchDescriptor:
            if not os.access(path, os.R_OK):
                self._on_refused(os.fsdecode(path))
                # Watchdog would take the failure for a watch.
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
            try:
                watch = self._get_or_create_watch(path, mask)
            except OSError as exc:
                if exc.errno in _LIMITS:
                    self._on_limit(os.fsdecode(path))
                raise
            # Unlike watchdog's, without a warning if it is there: a folder made inside a new
            # folder can come up twice, in the listing and as an event.
            watch.callbacks[id_] = callback
            return watch.wd

    class _Emitter(InotifyFullEmitter):
        """Distinguishes moved-in files from new ones, and stops without an error in the log."""

        def queue_events(self, timeout: float, *, full_events: bool = True) -> None:
            inotify = self._inotify
            event = None if inotify is None else inotify.read_event()
            if event is not None:
                self.build_and_queue_event(event, full_events=full_events)

    class _InotifyObserver(BaseObserver):
        """Watchdog's observer with our inotify in it."""

        def __init__(
            self,
            on_events_lost: Callable[[], None],
            on_limit: Callable[[str], None],
            on_refused: Callable[[str], None],
        ) -> None:
            self._fd = _InotifyFD(on_events_lost, on_limit, on_refused)
            super().__init__(_Emitter, inotify_fd=self._fd)
            self._fd.start()

        def on_thread_stop(self) -> None:
            super().on_thread_stop()
            self._fd.stop()
            self._fd.join()
