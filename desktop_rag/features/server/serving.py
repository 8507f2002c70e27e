"""What every route of the server works with, and links to passages. Made on the server's thread."""

import hmac
import secrets
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from starlette.requests import Request

from desktop_rag.activity.activity import Activity
from desktop_rag.answer.chat import Chat
from desktop_rag.core.errors import os_error_as
from desktop_rag.core.settings import ServerSettings
from desktop_rag.features.server.access.access_rules import AccessRules
from desktop_rag.features.server.access.access_tokens import TokenBook, TokenScope, TokenUses
from desktop_rag.features.server.access.callers import Authority, Caller, Exchange
from desktop_rag.features.server.access.provider_login import ProviderLogin
from desktop_rag.features.server.access.sessions import Sessions
from desktop_rag.features.server.access.user_rights import UserRights
from desktop_rag.features.server.filters.filter_chain import FilterChain
from desktop_rag.features.server.filters.standard_filters import RequestLog
from desktop_rag.features.server.model_names import ModelNames
from desktop_rag.features.server.program_answers import Answers
from desktop_rag.features.server.worker_events import Workers
from desktop_rag.ingest.library import Library
from desktop_rag.kept_endpoints import KeptEndpoints
from desktop_rag.models.ports import Embedder

_KEY_BYTES = 32
_VALID_S = 30 * 86_400.0
# The rights of a person in another application may end at any time.
_VALID_FOR_USERS_S = 900.0


# What an open socket can't change; everything else holds from the next request on.
NEEDS_RESTART = ("host", "port", "certificate", "certificate_key")


@dataclass(frozen=True, slots=True)
class LinkedPassage:
    """The text [start, end) of a document, as a link names it; `keeper` is the one of `Caller`."""

    keeper: str
    document_id: str
    start: int
    end: int
    expires_at: int

    @property
    def path(self) -> str:
        """The path of the link, without its signature."""
        return f"/source/{self.keeper}/{self.document_id}/{self.start}-{self.end}/{self.expires_at}"


class SourceLinks:
    """Makes and checks links that show a passage to a browser without a token. Any thread.

    A link is signed with a key of this library, and names the token, and the user of another
    application, for which it was made; it ends with their tokens.
    """

    def __init__(self, key_file: Path, base_address: Callable[[], str]) -> None:
        """The key is made with the first link. `base_address` is that of the server."""
        self._key_file = key_file
        self._base_address = base_address
        self._key = b""

    def link(self, caller: Caller, document_id: str, start: int, end: int) -> str:
        """The address that shows a passage to whoever has it."""
        valid_s = _VALID_FOR_USERS_S if caller.user else _VALID_S
        expires_at = int(time.time() + valid_s)
        if caller.token.expires_at:
            expires_at = min(expires_at, int(caller.token.expires_at))
        if caller.until:
            expires_at = min(expires_at, int(caller.until))
        passage = LinkedPassage(caller.keeper, document_id, start, end, expires_at)
        return f"{self._base_address()}{passage.path}?s={self._signature(passage)}"

    def is_valid(self, passage: LinkedPassage, signature: str) -> bool:
        """True when this library made the link and it has not expired."""
        is_signed = hmac.compare_digest(
            self._signature(passage).encode(), signature.encode("utf-8", "replace")
        )
        return is_signed and time.time() < passage.expires_at

    def _signature(self, passage: LinkedPassage) -> str:
        digest = hmac.digest(self._load_key(), passage.path.encode(), sha256)
        return urlsafe_b64encode(digest).rstrip(b"=").decode()

    def _load_key(self) -> bytes:
        if not self._key:
            with os_error_as("The key of the server's links can't be read.", self._key_file):
                self._key = self._read_or_make_key()
        return self._key

    def _read_or_make_key(self) -> bytes:
        try:
            key = self._key_file.read_bytes()
        except FileNotFoundError:
            key = b""
        if len(key) != _KEY_BYTES:
            key = secrets.token_bytes(_KEY_BYTES)
            self._key_file.parent.mkdir(mode=0o700, exist_ok=True)
            self._key_file.touch(mode=0o600)
            self._key_file.write_bytes(key)
        return key


@dataclass(frozen=True, slots=True)
class Serving:
    """The two faces, and what stands between them and the clients; `home` is the app's folder."""

    home: Path
    chat: Chat
    library: Library
    embedder: Embedder | None
    authority: Authority
    access_rules: AccessRules
    rights: UserRights
    sessions: Sessions
    login: ProviderLogin
    chain: FilterChain
    links: SourceLinks
    names: ModelNames
    answers: Answers
    workers: Workers
    tokens: TokenBook
    uses: TokenUses
    requests: RequestLog
    activity: Activity
    endpoints: KeptEndpoints
    settings: Callable[[], ServerSettings]
    verb_of: Callable[[str], Callable[[dict[str, Any]], Any] | None]

    async def caller(self, request: Request, scope: TokenScope | None = None) -> Caller:
        """Who sent the request; refuses one without a valid token, or if it lacks the `scope`."""
        exchange = Exchange.of(request.scope)
        caller = await self.workers.call(lambda: self.chain.admit(exchange))
        if scope is not None:
            caller.need(scope)
        return caller
