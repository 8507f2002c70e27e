"""Who is logged in to the admin page, in memory only. Any thread."""

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from desktop_rag.features.server.access.access_tokens import Token, digest_of

IDLE_S = 20 * 60.0
_LONGEST_S = 8 * 3600.0
_MOST = 32


@dataclass(slots=True)
class AdminSession:
    """One browser that has logged in with a token.

    Each form holds `form_key`, so that no other page can send it. `said` is shown once.
    """

    token: Token
    form_key: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    started_at: float = 0.0
    used_at: float = 0.0
    said: list[str] = field(default_factory=list[str])


class AdminSessions:
    """Opens and ends sessions. One ends when it rests too long, or its token is revoked."""

    def __init__(
        self, is_admin: Callable[[str], bool], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`is_admin` says whether a token may be used for this now. `clock` gives seconds."""
        self._is_admin = is_admin
        self._clock = clock
        self._lock = threading.Lock()
        # By the digest of the id, so that a lookup tells nothing about ids by its time.
        self._sessions: dict[str, AdminSession] = {}

    def open(self, token: Token) -> tuple[str, AdminSession]:
        """A new session and its id, for the cookie. Beyond a number the oldest one ends."""
        now, session_id = self._clock(), secrets.token_urlsafe(32)
        session = AdminSession(token, started_at=now, used_at=now)
        with self._lock:
            while len(self._sessions) >= _MOST:
                del self._sessions[min(self._sessions, key=lambda k: self._sessions[k].used_at)]
            self._sessions[digest_of(session_id)] = session
        return session_id, session

    def find(self, session_id: str) -> AdminSession | None:
        """The session with this id, which is now used; None when there is none, or it has ended."""
        key, now = digest_of(session_id), self._clock()
        with self._lock:
            session = self._sessions.get(key)
        if session is None:
            return None
        is_old = now - session.used_at >= IDLE_S or now - session.started_at >= _LONGEST_S
        if is_old or not self._is_admin(session.token.token_id):
            self.close(session_id)
            return None
        session.used_at = now
        return session

    def close(self, session_id: str) -> None:
        """End a session, if there is one with this id."""
        with self._lock:
            self._sessions.pop(digest_of(session_id), None)
