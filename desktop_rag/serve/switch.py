"""Turns the local server on and off. Worker threads, one call at a time.

The server's libraries are imported only when it is first turned on: most people never do.
"""

import threading
from typing import TYPE_CHECKING

from desktop_rag.core.settings import ServerSettings
from desktop_rag.serve.served import Served

if TYPE_CHECKING:
    from desktop_rag.serve.server import LocalServer


class ServerSwitch:
    """Holds the server while it is on."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self._lock = threading.Lock()
        self._settings = ServerSettings()
        self._server: LocalServer | None = None

    @property
    def address(self) -> str:
        """Where the server is asked, "" while it is off."""
        server = self._server
        return server.address if server else ""

    def apply(self, settings: ServerSettings) -> None:
        """Start, stop or restart it as the settings want. AppError when it can't start; it is off
        then.
        """
        with self._lock:
            if settings == self._settings:
                return
            self._stop()
            if settings.is_on:
                from desktop_rag.serve.server import LocalServer

                server = LocalServer(self._served, settings)
                server.start()
                self._server = server
            self._settings = settings

    def close(self) -> None:
        """Stop the server if it is on."""
        with self._lock:
            self._stop()

    def _stop(self) -> None:
        if self._server:
            self._server.stop()
        self._server, self._settings = None, ServerSettings()
