"""The admin page as a browser without scripts uses it."""

import re
from collections.abc import Mapping, Sequence
from html import unescape
from typing import Self

import httpx2

from desktop_rag.features.server.access.access_tokens import TokenScope
from tests.integration.serving.conftest import Server, local_client

_KEY = re.compile(r'name="form_key" value="([^"]+)"')
Fields = Mapping[str, str | Sequence[str]]


class AdminBrowser:
    """Follows redirects, keeps the cookie, and sends forms with the origin of the server."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.client = local_client(base_url=server.address, follow_redirects=True)
        self.form_key = ""

    def __enter__(self) -> Self:
        """Nothing is opened before the first request."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close its connections."""
        self.client.close()

    def log_in(self, secret: str | None = None) -> httpx2.Response:
        """Log in, with a new admin token by default."""
        secret = self.server.token(TokenScope.ADMIN) if secret is None else secret
        return self.send("/admin/login", {"token": secret})

    def get(self, path: str) -> httpx2.Response:
        """A page; the key of its forms is kept for the next `send`."""
        return self._kept(self.client.get(path))

    def send(self, path: str, fields: Fields | None = None, **headers: str) -> httpx2.Response:
        """Send a form of this server's pages."""
        given = {"form_key": self.form_key, **(fields or {})}
        sent = {"origin": self.server.address} | headers
        return self._kept(self.client.post(path, data=given, headers=sent))

    def _kept(self, answer: httpx2.Response) -> httpx2.Response:
        if found := _KEY.search(answer.text):
            self.form_key = unescape(found[1])
        return answer
