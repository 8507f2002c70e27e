"""Pauses of indexing, by the person, for the battery or after a failure. Any thread; cheap."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import psutil

from desktop_rag.core.waits import Backoff


@dataclass(frozen=True, slots=True)
class RetryTimes:
    """Seconds between looks at the free space, and between attempts without `more_bytes` more."""

    look_s: float = 5.0
    first_s: float = 10.0
    longest_s: float = 900.0
    more_bytes: int = 64_000_000


class RetryWait:
    """Says when to try again after a failure that may pass by itself. One thread at a time.

    More free space is the sign of one that passed. A quota of this user or a broken parser shows in
    no figure, so attempts are also due without that, ever more rarely.
    """

    def __init__(
        self,
        free_bytes: Callable[[], int],
        times: RetryTimes | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`free_bytes` gives the free space of the disk, or raises OSError."""
        self._free_bytes = free_bytes
        self._times = times or RetryTimes()
        self._clock = clock
        self._backoff = Backoff(self._times.first_s, self._times.longest_s, clock)
        self._looks_at = 0.0
        self._full_bytes = 0

    def begin(self) -> bool:
        """Wait after a failure; False unless it is the first since `forget`."""
        is_news = self._backoff.begin()
        self._looks_at = self._clock() + self._times.look_s
        self._full_bytes = self._free()
        return is_news

    def is_over(self) -> bool:
        """True when it is time to try again."""
        now = self._clock()
        if now < self._looks_at:
            return False
        self._looks_at = now + self._times.look_s
        free = self._free()
        # Less than at first: other programs went on writing.
        self._full_bytes = min(self._full_bytes, free)
        return not self._backoff.left_s or free - self._full_bytes >= self._times.more_bytes

    def forget(self) -> None:
        """What failed succeeds again: the next failure is news."""
        self._backoff.forget()

    def _free(self) -> int:
        try:
            return self._free_bytes()
        except OSError:
            return 0


def is_on_battery() -> bool:
    """True while the computer runs on its battery."""
    battery = psutil.sensors_battery()
    return battery is not None and battery.power_plugged is False


class IndexingPauses:
    """Indexing is paused while the person, the battery or a failure pauses it."""

    def __init__(
        self,
        apply: Callable[[bool], None],
        space: RetryWait,
        is_on_battery: Callable[[], bool] = is_on_battery,
    ) -> None:
        """`apply(is_paused)` pauses or resumes indexing."""
        self._apply = apply
        self._space = space
        self._is_on_battery = is_on_battery
        self._lock = threading.Lock()
        self._by_person = False
        self._by_battery = False
        self._is_retrying_later = False
        self._is_overruled = False
        self._pauses_on_battery = False

    @property
    def is_paused(self) -> bool:
        """True while indexing is paused."""
        return self._by_person or self._by_battery or self._is_retrying_later

    @property
    def is_for_battery(self) -> bool:
        """True while only the battery pauses it."""
        return self._by_battery and not self._by_person

    @property
    def is_retrying_later(self) -> bool:
        """True while a failure that may pass pauses it, and not the person."""
        return self._is_retrying_later and not self._by_person

    def pause(self) -> None:
        """Pause, as the person chose or because of an error."""
        with self._lock:
            self._by_person = True
        self._apply(True)

    def retry_later(self) -> bool:
        """Pause until it is time to try again; False when that is no news."""
        with self._lock:
            is_news = not self._is_retrying_later and self._space.begin()
            self._is_retrying_later = True
        self._apply(True)
        return is_news

    def check_retry(self) -> bool:
        """Look whether it is time to try again; True if that resumed indexing."""
        with self._lock:
            if not self._is_retrying_later or not self._space.is_over():
                return False
            self._is_retrying_later = False
            is_paused = self.is_paused
        if not is_paused:
            self._apply(False)
        return not is_paused

    def note_progress(self) -> None:
        """Indexing came to its end: a failure is news again."""
        with self._lock:
            if not self._is_retrying_later:
                self._space.forget()

    def resume(self) -> None:
        """Resume, also on battery, until the computer is plugged in and unplugged again."""
        with self._lock:
            self._is_overruled = self._by_battery or self._is_overruled
            self._by_person = self._by_battery = self._is_retrying_later = False
            self._space.forget()
        self._apply(False)

    def set_pauses_on_battery(self, is_wanted: bool) -> None:
        """Pause on battery, or don't, from the next check on."""
        self._pauses_on_battery = is_wanted

    def check_battery(self) -> bool:
        """Check the power supply; True if that paused or resumed indexing."""
        is_draining = self._pauses_on_battery and self._is_on_battery()
        with self._lock:
            self._is_overruled = self._is_overruled and is_draining
            is_paused_now = is_draining and not self._is_overruled
            is_changed = is_paused_now is not self._by_battery
            self._by_battery = is_paused_now
            is_paused = self.is_paused
        if is_changed:
            self._apply(is_paused)
        return is_changed
