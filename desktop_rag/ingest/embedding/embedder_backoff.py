"""Exponential backoff for embedding models that did not answer. Any thread; cheap.

Each delay is twice as long as the one before, up to a limit, so that an endpoint that is down for
long gets a few requests an hour. The person is notified once.
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
    """The time of the next attempt for each model; calls `wake` when a delay has passed."""

    def __init__(
        self,
        notify: Callable[[Notice], None],
        wake: Callable[[], None],
        *,
        first_s: float = _FIRST_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._notify = notify
        self._wake = wake
        self._first_s = first_s
        self._clock = clock
        self._lock = threading.Lock()
        self._until: dict[str, float] = {}
        self._delays_s: dict[str, float] = {}
        self._failed: dict[str, str] = {}
        self._timer: threading.Timer | None = None
        self._is_closed = False

    def close(self) -> None:
        """Call `wake` no more."""
        with self._lock:
            self._is_closed = True
            timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
            timer.join()

    def active(self) -> frozenset[str]:
        """The specs of the models that are not to be asked now."""
        now = self._clock()
        with self._lock:
            return frozenset(spec for spec, until in self._until.items() if until > now)

    def begin(self, spec: str, error: EmbedderFaultError) -> None:
        """A request to this model failed: delay the next one."""
        with self._lock:
            is_news = spec not in self._delays_s
            delay_s = min(2 * self._delays_s.get(spec, self._first_s / 2), _LONGEST_S)
            self._delays_s[spec] = delay_s
            self._until[spec] = self._clock() + max(delay_s, error.wait_s or 0.0)
            self._set_timer()
        # Without the hint: a server may repeat the text of a document in its message.
        log.info("embedding is delayed: %s", error.title)
        if is_news:
            self._notify(Notice(error.title, f"{error.hint} {_MEANWHILE}".strip()))

    def note_failure(self, spec: str, error: AppError) -> None:
        """This model can't be used at all. The person is notified once until `reset`."""
        with self._lock:
            is_news = self._failed.get(spec) != error.title
            self._failed[spec] = error.title
        if is_news:
            log.info("no model: %s", error.title)
            self._notify(Notice(error.title, error.hint))

    def note_success(self, spec: str) -> None:
        """This model works: its next delay is a short one again."""
        with self._lock:
            for kept in (self._until, self._delays_s, self._failed):
                kept.pop(spec, None)

    def reset(self) -> None:
        """Forget all delays and failures: every model may be asked now."""
        with self._lock:
            for kept in (self._until, self._delays_s, self._failed):
                kept.clear()

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._is_closed or not self._until:
            return
        wait_s = min(self._until.values()) - self._clock()
        self._timer = threading.Timer(max(wait_s, 0.0), self._on_timer)
        self._timer.name, self._timer.daemon = "embedding-backoff", True
        self._timer.start()

    def _on_timer(self) -> None:
        now = self._clock()
        with self._lock:
            self._until = {spec: until for spec, until in self._until.items() if until > now}
            if self._until:
                self._set_timer()
        self._wake()
