"""Tokens of the local server: what a program that has one may do, and the files that keep them.

Any thread.
"""

import hashlib
import hmac
import json
import logging
import secrets
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from filelock import FileLock, Timeout

from desktop_rag.core.errors import AppError, os_error_as
from desktop_rag.core.files.file_state import stat_of
from desktop_rag.core.files.own_files import object_in, read_object, write_atomically
from desktop_rag.core.records import Record, decoded, encoded
from desktop_rag.features.server.values.access_values import TokenWish

if TYPE_CHECKING:
    from desktop_rag.core.domain import FileStat

# The beginning of every secret, by which scanners for leaked secrets can know it.
PREFIX = "drag-"
_SECRET_BYTES = 32
DEFAULT_REQUESTS_PER_MINUTE = 120
_DAY_S = 86_400.0


class TokenScope(StrEnum):
    """What a token allows. `ADMIN` includes all others, `WRITE` includes `READ`."""

    ASK = "ask"
    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


_INCLUDED = {
    TokenScope.ASK: frozenset({TokenScope.ASK}),
    TokenScope.READ: frozenset({TokenScope.READ}),
    TokenScope.WRITE: frozenset({TokenScope.READ, TokenScope.WRITE}),
    TokenScope.ADMIN: frozenset(TokenScope),
}


@dataclass(frozen=True, slots=True)
class Token(Record):
    """A token without its secret, of which only the SHA-256 `digest` is kept.

    The secret has 256 random bits, so its hash needs no salt. Without `collection_ids` the token
    covers every collection, without `models` (keys) all that are exposed. A web page may use it
    only from one of the `origins`. With `lists_sources` answers by OpenAI's APIs end with a list of
    their sources, with `passes_markup` images and HTML in answers stay. `expires_at` 0 means never.
    People log in with it whom a provider knows as one of the `logins`: a confirmed e-mail address,
    `claim=value`, or `*` for all.
    """

    # Without these a token would allow more than was meant.
    needed: ClassVar = frozenset(
        {"collection_ids", "origins", "requests_per_minute", "created_at", "expires_at"}
    )
    token_id: str
    name: str
    digest: str
    scopes: frozenset[TokenScope]
    collection_ids: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    requests_per_minute: int = DEFAULT_REQUESTS_PER_MINUTE
    created_at: float = 0.0
    expires_at: float = 0.0
    models: tuple[str, ...] = ()
    lists_sources: bool = False
    passes_markup: bool = False
    logins: tuple[str, ...] = ()

    def allows(self, scope: TokenScope) -> bool:
        """True when the token allows this."""
        return any(scope in _INCLUDED[given] for given in self.scopes)

    @property
    def is_for_admin(self) -> bool:
        """True for one that allows everything, in every collection."""
        return TokenScope.ADMIN in self.scopes and not self.collection_ids

    def exposes(self, key: str) -> bool:
        """True when a model or assistant with this key may be asked, as far as the token goes."""
        return not self.models or key in self.models

    def is_expired(self, now: float) -> bool:
        """True from the moment at which it expires."""
        return bool(self.expires_at) and now >= self.expires_at


def new_token(wish: TokenWish) -> tuple[Token, str]:
    """The token that somebody wishes for, and its secret, which is to be shown once."""
    secret = PREFIX + secrets.token_urlsafe(_SECRET_BYTES)
    token = Token(
        secrets.token_hex(8), wish.name, digest_of(secret),
        frozenset(map(TokenScope, wish.allows)), tuple(wish.collection_ids), tuple(wish.origins),
        wish.requests_per_minute, time.time(),
        time.time() + wish.days * _DAY_S if wish.days > 0 else 0.0,
        lists_sources=wish.lists_sources, passes_markup=wish.passes_markup, logins=wish.logins,
    )  # fmt: skip
    return token, secret


def digest_of(secret: str) -> str:
    """What is stored in place of a secret."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


log = logging.getLogger(__name__)

_LOCK_S = 5.0
_Row = TypeVar("_Row")


class RowFile(ABC, Generic[_Row]):
    """Rows of one kind in a file of their own, which other processes may change at any time."""

    # The type of all rows, their name in the file, and the titles of what can go wrong.
    kind: ClassVar[Any]
    rows: ClassVar[str]
    unreadable: ClassVar[str]
    busy: ClassVar[str]
    unsaved: ClassVar[str]

    def __init__(self, path: Path) -> None:
        """The file is created with the first row, for this user alone."""
        self._path = path
        self._lock = FileLock(path.with_suffix(".lock"), timeout=_LOCK_S)
        self._reading = threading.Lock()
        self._known: tuple[_Row, ...] = ()
        self._stat: FileStat | None = None

    @abstractmethod
    def hint(self, fault: Exception) -> str:
        """What to do about a file that can't be read."""

    def check(self, row: _Row) -> None:
        """AppError for a row that is not valid."""

    def all(self) -> Sequence[_Row]:
        """All rows, the oldest first. AppError when the file can't be read."""
        with self._reading:
            try:
                if (found := stat_of(self._path)) != self._stat:
                    content = object_in(self._path.read_bytes())
                    rows = decoded(self.kind, content.get(self.rows))
                    for row in rows:
                        self.check(row)
                    self._known, self._stat = rows, found
            except FileNotFoundError:
                self._known, self._stat = (), None
            except (OSError, ValueError, AppError) as exc:
                log.info("%s can't be read: %s", self._path.name, type(exc).__name__)
                raise AppError(self.unreadable, self.hint(exc)) from exc
            return self._known

    @contextmanager
    def writing(self) -> Generator[None]:
        """Let no other process change the file in this block."""
        with os_error_as(self.unsaved, self._path):
            try:
                self._path.parent.mkdir(mode=0o700, exist_ok=True)
                with self._lock:
                    yield
            except Timeout as exc:
                raise AppError(self.busy, "Try again.") from exc

    def write(self, rows: Sequence[_Row]) -> None:
        """Store these rows in place of the others."""
        content = {self.rows: encoded(rows)}
        self._path.touch(mode=0o600)
        write_atomically(self._path, json.dumps(content, ensure_ascii=False, indent=1))
        self._path.chmod(0o600)


class TokenBook(RowFile[Token]):
    """Keeps tokens without their secrets."""

    kind, rows = tuple[Token, ...], "tokens"
    unreadable = "The tokens of the server can't be read."
    busy = "The tokens are being changed elsewhere."
    unsaved = "The tokens could not be saved."

    def hint(self, fault: Exception) -> str:
        """How to begin anew."""
        return f"Remove {self._path} and make new tokens. Until then nobody is let in."

    def find(self, secret: str) -> Token | None:
        """The token with this secret, None for an unknown or expired one; takes constant time."""
        digest, found = digest_of(secret), None
        for token in self.all():
            if hmac.compare_digest(token.digest.encode("utf-8", "replace"), digest.encode()):
                found = token
        return None if found is None or found.is_expired(time.time()) else found

    def valid(self, token_id: str) -> Token | None:
        """The token with this id while it is neither revoked nor expired."""
        try:
            known = [token for token in self.all() if token.token_id == token_id]
        except AppError:
            return None
        return next((token for token in known if not token.is_expired(time.time())), None)

    def add(self, token: Token) -> None:
        """Keep a new token. AppError when its name is taken or the file can't be written."""
        name = " ".join(token.name.split())
        if not name:
            raise AppError("The token has no name.", "Name the program that will use it.")
        with self.writing():
            if any(known.name.casefold() == name.casefold() for known in self.all()):
                raise AppError(f"There is a token “{name}” already.", "Choose another name.")
            self.write([*self.all(), token])

    def change(self, token_id: str, change: Callable[[Token], Token]) -> None:
        """Replace a token by what `change` makes of it; without effect when it was revoked."""
        with self.writing():
            self.write([change(t) if t.token_id == token_id else t for t in self.all()])

    def revoke(self, token_id: str) -> None:
        """Forget a token, which is refused from the next request on."""
        with self.writing():
            self.write([token for token in self.all() if token.token_id != token_id])

    def named(self, name: str) -> Token:
        """The token of this name, ignoring case; AppError with the existing names if none."""
        for token in self.all():
            if token.name.casefold() == name.casefold():
                return token
        names = ", ".join(token.name for token in self.all())
        hint = f"There are: {names}." if names else "There are no tokens yet."
        raise AppError(f"There is no token “{name}”.", hint)


# A busy token must not cause a write for each request.
_PRECISION_S = 60.0


class TokenUses:
    """When each token was last used, to the minute; one process writes. Faults are only logged."""

    def __init__(self, path: Path) -> None:
        """The file is created with the first use."""
        self._path = path
        self._lock = threading.Lock()
        self._written: dict[str, float] | None = None

    def note(self, token_id: str) -> None:
        """This token is used now."""
        now = time.time()
        with self._lock:
            if self._written is None:
                self._written = dict(self.all())
            if now - self._written.get(token_id, 0.0) < _PRECISION_S:
                return
            self._written[token_id] = now
            try:
                self._path.parent.mkdir(mode=0o700, exist_ok=True)
                write_atomically(self._path, json.dumps(self._written))
            except OSError as exc:
                log.info("the use of a token was not noted: %s", type(exc).__name__)

    def all(self) -> Mapping[str, float]:
        """The time of the last use by token id, without tokens that were never used."""
        uses = read_object(self._path).items()
        return {token_id: float(at) for token_id, at in uses if isinstance(at, int | float)}
