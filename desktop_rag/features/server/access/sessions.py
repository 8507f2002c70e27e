"""Sessions of browsers on the server's own pages, in memory. Any thread."""

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from starlette.requests import cookie_parser

from desktop_rag.features.server.access.access_tokens import Token, digest_of
from desktop_rag.features.server.access.callers import Exchange

IDLE_S = 20 * 60.0
_LONGEST_S = 8 * 3600.0
_MOST = 1_000
_READING = ("GET", "HEAD")


@dataclass(slots=True)
class Session:
    """A browser that has logged in. Its forms hold `form_key`; what is `said` is shown once.

    `user` is a short name for a person whom a provider let in, `login` their ID token; "" after a
    login by token.
    """

    token: Token
    user: str = ""
    login: str = ""
    form_key: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    started_at: float = 0.0
    used_at: float = 0.0
    said: list[str] = field(default_factory=list[str])


class Sessions:
    """Opens and ends sessions. One ends when idle, or with its token."""

    def __init__(
        self,
        valid: Callable[[str], Token | None],
        port: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`valid` finds a token by its id, while it may be used. `clock` gives seconds."""
        # Browsers send a cookie to every port of a host: two servers must not share a name.
        self.cookie = f"desktop-rag-{port}"
        self._valid = valid
        self._clock = clock
        self._lock = threading.Lock()
        # By the digest of the id, so that a lookup tells nothing about ids by its time.
        self._sessions: dict[str, Session] = {}

    def open(self, session: Session) -> str:
        """Begin a session; its id, for a cookie. Beyond a number the oldest one ends."""
        now, session_id = self._clock(), secrets.token_urlsafe(32)
        session.started_at = session.used_at = now
        with self._lock:
            while len(self._sessions) >= _MOST:
                del self._sessions[min(self._sessions, key=lambda k: self._sessions[k].used_at)]
            self._sessions[digest_of(session_id)] = session
        return session_id

    def find(self, session_id: str) -> Session | None:
        """The session with this id, which is now used; None when there is none, or it has ended."""
        key, now = digest_of(session_id), self._clock()
        with self._lock:
            session = self._sessions.get(key)
        if session is None:
            return None
        is_old = now - session.used_at >= IDLE_S or now - session.started_at >= _LONGEST_S
        token = None if is_old else self._valid(session.token.token_id)
        if token is None:
            self.close(session)
            return None
        session.token, session.used_at = token, now
        return session

    def of(self, exchange: Exchange) -> Session | None:
        """The session of a person whom a provider let in; None if another page may have asked."""
        is_own = exchange.method in _READING or bool(exchange.header("origin"))
        if exchange.origin or not is_own:
            return None
        return self.find(cookie_parser(exchange.header("cookie")).get(self.cookie, ""))

    def close(self, session: Session) -> None:
        """End a session."""
        with self._lock:
            self._sessions = {k: each for k, each in self._sessions.items() if each is not session}
