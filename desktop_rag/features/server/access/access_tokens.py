"""Tokens of the local server: what a program that has one may do. Frozen values, pure."""

import hashlib
import secrets
import time
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from desktop_rag.core.records import Record
from desktop_rag.features.server.values.access_values import TokenWish

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
        lists_sources=wish.lists_sources, passes_markup=wish.passes_markup,
    )  # fmt: skip
    return token, secret


def digest_of(secret: str) -> str:
    """What is stored in place of a secret."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
