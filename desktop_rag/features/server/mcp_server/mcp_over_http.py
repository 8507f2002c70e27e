"""MCP over streamable HTTP, at `/mcp` of the local server. The server's thread."""

from contextlib import AbstractAsyncContextManager
from contextvars import ContextVar
from functools import partial
from typing import Any

from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from desktop_rag.features.server.access.callers import Caller
from desktop_rag.features.server.library_calls import LibraryCalls
from desktop_rag.features.server.mcp_server.library_mcp import LibraryMCP
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.features.server.responses import refused
from desktop_rag.features.server.serving import Serving

# Who sent the request that a tool is called for. Requests share no session, so none is mixed up.
_caller: ContextVar[Caller] = ContextVar("caller")


class MCPOverHTTP:
    """Lets requests with a valid token through to the MCP server."""

    def __init__(self, serving: Serving, version: str) -> None:
        self._serving = serving
        calls = LibraryCalls(serving.chat, serving.library, serving.links.link, serving.chain)
        server = LibraryMCP(partial(_run, calls), version)
        # The guard has looked at host and origin already, by a stricter rule.
        checks = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        server.streamable_http_app(stateless_http=True, transport_security=checks)
        self._sessions = server.session_manager

    def running(self) -> AbstractAsyncContextManager[None]:
        """The time in which requests are answered."""
        return self._sessions.run()

    def routes(self) -> list[Route]:
        """The one route of the transport."""
        return [Route("/mcp", _Handler(self), methods=["GET", "POST", "DELETE"])]

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request of somebody with a valid token."""
        request = Request(scope, receive)
        try:
            caller = await self._serving.caller(request)
        except Refusal as refusal:
            await refused(refusal)(scope, receive, send)
            return
        _caller.set(caller)
        await self._sessions.handle_request(scope, receive, send)


class _Handler:
    """An ASGI application: a route takes a bound method for a function of requests."""

    def __init__(self, endpoint: MCPOverHTTP) -> None:
        self._endpoint = endpoint

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._endpoint.handle(scope, receive, send)


def _run(calls: LibraryCalls, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    caller = _caller.get(None)
    if caller is None:
        raise Refusal(401, "Nobody is known to have sent this.")
    return calls.call(caller, name, arguments)
