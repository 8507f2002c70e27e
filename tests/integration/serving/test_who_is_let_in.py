"""Tokens, hosts, origins and limits: N-01 to N-05."""

import asyncio
import contextlib
import http.client
import json
import socket
import time
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.features.server.access.access_tokens import TokenBook, TokenScope
from desktop_rag.features.server.guards import request_guard
from desktop_rag.features.server.services import ServerSwitch
from tests.integration.serving.conftest import Serve, Server
from tests.servers.chat_server import ChatServer

pytestmark = pytest.mark.usefixtures("one_library")

ORIGIN = "https://wiki.example"


def raw_status(server: Server, *lines: str, path: str = "/v1/models") -> int:
    """The status of a request that is written by hand, with a valid token; 0 for no response."""
    parts = urlsplit(server.address)
    head = [f"GET {path} HTTP/1.1", f"Authorization: Bearer {server.token()}", *lines]
    with socket.create_connection((parts.hostname or "", parts.port or 0), 10) as connection:
        connection.sendall("\r\n".join([*head, "Connection: close", "", ""]).encode("latin-1"))
        answer = connection.makefile("rb").readline()
    return int(answer.split()[1]) if answer else 0


# --- N-01: hosts --------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "host", ["127.0.0.1:{port}", "localhost:{port}", "LOCALHOST:{port}", "[::1]:{port}"]
)
def test_the_server_answers_by_its_own_names(server: Server, host: str) -> None:
    port = urlsplit(server.address).port
    assert raw_status(server, f"Host: {host.format(port=port)}") == 200


@pytest.mark.slow
@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1.evil.example:{port}",
        "127.0.0.1:1",
        "127.0.0.1",
        "a/?x=:{port}",
        "127.0.0.1:{port}@evil.example",
        "[::ffff:127.0.0.1]:{port}",
        "0.0.0.0:{port}",
        "",
    ],
)
def test_another_name_is_turned_away(server: Server, host: str) -> None:
    port = urlsplit(server.address).port
    assert raw_status(server, f"Host: {host.format(port=port)}") in (400, 421)


@pytest.mark.slow
def test_a_missing_or_second_host_is_turned_away(server: Server) -> None:
    port = urlsplit(server.address).port
    assert raw_status(server) in (400, 421)
    own = f"Host: 127.0.0.1:{port}"
    assert raw_status(server, own, "Host: evil.example") in (400, 421)


# --- N-02: origins ------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1"])
def test_a_foreign_origin_is_refused_without_a_word_to_its_page(
    server: Server, origin: str
) -> None:
    with server.client(origin=origin) as client:
        for method in ("GET", "OPTIONS"):
            answer = client.request(method, "/v1/models")
            assert answer.status_code == 403
            assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.slow
def test_an_origin_of_a_token_may_use_that_token_only(server: Server) -> None:
    own, other = server.token(origins=(ORIGIN,)), server.token()
    with server.client(own, origin=ORIGIN) as client:
        preflight = client.request(
            "OPTIONS", "/v1/models", headers={"access-control-request-method": "GET"}
        )
        assert preflight.status_code == 204
        assert preflight.headers["access-control-allow-origin"] == ORIGIN
        answer = client.get("/v1/models")
        assert answer.status_code == 200
        assert answer.headers["access-control-allow-origin"] == ORIGIN
        assert "access-control-allow-credentials" not in answer.headers
    with server.client(other, origin=ORIGIN) as client:
        assert client.get("/v1/models").status_code == 403


@pytest.mark.slow
def test_an_origin_of_the_settings_may_use_every_token(serve: Serve) -> None:
    server = serve(origins=(ORIGIN,))
    with server.client(origin=ORIGIN) as client:
        assert client.get("/v1/models").status_code == 200


# --- N-03: tokens -------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_front_page_says_where_to_go(server: Server) -> None:
    page = httpx2.get(f"{server.address}/")
    assert page.status_code == 200
    for path in ("/admin", "/api/docs"):
        assert f'href="{path}"' in page.text
        assert httpx2.get(f"{server.address}{path}", follow_redirects=True).status_code == 200


@pytest.mark.slow
def test_every_request_needs_a_token(server: Server) -> None:
    secret = server.token()
    with server.client("") as client:
        for path in ("/v1/models", f"/v1/models?token={secret}", f"/v1/models?api_key={secret}"):
            refused = client.get(path)
            assert refused.status_code == 401
            assert refused.headers["www-authenticate"] == "Bearer"
        headers = {"authorization": f"Basic {secret}"}
        assert client.get("/v1/models", headers=headers).status_code == 401
    with server.client(secret[:-1]) as client:
        assert client.get("/v1/models").status_code == 401


@pytest.mark.slow
def test_a_revoked_or_expired_token_is_refused(server: Server) -> None:
    book = TokenBook(server.services.home.tokens)
    with server.client() as client:
        assert client.get("/v1/models").status_code == 200
        # As another process does it.
        book.revoke(book.all()[0].token_id)
        assert client.get("/v1/models").status_code == 401
    with server.client(server.token(expires_at=time.time() - 1)) as client:
        assert client.get("/v1/models").status_code == 401


@pytest.mark.everyday
def test_a_token_allows_what_it_was_made_for(server: Server) -> None:
    with server.client(server.token(TokenScope.READ)) as client:
        assert client.get("/v1/models").status_code == 403
    with server.client(server.token(TokenScope.ADMIN)) as client:
        assert client.get("/v1/models").status_code == 200


@pytest.mark.slow
def test_guessing_is_slowed_down(server: Server) -> None:
    with server.client("drag-guess") as client:
        statuses = [client.get("/v1/models").status_code for _ in range(30)]
    assert statuses[0] == 401
    assert statuses[-1] == 429
    with server.client() as other:
        assert other.get("/v1/models").status_code == 200, "it shares the address, not the guess"


@pytest.mark.slow
def test_a_token_has_a_rate(server: Server) -> None:
    with server.client(server.token(rate=3)) as client:
        answers = [client.get("/v1/models") for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert int(answers[-1].headers["retry-after"]) > 0


@pytest.mark.slow
def test_no_secret_is_on_the_disk(server: Server) -> None:
    secret = server.token()
    home = server.services.home.root
    holding = [p for p in home.rglob("*") if p.is_file() and secret.encode() in p.read_bytes()]
    assert holding == []
    assert server.services.home.tokens.stat().st_mode & 0o077 == 0


@pytest.mark.slow
def test_an_unreadable_list_of_tokens_lets_nobody_in(server: Server) -> None:
    secret = server.token()
    server.services.home.tokens.write_text("{", encoding="utf-8")
    with server.client(secret) as client:
        assert client.get("/v1/models").status_code == 503
    with pytest.raises(AppError, match="can't be read"):
        TokenBook(server.services.home.tokens).all()


# --- N-04: where it listens ---------------------------------------------------------------------


@pytest.mark.slow
def test_it_listens_on_loopback_only_and_takes_the_next_port(serve: Serve) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        server = serve(port=port)
    found = urlsplit(server.address)
    assert found.hostname == "127.0.0.1"
    assert port < (found.port or 0) <= port + 20


@pytest.mark.slow
def test_an_address_that_is_not_of_this_computer_is_an_error(serve: Serve) -> None:
    with pytest.raises(AppError, match="cannot listen"):
        serve(host="203.0.113.7")


@pytest.mark.slow
def test_a_certificate_that_is_none_is_an_error(serve: Serve, tmp_path: Path) -> None:
    (file := tmp_path / "certificate.pem").write_text("none")
    with pytest.raises(AppError, match="certificate"):
        serve(certificate=str(file))


# --- N-05: bounds -------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_large_body_is_refused_before_it_is_read(server: Server) -> None:
    parts = urlsplit(server.address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=10)
    connection.putrequest("POST", "/v1/chat/completions")
    connection.putheader("Authorization", f"Bearer {server.token()}")
    connection.putheader("Content-Length", str(1 << 30))
    connection.endheaders(b"{")
    assert connection.getresponse().status == 413
    connection.close()


@pytest.mark.slow
def test_a_body_in_endless_chunks_is_refused(server: Server) -> None:
    with server.client() as client:
        try:
            status = client.post(
                "/v1/chat/completions", content=iter([b"x" * (1 << 20)] * 12)
            ).status_code
        except httpx2.HTTPError:  # it stopped reading
            status = 413
    assert status == 413


@pytest.mark.slow
def test_ten_thousand_headers_are_refused(server: Server) -> None:
    port = urlsplit(server.address).port
    many = [f"X-{number}: {'a' * 20}" for number in range(10_000)]
    try:
        status = raw_status(server, f"Host: 127.0.0.1:{port}", *many)
    except ConnectionError:
        status = 0
    assert status in (0, 400, 431)


@pytest.mark.slow
def test_a_request_that_never_ends_is_cut_off(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_guard, "_HEADERS_S", 0.2)
    parts = urlsplit(server.address)
    with socket.create_connection((parts.hostname or "", parts.port or 0), 10) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: ")
        assert connection.recv(100) == b""


@pytest.mark.slow
def test_open_streams_end_with_the_server(server: Server, endpoint: ChatServer) -> None:
    endpoint.mode = "stall"
    body = {"model": "desktop-rag", "stream": True, "messages": [
        {"role": "user", "content": "When is the lamp of the lighthouse lit?"}]}  # fmt: skip
    with (
        server.client() as client,
        client.stream("POST", "/v1/chat/completions", json=body) as answer,
    ):
        lines = answer.iter_lines()
        next(line for line in lines if "The" in line)
        server.services.wing(ServerSwitch).close()
        with contextlib.suppress(httpx2.HTTPError):
            assert not [line for line in lines if 'finish_reason":"stop' in line]
    assert endpoint.has_lost_client.wait(10)


@pytest.mark.slow
def test_a_hundred_requests_at_once_are_all_answered(server: Server) -> None:
    secret = server.token()

    async def ask(client: httpx2.AsyncClient) -> int:
        return (await client.get("/v1/models")).status_code

    async def ask_all() -> list[int]:
        headers = {"authorization": f"Bearer {secret}"}
        async with httpx2.AsyncClient(
            base_url=server.address, headers=headers, trust_env=False, timeout=60
        ) as client:
            return await asyncio.gather(*(ask(client) for _ in range(100)))

    assert asyncio.run(ask_all()) == [200] * 100


@pytest.mark.slow
@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"1", b"\xff", b"[" * 100_000, b'{"model":1}'])
def test_a_body_that_is_no_request_is_refused(server: Server, body: bytes) -> None:
    with server.client() as client:
        for path in ("chat/completions", "responses", "embeddings"):
            answer = client.post(f"/v1/{path}", content=body)
            assert answer.status_code == 400
            assert answer.json()["error"]["message"]


@pytest.mark.slow
def test_unknown_paths_and_methods_are_refused_in_the_same_form(server: Server) -> None:
    with server.client() as client:
        for method, path in (("GET", "/nothing"), ("DELETE", "/v1/models"), ("GET", "/v1/")):
            answer = client.request(method, path)
            assert answer.status_code in (404, 405)
            assert json.loads(answer.text)["error"]["message"]
