"""Which models are left alone for a while because they did not answer. Any thread; cheap.

Each rest is twice as long as the one before, so that an endpoint that is away for long is asked a
few times an hour. The person is told once.
"""

import logging
import threading
import time
from collections.abc import Callable

from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import Notice
from desktop_rag.models.ports import EmbedderFaultError

log = logging.getLogger(__name__)

_FIRST_S = 30.0
_LONGEST_S = 900.0
_MEANWHILE = "Words are searched meanwhile. Embedding goes on by itself once it is possible."


class EmbedderBackoff:
    """Keeps the time for each model, and wakes whoever embeds when one may be asked again."""

    def __init__(
        self,
        notify: Callable[[Notice], None],
        wake: Callable[[], None],
        *,
        first_s: float = _FIRST_S,
    ) -> None:
        self._notify = notify
        self._wake = wake
        self._first_s = first_s
        self._lock = threading.Lock()
        self._until: dict[str, float] = {}
        self._lasted_s: dict[str, float] = {}
        self._failed: dict[str, str] = {}
        self._alarm: threading.Timer | None = None
        self._is_closed = False

    def close(self) -> None:
        """Wake nobody any more."""
        with self._lock:
            self._is_closed = True
            alarm, self._alarm = self._alarm, None
        if alarm is not None:
            alarm.cancel()
            alarm.join()

    def active(self) -> frozenset[str]:
        """The specs of the models to leave alone now."""
        now = time.monotonic()
        with self._lock:
            return frozenset(spec for spec, until in self._until.items() if until > now)

    def begin(self, spec: str, error: EmbedderFaultError) -> None:
        """This model can't embed now: leave it alone."""
        with self._lock:
            is_news = spec not in self._lasted_s
            lasts_s = min(2 * self._lasted_s.get(spec, self._first_s / 2), _LONGEST_S)
            self._lasted_s[spec] = lasts_s
            self._until[spec] = time.monotonic() + max(lasts_s, error.wait_s or 0.0)
            self._set_alarm()
        # Not the hint: a server may repeat in its message what it was sent, the text of a document.
        log.info("embedding rests: %s", error.title)
        if is_news:
            self._notify(Notice(error.title, f"{error.hint} {_MEANWHILE}".strip()))

    def note_failure(self, spec: str, error: AppError) -> None:
        """This model can't be used at all: told once, until `end`, as when one is chosen anew."""
        with self._lock:
            is_news = self._failed.get(spec) != error.title
            self._failed[spec] = error.title
        if is_news:
            log.info("no model: %s", error.title)
            self._notify(Notice(error.title, error.hint))

    def note_success(self, spec: str) -> None:
        """This model works: its next rest is a short one."""
        with self._lock:
            for kept in (self._until, self._lasted_s, self._failed):
                kept.pop(spec, None)

    def end(self) -> None:
        """Every model may be asked again now, and is told of again if it still can't be used."""
        with self._lock:
            for kept in (self._until, self._lasted_s, self._failed):
                kept.clear()

    def _set_alarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        if self._is_closed or not self._until:
            return
        wait_s = min(self._until.values()) - time.monotonic()
        self._alarm = threading.Timer(max(wait_s, 0.0), self._ring)
        self._alarm.name, self._alarm.daemon = "embedding-rest", True
        self._alarm.start()

    def _ring(self) -> None:
        now = time.monotonic()
        with self._lock:
            self._until = {spec: until for spec, until in self._until.items() if until > now}
            if self._until:
                self._set_alarm()
        self._wake()
