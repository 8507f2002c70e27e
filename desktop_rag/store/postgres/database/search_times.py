"""The slowest searches of this process in the last hours: when, by what, how long. Any thread.

What was asked is never kept, and the number of rows has a limit.
"""

import heapq
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from desktop_rag.core.database.server_state import SlowSearch

_HOUR_S = 3_600
_HOURS = 24
_KEPT_AN_HOUR = 20


@dataclass(slots=True)
class _Hour:
    """The searches that ended in one hour; `slowest` is a heap with the fastest of them first."""

    number: int
    searches: int = 0
    slowest: list[tuple[float, float, str]] = field(default_factory=list[tuple[float, float, str]])


class SearchTimes:
    """How long searches took."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._hours: deque[_Hour] = deque(maxlen=_HOURS)

    def note(self, kind: str, seconds: float) -> None:
        """A search ended now."""
        now = self._clock()
        entry = (1_000 * seconds, now - seconds, kind)
        with self._lock:
            hour = self._hour(now)
            hour.searches += 1
            if len(hour.slowest) < _KEPT_AN_HOUR:
                heapq.heappush(hour.slowest, entry)
            else:
                heapq.heappushpop(hour.slowest, entry)

    def slowest(self, limit: int) -> tuple[tuple[SlowSearch, ...], int]:
        """The slowest of the last 24 hours, the slowest first, and the number of all."""
        now = self._clock()
        with self._lock:
            hours = [h for h in self._hours if h.number > now // _HOUR_S - _HOURS]
            entries = heapq.nlargest(limit, (entry for h in hours for entry in h.slowest))
            searched = sum(h.searches for h in hours)
        return tuple(SlowSearch(at, kind, ms) for ms, at, kind in entries), searched

    def _hour(self, now: float) -> _Hour:
        number = int(now // _HOUR_S)
        if not self._hours or self._hours[-1].number != number:
            self._hours.append(_Hour(number))
        return self._hours[-1]
