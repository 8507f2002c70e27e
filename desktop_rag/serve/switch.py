"""Turns the local server on and off. Worker threads, one call at a time.

The server's libraries are imported only when it is first turned on: most people never do.
"""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from desktop_rag.core.errors import AppError
from desktop_rag.core.programs.certificate_facts import CertificateFacts
from desktop_rag.core.settings import ServerSettings, Settings
from desktop_rag.serve.access.access_rules import AccessRules
from desktop_rag.serve.network.listening import check_port, own_names
from desktop_rag.serve.served import Served
from desktop_rag.serve.server_records import ServerRecords

if TYPE_CHECKING:
    from desktop_rag.serve.server import LocalServer


class ServerSwitch:
    """Holds the server while it is on."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self.records = ServerRecords(served, lambda: self._settings.exposes_models)
        self._rules = AccessRules(served.home.access_rules)
        self._fault: AppError | None = None
        self._listener: Callable[[], None] = lambda: None
        self._lock = threading.Lock()
        self._settings = ServerSettings()
        self._is_held = False
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
            return tuple(rule.address for rule in self._rules.all())
        except AppError:
            return ()

    def certificate(self, settings: ServerSettings) -> CertificateFacts | None:
        """What the certificate of these settings says, None without one.

        AppError when it can't be used, or is not valid now.
        """
        from desktop_rag.serve.network.certificates import certificate_facts

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

    def subscribe(self, listener: Callable[[], None]) -> None:
        """Call the listener, on the thread of `follow`, when the server may have changed."""
        self._listener = listener

    def hold(self, settings: ServerSettings) -> None:
        """As `apply`, and stay so, whatever is stored from now on: the command line says more."""
        self.apply(settings)
        self._is_held = True

    def follow(self, settings: Settings) -> None:
        """As `apply`, for settings that are stored already: a failure is kept as the `fault`."""
        if self._is_held:
            return
        try:
            self.apply(settings.server)
        except AppError as error:
            self._fault = error
        self._listener()

    def apply(self, settings: ServerSettings) -> None:
        """Start, stop or change it as the settings want; it restarts only for another address,
        port or certificate. AppError when it can't do as they want; it is off then.
        """
        with self._lock:
            if settings == self._settings or self._is_changed(settings):
                return
            self._stop()
            self._fault = None
            if settings.is_on:
                from desktop_rag.serve.server import LocalServer

                server = LocalServer(self._served, settings)
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
        with self._lock:
            self._stop()

    def _stop(self) -> None:
        # Off for those who ask for its address, before it is.
        server, self._server = self._server, None
        if server:
            server.stop()
        self._settings = ServerSettings()
