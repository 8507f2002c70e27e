"""Schedules second scans of places in a source. Any thread.

An editor may delete a file and write it again, and a file may still be growing: neither is stored
before a second scan.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from desktop_rag.ingest.background.ticker import Ticker

_TICK_S = 0.5
# A schedule is looked at after this time at the latest, as the clock may stand while a computer
# sleeps.
_REST_S = 60.0


@dataclass(frozen=True, slots=True)
class RecheckTimes:
    """Times before a missing file is removed, a changed file is read, and a gone one is dropped.

    When more than `many_share` of a source's files (and more than `many_files`) vanish at once,
    they are kept for `keep_gone_s`, in case that was a mistake.
    """

    missing_s: float = 5.0
    settle_s: float = 1.0
    keep_gone_s: float = 24 * 3600.0
    many_share: float = 0.2
    many_files: int = 10


class RecheckSchedule:
    """Places waiting for their second scan, by source."""

    def __init__(
        self,
        scan: Callable[[str, frozenset[Path]], None],
        tick_s: float = _TICK_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`scan(source_id, places)` is called on a thread of its own when places are due."""
        self._scan = scan
        self._clock = clock
        self._lock = threading.Lock()
        self._due: dict[str, dict[Path, float]] = {}
        self._ticker = Ticker("rechecks", tick_s, self.check)

    def start(self) -> None:
        """Begin to check the schedule."""
        self._ticker.start()

    def close(self) -> None:
        """Stop; the next start scans everything anyway."""
        self._ticker.close()

    def add(self, source_id: str, place: Path, in_s: float) -> None:
        """Scan the place again in `in_s` seconds, or earlier if that is scheduled already."""
        now = self._clock()
        with self._lock:
            places = self._due.setdefault(source_id, {})
            if places.get(place, now) <= now:
                places[place] = now + in_s
        self._ticker.wake()

    def forget(self, source_id: str) -> None:
        """The source was removed."""
        with self._lock:
            self._due.pop(source_id, None)

    @property
    def is_empty(self) -> bool:
        """True when nothing waits."""
        with self._lock:
            return not self._due

    def check(self) -> float:
        """Hand over the places that are due; returns the seconds until the next ones are."""
        now = self._clock()
        with self._lock:
            due = {
                source_id: frozenset(place for place, at in places.items() if at <= now)
                for source_id, places in self._due.items()
            }
        for source_id, places in due.items():
            if places:
                # Before it is removed, so that nobody sees an idle scanner in between.
                self._scan(source_id, places)
                self._remove(source_id, places, now)
        with self._lock:
            times = [at for places in self._due.values() for at in places.values()]
        return max(0.0, min([_REST_S, *(at - now for at in times)]))

    def _remove(self, source_id: str, places: frozenset[Path], now: float) -> None:
        with self._lock:
            waiting = self._due.get(source_id, {})
            for place in places:
                if waiting.get(place, now) <= now:  # not scheduled again meanwhile
                    waiting.pop(place, None)
            if not waiting:
                self._due.pop(source_id, None)
