"""The database of a library on a server goes away and comes back while the library is served."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from desktop_rag import app
from desktop_rag.core.errors import LibraryAwayError
from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from desktop_rag.core.store_settings import StoreSettings
from desktop_rag.features.server.access.access_tokens import TokenScope
from tests.engines import UNTESTED
from tests.indexed import index_texts, write
from tests.integration.serving.admin.admin_browser import AdminBrowser
from tests.integration.serving.conftest import TEXTS, Serve, Server
from tests.servers.postgres_server import OwnServer, own_server
from tests.waiting import until

pytestmark = [
    pytest.mark.skipif("postgres" in UNTESTED, reason=UNTESTED.get("postgres", "")),
    # The package that brings the server.
    pytest.mark.filterwarnings("ignore:XDG_RUNTIME_DIR"),
    pytest.mark.slow,
    # Each test makes a server of its own.
    pytest.mark.timeout(180),
]
# A request that waits for the pool of connections would wait longer.
_SOON_S = 20.0
_UNAVAILABLE = 503
_CHAT = {"model": "desktop-rag", "messages": [{"role": "user", "content": "What is lit?"}]}
_REQUESTS: tuple[tuple[str, str, dict[str, Any] | None], ...] = (
    ("POST", "/api/v1/search", {"query": "lamp"}),
    ("POST", "/api/v1/ask", {"question": "What is lit?"}),
    ("POST", "/api/v1/ask", {"question": "What is lit?", "stream": True}),
    ("POST", "/api/v1/collections", {"name": "New"}),
    ("GET", "/api/v1/collections", None),
    ("GET", "/v1/models", None),
    ("POST", "/v1/chat/completions", _CHAT),
    ("POST", "/v1/chat/completions", _CHAT | {"stream": True}),
    ("POST", "/v1/responses", {"model": "desktop-rag", "input": "What is lit?"}),
    ("GET", "/ready", None),
)


@pytest.fixture
def database(caplog: pytest.LogCaptureFixture) -> Iterator[OwnServer]:
    # The pool reports connections that are gone.
    caplog.set_level("ERROR", "psycopg")
    with own_server() as running:
        yield running


@pytest.fixture
def services(
    home: Home, build_services: Callable[[], app.Services], database: OwnServer
) -> app.Services:
    home.create()
    store = StoreSettings("postgres", database.address, "library")
    save_settings(home.settings, Settings(store=store))
    return build_services()


@pytest.fixture
def indexed(services: app.Services, tmp_path: Path) -> app.Services:
    return index_texts(services, tmp_path / "papers", TEXTS)


def asked(server: Server, secret: str, *request: Any) -> httpx2.Response:
    method, path, body = request
    with server.client(secret) as client:
        return client.request(method, path, json=body, timeout=_SOON_S)


def hang(database: OwnServer) -> None:
    database.signal(signal.SIGSTOP)


def go_on(database: OwnServer) -> None:
    database.signal(signal.SIGCONT)


@pytest.mark.parametrize(
    ("first", "goes_away", "comes_back"),
    [(n, OwnServer.stop, OwnServer.start) for n in (0, 2, 6)] + [(n, hang, go_on) for n in (0, 6)],
)
def test_requests_are_refused_at_once_and_answered_again_once_it_is_back(
    serve: Serve,
    database: OwnServer,
    first: int,
    goes_away: Callable[[OwnServer], None],
    comes_back: Callable[[OwnServer], None],
) -> None:
    server = serve()
    secret = server.token(TokenScope.ADMIN)
    search, ready = _REQUESTS[0], ("GET", "/ready", None)
    assert asked(server, secret, *ready).status_code == 200
    assert asked(server, secret, *search).json()["results"]
    goes_away(database)
    # The first one finds connections that were cut or stay silent, the others none.
    for request in (_REQUESTS[first], *_REQUESTS):
        answer = asked(server, secret, *request)
        assert answer.status_code == _UNAVAILABLE, (request, answer.text)
        assert int(answer.headers["Retry-After"]) > 0
        assert answer.json()["error"]["message"].startswith("The database server does not answer.")
        assert "socket" not in answer.text
        assert "connection" not in answer.text
    assert asked(server, secret, "GET", "/health", None).json() == {"status": "ok"}
    comes_back(database)
    until(lambda: asked(server, secret, *ready).status_code == 200)
    assert asked(server, secret, *search).json()["results"]
    assert asked(server, secret, "POST", "/api/v1/collections", {"name": "New"}).status_code == 201


def test_pages_and_tools_say_it_too(serve: Serve, database: OwnServer) -> None:
    server = serve()
    with AdminBrowser(server) as browser, server.client(server.token(TokenScope.ADMIN)) as client:
        browser.log_in()
        database.stop()
        page = browser.get("/admin/collections")
        assert page.status_code == _UNAVAILABLE
        assert "Retry-After" in page.headers
        called = client.post(
            "/mcp",
            headers={"accept": "application/json, text/event-stream"},
            json={"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                  "params": {"name": "search", "arguments": {"query": "lamp"}}},
        )  # fmt: skip
        assert "The database server does not answer." in called.text
        assert "socket" not in called.text
    database.start()


def test_changes_of_files_are_found_once_it_is_back(
    services: app.Services, database: OwnServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    papers = tmp_path / "papers"
    write(papers, TEXTS)
    services.library.sources.add(papers)
    services.run()
    assert services.library.indexing.wait_until_idle(120)
    database.stop()
    with pytest.raises(LibraryAwayError):
        services.library.sources.all()
    write(papers, {"buoy.md": "The buoy is painted by the diver."})
    with caplog.at_level("INFO", "desktop_rag.ingest"):
        until(lambda: "looked up again" in caplog.text)
    database.start()
    until(lambda: is_found(services, "buoy"))


def is_found(services: app.Services, word: str) -> bool:
    try:
        found = services.chat.look_up(word, mode="lexical", limit=1).passages
    except LibraryAwayError:
        return False
    return any(word in passage.text for passage in found)


def test_services_close_while_it_is_away(services: app.Services, database: OwnServer) -> None:
    services.run()
    database.stop()
    services.close()


@pytest.mark.parametrize("goes_away", [OwnServer.stop, hang])
def test_a_server_ends_while_it_is_away(
    home: Home, services: app.Services, database: OwnServer, goes_away: Callable[[OwnServer], None]
) -> None:
    services.close()
    command = [sys.executable, "-m", "desktop_rag", "serve", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        address = next(
            line.split()[2].rstrip(".") for line in running.stderr if "Serving at" in line
        )
        goes_away(database)
        try:
            with httpx2.Client(trust_env=False) as client:
                assert client.get(f"{address}/ready", timeout=_SOON_S).status_code == _UNAVAILABLE
                assert client.get(f"{address}/health", timeout=_SOON_S).json() == {"status": "ok"}
            running.send_signal(signal.SIGTERM)
            _, said = running.communicate(timeout=_SOON_S)
        finally:
            running.kill()
            if goes_away is hang:
                go_on(database)
    # On a busy computer it ends before it has waited for all that hangs.
    assert running.returncode in ((0, 1) if goes_away is hang else (0,)), said
