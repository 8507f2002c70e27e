"""Faults N-06 and N-07: forbidden addresses, and hostile responses."""

import ast
import gzip
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path

import pytest

from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.features.web_pages.crawler import FetchedPage, WebAccess, WebLimits
from desktop_rag.features.web_pages.page_address import (
    PageRefused,
    RefusalKind,
    is_public,
    parse_links,
)
from tests.servers.web_server import HTML, Served, WebServer
from tests.web_room import is_home, loopback_access

Fetch = Callable[..., FetchedPage | None]
CERTIFICATE = Path(__file__).parents[2] / "integration" / "endpoints" / "localhost.pem"
_MEGABYTE = 1 << 20
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


@pytest.fixture
def site() -> Iterator[WebServer]:
    with WebServer() as server:
        server.page("/good", "Good")
        yield server


@pytest.fixture
def fetch() -> Iterator[Fetch]:
    """Fetches an address with a new crawler, by default with the app's settings."""
    with ExitStack() as stack:

        def once(url: str, access: WebAccess | None = None) -> FetchedPage | None:
            hasty = access or WebAccess(WebLimits(delay_s=0))
            return stack.enter_context(hasty.crawler(threading.Event())).fetch(url)

        yield once


def refusal(fetch: Fetch, url: str, access: WebAccess | None = None) -> PageRefused:
    with pytest.raises(PageRefused) as caught:
        fetch(url, access)
    assert caught.value.reason
    return caught.value


def nowhere(host: str, port: int) -> list[str]:
    raise AssertionError(f"{host} was looked up")


# --- N-06: forbidden addresses ------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd", "ftp://example.org/a", "gopher://example.org/", "data:text/html,a",
        "http://user:secret@example.org/", "http://user@example.org/", "http://example.org\\@evil/",
        "http://example.org:22/", "http://example.org:25/", "http://example.org:6379/",
        "http://example.org:0/", "http://example.org:99999/", "http:///a", "http://a b/",
        "http://2130706433/", "http://0x7f000001/", "http://0x7f.1/", "http://0177.0.0.1/",
        "http://127.1/", "http://0/", "http://127.0.0.1\r\nHost: a/", "http://[::1", "http://%31/",
        "http://[fe80::1%25eth0]/",
    ],
)  # fmt: skip
def test_n06_odd_addresses_are_refused_before_any_look_up(fetch: Fetch, url: str) -> None:
    assert refusal(fetch, url, WebAccess(resolve=nowhere)).kind is RefusalKind.BLOCKED


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "127.8.9.10", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1",
        "169.254.169.254", "100.64.0.1", "224.0.0.1", "255.255.255.255", "[::1]", "[::]",
        "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[fe80::1]", "[fd00::1]",
        "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[ff02::1]", "127.0.0.1.",
        "\uff11\uff12\uff17.0.0.1",
    ],
)  # fmt: skip
def test_n06_private_addresses_are_refused(fetch: Fetch, site: WebServer, host: str) -> None:
    assert refusal(fetch, f"http://{host}:{site.port}/good").kind is RefusalKind.BLOCKED
    assert site.requests == []


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("8.8.8.8", True), ("2606:4700::1111", True), ("::ffff:8.8.8.8", True),
        ("64:ff9b::808:808", True), ("2002:808:808::", True), ("64:ff9b::a00:1", False),
        ("64:ff9b:1::808:808", False), ("2002:a9fe:a9fe::1", False), ("::ffff:100.64.0.1", False),
        ("::808:808", False), ("2001:0:1:2::", False), ("fec0::1", False), ("2001:db8::1", False),
        ("3fff::1", False), ("5f00::1", False), ("240.0.0.1", False), ("192.88.99.1", False),
        ("198.18.0.1", False), ("192.0.2.1", False), ("ff0e::1", False), ("239.1.1.1", False),
    ],
)  # fmt: skip
def test_n06_an_address_inside_an_address_counts(address: str, expected: bool) -> None:
    assert is_public(ip_address(address)) is expected


@pytest.mark.parametrize("name", ["localhost", "localhost.", "pages.example"])
def test_n06_a_name_is_judged_by_all_its_addresses(
    fetch: Fetch, site: WebServer, name: str
) -> None:
    access = WebAccess(resolve=lambda _host, _port: ["93.184.215.14", "127.0.0.1"])
    assert refusal(fetch, site.url("/good", name), access).kind is RefusalKind.BLOCKED
    assert site.requests == []


def test_n06_a_name_that_leads_elsewhere_the_second_time_leads_nowhere(
    fetch: Fetch, site: WebServer
) -> None:
    answers = [["127.0.0.1"], ["10.0.0.1"], ["127.0.0.1"]]
    asked: list[str] = []

    def resolve(host: str, _port: int) -> list[str]:
        asked.append(host)
        return answers[len(asked) - 1]

    site.pages["/robots.txt"] = Served(status=404, headers={"Connection": "close"})
    access = loopback_access(resolve=resolve)
    assert refusal(fetch, site.url("/good", "pages.example"), access).kind is RefusalKind.BLOCKED
    assert site.asked == ["/robots.txt"]


def test_n06_the_address_that_was_checked_is_the_one_connected_to(
    fetch: Fetch, site: WebServer
) -> None:
    access = loopback_access(resolve=lambda _host, _port: ["127.0.0.1"])
    page = fetch(site.url("/good", "pages.example"), access)
    assert page
    assert b"Good" in page.body
    assert site.requests[-1].headers["host"] == f"pages.example:{site.port}"


@pytest.mark.parametrize(
    "location",
    ["http://10.0.0.1/", "http://[::1]:{port}/good", "//169.254.169.254/latest", "file:///etc/x",
     "http://127.0.0.1:22/", "http://a:b@127.0.0.1:{port}/good", "http://0x7f.1:{port}/good"],
)  # fmt: skip
def test_n06_a_redirect_is_checked_like_an_address(
    fetch: Fetch, site: WebServer, location: str
) -> None:
    target = location.format(port=site.port)
    site.pages["/away"] = Served(status=302, headers={"Location": target})
    assert refusal(fetch, site.url("/away"), loopback_access()).kind is RefusalKind.BLOCKED
    assert "/good" not in site.asked


def test_n06_the_proxies_of_the_system_are_not_used(
    fetch: Fetch, site: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, site.url("/proxy"))
    access = WebAccess(is_allowed=is_public, resolve=lambda _host, _port: ["10.0.0.1"])
    assert refusal(fetch, "http://pages.example/", access).kind is RefusalKind.BLOCKED
    assert site.requests == []


def test_n06_over_tls_the_name_is_asked_for_and_the_certificate_checked(
    fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    access = loopback_access(resolve=lambda _host, _port: ["127.0.0.1"])
    with WebServer(CERTIFICATE) as site:
        site.page("/good", "Good")
        refused = refusal(fetch, site.url("/good", "localhost"), access)
        assert "encryption" in refused.title
        assert site.requests == []
        monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
        assert fetch(site.url("/good", "localhost"), access)
        assert site.names[-1] == "localhost"
        refusal(fetch, site.url("/good", "pages.example"), access)
        assert site.names[-1] == "pages.example"


@pytest.mark.parametrize("line", ["file:///etc/passwd", "http://a:b@example.org/", "hello", "  "])
def test_n06_no_such_address_can_be_entered(line: str) -> None:
    with pytest.raises(AppError):
        parse_links(line)


@pytest.mark.slow
def test_n06_nothing_else_that_fetches_and_reads_can_connect() -> None:
    app = Path(__file__).parents[3] / "desktop_rag"
    networking = {"ftplib", "http", "httpcore2", "httpx2", "requests", "socket", "ssl"}
    users = {
        path.relative_to(app).as_posix()
        for room in ("ingest", "features/web_pages")
        for path in (app / room).rglob("*.py")
        if networking & imported(path) or "urllib.request" in path.read_text(encoding="utf-8")
    }
    pair = "ingest/parsing/protocol.py"  # a pair of sockets, connected to each other
    assert users == {"features/web_pages/transport.py", pair}
    assert "connect(" not in (app / pair).read_text(encoding="utf-8")


def imported(path: Path) -> set[str]:
    """The packages that a module imports, including those inside functions."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").partition(".")[0])
    return names


# --- N-07: hostile responses ----------------------------------------------------------------------


def endless(write: Callable[[bytes], object], released: threading.Event) -> None:
    write(_HEAD + b"\r\n")
    while not released.is_set():
        write(b"<p>more</p>" * 4000)


def slow(write: Callable[[bytes], object], released: threading.Event) -> None:
    write(_HEAD + b"Content-Length: 100000\r\n\r\n")
    while not released.wait(0.05):
        write(b"a")


def slow_headers(write: Callable[[bytes], object], released: threading.Event) -> None:
    write(b"HTTP/1.1 200 OK\r\nX-Long: ")
    while not released.wait(0.05):
        write(b"a")


def silent(write: Callable[[bytes], object], released: threading.Event) -> None:
    released.wait()


def many_headers(write: Callable[[bytes], object], released: threading.Event) -> None:
    write(_HEAD)
    while not released.is_set():
        write(b"X-More: " + b"a" * 4000 + b"\r\n")


def cut(write: Callable[[bytes], object], released: threading.Event) -> None:
    write(_HEAD + b"Content-Length: 100000\r\n\r\n<h1>Only the beginning")


def cut_gzip(write: Callable[[bytes], object], released: threading.Event) -> None:
    write(_HEAD + b"Content-Encoding: gzip\r\nConnection: close\r\n\r\n")
    write(gzip.compress(b"<h1>Only the beginning</h1>" * 100)[:40])


def no_http(write: Callable[[bytes], object], released: threading.Event) -> None:
    write(b"220 mail.example ESMTP\r\n")


@pytest.mark.parametrize(
    ("writes", "kind"),
    [
        (endless, RefusalKind.UNFIT), (slow, RefusalKind.UNREACHABLE),
        (slow_headers, RefusalKind.UNREACHABLE), (silent, RefusalKind.UNREACHABLE),
        (many_headers, RefusalKind.FAILING), (cut, RefusalKind.FAILING),
        (cut_gzip, RefusalKind.FAILING), (no_http, RefusalKind.FAILING),
    ],
)  # fmt: skip
def test_n07_bad_manners_end_in_a_reason(
    fetch: Fetch,
    site: WebServer,
    writes: Callable[[Callable[[bytes], object], threading.Event], None],
    kind: RefusalKind,
) -> None:
    site.pages["/bad"] = Served(writes=writes)
    assert refusal(fetch, site.url("/bad"), loopback_access(seconds=1.0)).kind is kind


def test_n07_a_page_may_be_so_large_and_no_larger(fetch: Fetch, site: WebServer) -> None:
    site.pages["/most"] = Served("a" * _MEGABYTE)
    site.pages["/more"] = Served("a" * (_MEGABYTE + 1))
    page = fetch(site.url("/most"), loopback_access())
    assert page
    assert len(page.body) == _MEGABYTE
    assert refusal(fetch, site.url("/more"), loopback_access()).kind is RefusalKind.UNFIT


@pytest.mark.slow
def test_n07_what_is_packed_counts_unpacked(fetch: Fetch, site: WebServer) -> None:
    site.pages["/fine"] = Served("a" * _MEGABYTE, is_gzipped=True)
    site.pages["/bomb"] = Served("a" * 64 * _MEGABYTE, is_gzipped=True)
    page = fetch(site.url("/fine"), loopback_access())
    assert page
    assert len(page.body) == _MEGABYTE
    assert len(site.pages["/bomb"].payload) < 100_000
    assert refusal(fetch, site.url("/bomb"), loopback_access()).kind is RefusalKind.UNFIT


@pytest.mark.slow
def test_n07_only_the_packing_that_was_asked_for_is_taken(fetch: Fetch, site: WebServer) -> None:
    for encoding in ("br", "zstd", "gzip, gzip", "deflate"):
        site.pages["/packed"] = Served("abc", headers={"Content-Encoding": encoding})
        assert refusal(fetch, site.url("/packed"), loopback_access()).kind is RefusalKind.FAILING


@pytest.mark.slow
def test_n07_redirects_end(fetch: Fetch, site: WebServer) -> None:
    site.pages["/loop"] = Served(status=302, headers={"Location": "/loop"})
    for number in range(6):
        site.pages[f"/{number}"] = Served(status=301, headers={"Location": f"/{number + 1}"})
    site.page("/6", "The end")
    assert refusal(fetch, site.url("/loop"), loopback_access()).kind is RefusalKind.FAILING
    assert site.asked.count("/loop") == 6
    assert refusal(fetch, site.url("/0"), loopback_access()).kind is RefusalKind.FAILING
    page = fetch(site.url("/1"), loopback_access())
    assert page
    assert page.url == site.url("/6")


@pytest.mark.parametrize("kind", ["image/png", "application/zip", "video/mp4", "text/css", ""])
def test_n07_other_types_are_refused(fetch: Fetch, site: WebServer, kind: str) -> None:
    site.pages["/a"] = Served("abc", kind)
    assert refusal(fetch, site.url("/a"), loopback_access()).kind is RefusalKind.UNFIT


def test_n07_nothing_but_the_page_is_said_and_kept(fetch: Fetch, site: WebServer) -> None:
    site.pages["/good"] = Served("<h1>Good</h1>", HTML, headers={"Set-Cookie": "a=b"})
    crawler_access = loopback_access()
    with crawler_access.crawler(threading.Event()) as crawler:
        crawler.fetch(site.url("/good"))
        crawler.fetch(site.url("/good"))
    sent = site.requests[-1].headers
    assert set(sent) == {"host", "user-agent", "accept", "accept-encoding"}
    assert sent["user-agent"].startswith("desktop-rag")


def test_n07_closing_the_app_ends_a_fetch_at_once(site: WebServer) -> None:
    cancel = threading.Event()
    asked = threading.Event()

    def wait(write: Callable[[bytes], object], released: threading.Event) -> None:
        asked.set()
        released.wait()

    site.pages["/slow"] = Served(writes=wait)
    threading.Thread(target=lambda: (asked.wait(10), cancel.set())).start()
    with loopback_access().crawler(cancel) as crawler, pytest.raises(Cancelled):
        crawler.fetch(site.url("/slow"))


def test_n07_a_name_that_takes_too_long_is_given_up(fetch: Fetch) -> None:
    released = threading.Event()

    def resolve(_host: str, _port: int) -> list[str]:
        released.wait(10)
        return []

    try:
        access = loopback_access(seconds=0.2, resolve=resolve)
        assert refusal(fetch, "http://pages.example/", access).kind is RefusalKind.UNREACHABLE
    finally:
        released.set()


def test_n07_the_limits_of_the_app() -> None:
    limits = WebAccess().limits
    assert (limits.page_bytes, limits.seconds, limits.redirects) == (10 * _MEGABYTE, 20.0, 5)
    assert replace(WebAccess(), is_allowed=is_home) != WebAccess()
    assert not WebAccess().is_allowed(IPv4Address("127.0.0.1"))
    assert not WebAccess().is_allowed(IPv6Address("::1"))
