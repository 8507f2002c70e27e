"""Login by OpenID Connect: a provider says who a person is, a token what the person may do.

The code flow with PKCE. All that a login under way needs comes from one secret, which only the
browser keeps. Worker threads.
"""

import hmac
import logging
import secrets
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote, urlencode, urlsplit

import httpx2

from desktop_rag.core.errors import os_error_as
from desktop_rag.core.files.own_files import object_in
from desktop_rag.core.settings import ServerSettings
from desktop_rag.features.server.access.access_tokens import Token, TokenBook
from desktop_rag.features.server.access.sessions import Session
from desktop_rag.features.server.access.user_tokens import Key, claims_in, keys_in, name_of
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.features.server.values.access_values import USUAL_ALGORITHMS, AccessRule
from desktop_rag.models.endpoint_address import is_this_computer

log = logging.getLogger(__name__)

_PATIENCE_S = 10.0
_LARGEST_ANSWER_BYTES = 256 * 1024
_KNOWN_S = 3600.0
# A provider may have changed its keys since, but is not asked for each token that is wrong.
_FRESH_S = 60.0
_OK = 200


@dataclass(frozen=True, slots=True)
class _Provider:
    """What a provider says about itself, when it was asked, and the public keys of its tokens."""

    said: Mapping[str, Any]
    keys: list[Key]
    rule: AccessRule
    asked_at: float


class ProviderLogin:
    """Leads people to the provider of the settings, and checks with what they come back."""

    def __init__(self, settings: Callable[[], ServerSettings], tokens: TokenBook) -> None:
        self._settings = settings
        self._tokens = tokens
        self._lock = threading.Lock()
        self._known: _Provider | None = None

    @property
    def is_set(self) -> bool:
        """True when there is a provider."""
        settings = self._settings()
        return bool(settings.login_issuer and settings.login_client)

    def begin(self, back: str) -> tuple[str, str]:
        """Where the browser asks the provider, and the secret that it keeps until it is `back`."""
        secret = secrets.token_urlsafe(32)
        challenge = sha256(_derived(secret, "verifier").encode()).digest()
        asked = {
            "response_type": "code",
            "client_id": self._settings().login_client,
            "redirect_uri": back,
            "scope": "openid profile email",
            "state": _derived(secret, "state"),
            "nonce": _derived(secret, "nonce"),
            "code_challenge": urlsafe_b64encode(challenge).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        address = self._provider(_KNOWN_S).said["authorization_endpoint"]
        return f"{address}{'&' if '?' in address else '?'}{urlencode(asked)}", secret

    def end(self, secret: str, back: str, answer: Mapping[str, str]) -> Session:
        """The session of who came back with this answer. Refuses anything but a clear one."""
        state = answer.get("state", "").encode("utf-8", "replace")
        if not (secret and hmac.compare_digest(state, _derived(secret, "state").encode())):
            raise Refusal(403, "This login was not begun here, or too long ago. Log in again.")
        if fault := answer.get("error", ""):
            raise Refusal(403, f"The provider lets nobody in: {fault[:80]}")
        provider = self._provider(_KNOWN_S)
        if answer.get("iss", provider.rule.issuer) != provider.rule.issuer:
            raise _wrong("its answer names another issuer")
        login = self._id_token(provider, answer.get("code", ""), back, secret)
        claims = self._claims(provider, login)
        nonce = str(claims.get("nonce", "")).encode("utf-8", "replace")
        if not hmac.compare_digest(nonce, _derived(secret, "nonce").encode()):
            raise _wrong("its token is for another login")
        return Session(self._token(claims), name_of(claims), login)

    def _id_token(self, provider: _Provider, code: str, back: str, secret: str) -> str:
        settings = self._settings()
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": back,
            "code_verifier": _derived(secret, "verifier"),
        }
        key, known = "", None
        if path := settings.login_secret_file:
            with os_error_as("The client secret of the provider can't be read.", Path(path)):
                key = Path(path).read_text("utf-8").strip()
        ways = provider.said.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        if key and "client_secret_basic" in ways:
            known = (quote(settings.login_client, safe=""), quote(key, safe=""))
        else:
            form |= {"client_id": settings.login_client} | ({"client_secret": key} if key else {})
        given = _json(_fetched(provider.said["token_endpoint"], form, known)).get("id_token")
        if not isinstance(given, str):
            raise _wrong("it sent no ID token")
        return given

    def _claims(self, provider: _Provider, login: str) -> dict[str, Any]:
        claims = claims_in(login, provider.keys, provider.rule)
        if claims is None:
            provider = self._provider(_FRESH_S)
            claims = claims_in(login, provider.keys, provider.rule)
        if claims is None or claims.get("azp", provider.rule.audience) != provider.rule.audience:
            raise _wrong("its token is not valid")
        return claims

    def _token(self, claims: Mapping[str, Any]) -> Token:
        """The token that a person logs in with, one for administration before others."""
        now = time.time()
        fitting = [
            token
            for token in self._tokens.all()
            if not token.is_expired(now) and any(_is(claims, each) for each in token.logins)
        ]
        if not fitting:
            raise Refusal(403, "No token of this server is for your login.")
        return max(fitting, key=lambda token: token.is_for_admin)

    def _provider(self, most_s: float) -> _Provider:
        """The provider as it was known so many seconds ago at most."""
        settings = self._settings()
        issuer, client = settings.login_issuer, settings.login_client
        if not self.is_set:
            raise Refusal(404, "Nobody can log in here: no provider is set.")
        with self._lock:
            if (
                (known := self._known)
                and (_bare(known.rule.issuer), known.rule.audience) == (_bare(issuer), client)
                and time.monotonic() - known.asked_at < most_s
            ):
                return known
            said = _json(_fetched(f"{_bare(issuer)}/.well-known/openid-configuration"))
            needed = ("issuer", "authorization_endpoint", "token_endpoint", "jwks_uri")
            if not all(isinstance(said.get(name), str) for name in needed):
                raise _wrong("it does not say where it is asked")
            if _bare(said["issuer"]) != _bare(issuer):
                raise _wrong("it names another issuer")
            _check(said["authorization_endpoint"])
            rule = AccessRule("", "", USUAL_ALGORITHMS, said["issuer"], client, "")
            keys = keys_in(_fetched(said["jwks_uri"]), rule, said["jwks_uri"])
            self._known = _Provider(said, keys, rule, time.monotonic())
            return self._known


def _derived(secret: str, what: str) -> str:
    return sha256(f"{what}\0{secret}".encode("utf-8", "replace")).hexdigest()


def _is(claims: Mapping[str, Any], wanted: str) -> bool:
    """True for a person whom this names. An address counts only when the provider confirmed it."""
    if wanted == "*":
        return True
    name, has_name, value = wanted.partition("=")
    if not has_name:
        name, value = "email", wanted
    if name == "email" and claims.get("email_verified") is not True:
        return False
    given = claims.get(name)
    found = cast("list[object]", given) if isinstance(given, list) else [given]
    if name == "email":
        return value.casefold() in [str(each).casefold() for each in found]
    return value in [each for each in found if isinstance(each, str)]


def _bare(issuer: str) -> str:
    return issuer.rstrip("/")


def _check(address: str) -> None:
    """Refuses an address by which a login would cross the network in plain sight."""
    parts = urlsplit(address)
    is_near = parts.scheme == "http" and is_this_computer(address)
    if not ((parts.scheme == "https" and parts.hostname) or is_near):
        raise _wrong("one of its addresses is not https")


def _fetched(
    address: str, form: Mapping[str, str] | None = None, known: tuple[str, str] | None = None
) -> bytes:
    _check(address)
    received = bytearray()
    try:
        with (
            httpx2.Client(timeout=_PATIENCE_S, headers={"accept": "application/json"}) as client,
            client.stream("POST" if form else "GET", address, data=form, auth=known) as answer,
        ):
            for piece in answer.iter_bytes():
                received += piece
                if len(received) > _LARGEST_ANSWER_BYTES:
                    raise _wrong("its answer is too large")
    except (httpx2.HTTPError, httpx2.InvalidURL) as exc:
        raise _wrong(type(exc).__name__) from exc
    if answer.status_code != _OK:
        raise _wrong(f"status {answer.status_code}")
    return bytes(received)


def _json(content: bytes) -> dict[str, Any]:
    try:
        return object_in(content)
    except ValueError as exc:
        raise _wrong("its answer is no JSON") from exc


def _wrong(why: str) -> Refusal:
    log.info("a login by the provider failed: %s", why)
    return Refusal(502, f"The provider of logins can't be used now: {why}.")
