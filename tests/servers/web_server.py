"""A real web site on this computer, for tests: pages with marks, redirects, and bad manners.

    with WebServer() as site:
        site.pages["/a"] = Served("<h1>A</h1>")
        site.url("/a")
        assert site.asked == ["/robots.txt", "/a"]

`pages` may be changed at any time. `asked` holds the targets of requests in the order they came.
"""

import gzip
import hashlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.servers.loopback_server import LoopbackHandler, LoopbackServer, tls_context

HTML = "text/html; charset=utf-8"
# Enough text for main text extraction.
_PARAGRAPH = (
    "The keeper of the light writes down the weather four times a day, and reads it out to the"
    " boats in the evening. In winter the path is closed, so the book is brought by the ferry."
)
Writer = Callable[[Callable[[bytes], object], threading.Event], None]


@dataclass(frozen=True)
class Served:
    """The response of one address. `writes` takes over the connection for a custom response."""

    body: str | bytes = ""
    content_type: str = HTML
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict[str, str])
    has_etag: bool = False
    is_gzipped: bool = False
    writes: Writer | None = None

    @property
    def payload(self) -> bytes:
        data = self.body.encode() if isinstance(self.body, str) else self.body
        return gzip.compress(data) if self.is_gzipped else data

    @property
    def etag(self) -> str:
        return f'"{hashlib.sha256(self.payload).hexdigest()[:16]}"' if self.has_etag else ""


@dataclass(frozen=True)
class Asked:
    """A request as it came; header names in lower case, `at` on the monotonic clock."""

    target: str
    headers: dict[str, str]
    at: float


class WebServer(LoopbackServer):
    """Listens between `__enter__` and `__exit__`."""

    def __init__(self, certificate: Path | None = None) -> None:
        self.pages: dict[str, Served] = {}
        self.requests: list[Asked] = []
        self.names: list[str | None] = []  # the SNI host names of TLS clients
        context = tls_context(certificate) if certificate else None
        if context is not None:
            context.sni_callback = lambda _socket, name, _context: self.names.append(name)
        self._scheme = "https" if certificate else "http"
        super().__init__(_Handler, context)

    @property
    def asked(self) -> list[str]:
        return [request.target for request in self.requests]

    def url(self, target: str = "/", host: str = "127.0.0.1") -> str:
        return f"{self._scheme}://{host}:{self.port}{target}"

    def page(self, target: str, text: str, **options: Any) -> str:
        """Serve a page with this title and text; returns its address."""
        head = f"<html lang='en'><head><title>{text}</title></head>"
        body = f"<body><main><h1>{text}</h1><p>{text}. {_PARAGRAPH}</p></main></body></html>"
        self.pages[target] = Served(head + body, **options)
        return self.url(target)

    def sitemap(self, target: str, *listed: str, tag: str = "url", **options: Any) -> str:
        """Serve a sitemap (or with `tag` "sitemap" an index) of these addresses."""
        root = "urlset" if tag == "url" else "sitemapindex"
        entries = "".join(f"<{tag}><loc>{url}</loc></{tag}>" for url in listed)
        space = "http://www.sitemaps.org/schemas/sitemap/0.9"
        text = f'<?xml version="1.0"?><{root} xmlns="{space}">{entries}</{root}>'
        self.pages[target] = Served(text, "application/xml", **options)
        return self.url(target)


class _Handler(LoopbackHandler):
    @property
    def site(self) -> WebServer:
        assert isinstance(self.owner, WebServer)
        return self.owner

    def do_GET(self) -> None:  # noqa: N802
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.site.requests.append(Asked(self.path, headers, time.monotonic()))
        served = self.site.pages.get(self.path) or Served("Not found", status=404)
        if served.writes:
            self.close_connection = True
            served.writes(self.wfile.write, self.site.released)
        elif served.etag and headers.get("if-none-match") == served.etag:
            self._answer(304, {"ETag": served.etag}, b"")
        else:
            extra = {"ETag": served.etag} if served.etag else {}
            packed = {"Content-Encoding": "gzip"} if served.is_gzipped else {}
            kind = {"Content-Type": served.content_type} if served.content_type else {}
            self._answer(
                served.status, {**kind, **extra, **packed, **served.headers}, served.payload
            )

    def _answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body if status != 304 else b"")
