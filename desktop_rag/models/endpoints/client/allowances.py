"""What endpoints allow, per minute and per day, and what their models can do. Any thread.

Counts are in a small file: they survive a restart, and all processes of the app count together.
Prices are those that the person entered, else those of the endpoint's list of models.
"""

import json
import logging
import math
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from threading import Lock, RLock
from typing import Any, cast

from filelock import FileLock, Timeout

from desktop_rag.core.domain import ListedModel
from desktop_rag.core.errors import AppError
from desktop_rag.core.files.own_files import read_object, write_atomically, write_object
from desktop_rag.core.model_profile import ModelProfile
from desktop_rag.core.records import encoded, readable, readable_rows
from desktop_rag.core.settings import EndpointSettings
from desktop_rag.models.endpoints.client.chat_stream import Usage

log = logging.getLogger(__name__)

_MINUTE_S = 60.0
# A longer wait ends the answer with an error and a hint.
_LONGEST_PAUSE_S = 20.0
_PRICED_TOKENS = 1_000_000
# The lock is held to read and write a small file: a longer wait means that a process was halted.
_LONGEST_LOCK_S = 2.0
_LOCK_POLL_S = 0.005


def money_in_words(amount: float) -> str:
    """An amount with two decimals, or two significant digits below 1: `1,204.50`, `0.00031`."""
    if amount == 0 or abs(amount) >= 1:
        return f"{amount:,.2f}"
    return f"{amount:.{max(2, 1 - math.floor(math.log10(abs(amount))))}f}"


def cost_of(usage: Usage, endpoint: EndpointSettings) -> float:
    """The cost of these tokens at the endpoint's prices."""
    asked, answered = usage.asked * endpoint.price_in, usage.answered * endpoint.price_out
    return (asked + answered) / _PRICED_TOKENS


def _try_lock(path: Path, held: ExitStack) -> None:
    """Hold the lock of this file, which is another file, since the file itself gets replaced.

    Goes on without it when the file system has no locks or a halted process holds it: a wrong count
    is better than no answer.
    """
    lock = FileLock(path.with_suffix(".lock"), timeout=_LONGEST_LOCK_S, poll_interval=_LOCK_POLL_S,
                    thread_local=False, fallback_to_soft=False)  # fmt: skip
    try:
        held.enter_context(lock)
    except (Timeout, OSError, NotImplementedError) as exc:
        log.info("%s is used without a lock: %s", path.name, type(exc).__name__)


@dataclass(frozen=True, slots=True)
class _Counts:
    """The content of the file: costs of the day, and times and tokens of the last minute."""

    day: str = ""
    spent: Mapping[str, float] = field(default_factory=dict[str, float])
    lately: Mapping[str, tuple[tuple[float, int], ...]] = field(
        default_factory=dict[str, tuple[tuple[float, int], ...]]
    )


class Allowances:
    """The counts of all endpoints, by their addresses."""

    def __init__(self, path: Path | None = None, clock: Callable[[], float] = time.time) -> None:
        """Without a file, this object counts alone. `clock` returns Unix time."""
        self._path = path
        self._clock = clock
        self._lock = Lock()
        self._counted = Usage(0, 0)
        self._lately: dict[str, list[tuple[float, int]]] = {}
        self._noted: dict[str, list[tuple[float, int]]] = {}
        self._day = ""
        self._spent: dict[str, float] = {}
        self._is_saved = True

    def begin(self, endpoint: EndpointSettings, tokens: int, *, is_patient: bool = False) -> float:
        """Count a request of this many tokens and return 0, or the seconds to wait before it.

        A patient request waits as long as necessary, and leaves half of each limit to others.
        AppError when the wait is long, or the daily limit is reached.
        """
        if not _is_limited(endpoint):
            self._note(endpoint, tokens)
            return 0.0
        with self._shared():
            self._count_noted(endpoint)
            self._check_spending(endpoint, tokens)
            wait_s = self._wait_s(endpoint, tokens, 2 if is_patient else 1)
            if not wait_s:
                self._counts(endpoint).append((self._clock(), tokens))
                self._save()
        if wait_s > _LONGEST_PAUSE_S and not is_patient:
            raise AppError(
                f"The limit for {endpoint.label} is reached: {limits_in_words(endpoint)}.",
                f"Wait {math.ceil(wait_s)} seconds, then press Retry, or raise it in Settings.",
            )
        return wait_s

    def _note(self, endpoint: EndpointSettings, tokens: int) -> None:
        """Remember a request without a limit, in case one is set within the minute.

        Not in the file, which would slow down requests, parallel ones most.
        """
        with self._lock:
            noted = self._recent(self._noted.get(endpoint.base_url, []))
            self._noted[endpoint.base_url] = [*noted, (self._clock(), tokens)]

    def _count_noted(self, endpoint: EndpointSettings) -> None:
        if noted := self._noted.pop(endpoint.base_url, []):
            self._lately[endpoint.base_url] = sorted([*self._counts(endpoint), *noted])

    def finish(
        self, endpoint: EndpointSettings, usage: Usage, expected: int, *, is_counted: bool = False
    ) -> None:
        """Count the actual tokens and costs of a request that began with an estimate.

        `is_counted` is True for the server's count, False for an estimate.
        """
        # The answer counts towards the minute in which it ends.
        more = max(0, usage.asked + usage.answered - expected)
        cost = cost_of(usage, endpoint)
        if is_counted:
            with self._lock:
                asked, answered = self._counted.asked, self._counted.answered
                self._counted = Usage(asked + usage.asked, answered + usage.answered)
        more = more if _is_limited(endpoint) else 0
        if not cost and not more:
            return
        with self._shared():
            counts = self._counts(endpoint)
            if more and counts:
                began, tokens = counts.pop()
                counts.append((began, tokens + more))
            if cost:
                self._begin_day()
                self._spent[endpoint.base_url] = self._spent.get(endpoint.base_url, 0.0) + cost
            self._save()

    def tokens_counted(self) -> Usage:
        """The tokens counted by the servers of all endpoints since the app started."""
        with self._lock:
            return self._counted

    def spent_today(self, base_url: str) -> float:
        """The costs of the endpoint today, in the currency of the prices."""
        with self._shared():
            self._begin_day()
            return self._spent.get(base_url, 0.0)

    @contextmanager
    def _shared(self) -> Generator[None]:
        """Hold the current counts of all processes, exclusively."""
        with self._lock, ExitStack() as held:
            if self._path:
                _try_lock(self._path, held)
            # Counts that could not be written are known to this process only.
            if self._path and self._is_saved:
                self._load(read_object(self._path))
            yield

    def _load(self, content: dict[str, Any]) -> None:
        found = readable(_Counts, content, mends=True) or _Counts()
        self._day, self._spent = found.day, dict(found.spent)
        self._lately = {url: list(counts) for url, counts in found.lately.items()}

    def _save(self) -> None:
        if self._path is None:
            return
        lately = {url: self._recent(counts) for url, counts in self._lately.items()}
        content = {
            "day": self._day,
            "spent": self._spent,
            "lately": {url: counts for url, counts in lately.items() if counts},
        }
        try:
            write_atomically(self._path, json.dumps(content, indent=1))
            self._is_saved = True
        except OSError as exc:
            log.info("%s could not be saved: %s", self._path.name, exc.strerror)
            self._is_saved = False

    def _counts(self, endpoint: EndpointSettings) -> list[tuple[float, int]]:
        counts = self._recent(self._lately.get(endpoint.base_url, []))
        self._lately[endpoint.base_url] = counts
        return counts

    def _recent(self, counts: list[tuple[float, int]]) -> list[tuple[float, int]]:
        now = self._clock()
        # A clock that was set back would delay requests for a long time.
        return [(at, tokens) for at, tokens in counts if now - _MINUTE_S < at <= now]

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
            most, spent_today = map(money_in_words, (endpoint.spend_per_day, spent))
            raise AppError(
                f"The limit for {endpoint.label} is reached: {most} a day.",
                f"{spent_today} is spent today. Raise the limit in Settings, choose another"
                " endpoint, or go on tomorrow.",
            )

    def _begin_day(self) -> None:
        today = datetime.fromtimestamp(self._clock()).astimezone().date().isoformat()
        if today != self._day:
            self._day, self._spent = today, {}


def _is_limited(endpoint: EndpointSettings) -> bool:
    per_minute = endpoint.requests_per_minute or endpoint.tokens_per_minute
    return bool(per_minute or endpoint.spend_per_day)


def limits_in_words(endpoint: EndpointSettings) -> str:
    """The limits per minute as words for the middle of a sentence."""
    requests, tokens = endpoint.requests_per_minute, endpoint.tokens_per_minute
    requests_said = "1 request" if requests == 1 else f"{requests:,} requests"
    tokens_said = "1 token" if tokens == 1 else f"{tokens:,} tokens"
    if requests and tokens:
        return f"{requests_said} and {tokens_said} a minute"
    return f"{requests_said} a minute" if requests else f"{tokens_said} a minute"


_Key = tuple[str, str]


class ProfileBook:
    """Profiles by normalised address and name of the model."""

    def __init__(self, path: Path | None = None) -> None:
        """Without a file they are kept until the app ends."""
        self._path = path
        self._lock = RLock()
        content = read_object(path) if path else {}
        self._profiles = _read_profiles(readable_rows(dict[str, Any], content.get("models")))
        self._offers = _read_offers(content.get("offered"))

    def get(self, base_url: str, model: str) -> ModelProfile:
        """The profile of the model; empty for an unknown one."""
        with self._lock:
            return self._profiles.get((base_url, model), ModelProfile())

    def learn(self, base_url: str, model: str, **facts: object) -> ModelProfile:
        """Update fields of the model's profile, and save it."""
        fields: dict[str, Any] = facts
        with self._lock:
            known = self.get(base_url, model)
            learned = replace(known, **fields)
            if learned != known:
                self.put(base_url, model, learned)
        return learned

    def put(self, base_url: str, model: str, profile: ModelProfile) -> None:
        """Replace the profile."""
        with self._lock:
            self._profiles[base_url, model] = profile
            self._save()

    def offer(self, base_url: str) -> tuple[ListedModel, ...]:
        """The models in the endpoint's last list."""
        with self._lock:
            return self._offers.get(base_url, ())

    def put_offer(self, base_url: str, models: tuple[ListedModel, ...]) -> None:
        """Store the endpoint's list of models."""
        with self._lock:
            if self._offers.get(base_url) != models:
                self._offers[base_url] = models
                self._save()

    def _save(self) -> None:
        if self._path:
            models = [*map(_row, self._profiles.items())]
            offers = encoded(self._offers)
            write_object(self._path, {"models": models, "offered": offers})


def _row(known: tuple[_Key, ModelProfile]) -> dict[str, Any]:
    (base_url, model), profile = known
    return {"base_url": base_url, "model": model, **profile.to_json()}


def _read_profiles(rows: Sequence[Mapping[str, object]]) -> dict[_Key, ModelProfile]:
    keys = [(str(row.get("base_url", "")), str(row.get("model", ""))) for row in rows]
    return dict(zip(keys, map(ModelProfile.from_json, rows), strict=True))


def _read_offers(offered: object) -> dict[str, tuple[ListedModel, ...]]:
    offers = cast("dict[str, Any]", offered) if isinstance(offered, dict) else {}
    return {
        base_url: tuple(_read_offer(row) for row in cast("list[Any]", rows))
        for base_url, rows in offers.items()
        if isinstance(rows, list)
    }


def _read_offer(row: object) -> ListedModel:
    """From a row, or from the name alone, as earlier versions wrote it."""
    return readable(ListedModel, row, mends=True) or ListedModel(
        "" if isinstance(row, dict) else str(row)
    )
