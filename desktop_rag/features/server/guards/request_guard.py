"""The outermost layer of the server: what every request has to pass before a route sees it.

The server's thread. It trusts nothing that the client says about itself: the path comes from the
scope, and a host or origin that is not on the list is turned away before anything is read.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from desktop_rag.features.server.access.callers import Exchange
from desktop_rag.features.server.guards.hosts import Addresses, origin_of
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.features.server.responses import refused

_ALWAYS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
_EXPOSED = b"Retry-After"
_NOT_STORED = (b"cache-control", b"no-store")
_METHODS = b"GET, POST, PUT, PATCH, DELETE"
_HEADERS = (
    b"authorization, content-type, x-desktop-rag-sources, x-desktop-rag-user, "
    b"mcp-protocol-version, mcp-session-id"
)
_PREFLIGHT_AGE_S = b"600"


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """Bounds of one request. A client that sends or reads too slowly is cut off."""

    body_bytes: int = 8 * 1024 * 1024
    body_s: float = 30.0
    send_s: float = 30.0


class RequestGuard:
    """Checks host, origin, size and pace, and adds the headers that browsers obey."""

    def __init__(
        self,
        app: ASGIApp,
        addresses: Callable[[], Addresses],
        origins: Callable[[], Iterable[str]],
        limits: RequestLimits | None = None,
    ) -> None:
        """`addresses` are those of the server now; `origins` gives the web origins that may use it
        now, beside its own.
        """
        self._app = app
        self._addresses = addresses
        self._origins = origins
        self._limits = limits or RequestLimits()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers, addresses = scope["headers"], self._addresses()
        if not addresses.accepts_host(headers):
            await refused(Refusal(421, "This server is not asked by that name."))(
                scope, receive, send
            )
            return
        origin = origin_of(headers)
        is_foreign = origin is not None and not addresses.is_own(origin)
        if is_foreign and origin not in set(self._origins()):
            await refused(Refusal(403, "This origin is not on the list."))(scope, receive, send)
            return
        allowed = origin if is_foreign else None
        Exchange.of(scope).origin = allowed or ""
        # What is too long to be read would be taken for the next requests.
        is_last = _declared(headers) > self._limits.body_bytes
        sending = self._sending(send, allowed, is_last=is_last)
        if scope["method"] == "OPTIONS":
            await _answer_preflight(sending, allowed)
            return
        try:
            await self._app(scope, self._receiving(headers, receive), sending)
        except Refusal as refusal:
            # From the body, while a route was reading it.
            await refused(refusal)(scope, receive, sending)

    def _receiving(self, headers: Iterable[tuple[bytes, bytes]], receive: Receive) -> Receive:
        most, state = self._limits.body_bytes, {"bytes": 0, "is_read": False}
        declared = _declared(headers)

        async def limited() -> Message:
            if declared > most:
                raise _too_large(most)
            if state["is_read"]:
                return await receive()
            try:
                async with asyncio.timeout(self._limits.body_s):
                    message = await receive()
            except TimeoutError:
                raise Refusal(408, "The request came too slowly.") from None
            if message["type"] == "http.request":
                state["bytes"] += len(message.get("body", b""))
                state["is_read"] = not message.get("more_body", False)
                if state["bytes"] > most:
                    raise _too_large(most)
            return message

        return limited

    def _sending(self, send: Send, origin: str | None, *, is_last: bool) -> Send:
        async def limited(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = _completed(message.get("headers", ()), origin)
                if is_last:
                    message["headers"].append((b"connection", b"close"))
            # A client that reads nothing holds an answer up for ever.
            async with asyncio.timeout(self._limits.send_s):
                await send(message)

        return limited


def _declared(headers: Iterable[tuple[bytes, bytes]]) -> int:
    """The length of the body as the client says it, 0 where it doesn't."""
    given = [value for name, value in headers if name == b"content-length"]
    return int(given[0]) if given and given[0].isdigit() else 0


def _completed(
    headers: Collection[tuple[bytes, bytes]], origin: str | None
) -> list[tuple[bytes, bytes]]:
    # A route may say otherwise, as the files do that pages of others load.
    said = {name for name, _ in headers}
    complete = [*headers, *(each for each in (*_ALWAYS, _NOT_STORED) if each[0] not in said)]
    if origin is not None:
        complete.append((b"access-control-allow-origin", origin.encode("latin-1")))
        complete.append((b"access-control-expose-headers", _EXPOSED))
        complete.append((b"vary", b"Origin"))
    return complete


async def _answer_preflight(send: Send, origin: str | None) -> None:
    headers: list[tuple[bytes, bytes]] = [(b"content-length", b"0")]
    if origin is not None:
        headers += [
            (b"access-control-allow-methods", _METHODS),
            (b"access-control-allow-headers", _HEADERS),
            (b"access-control-max-age", _PREFLIGHT_AGE_S),
        ]
    await send({"type": "http.response.start", "status": 204, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


def _too_large(most: int) -> Refusal:
    return Refusal(413, f"The request is larger than {most:,} bytes.", code="too_large")
