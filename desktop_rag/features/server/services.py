"""The local server while the app is open, and the files that it keeps. Worker threads.

The server's libraries are imported only when it is first turned on: most people never do.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from desktop_rag.app import Services
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import ServerSwitched
from desktop_rag.core.settings import ServerSettings, Settings
from desktop_rag.features.server.access.access_rules import AccessRules
from desktop_rag.features.server.access.access_tokens import Token, TokenBook, TokenUses, new_token
from desktop_rag.features.server.filters.standard_filters import RequestLog
from desktop_rag.features.server.network.certificates import check_port, own_names
from desktop_rag.features.server.values.access_values import (
    CertificateFacts,
    RequestRecord,
    RequestSearch,
    TokenWish,
)
from desktop_rag.registry import WingServices

if TYPE_CHECKING:
    from desktop_rag.features.server.server import LocalServer


@dataclass(frozen=True, slots=True)
class TokenFacts:
    """A token, when it was last used (0 for never), and the names of what it is limited to."""

    token: Token
    used_at: float
    collections: tuple[str, ...]
    models: tuple[str, ...]


class ServerRecords:
    """Reads and changes the tokens, rules and log of the server, whether it is on or off.

    `book` has the tokens, `rules` say which applications decide about readers, `log` has what was
    asked.
    """

    def __init__(self, services: Services, exposes_models: Callable[[], bool]) -> None:
        """`exposes_models` says whether the models of endpoints are exposed to every token."""
        self._services = services
        self._exposes_models = exposes_models
        self.book = TokenBook(services.home.tokens)
        self._uses = TokenUses(services.home.token_uses)
        self.rules = AccessRules(services.home.access_rules)
        self.log = RequestLog(services.home.requests)

    # --- tokens ----------------------------------------------------------------------------

    def tokens(self) -> Sequence[TokenFacts]:
        """All tokens, the oldest first. AppError when they can't be read."""
        known = self.book.all()
        if not known:
            return []
        uses, collections, models = self._uses.all(), self.collections(), self.models()
        return [
            TokenFacts(
                token,
                uses.get(token.token_id, 0.0),
                tuple(collections.get(each, each) for each in token.collection_ids),
                tuple(models.get(key, key) for key in token.models),
            )
            for token in known
        ]

    def add_token(self, wish: TokenWish) -> str:
        """Make a token and return its secret, which is kept nowhere. AppError for a taken name."""
        token, secret = new_token(wish)
        self.book.add(token)
        return secret

    # --- what may be asked -----------------------------------------------------------------

    def collections(self) -> Mapping[str, str]:
        """The names of all collections by id."""
        return {c.collection_id: c.name for c in self._services.library.collections.all()}

    def models(self) -> Mapping[str, str]:
        """The names of everything that a token may be limited to, by key."""
        from desktop_rag.features.server.model_names import ModelNames

        names = ModelNames(self._services.chat, self._services.library, self._exposes_models)
        return {name.key: name.name for name in names.all()}

    def set_models(self, token_id: str, keys: Sequence[str]) -> None:
        """Limit a token to these models and assistants; none of them means all."""
        self.book.change(token_id, lambda token: replace(token, models=tuple(keys)))

    # --- what was asked --------------------------------------------------------------------

    def requests(self, wanted: RequestSearch, most: int) -> list[RequestRecord]:
        """The newest requests that fit, the newest first."""
        fitting = (each for each in self.log.newest_first() if each.fits(wanted))
        return list(islice(fitting, most))


class ServerSwitch(WingServices):
    """Turns the server on and off, and holds it while it is on."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self.records = ServerRecords(services, lambda: self._settings.exposes_models)
        self._fault: AppError | None = None
        self._publish = services.library.changes.publish
        self._lock = threading.Lock()
        self._settings = ServerSettings()
        self._said: Mapping[str, Any] = {}
        self._server: LocalServer | None = None

    @property
    def address(self) -> str:
        """Where the server is asked, "" while it is off."""
        server = self._server
        return server.address if server else ""

    @property
    def port(self) -> int:
        """The port it listens on, which may not be the one of the settings; 0 while it is off."""
        server = self._server
        return server.port if server else 0

    @property
    def fault(self) -> AppError | None:
        """Why it is off although the settings want it on."""
        return self._fault

    @property
    def rights_addresses(self) -> tuple[str, ...]:
        """Where applications are asked what their users may read."""
        try:
            return tuple(rule.address for rule in self.records.rules.all())
        except AppError:
            return ()

    @property
    def said_of_server(self) -> Mapping[str, Any]:
        """What the command line said."""
        return self._said

    def certificate(self, settings: ServerSettings) -> CertificateFacts | None:
        """What the certificate of these settings says. AppError when it can't be used now."""
        from desktop_rag.features.server.network.certificates import certificate_facts

        return certificate_facts(settings)

    def check(self, settings: ServerSettings) -> CertificateFacts | None:
        """As `certificate`; AppError as well when another program has the port. Changes nothing."""
        facts = self.certificate(settings)
        with self._lock:
            # Its own port will be free.
            if self.port != settings.port:
                check_port(settings)
        return facts

    def own_names(self) -> list[str]:
        """The name and the addresses by which other computers may ask this one."""
        return own_names()

    def hold(self, said: Mapping[str, Any]) -> None:
        """Be on, with what is stored, now and later, but for what the command line `said`."""
        self._said = {**said, "is_on": True}
        self.apply(replace(self._services.chat.models.settings.server, **self._said))

    def follow(self, settings: Settings) -> None:
        """As `apply`, for settings that are stored already: a failure is kept as the `fault`."""
        try:
            self.apply(replace(settings.server, **self._said))
        except AppError as error:
            self._fault = error
        self._publish(ServerSwitched())

    def apply(self, settings: ServerSettings) -> None:
        """Start, stop or change it as the settings want. AppError when that fails: it is off."""
        with self._lock:
            if settings == self._settings or self._is_changed(settings):
                return
            self._stop()
            self._fault = None
            if settings.is_on:
                from desktop_rag.features.server.server import LocalServer

                server = LocalServer(self._services, settings)
                server.start()
                self._server = server
            self._settings = settings

    def _is_changed(self, settings: ServerSettings) -> bool:
        """True when the running server works with these settings now."""
        if not (self._server and settings.is_on):
            return False
        try:
            if not self._server.change(settings):
                return False
        except AppError:
            # Requests must not pass without the filter that the settings want.
            self._stop()
            raise
        self._settings = settings
        self._fault = None
        return True

    def close(self) -> None:
        """Stop the server if it is on."""
        self._said = {}
        with self._lock:
            self._stop()

    def _stop(self) -> None:
        # Whoever asks for its address finds it off before it stops.
        server, self._server = self._server, None
        if server:
            server.stop()
        self._settings = ServerSettings()
