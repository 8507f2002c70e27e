"""Requests to the one host of a remote: politely, with a password, and to nobody else.

One request at a time. A busy or failing server is asked again after the time that it names, or
after waits that double. Redirects to another host are refused, so the password stays where it was
meant for. Addresses of a local network are allowed for the host that the person typed, and for no
other.
"""

import base64
import re
import threading
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.core.waits import pause_s, wait_s_in
from desktop_rag.features.remote_sources.remote import RemoteRefused, Trouble
from desktop_rag.features.web_pages.crawler import USER_AGENT
from desktop_rag.features.web_pages.intranet_hosts import intranet_hosts_of
from desktop_rag.features.web_pages.page_address import (
    PageRefused,
    RefusalKind,
    host_of,
    joined,
    origin_of,
    port_of,
)

if TYPE_CHECKING:
    from desktop_rag.features.web_pages.transport import WebResponse

_FINE = frozenset({200, 207, 304})
_REDIRECTS = frozenset({301, 302, 307, 308})
_MOST_REDIRECTS = 5
_UNAUTHORIZED, _FORBIDDEN = 401, 403
_MISSING = frozenset({404, 410})
_BUSY = frozenset({429, 503})
_SERVER_ERROR = 500
_MEGABYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class PlaceLimits:
    """`seconds` for a listing or the start of a file, and the fewest bytes a second of a file.

    A busy or failing server is asked again after `waits_s`, or after the time it names, unless that
    is longer than `most_wait_s`.
    """

    seconds: float = 60.0
    least_bytes_s: float = 50_000.0
    waits_s: tuple[float, ...] = (2.0, 4.0, 8.0)
    most_wait_s: float = 120.0


class Refused(RemoteRefused):
    """A response that says no; `status` is its code."""

    def __init__(
        self, status: int, trouble: Trouble, title: str, hint: str = "",
        wait_s: float | None = None,
    ) -> None:  # fmt: skip
        super().__init__(trouble, title, hint, wait_s)
        self.status = status


class HttpPlace:
    """Connections to the host of an address. For one thread; must be closed."""

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        cancel: threading.Event,
        limits: PlaceLimits,
        resolve: Callable[[str, int], Sequence[str]] | None = None,
    ) -> None:
        """`headers` go with each request; `resolve` replaces the system's resolver."""
        # Importing the network libraries takes a while; the window opens without them.
        from desktop_rag.features.web_pages.transport import WebTransport, resolve_host  # noqa: PLC0415

        self.requests = 0
        self.received_bytes = 0
        self._origin = origin_of(url)
        self._headers = {
            "User-Agent": USER_AGENT, "Accept-Encoding": "identity", **headers
        }  # fmt: skip
        self._cancel = cancel
        self._limits = limits
        host = host_of(url)
        typed = f"[{host}]:{port_of(url)}" if ":" in host else f"{host}:{port_of(url)}"
        self._transport = WebTransport(
            cancel, intranet=intranet_hosts_of([typed]), resolve=resolve or resolve_host
        )

    def close(self) -> None:
        """Close all connections."""
        self._transport.close()

    def set_header(self, name: str, value: str) -> None:
        """Send another value with each request from now on."""
        self._headers[name] = value

    def read(
        self, method: str, url: str, headers: Mapping[str, str], content: bytes, most_bytes: int
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and whole body of a response, for a listing.

        RemoteRefused, also for a cut-off body. The status is 304 where the headers ask for that.
        """
        with self._answer(method, url, headers, content, self._limits.seconds) as answer:
            body = answer.read(most_bytes)
            self.received_bytes += len(body)
            return answer.status, answer.headers, body

    def save(
        self, url: str, target: BinaryIO, declared: int, most_bytes: int
    ) -> tuple[int, Mapping[str, str]]:
        """Write the body of a response as it comes; returns its length and the headers."""
        seconds = self._limits.seconds + max(declared, 0) / self._limits.least_bytes_s
        size = 0
        with self._answer("GET", url, {}, b"", seconds) as answer:
            try:
                for piece in answer.stream(_MEGABYTE):
                    target.write(piece)
                    size += len(piece)
                    if size > most_bytes:
                        raise RemoteRefused(
                            Trouble.LEFT_OUT, f"larger than {most_bytes // _MEGABYTE} MB"
                        )
            finally:
                self.received_bytes += size
            return size, answer.headers

    @contextmanager
    def _answer(
        self, method: str, url: str, headers: Mapping[str, str], content: bytes, seconds: float
    ) -> Generator["WebResponse"]:
        """A response that says yes, after waits and redirects."""
        waits: Iterable[float | None] = (*self._limits.waits_s, None)
        redirects = 0
        for planned_s in waits:
            while True:
                with self._sent(method, url, headers, content, seconds) as answer:
                    if answer.status not in _REDIRECTS:
                        wait_s = self._wait_of(answer, planned_s)
                        if wait_s is None:
                            _refuse_bad(answer.status, host_of(url), answer.headers)
                            yield answer
                            return
                        break
                    redirects += 1
                    url = self._target(url, answer.headers.get("location", ""), redirects)
            if self._cancel.wait(wait_s):
                raise Cancelled

    @contextmanager
    def _sent(
        self, method: str, url: str, headers: Mapping[str, str], content: bytes, seconds: float
    ) -> Generator["WebResponse"]:
        """A response of any status; RemoteRefused when there is none."""
        self.requests += 1
        length = {"Content-Length": str(len(content))} if content else {}
        has_answer = False
        try:
            with self._transport.request(
                url, {**self._headers, **headers, **length}, seconds, method, content
            ) as answer:
                has_answer = True
                yield answer
        except PageRefused as refused:
            is_blocked = refused.kind is RefusalKind.BLOCKED
            hint = "" if is_blocked else refused.hint
            trouble = Trouble.OFFLINE
            if is_blocked:
                trouble = Trouble.REFUSED
            elif has_answer and method == "GET":
                # One file that ends early; a listing that does says nothing.
                trouble = Trouble.FAILED
            raise RemoteRefused(trouble, refused.title, hint) from refused

    def _wait_of(self, answer: "WebResponse", planned_s: float | None) -> float | None:
        """The wait before the next try; None when this was the last, or the answer is to be had."""
        if _is_busy(answer.status, answer.headers):
            asked_s = wait_s_in("", headers=answer.headers)
            return pause_s(planned_s, asked_s, self._limits.most_wait_s)
        return planned_s if answer.status >= _SERVER_ERROR else None

    def _target(self, url: str, location: str, redirects: int) -> str:
        """Where a redirect leads to, on the same host; RemoteRefused for any other."""
        try:
            target = joined(url, location)
        except PageRefused as refused:
            raise RemoteRefused(Trouble.REFUSED, refused.title) from refused
        is_safer = target.startswith("https:") or not self._origin.startswith("https:")
        if host_of(target) != host_of(url) or not is_safer:
            raise RemoteRefused(
                Trouble.REFUSED, f"The server sends on to {host_of(target)}.",
                "The password is not sent there. Add the folder by the address it has there.",
            )  # fmt: skip
        if redirects > _MOST_REDIRECTS:
            raise RemoteRefused(Trouble.OFFLINE, "The server sends on from address to address.")
        return target


_LOCAL_ENDINGS = (".local", ".lan", ".home.arpa", ".internal", ".home", ".fritz.box")
_NUMBER = re.compile(r"[\d.]+|[0-9a-f:]+")


def refuse_unencrypted(url: str) -> None:
    """AppError when a password would be read on its way; what a host leads to is checked later."""
    host = host_of(url)
    is_local = "." not in host or host.endswith(_LOCAL_ENDINGS) or _NUMBER.fullmatch(host)
    if url.startswith("http:") and not is_local:
        raise AppError(
            "The password would go over the internet unencrypted.",
            "Write the address with https://.",
        )


def basic(user: str, password: str) -> dict[str, str]:
    """The header of a login with a password; none without a user."""
    if not user:
        return {}
    login = base64.b64encode(f"{user}:{password}".encode()).decode("ascii")
    return {"Authorization": f"Basic {login}"}


def _is_busy(status: int, headers: Mapping[str, str]) -> bool:
    """True for one that says to come later; GitHub does so with 403."""
    asks = status == _FORBIDDEN and wait_s_in("", headers=headers) is not None
    return status in _BUSY or asks


def _refuse_bad(status: int, host: str, headers: Mapping[str, str]) -> None:
    """Raise Refused unless the status says yes."""
    if status in _FINE:
        return
    if status == _UNAUTHORIZED:
        raise Refused(
            status, Trouble.REFUSED, "The server refused the password.",
            "Enter user and password again in the options of the source.",
        )  # fmt: skip
    if status == _FORBIDDEN and not _is_busy(status, headers):
        raise Refused(
            status, Trouble.FAILED, f"The server does not let this user read it ({status})."
        )
    if status in _MISSING:
        raise Refused(status, Trouble.FAILED, f"It is not on the server ({status}).")
    if _is_busy(status, headers):
        raise Refused(
            status, Trouble.OFFLINE, f"{host} asks to come back later ({status}).",
            wait_s=wait_s_in("", headers=headers),
        )  # fmt: skip
    raise Refused(status, Trouble.FAILED, f"The server failed ({status}).")
