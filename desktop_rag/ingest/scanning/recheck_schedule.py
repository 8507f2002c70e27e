"""Which places of a source have to be looked at once more, and when. Any thread.

An editor may delete a file and write it anew, and a file may still be growing: neither is believed
before a second look.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from desktop_rag.ingest.background.ticker import Ticker

_TICK_S = 0.5


@dataclass(frozen=True, slots=True)
class RecheckTimes:
    """How long a file must be missing, and unchanged, to be believed; how long gone ones stay.

    When more than `many_share` of a source's files (and more than `many_files`) vanish at once,
    they are kept for `keep_gone_s`, in case that was a mistake.
    """

    missing_s: float = 5.0
    settle_s: float = 1.0
    keep_gone_s: float = 24 * 3600.0
    many_share: float = 0.2
    many_files: int = 10


class RecheckSchedule:
    """Places waiting for their second look, by source."""

    def __init__(
        self,
        look: Callable[[str, frozenset[Path]], None],
        tick_s: float = _TICK_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`look(source_id, places)` is called, on a thread of its own, when their time has come."""
        self._look = look
        self._clock = clock
        self._lock = threading.Lock()
        self._due: dict[str, dict[Path, float]] = {}
        self._ticker = Ticker("second-looks", tick_s, self.check)

    def start(self) -> None:
        """Begin to look after the time."""
        self._ticker.start()

    def close(self) -> None:
        """Stop; the next start looks at everything anyway."""
        self._ticker.close()

    def expect(self, source_id: str, place: Path, in_s: float) -> None:
        """Look at the place again after so many seconds, or when that is due already."""
        now = self._clock()
        with self._lock:
            places = self._due.setdefault(source_id, {})
            if places.get(place, now) <= now:
                places[place] = now + in_s

    def forget(self, source_id: str) -> None:
        """The source was removed."""
        with self._lock:
            self._due.pop(source_id, None)

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits."""
        with self._lock:
            return not self._due

    def check(self) -> None:
        """Hand over what is due."""
        now = self._clock()
        with self._lock:
            due = {
                source_id: frozenset(place for place, at in places.items() if at <= now)
                for source_id, places in self._due.items()
            }
        for source_id, places in due.items():
            if places:
                # Before it is struck off, so that nobody sees nothing to do in between.
                self._look(source_id, places)
                self._strike_off(source_id, places, now)

    def _strike_off(self, source_id: str, places: frozenset[Path], now: float) -> None:
        with self._lock:
            waiting = self._due.get(source_id, {})
            for place in places:
                if waiting.get(place, now) <= now:  # not expected once more meanwhile
                    waiting.pop(place, None)
            if not waiting:
                self._due.pop(source_id, None)
