"""Bodies that are longer than what is sent, of requests whose answers don't need them."""

import asyncio
import socket
import time
from http.client import HTTPResponse
from typing import Any

import httpx2
import pytest

from desktop_rag.features.server.guards import request_guard
from tests.integration.serving.conftest import Server

pytestmark = pytest.mark.usefixtures("one_library")

_WAIT_S = 20.0


def asked(server: Server, length: int) -> tuple[socket.socket, HTTPResponse]:
    """A connection on which a body of this length was promised, and the response."""
    host, _, port = server.address.removeprefix("http://").rpartition(":")
    connection = socket.create_connection((host, int(port)), _WAIT_S)
    lines = (
        "GET /v1/models HTTP/1.1", f"Host: {host}:{port}",
        f"Authorization: Bearer {server.token()}", f"Content-Length: {length}", "", "",
    )  # fmt: skip
    connection.sendall("\r\n".join(lines).encode())
    response = HTTPResponse(connection)
    response.begin()
    response.read()
    return connection, response


@pytest.mark.slow
def test_after_the_promise_of_an_endless_body_the_connection_ends(server: Server) -> None:
    connection, response = asked(server, 10**12)
    with connection:
        assert (response.status, response.will_close) == (200, True)
        assert connection.recv(1) == b""


@pytest.mark.slow
def test_a_body_that_drips_after_its_response_does_not_hold_the_connection(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_guard, "_BODY_S", 0.2)
    connection, response = asked(server, 100)
    with connection:
        assert (response.status, response.will_close) == (200, False)
        connection.sendall(b"x")
        assert connection.recv(1) == b""


def health(connection: socket.socket, server: Server, before: str = "") -> tuple[int, bytes]:
    """The response to another request on a connection."""
    host = server.address.removeprefix("http://")
    connection.sendall(f"{before}GET /health HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    response = HTTPResponse(connection)
    response.begin()
    return response.status, response.read()


@pytest.mark.slow
def test_a_body_that_comes_after_its_response_leaves_room_for_the_next(server: Server) -> None:
    connection, _ = asked(server, 2)
    with connection:
        assert health(connection, server, "{}") == (200, b'{"status":"ok"}')


@pytest.mark.slow
def test_after_a_late_body_no_later_request_is_cut_off(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_guard, "_BODY_S", 0.2)
    connection, _ = asked(server, 2)
    with connection:
        connection.sendall(b"{}")
        until = time.monotonic() + 0.5
        while time.monotonic() < until:
            assert health(connection, server)[0] == 200


@pytest.mark.slow
def test_an_idle_connection_is_ended_by_the_client_not_in_the_middle_of_its_request(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    later = asyncio.BaseEventLoop.call_later

    def noted(loop: asyncio.BaseEventLoop, delay: float, *asked: Any, **more: Any) -> Any:
        waits.append(delay)
        return later(loop, delay, *asked, **more)

    monkeypatch.setattr(asyncio.BaseEventLoop, "call_later", noted)
    connection, _ = asked(server, 0)
    with connection:
        # The wait after the first began before this is answered.
        health(connection, server)
        # The pool of httpx, and so the client of OpenAI, keeps one for 5 s.
        assert max(waits) > (httpx2.Limits().keepalive_expiry or 0) + 50
