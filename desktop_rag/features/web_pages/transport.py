"""The only way to the web; it connects to public addresses, and to hosts of the local network that
a collection allows. Runs on the thread that asks.

A host name is resolved once per connection. All of its addresses must be allowed, and the
connection goes to one of exactly these, so a name that changes a moment later (DNS rebinding) gains
nothing. Redirects are not followed here: each is a new request with the same checks.

System proxies are not used: a proxy resolves names itself, so its target could not be checked.
Cookies are neither stored nor sent.
"""

import ipaddress
import socket
import ssl
import threading
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

import httpcore2

from desktop_rag.core.errors import Cancelled
from desktop_rag.features.web_pages.intranet_hosts import NO_HOSTS, IntranetHosts
from desktop_rag.features.web_pages.page_address import (
    Address,
    PageRefused,
    RefusalKind,
    host_of,
    is_public,
    port_of,
    target_of,
)
from desktop_rag.models.endpoints.client.interruptible_sockets import (
    POLL_S,
    InterruptibleBackend,
    Interruption,
    SocketStream,
)

_KEEPALIVE_S = 10.0
_CONNECT_S = 10.0
_GZIP_WINDOW = 31
_ONLINE_HINT = "Check the address, and whether this computer is online."

IsAllowed = Callable[[Address], bool]
# (host, port) → its addresses as text; OSError when there are none.
Resolve = Callable[[str, int], Sequence[str]]


def resolve_host(host: str, port: int) -> list[str]:
    """The addresses of a host from the system resolver; OSError when there are none."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class WebTransport:
    """Connections to the web with a short keep-alive. Used by one thread; must be closed."""

    def __init__(
        self,
        cancel: threading.Event,
        *,
        is_allowed: IsAllowed = is_public,
        intranet: IntranetHosts = NO_HOSTS,
        resolve: Resolve = resolve_host,
    ) -> None:
        """Setting `cancel` ends a running request with Cancelled.

        An address must be allowed by itself or, for the host that was asked for, by `intranet`.
        """
        self._cancel = cancel
        self._interruption = Interruption()
        self._tls = httpcore2.default_ssl_context()
        self._backend = _GuardedBackend(self._interruption, is_allowed, intranet, resolve)
        self._pool = httpcore2.ConnectionPool(
            ssl_context=self._tls,
            max_connections=4,
            max_keepalive_connections=2,
            keepalive_expiry=_KEEPALIVE_S,
            network_backend=self._backend,
        )

    @contextmanager
    def request(
        self,
        url: str,
        headers: Mapping[str, str],
        seconds: float,
        method: str = "GET",
        content: bytes = b"",
    ) -> Generator["WebResponse"]:
        """Request a normalised address; the body can be read inside the context.

        `seconds` covers everything, including the body.

        Raises:
            PageRefused: when the address is not allowed, or the response is unusable.
            Cancelled: soon after `cancel` was set.
        """
        host = host_of(url)
        request = httpcore2.Request(
            method,
            _core_url(url),
            headers=[("Host", _core_host(url)), *headers.items()],
            content=content or None,
            extensions={"timeout": _timeouts(seconds)},
        )
        with self.within(host, seconds):
            response = self._pool.handle_request(request)
            try:
                yield WebResponse(url, response.status, _header_texts(response), response)
            finally:
                response.close()

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()

    def open_stream(self, host: str, port: int, *, is_encrypted: bool) -> SocketStream:
        """A connection of its own, for another protocol; used and closed inside `within`."""
        stream = self._backend.connect_tcp(host, port)
        return stream.start_tls(self._tls, host, _CONNECT_S) if is_encrypted else stream

    @contextmanager
    def within(self, host: str, seconds: float) -> Generator[None]:
        """Let what is sent and received in the context take so long; raises as `request` does."""
        try:
            with self._interruption.by(self._cancel, after_s=seconds):
                yield
        except Cancelled as exc:
            if self._cancel.is_set():
                raise
            raise _too_slow(host) from exc
        except httpcore2.TimeoutException as exc:
            raise _too_slow(host) from exc
        except httpcore2.ConnectError as exc:
            raise _no_connection(host, exc) from exc
        except (httpcore2.NetworkError, httpcore2.ProtocolError) as exc:
            raise PageRefused(
                RefusalKind.FAILING, f"{host} ended the connection in the middle of its answer."
            ) from exc


@dataclass(frozen=True, slots=True)
class WebResponse:
    """A response before its body; header names are lower case."""

    url: str
    status: int
    headers: Mapping[str, str]
    response: httpcore2.Response

    def read(self, max_bytes: int, *, truncates: bool = False) -> bytes:
        """The decompressed body. Beyond `max_bytes` it is refused, or truncated if `truncates`.

        Raises PageRefused, also for an incomplete body.
        """
        pieces: list[bytes] = []
        size = 0
        for piece in self.stream(max_bytes):
            pieces.append(piece)
            size += len(piece)
            if size > max_bytes:
                break
        if size > max_bytes and not truncates:
            raise PageRefused(
                RefusalKind.UNFIT, f"The page is larger than {_shown_size(max_bytes)}."
            )
        return b"".join(pieces)[:max_bytes]

    def stream(self, max_bytes: int) -> Iterator[bytes]:
        """The decompressed body in pieces; PageRefused for a damaged or incomplete one.

        A piece may hold `max_bytes` and one, the sum may be longer.
        """
        encoding = self.headers.get("content-encoding", "").strip().lower()
        received = self.response.iter_stream()
        if encoding in {"", "identity"}:
            return received
        if encoding in {"gzip", "x-gzip"}:
            return _inflated(received, max_bytes)
        raise PageRefused(
            RefusalKind.FAILING, "The page comes packed in a way that was not asked for."
        )


class _GuardedBackend(httpcore2.NetworkBackend):
    """Opens sockets to allowed addresses only; every connection passes through here."""

    def __init__(
        self,
        interruption: Interruption,
        is_allowed: IsAllowed,
        intranet: IntranetHosts,
        resolve: Resolve,
    ) -> None:
        self._interruption = interruption
        self._is_allowed = is_allowed
        self._intranet = intranet
        self._resolve = resolve
        self._sockets = InterruptibleBackend(interruption)

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> SocketStream:
        """Connect to the first address of the host that answers; all share the timeout."""
        addresses = self._addresses(host, port)
        if not addresses:
            raise httpcore2.ConnectError(socket.gaierror("no address"))
        if not all(
            self._is_allowed(address) or self._intranet.allows(host, port, address)
            for address in addresses
        ):
            raise PageRefused(
                RefusalKind.BLOCKED,
                f"{host} is not on the public internet.",
                "Pages are fetched from public addresses, and from hosts of the local network that"
                " the collection allows.",
            )
        share_s = (timeout or _CONNECT_S) / len(addresses)
        failure: Exception = httpcore2.ConnectError(OSError("no address"))
        for address in addresses:
            try:
                return self._sockets.connect_tcp(str(address), port, share_s)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as exc:
                failure = exc
        raise failure

    def _addresses(self, host: str, port: int) -> list[Address]:
        try:
            return [ipaddress.ip_address(host)]
        except ValueError:
            found = self._resolve_host(host, port)
        try:
            return [ipaddress.ip_address(text) for text in found]
        except ValueError as exc:
            raise httpcore2.ConnectError(exc) from exc

    def _resolve_host(self, host: str, port: int) -> Sequence[str]:
        """Resolve on a separate thread, because a blocked resolver cannot be interrupted."""
        answer: SimpleQueue[Sequence[str] | Exception] = SimpleQueue()

        def ask() -> None:
            try:
                answer.put(self._resolve(host, port))
            except (OSError, UnicodeError) as exc:
                answer.put(exc)

        threading.Thread(target=ask, name="web-name", daemon=True).start()
        while True:
            self._interruption.check()
            try:
                found = answer.get(timeout=POLL_S)
            except Empty:
                continue
            if isinstance(found, Exception):
                raise httpcore2.ConnectError(found)
            return found


def _inflated(pieces: Iterable[bytes], max_bytes: int) -> Iterator[bytes]:
    """Decompress gzip in bounded steps: a few bytes can expand to gigabytes."""
    inflater = zlib.decompressobj(_GZIP_WINDOW)
    try:
        for received in pieces:
            data = received
            while data:
                if inflater.eof:
                    inflater = zlib.decompressobj(_GZIP_WINDOW)
                yield inflater.decompress(data, max_bytes + 1)
                data = inflater.unused_data if inflater.eof else inflater.unconsumed_tail
    except zlib.error as exc:
        raise PageRefused(
            RefusalKind.FAILING, "The page comes packed, and the packing is damaged."
        ) from exc
    if not inflater.eof:
        raise PageRefused(RefusalKind.FAILING, "The page was cut off on its way.")


def _core_url(url: str) -> httpcore2.URL:
    scheme = url.partition(":")[0].encode()
    return httpcore2.URL(
        scheme=scheme, host=host_of(url).encode(), port=port_of(url), target=target_of(url).encode()
    )


def _core_host(url: str) -> str:
    return url.partition("://")[2].partition("/")[0].partition("?")[0]


def _timeouts(seconds: float) -> dict[str, float]:
    connect_s = min(_CONNECT_S, seconds)
    return {"connect": connect_s, "pool": connect_s, "read": seconds, "write": seconds}


def _header_texts(response: httpcore2.Response) -> dict[str, str]:
    texts: dict[str, str] = {}
    for raw_name, raw_value in response.headers:
        name, value = raw_name.decode("latin-1").lower(), _text(raw_value).strip()
        if name == "content-encoding" and name in texts:
            value = f"{texts[name]}, {value}"
        elif name in texts:
            continue
        texts[name] = value
    return texts


def _text(value: bytes) -> str:
    # Headers should be ASCII; in practice others are UTF-8.
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _too_slow(host: str) -> PageRefused:
    return PageRefused(RefusalKind.UNREACHABLE, f"{host} did not answer in time.")


def _no_connection(host: str, exc: httpcore2.ConnectError) -> PageRefused:
    cause = exc.args[0] if exc.args else None
    if isinstance(cause, socket.gaierror | UnicodeError):
        return PageRefused(RefusalKind.UNREACHABLE, f"{host} was not found.", _ONLINE_HINT)
    if isinstance(cause, ssl.SSLError):
        return PageRefused(
            RefusalKind.UNREACHABLE,
            f"{host} offers no encryption that can be trusted.",
            str(cause.reason),
        )
    return PageRefused(RefusalKind.UNREACHABLE, f"{host} can't be reached.", _ONLINE_HINT)


def _shown_size(size_bytes: int) -> str:
    megabyte = 1024 * 1024
    return f"{size_bytes // megabyte} MB" if size_bytes >= megabyte else f"{size_bytes:,} bytes"
