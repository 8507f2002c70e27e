"""The base of the test HTTP servers: a thread of their own, and a clean shutdown."""

import socket
import ssl
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self


def tls_context(certificate: Path) -> ssl.SSLContext:
    """An SSL context for a server with this certificate and key."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


class LoopbackServer:
    """Listens on 127.0.0.1 between `__enter__` and `__exit__`; `released` is set at the end."""

    def __init__(
        self, handler: type["LoopbackHandler"], context: ssl.SSLContext | None = None
    ) -> None:
        self.released = threading.Event()
        self.connections: set[socket.socket] = set()
        self._server = _Server(("127.0.0.1", 0), handler, self)
        if context is not None:
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.name = type(self).__name__

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    def close_connections(self) -> None:
        for connection in list(self.connections):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue  # already closed

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.released.set()
        self._server.shutdown()
        self.close_connections()
        self._server.server_close()
        self._thread.join()


class LoopbackHandler(BaseHTTPRequestHandler):
    """Answers one connection; `owner` is the LoopbackServer it belongs to."""

    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        super().setup()
        assert isinstance(self.server, _Server)
        self.owner = self.server.owner
        self.owner.connections.add(self.connection)

    def finish(self) -> None:
        self.owner.connections.discard(self.connection)
        super().finish()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """No log: tests read `requests`."""


class _Server(ThreadingHTTPServer):
    daemon_threads = False  # so that closing waits for them

    def __init__(
        self, address: tuple[str, int], handler: type[LoopbackHandler], owner: LoopbackServer
    ) -> None:
        super().__init__(address, handler)
        self.owner = owner

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Most tests drop the connection; any other error is a fault of this server."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)
