"""Following links over real HTTP on this computer: scope, what may be reached, politeness.

The server is on loopback, which only the list of the collection opens (fault N-06).
"""

import threading
from collections.abc import Callable

import pytest

from desktop_rag.core.crawling import CrawlState
from desktop_rag.features.web_pages.crawler import WebAccess
from tests.servers.crawled_room import LIMITS, Crawled, page
from tests.servers.web_server import Served, WebServer
from tests.web_room import Build

# --- scope ---------------------------------------------------------------------------------


@pytest.mark.everyday
def test_links_are_followed_on_the_host_below_the_path_and_to_the_depth(
    crawled: Crawled, site: WebServer
) -> None:
    away = f"http://localhost:{site.port}/guide/away"
    page(site, "/guide/", "one", "/outside", away, "mailto:a@b.example", "javascript:alert(1)",
         "picture.png", "file:///etc/passwd")  # fmt: skip
    page(site, "/guide/one", "two#part", "./one", "/guide/one?")
    page(site, "/guide/two", "three")
    page(site, "/guide/three")
    for other in ("/outside", "/guide/away", "/guide/picture.png"):
        page(site, other)
    assert crawled.crawl("/guide/", depth=2) == ["/guide/", "/guide/one", "/guide/two"]
    assert site.asked == ["/robots.txt", "/guide/", "/guide/one", "/guide/two"]


@pytest.mark.slow
def test_a_path_limit_holds_in_place_of_the_folder(crawled: Crawled, site: WebServer) -> None:
    page(site, "/start", "/guide/a", "/blog/b")
    page(site, "/guide/a", "/guide/c")
    page(site, "/guide/c")
    page(site, "/blog/b")
    assert crawled.crawl("/start", path="/guide/") == ["/guide/a", "/guide/c", "/start"]


@pytest.mark.slow
def test_the_page_limit_counts_pages_that_are_read(crawled: Crawled, site: WebServer) -> None:
    page(site, "/", *(f"/{n}x{n}" for n in range(30)))
    for n in range(30):
        page(site, f"/{n}x{n}")
    assert len(crawled.crawl("/", limit=10)) == 10
    [report] = crawled.room.links.reports.values()
    assert (report.state, report.pages, report.is_cut_off) == (CrawlState.DONE, 10, True)


# --- what may be reached -------------------------------------------------------------------------


@pytest.mark.everyday
def test_without_the_list_nothing_of_this_computer_is_reached(
    build: Build, site: WebServer
) -> None:
    room = build(WebAccess(LIMITS))
    room.start()
    page(site, "/")
    crawled = Crawled(room, site, ("wiki.example",))
    assert crawled.crawl("/") == []
    assert site.requests == []
    assert "not on the public internet" in crawled.refused["/"]


@pytest.mark.slow
def test_another_port_and_another_name_of_the_same_computer_are_not_on_the_list(
    crawled: Crawled,
) -> None:
    with WebServer() as other:
        page(other, "/")
        crawled.crawl(other.url("/"), f"http://localhost:{crawled.site.port}/")
        assert other.requests == crawled.site.requests == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "location",
    ["http://169.254.169.254/latest/meta-data/", "http://localhost:{port}/secret",
     "http://127.0.0.1:{other}/secret", "http://[::1]:{port}/secret", "file:///etc/passwd",
     "http://0x7f000001:{port}/secret"],
)  # fmt: skip
def test_a_redirect_of_a_page_leads_nowhere_else(
    crawled: Crawled, site: WebServer, location: str
) -> None:
    with WebServer() as other:
        page(other, "/secret")
        page(site, "/secret")
        page(site, "/", "/away")
        target = location.format(port=site.port, other=other.port)
        site.pages["/away"] = Served(status=302, headers={"Location": target})
        assert crawled.crawl("/") == ["/"]
        assert other.requests == []
    assert "/secret" not in site.asked
    assert crawled.refused["/away"]


@pytest.mark.slow
def test_a_link_of_the_person_is_not_led_to_private_addresses(
    crawled: Crawled, site: WebServer
) -> None:
    # No scope holds the first page, so the list of the collection alone decides.
    with WebServer() as other:
        page(other, "/secret")
        site.pages["/a"] = Served(status=302, headers={"Location": other.url("/secret")})
        crawled.crawl("/a")
        assert other.requests == []


@pytest.mark.slow
def test_a_listed_name_must_stay_within_its_network(build: Build, site: WebServer) -> None:
    answers = iter([["127.0.0.1"], ["127.0.0.2"], ["10.0.0.1"]])
    room = build(WebAccess(LIMITS, resolve=lambda _host, _port: next(answers)))
    room.start()
    for target in ("/", "/b"):
        page(site, target, "/b", headers={"Connection": "close"})
    site.pages["/robots.txt"] = Served(status=404, headers={"Connection": "close"})
    crawled = Crawled(room, site, (f"wiki.example:{site.port} 127.0.0.1/32",))
    crawled.links(site.url("/", "wiki.example"))
    room.settle()
    # The name changed between robots.txt and the page, to an address outside the network.
    assert site.asked == ["/robots.txt"]


# --- politeness ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_robots_with_wildcards_are_obeyed(crawled: Crawled, site: WebServer) -> None:
    rules = "User-agent: *\nDisallow: /*/private\nDisallow: /*.pdf$\nDisallow: /s\nAllow: /s/open\n"
    site.pages["/robots.txt"] = Served(rules, "text/plain")
    targets = ["/a/private/x", "/doc.pdf", "/doc.pdf.html", "/s/closed", "/s/open/y"]
    page(site, "/", *targets)
    for target in targets:
        page(site, target)
    assert crawled.crawl("/") == ["/", "/doc.pdf.html", "/s/open/y"]
    assert set(crawled.refused) == {"/a/private/x", "/doc.pdf", "/s/closed"}
    assert "robots.txt" in crawled.refused["/doc.pdf"]


@pytest.mark.slow
def test_a_delay_that_robots_ask_for_is_kept(crawled: Crawled, site: WebServer) -> None:
    site.pages["/robots.txt"] = Served("User-agent: *\nCrawl-delay: 0.15\n", "text/plain")
    page(site, "/", "/a")
    page(site, "/a")
    crawled.crawl("/")
    first, second = [request.at for request in site.requests][-2:]
    assert second - first >= 0.14


@pytest.mark.slow
def test_a_busy_site_is_asked_again_after_the_time_it_names(
    crawled: Crawled, site: WebServer
) -> None:
    times: list[int] = []

    def busy_once(write: Callable[[bytes], object], _released: threading.Event) -> None:
        times.append(len(site.requests))
        if len(times) == 1:
            write(b"HTTP/1.1 429 Busy\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n")
        else:
            body = site.pages["/body"].payload
            head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}"
            write(head.encode() + b"\r\n\r\n" + body)

    page(site, "/body")
    page(site, "/", "/busy")
    site.pages["/busy"] = Served(writes=busy_once)
    assert crawled.crawl("/") == ["/", "/busy"]
    first, second = [request.at for request in site.requests if request.target == "/busy"]
    assert second - first >= 0.99


@pytest.mark.slow
def test_a_site_that_stays_busy_is_left_alone(crawled: Crawled, site: WebServer) -> None:
    page(site, "/", *(f"/a{n}" for n in range(20)))
    for n in range(20):
        site.pages[f"/a{n}"] = Served(status=503, headers={"Retry-After": "86400"})
    assert crawled.crawl("/") == ["/"]
    assert site.asked == ["/robots.txt", "/", "/a0"]
    assert len(crawled.refused) == 20


@pytest.mark.slow
def test_what_is_unchanged_is_not_sent_again_and_still_leads_on(
    crawled: Crawled, site: WebServer
) -> None:
    page(site, "/", "/a", has_etag=True)
    page(site, "/a", "/b", has_etag=True)
    page(site, "/b", has_etag=True)
    assert crawled.crawl("/") == ["/", "/a", "/b"]
    page(site, "/b", "/c", has_etag=True)
    page(site, "/c", has_etag=True)
    site.requests.clear()
    assert crawled.again() == ["/", "/a", "/b", "/c"]
    assert {r.target: bool(r.headers.get("if-none-match")) for r in site.requests} == {
        "/robots.txt": False, "/": True, "/a": True, "/b": True, "/c": False,
    }  # fmt: skip


@pytest.mark.slow
def test_pages_that_no_link_leads_to_any_more_are_removed(
    crawled: Crawled, site: WebServer
) -> None:
    page(site, "/", "/a", "/b")
    page(site, "/a")
    page(site, "/b")
    assert crawled.crawl("/") == ["/", "/a", "/b"]
    page(site, "/", "/a")
    assert crawled.again() == ["/", "/a"]


@pytest.mark.slow
def test_while_a_site_fails_its_pages_are_kept(crawled: Crawled, site: WebServer) -> None:
    page(site, "/", "/a")
    page(site, "/a", "/b")
    page(site, "/b")
    assert crawled.crawl("/") == ["/", "/a", "/b"]
    good = dict(site.pages)
    for target in ("/", "/a"):
        site.pages[target] = Served(status=500)
    assert crawled.again() == ["/", "/a", "/b"]
    site.pages = good
    assert crawled.again() == ["/", "/a", "/b"]
