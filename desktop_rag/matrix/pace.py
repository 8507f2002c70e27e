"""Limits how many questions a person and a room may ask in a minute. The thread of the bot."""

import time
from collections import defaultdict, deque
from collections.abc import Callable

_MINUTE_S = 60.0
_MOST_NAMES = 10_000


class Pace:
    """Counts what was let through in the last minute, by name."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._passed: defaultdict[str, deque[float]] = defaultdict(deque)

    def wait_s(self, name: str, most: int) -> float:
        """0 when `name` may go on, which is counted; otherwise the seconds until it may."""
        now = self._clock()
        self._forget(now)
        passed = self._passed[name]
        while passed and now - passed[0] >= _MINUTE_S:
            passed.popleft()
        if len(passed) >= most:
            return _MINUTE_S - (now - passed[0])
        passed.append(now)
        return 0.0

    def _forget(self, now: float) -> None:
        if len(self._passed) > _MOST_NAMES:
            for name in [n for n, p in self._passed.items() if not p or now - p[-1] > _MINUTE_S]:
                del self._passed[name]
