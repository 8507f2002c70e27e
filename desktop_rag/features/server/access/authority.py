"""Tells who sent a request, by its token, and limits how often one may ask. Worker threads."""

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager

from desktop_rag.core.errors import AppError
from desktop_rag.core.waits import MinuteLimits
from desktop_rag.features.server.access.access_tokens import Token, TokenBook
from desktop_rag.features.server.access.callers import Caller, Exchange
from desktop_rag.features.server.refusals import Refusal

# Failed attempts of one address in a minute, before it has to wait.
_MOST_FAILURES = 20


class RateLimits:
    """Limits the requests of a token in a sliding minute, and its streams at a time. Any thread."""

    def __init__(self, streams: int) -> None:
        """A token may have so many `streams` at a time."""
        self._streams = streams
        self._requests, self._failures = MinuteLimits(), MinuteLimits()
        self._running: dict[str, int] = defaultdict(int)
        self._lock = threading.Lock()

    def count_request(self, caller: Caller) -> None:
        """Refuses a request beyond the limit of its token, with the seconds to wait."""
        limit = caller.token.requests_per_minute
        if limit and (wait_s := self._requests.take(caller.token.token_id, limit)):
            raise _too_many(wait_s)

    def count_failure(self, address: str) -> None:
        """A request had no valid token; refuses an address that has tried too many."""
        if wait_s := self._failures.wait_s(address, _MOST_FAILURES):
            raise _too_many(wait_s)
        self._failures.count(address)

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


def _too_many(wait_s: float) -> Refusal:
    seconds = max(1, round(wait_s))
    said = f"Too many requests. Try again in {seconds} seconds."
    return Refusal(429, said, retry_after_s=seconds)


_BEARER = "bearer "


class Authority:
    """Checks the token of every request, local ones too: other people may use this computer."""

    def __init__(
        self, tokens: TokenBook, limits: RateLimits, origins: Callable[[], Iterable[str]]
    ) -> None:
        """`origins` may use every token, beside the origins that a token names."""
        self._tokens = tokens
        self._limits = limits
        self._origins = origins

    def allowed_origins(self) -> set[str]:
        """Every web origin that a token or the settings let in."""
        try:
            of_tokens = {origin for token in self._tokens.all() for origin in token.origins}
        except AppError:
            of_tokens = set[str]()
        return of_tokens | set(self._origins())

    def is_admin(self, token_id: str) -> bool:
        """True while a token is valid and allows everything."""
        token = self.valid(token_id)
        return token is not None and token.is_for_admin

    def valid(self, token_id: str) -> Token | None:
        """The token with this id while it is neither revoked nor expired."""
        try:
            known = [token for token in self._tokens.all() if token.token_id == token_id]
        except AppError:
            return None
        return next((token for token in known if not token.is_expired(time.time())), None)

    def caller(self, exchange: Exchange) -> Caller:
        """Who sent a request; refuses one without a valid token."""
        token = self.token(_secret_in(exchange), exchange.address)
        if exchange.origin and exchange.origin not in {*token.origins, *self._origins()}:
            raise Refusal(403, "This token is not for this origin.", code="wrong_origin")
        return Caller(token, exchange.address, exchange.origin, exchange=exchange)

    def token(self, secret: str, address: str) -> Token:
        """The token with this secret; refuses a wrong one, and an address that tries too many."""
        try:
            token = self._tokens.find(secret) if secret else None
        except AppError as error:
            raise Refusal.of_error(error, 503) from error
        if token is None:
            # Only here: all programs of this computer share an address with the one that guesses.
            self._limits.count_failure(address)
            said = "A valid token is needed." if secret else "A token is needed: Bearer drag-…"
            raise Refusal(401, said, code="invalid_api_key")
        return token


def _secret_in(exchange: Exchange) -> str:
    """The secret of the one Authorization header; "" without one, or with several."""
    given = exchange.header("authorization")
    return given[len(_BEARER) :].strip() if given.lower().startswith(_BEARER) else ""
