"""Limits for each token: requests a minute, and streams at a time. Any thread."""

import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Generator
from contextlib import contextmanager

from desktop_rag.features.server.access.callers import Caller
from desktop_rag.features.server.refusals import Refusal

_WINDOW_S = 60.0
# Failed attempts of one address in a minute, before it has to wait.
_MOST_FAILURES = 20
_MOST_ADDRESSES = 10_000


class RateLimits:
    """Counts requests in a sliding minute."""

    def __init__(self, streams: int, clock: Callable[[], float] = time.monotonic) -> None:
        """A token may have so many `streams` at a time. `clock` gives seconds."""
        self._streams = streams
        self._clock = clock
        self._requests: dict[str, deque[float]] = defaultdict(deque)
        self._failures: dict[str, deque[float]] = defaultdict(deque)
        self._running: dict[str, int] = defaultdict(int)
        self._lock = threading.Lock()

    def count_request(self, caller: Caller) -> None:
        """Refuses a request beyond the limit of its token, with the seconds to wait."""
        limit = caller.token.requests_per_minute
        if limit:
            with self._lock:
                self._count(self._requests[caller.token.token_id], limit)

    def count_failure(self, address: str) -> None:
        """Note that a request from an address had no valid token."""
        with self._lock:
            if len(self._failures) > _MOST_ADDRESSES:
                self._failures.clear()
            self._trimmed(self._failures[address]).append(self._clock())

    def check_failures(self, address: str) -> None:
        """Refuses an address that has tried too many tokens."""
        with self._lock:
            known = self._failures.get(address)
            if known and len(self._trimmed(known)) >= _MOST_FAILURES:
                raise _too_many(known[0] + _WINDOW_S - self._clock())

    @contextmanager
    def streaming(self, caller: Caller) -> Generator[None]:
        """An answer of this caller is under way; refuses one too many."""
        token_id = caller.token.token_id
        with self._lock:
            if self._running[token_id] >= self._streams:
                raise Refusal(429, f"At most {self._streams} answers at a time.", retry_after_s=1)
            self._running[token_id] += 1
        try:
            yield
        finally:
            with self._lock:
                self._running[token_id] -= 1

    def _count(self, times: deque[float], limit: int) -> None:
        if len(self._trimmed(times)) >= limit:
            raise _too_many(times[0] + _WINDOW_S - self._clock())
        times.append(self._clock())

    def _trimmed(self, times: deque[float]) -> deque[float]:
        while times and times[0] <= self._clock() - _WINDOW_S:
            times.popleft()
        return times


def _too_many(wait_s: float) -> Refusal:
    seconds = max(1, round(wait_s))
    return Refusal(
        429, f"Too many requests. Try again in {seconds} seconds.", retry_after_s=seconds
    )
