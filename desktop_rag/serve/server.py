"""The local server: uvicorn in a thread of its own with its own event loop. Any thread."""

import asyncio
import ipaddress
import logging
import ssl
import threading
from collections.abc import Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING

import uvicorn

from desktop_rag.core.settings import ServerSettings
from desktop_rag.serve.access.access_rules import AccessRules
from desktop_rag.serve.access.authority import Authority
from desktop_rag.serve.access.rate_limit import RateLimits
from desktop_rag.serve.access.rights_address import RightsAddress
from desktop_rag.serve.access.token_book import TokenBook
from desktop_rag.serve.access.token_uses import TokenUses
from desktop_rag.serve.access.user_rights import UserRights
from desktop_rag.serve.filters.filter_chain import FilterChain, NamedFilter
from desktop_rag.serve.filters.own_filters import own_filters
from desktop_rag.serve.filters.request_log import RequestLog
from desktop_rag.serve.filters.standard_filters import LogFilter, standard_chain
from desktop_rag.serve.guards.hosts import Addresses
from desktop_rag.serve.guards.paced_protocol import PacedProtocol
from desktop_rag.serve.mcp_server.mcp_over_http import MCPOverHTTP
from desktop_rag.serve.model_names import ModelNames
from desktop_rag.serve.network.certificates import server_tls
from desktop_rag.serve.network.listening import listening
from desktop_rag.serve.program_answers import Answers
from desktop_rag.serve.served import Served
from desktop_rag.serve.serving import Serving
from desktop_rag.serve.source_links import SourceLinks
from desktop_rag.serve.web_app import web_app
from desktop_rag.serve.worker_events import MOST_ANSWERS, Workers

if TYPE_CHECKING:
    import socket

log = logging.getLogger(__name__)

# What an open socket can't change; everything else holds from the next request on.
NEEDS_RESTART = ("host", "port", "certificate", "certificate_key")
_MOST_CONNECTIONS = 512
_MOST_HEADER_BYTES = 64 * 1024
# Streams that are still open at the end are cut after this long.
_GRACE_S = 3


class LocalServer:
    """Serves the library to other programs, from `start` to `stop`."""

    def __init__(self, served: Served, settings: ServerSettings) -> None:
        self._served = served
        self._settings = settings
        self._socket: socket.socket | None = None
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None
        self._workers: Workers | None = None
        self._chain = FilterChain()
        self.tokens = TokenBook(served.home.tokens)

    @property
    def is_running(self) -> bool:
        """True between `start` and `stop`."""
        return self._thread is not None

    @property
    def port(self) -> int:
        """The port it listens on; it may not be the one of the settings, which was taken."""
        assert self._socket is not None, "it runs"
        return self._socket.getsockname()[1]

    @property
    def address(self) -> str:
        """How others reach it, or programs on this computer: `http://127.0.0.1:8642`."""
        if public := self._settings.public_address:
            return public.rstrip("/")
        host = self._settings.host
        shown = "127.0.0.1" if is_every_address(host) else host
        return f"{self._scheme}://{f'[{shown}]' if ':' in shown else shown}:{self.port}"

    @property
    def _scheme(self) -> str:
        return "https" if self._settings.certificate else "http"

    def start(self) -> None:
        """Listen and serve. AppError when it can't listen, or the certificate or a filter can't be
        used.
        """
        tls = server_tls(self._settings)
        own = own_filters(self._settings.filters)
        self._socket = listening(self._settings)
        started = threading.Event()
        self._thread = threading.Thread(
            target=self._run, args=(tls, own, started), name="local-server", daemon=True
        )
        self._thread.start()
        started.wait()

    def change(self, settings: ServerSettings) -> bool:
        """Work with these from the next request on; answers and logins under way go on.

        False, with nothing changed, when it has to start anew for them: the address, the port and
        TLS belong to the open socket. AppError, with nothing changed, when a filter can't be used.
        """
        if any(getattr(settings, name) != getattr(self._settings, name) for name in NEEDS_RESTART):
            return False
        if settings.filters != self._settings.filters:
            self._chain.replace_own(own_filters(settings.filters))
        self._settings = settings
        return True

    def stop(self) -> None:
        """Stop listening, cut open streams, and wait for the end of what is under way."""
        if self._thread is None:
            return
        if self._workers:
            self._workers.stop()
        if self._server:
            self._server.should_exit = True
        self._thread.join()
        if self._workers:
            self._workers.close()
        if self._socket:
            self._socket.close()
        self._thread = self._server = self._workers = None

    def _run(
        self, tls: ssl.SSLContext | None, own: Sequence[NamedFilter], started: threading.Event
    ) -> None:
        async def serve() -> None:
            self._workers = Workers()
            serving = self._serving(self._workers, own)
            mcp = MCPOverHTTP(serving, version("desktop-rag"))
            self._server = uvicorn.Server(self._config(serving, mcp, tls))
            started.set()
            assert self._socket is not None, "it was opened before"
            async with mcp.running():
                # Not `serve`, which takes over the signals of the process.
                await self._server._serve([self._socket])  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]

        try:
            asyncio.run(serve())
        finally:
            started.set()

    def _config(
        self, serving: Serving, mcp: MCPOverHTTP, tls: ssl.SSLContext | None
    ) -> uvicorn.Config:
        config = uvicorn.Config(
            web_app(serving, mcp, self._addresses),
            http=PacedProtocol,
            ws="none",
            loop="asyncio",
            lifespan="off",
            log_config=None,
            # What it warns of is what clients do wrong.
            log_level="error",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            limit_concurrency=_MOST_CONNECTIONS,
            h11_max_incomplete_event_size=_MOST_HEADER_BYTES,
            timeout_graceful_shutdown=_GRACE_S,
        )
        if tls:
            config.load()
            config.ssl = tls
        return config

    def _addresses(self) -> Addresses:
        settings = self._settings
        return Addresses(self._scheme, self.port, settings.host_names, settings.public_address)

    def _serving(self, workers: Workers, own: Sequence[NamedFilter]) -> Serving:
        chat, library = self._served.chat, self._served.library
        limits = RateLimits(MOST_ANSWERS)
        authority = Authority(self.tokens, limits, lambda: self._settings.origins)
        uses = TokenUses(self._served.home.token_uses)
        requests = RequestLog(self._served.home.requests)
        log = LogFilter(requests, lambda: self._settings.logs_text)
        rules = AccessRules(self._served.home.access_rules)
        rights = UserRights(rules, library, RightsAddress())
        self._chain = standard_chain(authority, rights, uses, limits, log, own)
        return Serving(
            chat,
            library,
            self._served.embedder,
            authority,
            rules,
            rights,
            self._chain,
            SourceLinks(self._served.home.link_key, lambda: self.address),
            ModelNames(chat, library, lambda: self._settings.exposes_models),
            Answers(chat, self._chain),
            workers,
            self.tokens,
            uses,
            requests,
            self._served.activity,
            lambda: self._settings,
        )


def is_every_address(host: str) -> bool:
    """True for `0.0.0.0` and `::`, which listen on every address of the computer."""
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False


def is_loopback(host: str) -> bool:
    """True for an address that only this computer reaches."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def exposure(settings: ServerSettings) -> str:
    """What these settings expose, in words; "" for this computer alone."""
    if is_loopback(settings.host):
        return ""
    where = "every network of this computer" if is_every_address(settings.host) else settings.host
    how = "" if settings.certificate else " Without a certificate, everyone on the way can read it."
    return f"Whoever reaches {where} and has a token can ask your documents and read them.{how}"
