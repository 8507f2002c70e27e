"""The local socket of the running app, for a second start and for the command line.

Only one process can open the store, so the others send their verb to it. Requests and responses
are JSON, never pickle, and only this user can connect. The verbs are a fixed set.
"""

import json
import logging
import os
import secrets
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from hmac import compare_digest, digest
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from typing import Any

from desktop_rag.core.errors import AppError
from desktop_rag.core.paths import Home

log = logging.getLogger(__name__)

Handler = Callable[[dict[str, Any]], Any]

_MAX_REQUEST_BYTES = 64 * 1024
# The limit for the path of a Unix socket is 104 bytes on macOS, 108 on Linux.
_LONGEST_ADDRESS = 100
_MAX_ANSWER_BYTES = 64 * 1024 * 1024
_HANDSHAKE_S = 5.0
_TOKEN_BYTES = 32


class AppServer:
    """Answers requests of other processes while the window is open. Handlers run on threads."""

    def __init__(self, home: Home, handlers: Mapping[str, Handler]) -> None:
        """Listen, replacing the socket that a crashed app left; AppError when that fails."""
        self._handlers = dict(handlers)
        self._token = secrets.token_bytes(_TOKEN_BYTES)
        self.address = _address(home)
        if sys.platform != "win32":
            Path(self.address).unlink(missing_ok=True)
        try:
            self._listener = Listener(self.address)
        except OSError as exc:
            raise AppError("The command line cannot reach this window.", str(exc)) from exc
        _write_token(home, self._token)
        self._is_closed = False
        self._thread = threading.Thread(target=self._accept, name="app-server", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening; pending responses are still sent."""
        self._is_closed = True
        try:
            # A connection wakes the thread, which waits in accept.
            Client(self.address).close()
        except OSError as exc:
            log.info("the listener had ended: %s", exc)
        self._thread.join()
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                connection = self._listener.accept()
            except OSError as exc:
                log.info("a connection failed: %s", exc)
                continue
            if self._is_closed:
                connection.close()
                return
            threading.Thread(
                target=self._serve, args=(connection,), name="app-request", daemon=True
            ).start()

    def _serve(self, connection: Connection) -> None:
        with connection:
            try:
                request = self._receive(connection)
            except (OSError, EOFError, ValueError) as exc:
                log.info("a request was refused: %s", exc)
                return
            answer = self._answer(request)
            try:
                connection.send_bytes(json.dumps(answer).encode())
            except OSError as exc:
                log.info("a response could not be sent: %s", exc)

    def _receive(self, connection: Connection) -> dict[str, Any]:
        challenge = secrets.token_bytes(_TOKEN_BYTES)
        connection.send_bytes(challenge)
        if not connection.poll(_HANDSHAKE_S):
            raise ValueError("timeout")
        proof = connection.recv_bytes(_TOKEN_BYTES)
        if not compare_digest(proof, digest(self._token, challenge, "sha256")):
            raise ValueError("wrong token")
        if not connection.poll(_HANDSHAKE_S):
            raise ValueError("timeout")
        request = json.loads(connection.recv_bytes(_MAX_REQUEST_BYTES))
        if not isinstance(request, dict) or not isinstance(request.get("arguments"), dict):
            raise ValueError("not a request")
        return request

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        handler = self._handlers.get(str(request.get("verb")))
        if handler is None:
            return {"error": {"title": "The window is open.",
                              "hint": "Do this in the window, or close it first."}}  # fmt: skip
        try:
            return {"result": handler(request["arguments"])}
        except AppError as error:
            return {"error": {"title": error.title, "hint": error.hint}}


def ask_running_app(
    home: Home, verb: str, arguments: dict[str, Any], *, handshake_s: float = _HANDSHAKE_S
) -> tuple[bool, Any]:
    """(True, result) of the verb in the running app; (False, None) when no app is running.

    AppError when the app refused or failed, or did not accept within `handshake_s`.
    """
    request = json.dumps({"verb": verb, "arguments": arguments}).encode()
    if len(request) > _MAX_REQUEST_BYTES:
        raise AppError("The question is too long.", "Ask it in the window.")
    try:
        token = _token_path(home).read_bytes()
        with Client(_address(home)) as connection:
            if not connection.poll(handshake_s):
                raise ValueError("timeout")
            challenge = connection.recv_bytes(_TOKEN_BYTES)
            connection.send_bytes(digest(token, challenge, "sha256"))
            connection.send_bytes(request)
            answer = json.loads(connection.recv_bytes(_MAX_ANSWER_BYTES))
    except (FileNotFoundError, NotADirectoryError, ConnectionError):
        return False, None
    except (OSError, EOFError, ValueError) as exc:
        raise AppError(
            "The running app did not answer.", "Close its window and try again."
        ) from exc
    if error := answer.get("error"):
        raise AppError(error["title"], error["hint"])
    return True, answer["result"]


def _address(home: Home) -> str:
    name = digest(b"desktop-rag", os.fsencode(home.root.absolute()), "sha256").hex()[:16]
    if sys.platform == "win32":
        return rf"\\.\pipe\desktop-rag-{name}"
    if len(os.fsencode(home.socket)) <= _LONGEST_ADDRESS:
        return str(home.socket)
    # A public folder is safe: the token proves who connects.
    return str(Path(tempfile.gettempdir()) / f"desktop-rag-{os.getuid()}-{name}.sock")


def _token_path(home: Home) -> Path:
    return home.root / "app.token"


def _write_token(home: Home, token: bytes) -> None:
    """Write the secret that proves that a request comes from this user, who alone can read it."""
    path = _token_path(home)
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(token)
