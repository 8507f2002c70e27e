"""Limits of requests and tokens per minute and of costs per day, by endpoint. Any thread.

Minutes are counted in memory, days in a small file, so that the daily limit survives a restart.
Prices are entered by the person, as no server states them.
"""

import math
import time
from collections import deque
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from threading import Lock

from desktop_rag.core.atomic_file import read_object, write_object
from desktop_rag.core.errors import AppError
from desktop_rag.core.settings import EndpointSettings
from desktop_rag.models.endpoints.client.chat_stream import Usage

_MINUTE_S = 60.0
# A longer wait ends the answer with an error and a hint.
_LONGEST_PAUSE_S = 20.0
_PRICED_TOKENS = 1_000_000


def cost_of(usage: Usage, endpoint: EndpointSettings) -> float:
    """The cost of these tokens at the entered prices."""
    asked, answered = usage.asked * endpoint.price_in, usage.answered * endpoint.price_out
    return (asked + answered) / _PRICED_TOKENS


class Allowances:
    """The counts of all endpoints, by their addresses."""

    def __init__(self, path: Path | None = None, clock: Callable[[], float] = time.time) -> None:
        """Without a file the day's costs are lost when the app ends. `clock` returns Unix time."""
        self._path = path
        self._clock = clock
        self._lock = Lock()
        self._lately: dict[str, deque[tuple[float, int]]] = {}
        content = read_object(path) if path else {}
        self._counted = Usage(0, 0)
        self._day = str(content.get("day", ""))
        spent = content.get("spent")
        self._spent: dict[str, float] = {
            url: float(amount)
            for url, amount in (spent if isinstance(spent, dict) else {}).items()
            if isinstance(amount, int | float)
        }

    def pause_s(
        self, endpoint: EndpointSettings, tokens: int, *, is_patient: bool = False
    ) -> float:
        """The seconds to wait before a request of this many tokens.

        A patient request waits as long as necessary, and leaves half of each limit to others.

        Raises:
            AppError: when the wait is long, or the daily limit is reached.
        """
        with self._lock:
            self._check_spending(endpoint, tokens)
            wait_s = self._wait_s(endpoint, tokens, 2 if is_patient else 1)
        if wait_s > _LONGEST_PAUSE_S and not is_patient:
            raise AppError(
                f"The limit for {endpoint.label} is reached: {limits_in_words(endpoint)}.",
                f"Wait {math.ceil(wait_s)} seconds, then press Retry, or raise it in Settings.",
            )
        return wait_s

    def begin(self, endpoint: EndpointSettings, tokens: int) -> None:
        """Count a request before it is sent."""
        with self._lock:
            self._counts(endpoint).append((self._clock(), tokens))

    def finish(
        self, endpoint: EndpointSettings, usage: Usage, expected: int, *, is_counted: bool = False
    ) -> None:
        """Count the actual tokens and costs of a request that began with an estimate.

        `is_counted` is True for the server's own count, False for an estimate.
        """
        with self._lock:
            if is_counted:
                asked, answered = self._counted.asked, self._counted.answered
                self._counted = Usage(asked + usage.asked, answered + usage.answered)
            # The answer counts towards the minute in which it ends.
            more = max(0, usage.asked + usage.answered - expected)
            counts = self._counts(endpoint)
            if more and counts:
                began, tokens = counts.pop()
                counts.append((began, tokens + more))
            if cost := cost_of(usage, endpoint):
                self._begin_day()
                self._spent[endpoint.base_url] = self._spent.get(endpoint.base_url, 0.0) + cost
                if self._path:
                    write_object(self._path, {"day": self._day, "spent": self._spent})

    def tokens_counted(self) -> Usage:
        """The tokens counted by the servers of all endpoints since the app started."""
        with self._lock:
            return self._counted

    def spent_today(self, base_url: str) -> float:
        """The costs of the endpoint today, in the currency of the prices."""
        with self._lock:
            self._begin_day()
            return self._spent.get(base_url, 0.0)

    def _counts(self, endpoint: EndpointSettings) -> deque[tuple[float, int]]:
        counts = self._lately.setdefault(endpoint.base_url, deque())
        now = self._clock()
        # A clock that was set back would delay requests for a long time.
        while counts and not now - _MINUTE_S < counts[0][0] <= now:
            counts.popleft()
        return counts

    def _wait_s(self, endpoint: EndpointSettings, tokens: int, parts: int) -> float:
        counts = self._counts(endpoint)
        requests = -(-endpoint.requests_per_minute // parts)
        max_tokens = -(-endpoint.tokens_per_minute // parts)
        leaving = 0  # wait until this many of the oldest are older than a minute
        if requests:
            leaving = max(leaving, len(counts) + 1 - requests)
        if max_tokens:
            left = sum(taken for _, taken in counts)
            for n, (_, taken) in enumerate(counts):
                if left + tokens <= max_tokens:
                    break
                left -= taken
                leaving = max(leaving, n + 1)
        if not leaving or not counts:
            return 0.0
        return counts[min(leaving, len(counts)) - 1][0] + _MINUTE_S - self._clock()

    def _check_spending(self, endpoint: EndpointSettings, tokens: int) -> None:
        if not endpoint.spend_per_day:
            return
        self._begin_day()
        spent = self._spent.get(endpoint.base_url, 0.0)
        if spent + cost_of(Usage(tokens, 0), endpoint) > endpoint.spend_per_day:
            raise AppError(
                f"The limit for {endpoint.label} is reached: {endpoint.spend_per_day:,.2f} a day.",
                f"{spent:,.2f} is spent today. Raise the limit in Settings, choose another"
                " endpoint, or go on tomorrow.",
            )

    def _begin_day(self) -> None:
        today = datetime.fromtimestamp(self._clock()).astimezone().date().isoformat()
        if today != self._day:
            self._day, self._spent = today, {}


def limits_in_words(endpoint: EndpointSettings) -> str:
    """The limits per minute as words for the middle of a sentence."""
    counts = [
        f"{most:,} {what}{'' if most == 1 else 's'}"
        for most, what in (
            (endpoint.requests_per_minute, "request"),
            (endpoint.tokens_per_minute, "token"),
        )
        if most
    ]
    return f"{' and '.join(counts)} a minute"
