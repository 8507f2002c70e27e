"""The HTTP client for an endpoint. Runs on the calling thread.

It sends nothing about this computer, uses the system's proxy, follows no redirects, decompresses
bodies and limits their size.
"""

import threading
import urllib.request
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import httpcore2
import httpx2

from desktop_rag.core.errors import AppError
from desktop_rag.core.settings import EndpointSettings
from desktop_rag.models.endpoint_address import (
    has_key_slot,
    host_of,
    is_this_computer,
    normalise_base_url,
    split_address,
)
from desktop_rag.models.endpoints.client.endpoint_errors import CONNECT_TIMEOUT_S
from desktop_rag.models.endpoints.client.endpoint_faults import Fault, StreamError
from desktop_rag.models.endpoints.client.interruptible_sockets import (
    POLL_S,
    InterruptibleBackend,
    Interruption,
)
from desktop_rag.models.endpoints.providers import Auth, ListShape, list_shape_at, provider_at

if TYPE_CHECKING:
    from openai import OpenAI


def proxy_for(base_url: str) -> str:
    """The proxy of system or environment for a normalised address; "" for this computer.

    It may contain a name and a password: never show or log it. Any thread.
    """
    parts = urlsplit(base_url)
    if is_this_computer(base_url) or urllib.request.proxy_bypass(parts.hostname or ""):
        return ""
    proxies = urllib.request.getproxies()
    return proxies.get(parts.scheme) or proxies.get("all") or ""


# Bodies that a server compressed without being asked; in small pieces, as a few bytes may become
# many.
_PIECE_BYTES = 64 * 1024
_MOST_LAYERS = 2
_PLAIN = frozenset({"", "identity"})
_READ = frozenset({"gzip", "x-gzip", "deflate"})
# The first bytes of bodies whose header doesn't say that they are compressed.
_GZIP_START = b"\x1f\x8b\x08"
_ZSTD_START = b"\x28\xb5\x2f\xfd"
# A gzip or zlib header is recognised by zlib; deflate may come without one.
_WITH_HEADER, _BARE = zlib.MAX_WBITS | 32, -zlib.MAX_WBITS

Headers = Sequence[tuple[bytes, bytes]]


def encodings_of(headers: Headers) -> tuple[str, ...]:
    """The compressions of a body in the order they were applied; empty for a plain one."""
    stated = [v.decode("latin-1") for n, v in headers if n.lower() == b"content-encoding"]
    named = (name.strip().lower() for name in ",".join(stated).split(","))
    return tuple(name for name in named if name not in _PLAIN)


def unreadable_encoding(headers: Headers) -> str:
    """The first compression of a body that can't be read; empty when all can."""
    encodings = encodings_of(headers)
    unknown = (name for name in encodings if name not in _READ)
    return "many layers" if len(encodings) > _MOST_LAYERS else next(unknown, "")


def without_encoding(headers: Headers) -> list[tuple[bytes, bytes]]:
    """The headers for the decompressed body."""
    dropped = (b"content-encoding", b"content-length")
    is_plain = not encodings_of(headers)
    return [pair for pair in headers if is_plain or pair[0].lower() not in dropped]


def decoded(parts: Iterable[bytes], encodings: Sequence[str]) -> Iterator[bytes]:
    """The body in pieces of at most 64 KB, read as the caller iterates.

    StreamError when it is not compressed as it says, or in an unknown way without saying so.
    """
    for _ in encodings:
        parts = _inflated(parts)
    yield from parts if encodings else _checked(parts)


def _checked(parts: Iterable[bytes]) -> Iterator[bytes]:
    """A body declared as plain, whose first bytes may prove otherwise."""
    rest = iter(parts)
    first = next((part for part in rest if part), b"")
    if first.startswith(_ZSTD_START):
        raise StreamError(Fault.ENCODED, "zstd")
    whole = _chained(first, rest)
    yield from _inflated(whole) if first.startswith(_GZIP_START) else whole


def _chained(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from rest


def _inflated(parts: Iterable[bytes]) -> Iterator[bytes]:
    inflate = zlib.decompressobj(_WITH_HEADER)
    is_first = True
    for part in parts:
        waiting = part
        while waiting:
            try:
                piece = inflate.decompress(waiting, _PIECE_BYTES)
            except zlib.error as exc:
                if not is_first:
                    raise StreamError(Fault.UNREADABLE) from exc
                is_first, inflate = False, zlib.decompressobj(_BARE)
                continue
            is_first = False
            waiting = inflate.unconsumed_tail
            if piece:
                yield piece


_KEEPALIVE_S = 30.0
_LARGEST_ERROR_BYTES = 64 * 1024
_LARGEST_ANSWER_BYTES = 256 * 1024 * 1024
# All other headers that client libraries add (platform, versions, organisation) are dropped.
_SENT_HEADERS = frozenset(
    b"host accept accept-encoding connection content-type content-length transfer-encoding "
    b"user-agent".split()
)
# Servers that need no key ignore it; the client library requires one.
_NO_KEY = "none"
# A header for our transport, never sent: the path of the list of models, if not the usual one.
LIST_PATH = "desktop-rag-list-path"
_IMPORTING = threading.Lock()


def open_client(endpoint: EndpointSettings, key: str, interruption: Interruption) -> "OpenAI":
    """A client for the endpoint. It connects when first used and must be closed.

    AppError for an address, key or proxy that cannot be used.
    """
    # Two threads that import it at once may each see a part of it.
    with _IMPORTING:
        from openai import OpenAI

    base_url = normalise_base_url(endpoint.base_url)
    key = key.strip()
    if not key.isascii() or not key.isprintable():
        raise StreamError(Fault.ODD_KEY)
    address, query = split_address(base_url, key, endpoint.model)
    timeout = patience(endpoint.timeout_s)
    transport = EndpointTransport(
        open_pool(base_url, interruption),
        query=query,
        headers=_own_headers(base_url, key),
        list_headers=_own_headers(base_url, key, list_shape_at(base_url)),
    )
    http_client = httpx2.Client(
        transport=transport, timeout=timeout, follow_redirects=False, trust_env=False
    )
    return OpenAI(
        base_url=address,
        api_key=_NO_KEY,
        max_retries=0,
        timeout=timeout,
        http_client=http_client,
        default_headers={"User-Agent": "desktop-rag", "Accept-Encoding": "identity"},
    )


def patience(silence_s: float) -> httpx2.Timeout:
    """The limits of a request whose server may be silent for so long."""
    silence_s = max(silence_s, 2 * POLL_S)
    return httpx2.Timeout(silence_s, connect=CONNECT_TIMEOUT_S, pool=CONNECT_TIMEOUT_S)


def _own_headers(base_url: str, key: str, shape: ListShape | None = None) -> dict[str, str]:
    """The headers for the provider, or its list of models; no key that belongs in the query."""
    headers = dict(shape.headers) if shape else {}
    if not has_key_slot(base_url):
        provider, sent = provider_at(base_url), key or _NO_KEY
        auth = (shape and shape.auth) or (provider.auth if provider else Auth.BEARER)
        is_bearer = auth is Auth.BEARER
        headers["Authorization" if is_bearer else auth.value] = (
            f"Bearer {sent}" if is_bearer else sent
        )
    return headers


class EndpointTransport(httpx2.BaseTransport):
    """Sends requests with only the headers an endpoint needs; limits the size of answers.

    It adds the key and the query below the client library, whose messages thus can't contain them.
    """

    def __init__(
        self,
        pool: httpcore2.ConnectionPool,
        *,
        query: str,
        headers: Mapping[str, str],
        list_headers: Mapping[str, str],
    ) -> None:
        """`headers` are added to requests, `list_headers` to those for the list of models."""
        self._pool = pool
        self._query = query.encode()
        self._headers = [(n.encode(), v.encode()) for n, v in headers.items()]
        self._list_headers = [(n.encode(), v.encode()) for n, v in list_headers.items()]

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """One exchange; the body is read as the caller iterates.

        StreamError when the answer is compressed in a way that can't be read.
        """
        url = request.url
        answer = self._pool.handle_request(
            httpcore2.Request(
                method=request.method,
                url=httpcore2.URL(
                    scheme=url.raw_scheme,
                    host=url.raw_host,
                    port=url.port,
                    target=self._target_of(request),
                ),
                headers=self._headers_of(request),
                content=request.stream,
                extensions=request.extensions,
            )
        )
        body = _BoundedBody(answer)
        if not body.is_error and (encoding := unreadable_encoding(answer.headers)):
            body.close()
            raise StreamError(Fault.ENCODED, encoding)
        return httpx2.Response(
            status_code=answer.status,
            headers=without_encoding(answer.headers),
            stream=body,
            extensions=answer.extensions,
        )

    def _headers_of(self, request: httpx2.Request) -> list[tuple[bytes, bytes]]:
        sent = [(n, v) for n, v in request.headers.raw if n.lower() in _SENT_HEADERS]
        # Nothing but a list is got.
        return sent + (self._list_headers if request.method == "GET" else self._headers)

    def _target_of(self, request: httpx2.Request) -> bytes:
        target = request.url.raw_path
        if path := request.headers.get(LIST_PATH, ""):
            below = target.rpartition(b"/")[0] + b"/"
            target = path.encode() if path.startswith("/") else below + path.encode()
        if not self._query:
            return target
        return target + (b"&" if b"?" in target else b"?") + self._query

    def close(self) -> None:
        """Close all connections, even those in use."""
        self._pool.close()


class _BoundedBody(httpx2.SyncByteStream):
    """The decompressed body of a response; a long error is truncated, a too long answer raises."""

    def __init__(self, answer: httpcore2.Response) -> None:
        self._answer = answer
        self.is_error = answer.status >= 300  # noqa: PLR2004  whatever is no success

    def __iter__(self) -> Iterator[bytes]:
        left = _LARGEST_ERROR_BYTES if self.is_error else _LARGEST_ANSWER_BYTES
        for part in self._parts():
            yield part[:left]
            left -= len(part)
            if left <= 0 and self.is_error:
                return
            if left <= 0:
                raise StreamError(Fault.ENDLESS)

    def _parts(self) -> Iterator[bytes]:
        """The decompressed parts; none of an unreadable error, whose status is enough."""
        headers = self._answer.headers
        if unreadable_encoding(headers):
            return
        try:
            yield from decoded(self._answer.iter_stream(), encodings_of(headers))
        except StreamError:
            if not self.is_error:
                raise

    def close(self) -> None:
        self._answer.close()


def open_pool(base_url: str, interruption: Interruption) -> httpcore2.ConnectionPool:
    """Connections to a host, through the system's proxy. AppError for one that can't be used."""
    is_tls = base_url.startswith("https:")
    options: dict[str, Any] = {
        "ssl_context": httpcore2.default_ssl_context() if is_tls else None,
        "max_connections": 20,
        "max_keepalive_connections": 2,
        "keepalive_expiry": _KEEPALIVE_S,
        "network_backend": InterruptibleBackend(interruption),
    }
    proxy = proxy_for(base_url)
    if not proxy:
        return httpcore2.ConnectionPool(**options)
    parts = urlsplit(proxy)
    if parts.scheme != "http" or not parts.hostname:
        raise AppError(
            "The proxy of this computer cannot be used.",
            f"Only http:// proxies are supported. Set one, or add {host_of(base_url)} to NO_PROXY.",
        )
    login = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
    port = parts.port or 80
    return httpcore2.HTTPProxy(f"http://{parts.hostname}:{port}", proxy_auth=login, **options)
