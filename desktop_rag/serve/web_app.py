"""The server as one ASGI application: its routes behind the guard. The server's thread."""

import logging
from collections.abc import Callable

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from desktop_rag.core.errors import AppError
from desktop_rag.serve.admin.admin_routes import AdminRoutes
from desktop_rag.serve.filters.filtered_app import FilteredApp
from desktop_rag.serve.guards.hosts import Addresses
from desktop_rag.serve.guards.request_guard import RequestGuard, RequestLimits
from desktop_rag.serve.mcp_server.mcp_over_http import MCPOverHTTP
from desktop_rag.serve.openai_api.routes import OpenAIRoutes
from desktop_rag.serve.passage_pages import SourcePages
from desktop_rag.serve.refusals import Refusal
from desktop_rag.serve.responses import refused
from desktop_rag.serve.rest.rest_routes import RestRoutes
from desktop_rag.serve.serving import Serving
from desktop_rag.serve.widget.widget_routes import WidgetRoutes

log = logging.getLogger(__name__)

_UNAVAILABLE = 503
_CLIENT_LEFT = 499


def web_app(
    serving: Serving,
    mcp: MCPOverHTTP,
    addresses: Callable[[], Addresses],
    limits: RequestLimits | None = None,
) -> ASGIApp:
    """The whole application; `mcp` must be running while it is used."""
    routes = [
        Route("/health", _health, methods=["GET"]),
        *OpenAIRoutes(serving).routes(),
        *RestRoutes(serving).routes(),
        *SourcePages(serving).routes(),
        *WidgetRoutes(serving).routes(),
        *mcp.routes(),
        *AdminRoutes(serving, addresses()).routes(),
    ]
    app = Starlette(
        routes=routes,
        exception_handlers={
            Refusal: _on_refusal,
            AppError: _on_error,
            HTTPException: _on_http_exception,
            ClientDisconnect: _on_left,
            Exception: _on_bug,
        },
    )
    app.router.redirect_slashes = False
    guard = RequestGuard(app, addresses, serving.authority.allowed_origins, limits)
    return FilteredApp(guard, serving.chain, serving.workers)


async def _health(_request: Request) -> Response:
    return JSONResponse({"status": "ok"})


async def _on_refusal(_request: Request, exc: Exception) -> Response:
    assert isinstance(exc, Refusal)
    return refused(exc)


async def _on_error(_request: Request, exc: Exception) -> Response:
    assert isinstance(exc, AppError)
    return refused(Refusal.of_error(exc, _UNAVAILABLE))


async def _on_http_exception(_request: Request, exc: Exception) -> Response:
    assert isinstance(exc, HTTPException)
    response = refused(Refusal(exc.status_code, exc.detail))
    response.headers.update(exc.headers or {})
    return response


async def _on_left(_request: Request, _exc: Exception) -> Response:
    # While its body was read: nobody gets this.
    return Response(status_code=_CLIENT_LEFT)


async def _on_bug(request: Request, exc: Exception) -> Response:
    # The path only: a query may hold the signature of a link.
    log.error("a request to %s failed", request.scope["path"], exc_info=exc)
    return refused(Refusal(500, "The app made a mistake. Its log says more."))
