"""Sockets whose waits can be ended from another thread. Runs on the calling thread.

A blocking call can't be interrupted, so it waits in short intervals and checks. The errors carry
their cause as an argument, because the connection pool removes `__cause__`.
"""

import math
import os
import selectors
import socket
import ssl
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from errno import EINPROGRESS, EWOULDBLOCK
from threading import Event, local
from typing import Any, TypeVar

import httpcore2

from desktop_rag.core.errors import Cancelled
from desktop_rag.models.endpoints.client.endpoint_faults import Fault, StreamError

POLL_S = 0.05
_LONGEST_CONNECT_S = 10.0
_T = TypeVar("_T")


class _TooLate(Cancelled):
    """Ended by the deadline. A class of its own, as `cancel` may be cleared before a check."""


class Interruption(local):
    """The Event that ends network calls of the current thread."""

    _cancel: Event | None = None
    _deadline: float = math.inf

    @contextmanager
    def by(self, cancel: Event, *, after_s: float = math.inf) -> Generator[None]:
        """Network calls of this thread raise Cancelled once `cancel` is set, or after `after_s`."""
        previous = self._cancel, self._deadline
        self._cancel, self._deadline = cancel, time.monotonic() + after_s
        try:
            yield
        finally:
            self._cancel, self._deadline = previous

    @contextmanager
    def within(self, limit_s: float, cancel: Event) -> Generator[None]:
        """As `by`, but a StreamError when the limit is exceeded."""
        try:
            with self.by(cancel, after_s=limit_s):
                yield
        except _TooLate as exc:
            raise StreamError(Fault.SLOW) from exc

    def check(self) -> None:
        """Raise Cancelled if the calls should end."""
        if self._cancel is not None and self._cancel.is_set():
            raise Cancelled
        if time.monotonic() > self._deadline:
            raise _TooLate


class InterruptibleBackend(httpcore2.NetworkBackend):
    """Opens sockets whose waits end when the thread's Interruption says so."""

    def __init__(self, interruption: Interruption) -> None:
        self._interruption = interruption

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> "SocketStream":
        """Connect to the first address of the host that answers; all share the timeout."""
        timeout_s = _LONGEST_CONNECT_S if timeout is None else timeout
        failure: Exception = OSError("no address")
        try:
            places = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as exc:
            raise httpcore2.ConnectError(exc) from exc
        for family, kind, protocol, _, address in places:
            sock = socket.socket(family, kind, protocol)
            try:
                self._connect(sock, address, timeout_s / len(places))
            except OSError as exc:
                sock.close()
                failure = exc
            except BaseException:
                sock.close()
                raise
            else:
                return SocketStream(sock, self._interruption)
        is_late = isinstance(failure, TimeoutError)
        error = httpcore2.ConnectTimeout if is_late else httpcore2.ConnectError
        raise error(failure) from failure

    def _connect(self, sock: socket.socket, address: tuple[Any, ...], timeout_s: float) -> None:
        sock.setblocking(False)
        code = sock.connect_ex(address)
        deadline = time.monotonic() + timeout_s
        with selectors.DefaultSelector() as selector:
            selector.register(sock, selectors.EVENT_WRITE)
            while code in (EINPROGRESS, EWOULDBLOCK):
                self._interruption.check()
                if selector.select(POLL_S):
                    code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                elif time.monotonic() >= deadline:
                    raise TimeoutError(f"no connection in {timeout_s:g} s")
        if code:
            raise OSError(code, os.strerror(code))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


class SocketStream(httpcore2.NetworkStream):
    """A connected socket that waits in short intervals; Cancelled may be raised in between."""

    def __init__(self, sock: socket.socket, interruption: Interruption) -> None:
        self._sock = sock
        self._sock.settimeout(POLL_S)
        self._interruption = interruption

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """The first bytes that arrive within `timeout` seconds; empty at the end."""
        errors = (httpcore2.ReadTimeout, httpcore2.ReadError)
        return self._patiently(lambda: self._sock.recv(max_bytes), timeout, *errors)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send all of it; `timeout` seconds for each part."""
        left = memoryview(buffer)
        errors = (httpcore2.WriteTimeout, httpcore2.WriteError)
        while left:
            # Bound as a default: the call is made before `left` changes.
            sent = self._patiently(lambda part=left: self._sock.send(part), timeout, *errors)
            left = left[sent:]

    def close(self) -> None:
        """Close the socket; a waiting peer sees the end at once."""
        self._sock.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> "SocketStream":
        """The same connection, encrypted and with the peer's certificate verified.

        The handshake is one blocking call: contexts that use the system's certificates verify the
        peer right after it, and can't do so in between.
        """
        try:
            self._sock.settimeout(timeout)
            wrapped = ssl_context.wrap_socket(self._sock, server_hostname=server_hostname)
        except TimeoutError as exc:
            self.close()
            raise httpcore2.ConnectTimeout(exc) from exc
        except OSError as exc:
            self.close()
            raise httpcore2.ConnectError(exc) from exc
        return SocketStream(wrapped, self._interruption)

    def get_extra_info(self, info: str) -> socket.socket | bool | None:
        """The values that the connection pool needs: `ssl_object`, `socket`, `is_readable`."""
        match info:
            case "ssl_object":
                return self._sock if isinstance(self._sock, ssl.SSLSocket) else None
            case "socket":
                return self._sock
            case "is_readable":
                with selectors.DefaultSelector() as selector:
                    selector.register(self._sock, selectors.EVENT_READ)
                    return bool(selector.select(0))
            case _:
                return None

    def _patiently(
        self,
        call: Callable[[], _T],
        timeout_s: float | None,
        late: type[Exception],
        failed: type[Exception],
    ) -> _T:
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            self._interruption.check()
            try:
                return call()
            except TimeoutError as exc:
                if deadline is not None and time.monotonic() >= deadline:
                    raise late(exc) from exc
            except OSError as exc:
                raise failed(exc) from exc
