"""Waits until changes below a root settle, then reports the changed places once.

Watchdog's threads note changes; one thread ("folder-watcher") does the waiting and the calls.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from desktop_rag.ingest.background.space_wait import SpaceTimes
from desktop_rag.ingest.scanning.recheck_schedule import RecheckTimes
from desktop_rag.ingest.watching.changes import PendingChanges

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
    space: SpaceTimes = field(default_factory=SpaceTimes)


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
    root may be marked as a whole. Both are called on the debouncer's thread, one at a time.
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
        """Rescan the root as often as polled ones."""
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
        """Something changed. Quick, from any thread; ignored if the root was removed."""
        with self._condition:
            waiting = self._roots.get(root)
            if waiting is None:
                return
            is_first = waiting.pending.due_at_s is None
            waiting.pending.add(path, time.monotonic(), is_folder=is_folder)
            if is_first:
                self._condition.notify_all()

    def mark_whole(self, root: Path) -> None:
        """Anything below the root may have changed."""
        with self._condition:
            if root in self._roots:
                self._roots[root].pending.add_root(time.monotonic())
                self._condition.notify_all()

    def check_soon(self, root: Path) -> None:
        """Have `check` called for the root without delay."""
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
            self._on_dirty(root, places)


def _is_due(waiting: _Waiting, now_s: float) -> bool:
    due_at_s = waiting.pending.due_at_s
    return due_at_s is not None and now_s >= due_at_s
