"""Tells who sent a request, by its token. Worker threads."""

import time
from collections.abc import Callable, Iterable

from desktop_rag.core.errors import AppError
from desktop_rag.features.server.access.access_tokens import Token
from desktop_rag.features.server.access.callers import Caller, Exchange
from desktop_rag.features.server.access.rate_limit import RateLimits
from desktop_rag.features.server.access.token_book import TokenBook
from desktop_rag.features.server.refusals import Refusal

_BEARER = "bearer "


class Authority:
    """Checks tokens. Every request needs one, also on this computer: other programs and other
    people may use it too.
    """

    def __init__(
        self, tokens: TokenBook, limits: RateLimits, origins: Callable[[], Iterable[str]]
    ) -> None:
        """`origins` may use every token; beside them those that a token names may use it."""
        self._tokens = tokens
        self._limits = limits
        self._origins = origins

    def allowed_origins(self) -> set[str]:
        """Every web origin that some token, or the settings, let in."""
        try:
            of_tokens = {origin for token in self._tokens.all() for origin in token.origins}
        except AppError:
            of_tokens = set[str]()
        return of_tokens | set(self._origins())

    def is_admin(self, token_id: str) -> bool:
        """True while a token is valid and is for the administration of all of it."""
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
            self._limits.check_failures(address)
            self._limits.count_failure(address)
            said = "A valid token is needed." if secret else "A token is needed: Bearer drag-…"
            raise Refusal(401, said, code="invalid_api_key")
        return token


def _secret_in(exchange: Exchange) -> str:
    """The secret of the one Authorization header; "" without one, or with several."""
    given = exchange.header("authorization")
    return given[len(_BEARER) :].strip() if given.lower().startswith(_BEARER) else ""
