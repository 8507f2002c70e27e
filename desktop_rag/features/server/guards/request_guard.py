"""The outermost layer of the server: what every request has to pass before a route sees it.

The server's thread. It trusts nothing that the client says about itself: the path comes from the
scope, and a host or origin that is not on the list is turned away before anything is read.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import h11
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from desktop_rag.features.server.access.callers import Exchange
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.features.server.responses import refused

if TYPE_CHECKING:
    from asyncio import Transport

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_DEFAULT_PORTS = {"http": 80, "https": 443}
Headers = Iterable[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Addresses:
    """The names that a request may ask for, against DNS rebinding; `names` are added to loopback's.

    `public` is the address that others use: its host is accepted as is, and its pages are our own.
    """

    scheme: str
    port: int
    names: tuple[str, ...] = ()
    public: str = ""

    def accepts_host(self, headers: Headers) -> bool:
        """True when there is exactly one Host header, with a name and the port of the server."""
        given = _values(headers, b"host")
        return len(given) == 1 and given[0].lower() in self._hosts()

    def is_own(self, origin: str) -> bool:
        """True when a page of this server sent the request."""
        scheme, _, host = origin.lower().partition("://")
        if (scheme, host) == self._public:
            return True
        return scheme == self.scheme and host in self._hosts() - {self._public[1]}

    def scheme_for(self, host: str) -> str:
        """The scheme by which a browser asked this host: a proxy may speak https for us."""
        scheme, public = self._public
        return scheme if host.lower() == public else self.scheme

    def _hosts(self) -> frozenset[str]:
        names = [name.lower() for name in (*_LOOPBACK, *self.names)]
        hosts = [f"{name}:{self.port}" for name in names]
        if self.port == _DEFAULT_PORTS[self.scheme]:
            hosts += names
        return frozenset(hosts + ([self._public[1]] if self.public else []))

    @property
    def _public(self) -> tuple[str, str]:
        scheme, _, rest = self.public.lower().partition("://")
        return scheme, rest.partition("/")[0]


def origin_of(headers: Headers) -> str | None:
    """The Origin header, None without one; "null" also where there are several."""
    given = _values(headers, b"origin")
    if not given:
        return None
    return given[0] if len(given) == 1 else "null"


def _values(headers: Headers, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in headers if key.lower() == name]


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
_OTHER_NAME = (
    "This server is not asked by that name. Whoever runs it adds names with --host-name, or with"
    " --public-address where a proxy stands before it."
)


_MOST_BYTES = 8 * 1024 * 1024
# A client that sends or reads too slowly is cut off.
_READ_S = 30.0
_SEND_S = 30.0


class RequestGuard:
    """Checks host, origin, size and pace, and adds the headers that browsers obey."""

    def __init__(
        self, app: ASGIApp, addresses: Callable[[], Addresses], origins: Callable[[], Iterable[str]]
    ) -> None:
        """Gets the server's current `addresses`, and the web `origins` allowed beside its own."""
        self._app = app
        self._addresses = addresses
        self._origins = origins

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
            await refused(Refusal(421, _OTHER_NAME, code="wrong_host"))(scope, receive, send)
            return
        origin = origin_of(headers)
        is_foreign = origin is not None and not addresses.is_own(origin)
        if is_foreign and origin not in set(self._origins()):
            await refused(Refusal(403, "This origin is not on the list."))(scope, receive, send)
            return
        allowed = origin if is_foreign else None
        Exchange.of(scope).origin = allowed or ""
        # The unread rest of a long body would be taken for further requests.
        is_last = _declared(headers) > _MOST_BYTES
        sending = _sending(send, allowed, is_last=is_last)
        if scope["method"] == "OPTIONS":
            await _answer_preflight(sending, allowed)
            return
        try:
            await self._app(scope, _receiving(headers, receive), sending)
        except Refusal as refusal:
            # From the body, while a route was reading it.
            await refused(refusal)(scope, receive, sending)


def _receiving(headers: Headers, receive: Receive) -> Receive:
    state = {"bytes": 0, "is_read": False}
    declared = _declared(headers)

    async def limited() -> Message:
        if declared > _MOST_BYTES:
            raise _too_large()
        if state["is_read"]:
            return await receive()
        try:
            async with asyncio.timeout(_READ_S):
                message = await receive()
        except TimeoutError:
            raise Refusal(408, "The request came too slowly.") from None
        if message["type"] == "http.request":
            state["bytes"] += len(message.get("body", b""))
            state["is_read"] = not message.get("more_body", False)
            if state["bytes"] > _MOST_BYTES:
                raise _too_large()
        return message

    return limited


def _sending(send: Send, origin: str | None, *, is_last: bool) -> Send:
    async def limited(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = _completed(message.get("headers", ()), origin)
            if is_last:
                message["headers"].append((b"connection", b"close"))
        # A client that reads nothing holds an answer up for ever.
        async with asyncio.timeout(_SEND_S):
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


def _too_large() -> Refusal:
    said = f"The request is larger than {_MOST_BYTES:,} bytes."
    return Refusal(413, said, code="too_large")


# From the connection to the end of the headers.
_HEADERS_S = 10.0
# From a response to the end of an unread body.
_BODY_S = 30.0


class PacedProtocol(H11Protocol):
    """Closes connections with late first headers, or a body that goes on long after its response.

    uvicorn limits the pause between two requests, but not how long one may take to arrive.
    """

    def connection_made(self, transport: "Transport") -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Begin to wait for the headers."""
        super().connection_made(transport)
        loop = asyncio.get_running_loop()
        self._waiting = loop.call_later(_HEADERS_S, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._waiting.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Wait for the rest of the body, without which no other request can follow."""
        cycle = self.cycle
        super().on_response_complete()
        if cycle.more_body and not self.transport.is_closing():
            self._waiting.cancel()
            loop = asyncio.get_running_loop()
            self._waiting = loop.call_later(_BODY_S, self._give_up_body, cycle)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP; after the last response of a connection there is no other."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.close()

    def _give_up_body(self, cycle: RequestResponseCycle) -> None:
        # The cycle isn't told of a body that came after its response; another is a later request.
        if self.cycle is cycle and self.conn.their_state is h11.SEND_BODY:
            self.transport.close()

    def _give_up(self) -> None:
        has_request = cast("object", self.cycle) is not None
        if not has_request:
            self.transport.close()
