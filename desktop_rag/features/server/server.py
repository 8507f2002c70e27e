"""The local server: uvicorn in a thread with its own event loop, its routes, pages of sources."""

import asyncio
import ipaddress
import logging
import ssl
import threading
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from desktop_rag.cli.verb_table import answered_verbs
from desktop_rag.core.domain import Document, DocumentState
from desktop_rag.core.errors import AppError
from desktop_rag.core.settings import ServerSettings
from desktop_rag.features.server.access.access_rules import AccessRules
from desktop_rag.features.server.access.access_tokens import TokenBook, TokenUses
from desktop_rag.features.server.access.callers import Authority, RateLimits
from desktop_rag.features.server.access.provider_login import ProviderLogin
from desktop_rag.features.server.access.rights_address import RightsAddress
from desktop_rag.features.server.access.sessions import Sessions
from desktop_rag.features.server.access.user_rights import UserRights
from desktop_rag.features.server.admin.admin_routes import AdminRoutes
from desktop_rag.features.server.filters.filter_chain import (
    FilterChain,
    FilteredApp,
    NamedFilter,
    own_filters,
)
from desktop_rag.features.server.filters.standard_filters import (
    AuthoriseFilter,
    LogFilter,
    RequestLog,
    standard_chain,
)
from desktop_rag.features.server.guards.request_guard import Addresses, PacedProtocol, RequestGuard
from desktop_rag.features.server.html_writer import document as html_document
from desktop_rag.features.server.html_writer import tag
from desktop_rag.features.server.mcp_server.library_mcp import MCPOverHTTP
from desktop_rag.features.server.model_names import ModelNames
from desktop_rag.features.server.network.certificates import listening, server_tls
from desktop_rag.features.server.openai_api.openai_calls import OpenAICalls
from desktop_rag.features.server.operations import operations_of, routes_of
from desktop_rag.features.server.program_answers import Answers
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.features.server.responses import refused, text_route, web_file
from desktop_rag.features.server.rest.rest_routes import RestRoutes
from desktop_rag.features.server.serving import NEEDS_RESTART, LinkedPassage, Serving, SourceLinks
from desktop_rag.features.server.widget.own_pages import OwnPages
from desktop_rag.features.server.widget.widget_routes import WidgetRoutes
from desktop_rag.features.server.worker_events import MOST_ANSWERS, Workers
from desktop_rag.kept_endpoints import KeptEndpoints

if TYPE_CHECKING:
    import socket

    from desktop_rag.app import Services

log = logging.getLogger(__name__)

_AROUND_CHARS = 4_000
_NOT_FOUND = 404
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
}
_GONE = "This link has expired, or the document is no longer in the library."

_CHAT = ("/chat", "Ask, after a login.")
_PLACES = (
    ("/admin", "Look after it: collections, assistants, tokens. Needs a token for everything."),
    ("/api/docs", "For programs: collections, documents, search, answers with sources."),
)
_OPENAI = "For programs that speak OpenAI's API: /v1, with a token as the key."


class SourcePages:
    """Shows what answers here, and the passage behind a valid link in the text around it.

    All text is escaped.
    """

    def __init__(self, serving: Serving) -> None:
        self._serving = serving

    def routes(self) -> list[Route]:
        """The pages and their style."""
        path = "/source/{keeper}/{document_id}/{start:int}-{end:int}/{expires_at:int}"
        return [
            text_route("/", self._front_page, "text/html", _HEADERS),
            text_route("/source.css", partial(web_file, "source.css"), "text/css"),
            Route(path, self._page, methods=["GET"]),
        ]

    def _front_page(self) -> str:
        people = [_CHAT] if self._serving.login.is_set else []
        places = [
            tag("li", tag("a", path, href=path), f" {said}") for path, said in (*people, *_PLACES)
        ]
        body = tag(
            "body",
            tag("h1", "desktop-rag"),
            tag("p", "Answers questions from a library of documents, with their sources."),
            tag("ul", *places, tag("li", _OPENAI)),
        )
        return html_document("desktop-rag", body, stylesheet="/source.css")

    async def _page(self, request: Request) -> Response:
        passage = LinkedPassage(**request.path_params)
        signature = request.query_params.get("s", "")
        read = partial(self._read, passage, signature)
        found = await self._serving.workers.call(read)
        if found is None:
            return PlainTextResponse(_GONE, _NOT_FOUND)
        document, text = found
        return HTMLResponse(_html(document, text, passage), headers=_HEADERS)

    def _read(self, passage: LinkedPassage, signature: str) -> tuple[Document, str] | None:
        """The document and its text; None for a link that is not valid, or no longer."""
        serving = self._serving
        if not serving.links.is_valid(passage, signature):
            return None
        token_id, _, user = passage.keeper.partition("~")
        token = serving.tokens.valid(token_id)
        document = serving.library.documents.get(passage.document_id)
        if token is None or document is None or document.state is DocumentState.GONE:
            return None
        sources = {s.source_id: s.collection_id for s in serving.library.sources.all()}
        collection_id = sources.get(document.source_id, "")
        if not serving.rights.may_follow(token, user, collection_id):
            return None
        return document, serving.library.documents.text(passage.document_id)


def _html(document: Document, text: str, passage: LinkedPassage) -> str:
    start, end = max(0, passage.start), min(len(text), passage.end)
    first, last = max(0, start - _AROUND_CHARS), end + _AROUND_CHARS
    before, marked, after = text[first:start], text[start:end], text[end:last]
    name = document.title or document.name
    lead, trail = "… " if first else "", " …" if last < len(text) else ""
    body = tag(
        "body",
        tag("h1", name),
        tag("p", document.address or f"{document.path}", class_="path"),
        tag("pre", lead, before, tag("mark", marked), after, trail),
    )
    return html_document(name, body, stylesheet="/source.css")


_UNAVAILABLE = 503
_CLIENT_LEFT = 499


def web_app(serving: Serving, mcp: MCPOverHTTP, addresses: Callable[[], Addresses]) -> ASGIApp:
    """The server as one ASGI application behind the guard; `mcp` must run while it is used."""

    async def ready(_request: Request) -> Response:
        await serving.workers.call(serving.library.collections.all)
        return JSONResponse({"status": "ready"})

    routes = [
        Route("/health", _health, methods=["GET"]),
        Route("/ready", ready, methods=["GET"]),
        *routes_of(serving, operations_of(OpenAICalls(serving))),
        *RestRoutes(serving).routes(),
        *SourcePages(serving).routes(),
        *WidgetRoutes(serving).routes(),
        *OwnPages(serving, addresses).routes(),
        *mcp.routes(),
        *AdminRoutes(serving, addresses).routes(),
    ]
    faults = (Refusal, AppError, HTTPException, ClientDisconnect, Exception)
    app = Starlette(routes=routes, exception_handlers=dict.fromkeys(faults, _on_fault))
    app.router.redirect_slashes = False
    guard = RequestGuard(app, addresses, serving.authority.allowed_origins)
    return FilteredApp(guard, serving.chain, serving.workers)


async def _health(_request: Request) -> Response:
    return JSONResponse({"status": "ok"})


async def _on_fault(request: Request, fault: Exception) -> Response:
    match fault:
        case Refusal():
            return refused(fault)
        case AppError():
            return refused(Refusal.of_error(fault, _UNAVAILABLE))
        case HTTPException():
            response = refused(Refusal(fault.status_code, fault.detail))
            response.headers.update(fault.headers or {})
            return response
        case ClientDisconnect():
            # It left while its body was read: nobody gets this.
            return Response(status_code=_CLIENT_LEFT)
        case _:
            # The path only: a query may hold the signature of a link.
            log.error("a request to %s failed", request.scope["path"], exc_info=fault)
            return refused(Refusal(500, "The app made a mistake. Its log says more."))


_MOST_CONNECTIONS = 512
_MOST_HEADER_BYTES = 64 * 1024
# Clients and proxies end an idle connection after 5 to 60 s. Ended here at the same moment, it
# would lose their next request.
_KEPT_OPEN_S = 75
# Streams that are still open at the end are cut after this long.
_GRACE_S = 3


class LocalServer:
    """Serves the library to other programs, from `start` to `stop`. Any thread."""

    def __init__(self, services: "Services", settings: ServerSettings) -> None:
        self._services = services
        self._settings = settings
        self._socket: socket.socket | None = None
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None
        self._workers: Workers | None = None
        self._chain = FilterChain()
        self.tokens = TokenBook(services.home.tokens)

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
        """Listen and serve. AppError when it can't, or can't use the certificate or a filter."""
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
            # Its warnings are about faults of clients.
            log_level="error",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=_KEPT_OPEN_S,
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
        services = self._services
        home, chat, library = services.home, services.chat, services.library

        def verb_of(name: str) -> Callable[[dict[str, Any]], Any] | None:
            verb = answered_verbs().get(name)
            return verb and partial(verb, services)

        limits = RateLimits(MOST_ANSWERS)
        authority = Authority(self.tokens, limits, lambda: self._settings.origins)
        uses = TokenUses(home.token_uses)
        requests = RequestLog(home.requests)
        log = LogFilter(requests, lambda: self._settings.logs_text)
        rules = AccessRules(home.access_rules)
        rights = UserRights(rules, library, RightsAddress())
        sessions = Sessions(self.tokens.valid, self.port)
        authorise = AuthoriseFilter(authority, rights, uses, limits, sessions)
        self._chain = standard_chain(authorise, limits, log, own)
        return Serving(
            home.root, chat, library, services.embedders.embedder, authority, rules, rights,
            sessions, ProviderLogin(lambda: self._settings, self.tokens), self._chain,
            SourceLinks(home.link_key, lambda: self.address),
            ModelNames(chat, library, lambda: self._settings.exposes_models),
            Answers(chat, self._chain), workers, self.tokens, uses, requests,
            services.activity, KeptEndpoints(chat.models, services.settings_changes),
            lambda: self._settings, verb_of,
        )  # fmt: skip


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
