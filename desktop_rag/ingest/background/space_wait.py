"""The wait for room on a full disk: when indexing may try again. One thread at a time; cheap.

More free space is the sign for it. A quota of this user shows in no figure, so it also tries again
now and then without that, ever more rarely.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SpaceTimes:
    """Seconds between two looks at the free space, and between attempts without more of it.

    With `more_bytes` more than when the disk was full, the next attempt comes at once.
    """

    look_s: float = 5.0
    first_s: float = 10.0
    longest_s: float = 900.0
    more_bytes: int = 64_000_000


class SpaceWait:
    """Waits after a refused write until the next attempt is due."""

    def __init__(
        self,
        free_bytes: Callable[[], int],
        times: SpaceTimes | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`free_bytes` gives the free space of the disk; OSError when that is not known."""
        self._free_bytes = free_bytes
        self._times = times or SpaceTimes()
        self._clock = clock
        self._delay_s = 0.0
        self._looks_at = 0.0
        self._ends_at = 0.0
        self._full_bytes = 0

    def begin(self) -> bool:
        """A write was refused: wait. False when it is one more since the last `forget`."""
        is_news = not self._delay_s
        self._delay_s = min(2 * self._delay_s or self._times.first_s, self._times.longest_s)
        now = self._clock()
        self._looks_at, self._ends_at = now + self._times.look_s, now + self._delay_s
        self._full_bytes = self._free()
        return is_news

    def is_over(self) -> bool:
        """True when a write may succeed again."""
        now = self._clock()
        if now < self._looks_at:
            return False
        self._looks_at = now + self._times.look_s
        free = self._free()
        # Less than at first: other programs went on writing.
        self._full_bytes = min(self._full_bytes, free)
        return now >= self._ends_at or free - self._full_bytes >= self._times.more_bytes

    def forget(self) -> None:
        """Writes succeed again: the next refused one is news."""
        self._delay_s = 0.0

    def _free(self) -> int:
        try:
            return self._free_bytes()
        except OSError:
            return 0
