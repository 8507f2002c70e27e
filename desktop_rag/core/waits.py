"""How long to wait before asking again, and how often one may ask. Any thread.

A server says it in headers, fields of the body, or words; without a word the waits double.
"""

import email.utils
import math
import re
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from threading import RLock
from typing import Any, cast

_LONGEST_WAIT_S = 86_400.0
# The words of a hostile server must not take long to match.
_LONGEST_TEXT_CHARS = 1_000
_LONGEST_FIELD_CHARS = 60
_MS = 1000.0
# Greater numbers are timestamps in seconds or milliseconds since 1970, not durations.
_LEAST_MOMENT_S, _LEAST_MOMENT_MS = 1e9, 1e12
_UNITS_S = (
    (r"ms|msecs?|millis|milliseconds?|毫秒", 0.001),
    (r"s|secs?|seconds?|sekunden?|secondes?|segundos?|秒钟?", 1.0),
    (r"m|mins?|minutes?|minuten?|minutos?|分钟?", 60.0),
    (r"h|hrs?|hours?|stunden?|heures?|horas?|小时", 3600.0),
    (r"d|days?|tagen?|jours?|天", 86_400.0),
)
_AMOUNT = (
    r"(\d+(?:[.,]\d+)?)\s*("
    + "|".join(sorted((u for us, _ in _UNITS_S for u in us.split("|")), key=len, reverse=True))
    + r")(?![a-zA-Z])"
)
_PART = re.compile(_AMOUNT, re.IGNORECASE)
_PERIOD = rf"({_AMOUNT}(?:(?:\s*(?:,|and|und|et))?\s*{_AMOUNT}){{0,4}})"
# What is asked for, before the time or after it. A time without unit counts in seconds.
_ASKED = (
    r"(?:re-?try|try(?:ing)? (?:it |this |your request |the request )?again|retry[-_ ]?after"
    r"|retry[-_ ]?delay|\bwait(?:ing)?\b|\bresets?\b|\bavailable\b|\bback ?off\b|\bready\b"
    r"|come back|resend|erneut|réessayez|等待|重试)"
)
_IN_WORDS = (
    re.compile(rf"{_ASKED}[^.\d\n]{{0,60}}?{_PERIOD}", re.IGNORECASE),
    re.compile(rf"{_PERIOD}\s*(?:后|later|before (?:re-?try|try)|until|and (?:re-?)?try|,? then"
               rf"|from now|remaining)", re.IGNORECASE),
    re.compile(rf"{_PERIOD}[^.\d\n]{{0,12}}(?:重试|再试)", re.IGNORECASE),
)  # fmt: skip
_IN_PLAIN_SECONDS = re.compile(
    r"(?:retry|try again|wait)[-_ ]?(?:after|in)?\W{0,3}(\d+(?:\.\d+)?)(?!\s*[\w%-])", re.IGNORECASE
)
_FIELD_UNITS_S = {
    "retrydelay": 1.0, "retryafter": 1.0, "retryafterseconds": 1.0, "retryinseconds": 1.0,
    "retryafterms": 0.001, "retrydelayms": 0.001, "estimatedtime": 1.0, "waitseconds": 1.0,
    "waittime": 1.0, "retryaftersec": 1.0, "retryaftersecs": 1.0, "retryin": 1.0,
    "secondsuntilreset": 1.0,
}  # fmt: skip
_DEEPEST = 8


_MINUTE_S = 60.0
_MOST_NAMES = 10_000


def pause_s(planned_s: float | None, asked_s: float | None, longest_s: float) -> float | None:
    """The pause before the next try: what the server asks for, else the planned one.

    None when no try is planned, or the pause is longer than anybody waits.
    """
    wait_s = planned_s if asked_s is None else asked_s
    return None if planned_s is None or wait_s is None or wait_s > longest_s else wait_s


def doubled_s(before_s: float, first_s: float, longest_s: float) -> float:
    """The next of waits that double; `before_s` is 0 at the first."""
    return min(2 * before_s or first_s, longest_s)


class Backoff:
    """Says when to try again what failed: after waits that double until it succeeds.

    Threads that need to hear of news once hold a lock.
    """

    def __init__(
        self, first_s: float, longest_s: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`clock` gives seconds."""
        self._first_s, self._longest_s = first_s, longest_s
        self._clock = clock
        self._wait_s = self._until = 0.0

    @property
    def left_s(self) -> float:
        """The seconds until the next try, 0 for now."""
        return max(0.0, self._until - self._clock()) if self._wait_s else 0.0

    def begin(self, asked_s: float | None = None) -> bool:
        """It failed, and the server may ask for a longer wait; False unless that is news."""
        is_news = not self._wait_s
        self._wait_s = doubled_s(self._wait_s, self._first_s, self._longest_s)
        self._until = self._clock() + max(self._wait_s, asked_s or 0.0)
        return is_news

    def forget(self) -> None:
        """It succeeds again: the next failure is news, and its wait a short one."""
        self._wait_s = 0.0


class MinuteLimits:
    """Limits how often something is done in a sliding minute, by the name of who does it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` gives seconds."""
        self._clock = clock
        self._lock = RLock()
        self._done: dict[str, deque[float]] = {}

    def take(self, name: str, most: int) -> float:
        """0 when `name` may go on, which is counted; otherwise the seconds until it may."""
        with self._lock:
            wait_s = self.wait_s(name, most)
            if not wait_s:
                self.count(name)
            return wait_s

    def count(self, name: str) -> None:
        """It is done once more."""
        with self._lock:
            if len(self._done) > _MOST_NAMES:
                self._done = {each: done for each, done in self._done.items() if self._recent(done)}
            self._done.setdefault(name, deque()).append(self._clock())

    def wait_s(self, name: str, most: int) -> float:
        """The seconds until `name` may go on, 0 for now."""
        with self._lock:
            done = self._recent(self._done.get(name, deque()))
            return done[-most] + _MINUTE_S - self._clock() if len(done) >= most else 0.0

    def _recent(self, done: deque[float]) -> deque[float]:
        while done and done[0] <= self._clock() - _MINUTE_S:
            done.popleft()
        return done


def wait_s_in(
    said: str, body: object = None, headers: Mapping[str, str] | None = None
) -> float | None:
    """The wait that a refusal asks for; None when it doesn't say.

    Headers are believed first, then fields of the body, then words.
    """
    found = _in_headers(headers or {})
    found = _in_fields(body, 0) if found is None else found
    return _bounded(_in_words(said[:_LONGEST_TEXT_CHARS]) if found is None else found)


def _bounded(wait_s: float | None) -> float | None:
    if wait_s is None or not math.isfinite(wait_s):
        return None
    return min(max(wait_s, 0.0), _LONGEST_WAIT_S)


def _in_headers(headers: Mapping[str, str]) -> float | None:
    lower = {name.lower(): value for name, value in headers.items()}
    for name in ("retry-after-ms", "x-ms-retry-after-ms"):
        if (wait_ms := _seconds(lower.get(name, ""))) is not None:
            return wait_ms / _MS
    for name in ("retry-after", "x-retry-after"):
        moment, now = (_http_moment(lower.get(each, "")) for each in (name, "date"))
        if moment is not None and now is not None:
            # By the server's own clock, which may differ from that of this computer.
            return moment - now
        if (wait_s := _seconds(lower.get(name, ""))) is not None:
            return wait_s
    return _until_reset(lower)


def _http_moment(text: str) -> float | None:
    parts = email.utils.parsedate_tz(text[:_LONGEST_FIELD_CHARS])
    with suppress(OverflowError, ValueError):
        return email.utils.mktime_tz(parts) if parts else None
    return None


def _until_reset(headers: Mapping[str, str]) -> float | None:
    """The longest time until one of the exhausted limits is reset.

    `x-ratelimit-reset-tokens` belongs to `x-ratelimit-remaining-tokens`, and so on.
    """
    waits = [
        wait_s
        for name, value in headers.items()
        if "ratelimit" in name and "reset" in name
        if _is_used_up(headers.get(name.replace("reset", "remaining"), ""))
        if (wait_s := _seconds(value)) is not None
    ]
    return max(waits, default=None)


def _is_used_up(remaining: str) -> bool:
    try:
        return float(remaining) <= 0
    except ValueError:
        return False


def _in_fields(body: object, depth: int) -> float | None:
    """The wait in a field of the body, such as the `retryDelay` of Google's RetryInfo."""
    if depth > _DEEPEST:
        return None
    inner: list[object] = []
    if isinstance(body, dict):
        for name, value in cast("dict[str, Any]", body).items():
            unit_s = _FIELD_UNITS_S.get(re.sub(r"[^a-z]", "", name.lower()))
            wait_s = _seconds(value) if unit_s else None
            if unit_s and wait_s is not None:
                return wait_s * unit_s
            inner.append(value)
    elif isinstance(body, list):
        inner = cast("list[object]", body)
    found = (_in_fields(value, depth + 1) for value in inner)
    return next((wait_s for wait_s in found if wait_s is not None), None)


def _in_words(said: str) -> float | None:
    for pattern in _IN_WORDS:
        if found := pattern.search(said):
            return _period_s(found[1])
    found = _IN_PLAIN_SECONDS.search(said)
    return float(found[1]) if found else None


def _period_s(words: str) -> float:
    return sum(
        float(number.replace(",", ".")) * _unit_s(unit) for number, unit in _PART.findall(words)
    )


def _unit_s(unit: str) -> float:
    return next(s for names, s in _UNITS_S if re.fullmatch(names, unit, re.IGNORECASE))


def _seconds(value: object) -> float | None:
    """Seconds from now, for a number, a duration such as "1m30s", or a timestamp."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return _seconds_of_text(str(value).strip())
    if not math.isfinite(number):
        return None
    if _LEAST_MOMENT_S <= number < 100 * _LEAST_MOMENT_MS:
        return (number / _MS if number >= _LEAST_MOMENT_MS else number) - time.time()
    return number


def _seconds_of_text(text: str) -> float | None:
    if len(text) > _LONGEST_FIELD_CHARS:
        return None
    if re.fullmatch(_PERIOD, text, re.IGNORECASE):
        return _period_s(text)
    with suppress(ValueError, OverflowError):
        moment = datetime.fromisoformat(text)
        return moment.timestamp() - time.time() if moment.tzinfo else None
    moment = _http_moment(text)
    return None if moment is None else moment - time.time()
