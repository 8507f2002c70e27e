"""Sessions of the admin page, requests to it, and what its pages answer with."""

import hmac
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar
from urllib.parse import urlencode

from desktop_rag.features.server.access.access_tokens import Token, digest_of
from desktop_rag.features.server.html_writer import Html
from desktop_rag.features.server.refusals import Refusal

_Row = TypeVar("_Row")

IDLE_S = 20 * 60.0
_LONGEST_S = 8 * 3600.0
_MOST = 32


@dataclass(slots=True)
class AdminSession:
    """A browser that has logged in. Its forms hold `form_key`; what is `said` is shown once."""

    token: Token
    form_key: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    started_at: float = 0.0
    used_at: float = 0.0
    said: list[str] = field(default_factory=list[str])


class AdminSessions:
    """Opens and ends sessions, in memory. One ends when idle, or with its token. Any thread."""

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


FORM_KEY = "form_key"
_LARGEST_PAGE = 1_000_000


@dataclass(frozen=True, slots=True)
class Visit:
    """A request of somebody who is logged in: its query, its form, and the parts of its path."""

    session: AdminSession
    path: str
    query: Mapping[str, str] = field(default_factory=dict[str, str])
    form: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    parts: Mapping[str, str] = field(default_factory=dict[str, str])
    is_post: bool = False

    def one_of(self, rows: Iterable[_Row], part: str, unknown: str) -> _Row:
        """The row whose attribute is the `part` of this name in the path; refuses an `unknown`."""
        for row in rows:
            if getattr(row, part) == self.parts[part]:
                return row
        raise Refusal(404, unknown)

    def sent(self, name: str) -> str:
        """The value of a field of the form, without blanks around it; "" without one."""
        return next(iter(self.form.get(name, ())), "").strip()

    def sent_all(self, name: str) -> tuple[str, ...]:
        """All values of a field, such as ticked boxes."""
        return tuple(self.form.get(name, ()))

    def sent_lines(self, name: str) -> tuple[str, ...]:
        """The lines of a field that are not empty."""
        return tuple(line.strip() for line in self.sent(name).splitlines() if line.strip())

    def number(self, name: str, most: int) -> int:
        """A number of the form, 0 without one; refuses one above the most."""
        text = self.sent(name) or "0"
        if not (text.isascii() and text.isdecimal() and int(text[:12]) <= most):
            raise Refusal(400, f"“{text[:40]}” is not a number up to {most:,}.")
        return int(text)

    def asked(self, name: str) -> str:
        """A value of the query, "" without one."""
        return self.query.get(name, "").strip()

    @property
    def page(self) -> int:
        """The number of the page of a list, from 0."""
        number = self.query.get("page", "")
        return min(int(number), _LARGEST_PAGE) if number.isascii() and number.isdecimal() else 0

    def with_page(self, page: int) -> str:
        """The address of another page of the same list."""
        kept = {name: value for name, value in self.query.items() if name != "page"}
        return f"{self.path}?{urlencode({**kept, 'page': page})}"

    def check_form_key(self) -> None:
        """Refuses a form that no page of this session has shown."""
        sent = self.sent(FORM_KEY).encode("utf-8", "replace")
        if not hmac.compare_digest(sent, self.session.form_key.encode()):
            raise Refusal(403, "This form is out of date. Go back, load the page anew, try again.")


@dataclass(frozen=True, slots=True)
class Shown:
    """A page as the answer."""

    title: str
    body: Html
    status: int = 200


@dataclass(frozen=True, slots=True)
class Moved:
    """A redirect to another page, with a sentence about what was done."""

    path: str
    said: str = ""


Answer = Shown | Moved
Handler = Callable[[Visit], Answer]
# A path, its methods, and what answers them.
Handled = tuple[str, tuple[str, ...], Handler]
_Method = TypeVar("_Method", bound=Callable[..., Answer])


def page(path: str, *methods: str) -> Callable[[_Method], _Method]:
    """Declares a method of a page, which answers a path: a GET if no method is named."""

    def declared(method: _Method) -> _Method:
        vars(method)["answers"] = (path, methods or ("GET",))
        return method

    return declared


def handlers_of(subject: object) -> list[Handled]:
    """All that the methods of a page answer, in their order. They run on worker threads."""
    return [
        (*member.answers, getattr(subject, name))
        for name, member in vars(type(subject)).items()
        if hasattr(member, "answers")
    ]
