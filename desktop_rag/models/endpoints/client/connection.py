"""The HTTP client for an endpoint: it sends nothing about this computer, follows no redirects and
limits the size of answers. Runs on the calling thread.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import httpcore2
import httpx2

from desktop_rag.core.errors import AppError
from desktop_rag.core.settings import EndpointSettings
from desktop_rag.models.endpoint_address import host_of, normalise_base_url
from desktop_rag.models.endpoints.client.endpoint_errors import CONNECT_TIMEOUT_S
from desktop_rag.models.endpoints.client.endpoint_faults import Fault, StreamError
from desktop_rag.models.endpoints.client.interruptible_sockets import (
    POLL_S,
    InterruptibleBackend,
    Interruption,
)
from desktop_rag.models.endpoints.client.system_proxy import proxy_for

if TYPE_CHECKING:
    from openai import OpenAI

_KEEPALIVE_S = 30.0
_LARGEST_ERROR_BYTES = 64 * 1024
_LARGEST_ANSWER_BYTES = 256 * 1024 * 1024
# All other headers that client libraries add (platform, versions, organisation) are dropped.
_SENT_HEADERS = frozenset(
    b"host authorization accept accept-encoding connection content-type content-length "
    b"transfer-encoding user-agent".split()
)
# Servers that need no key ignore it; the client library requires one.
_NO_KEY = "none"


def open_client(endpoint: EndpointSettings, key: str, interruption: Interruption) -> "OpenAI":
    """A client for the endpoint. It connects when first used and must be closed.

    Raises:
        AppError: for an address, key or proxy that cannot be used.
    """
    from openai import OpenAI

    base_url = normalise_base_url(endpoint.base_url)
    bearer = key.strip() or _NO_KEY
    if not bearer.isascii() or not bearer.isprintable():
        raise StreamError(Fault.ODD_KEY)
    silence_s = max(endpoint.timeout_s, 2 * POLL_S)
    timeout = httpx2.Timeout(silence_s, connect=CONNECT_TIMEOUT_S, pool=CONNECT_TIMEOUT_S)
    transport = EndpointTransport(_open_pool(base_url, interruption))
    http_client = httpx2.Client(
        transport=transport, timeout=timeout, follow_redirects=False, trust_env=False
    )
    return OpenAI(
        base_url=base_url,
        api_key=bearer,
        max_retries=0,
        timeout=timeout,
        http_client=http_client,
        default_headers={
            "Authorization": f"Bearer {bearer}",
            "User-Agent": "desktop-rag",
            "Accept-Encoding": "identity",
        },
    )


class EndpointTransport(httpx2.BaseTransport):
    """Sends requests with only the headers an endpoint needs; limits the size of answers."""

    def __init__(self, pool: httpcore2.ConnectionPool) -> None:
        self._pool = pool

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """One exchange; the body is read as the caller iterates.

        Raises:
            StreamError: when the answer is compressed, which was not requested.
        """
        url = request.url
        headers = [(n, v) for n, v in request.headers.raw if n.lower() in _SENT_HEADERS]
        answer = self._pool.handle_request(
            httpcore2.Request(
                method=request.method,
                url=httpcore2.URL(
                    scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
                ),
                headers=headers,
                content=request.stream,
                extensions=request.extensions,
            )
        )
        body = _BoundedBody(answer)
        encodings = {v.lower() for n, v in answer.headers if n.lower() == b"content-encoding"}
        if encodings - {b"", b"identity"}:
            # Decompression could expand a few bytes without limit.
            body.close()
            raise StreamError(Fault.UNREADABLE)
        return httpx2.Response(
            status_code=answer.status,
            headers=answer.headers,
            stream=body,
            extensions=answer.extensions,
        )

    def close(self) -> None:
        """Close all connections, even those in use."""
        self._pool.close()


class _BoundedBody(httpx2.SyncByteStream):
    """The body of a response: that of an error is truncated, an answer that is too long raises."""

    def __init__(self, answer: httpcore2.Response) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        is_error = self._answer.status >= 300  # noqa: PLR2004  whatever is no success
        left = _LARGEST_ERROR_BYTES if is_error else _LARGEST_ANSWER_BYTES
        for part in self._answer.iter_stream():
            yield part[:left]
            left -= len(part)
            if left <= 0 and is_error:
                return
            if left <= 0:
                raise StreamError(Fault.ENDLESS)

    def close(self) -> None:
        self._answer.close()


def _open_pool(base_url: str, interruption: Interruption) -> httpcore2.ConnectionPool:
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
