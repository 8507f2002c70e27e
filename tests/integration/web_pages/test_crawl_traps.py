"""Following links over real HTTP on this computer: copies, traps, pauses.

The server is on loopback, which only the list of the collection opens (fault N-07).
"""

import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from desktop_rag.core.crawling import CrawlState
from tests.servers.crawled_room import Crawled, page
from tests.servers.web_server import Served, WebServer
from tests.waiting import until

pytestmark = pytest.mark.slow

# --- wishes of pages, copies ---------------------------------------------------------------------


def test_noindex_and_nofollow_are_respected(crawled: Crawled, site: WebServer) -> None:
    robots = '<meta name="robots" content="{}">'
    page(site, "/", "/hidden", "/end", "/header", "/none", "/other")
    page(site, "/hidden", "/below", head=robots.format("noindex"))
    page(site, "/end", "/unseen", head=robots.format("NoFollow"))
    page(site, "/header", "/unseen", headers={"X-Robots-Tag": "noindex, nofollow"})
    page(site, "/none", "/unseen", head='<meta name="desktop-rag" content="none">')
    page(site, "/other", headers={"X-Robots-Tag": "googlebot: noindex"})
    page(site, "/below")
    page(site, "/unseen")
    site.pages["/"] = replace(
        site.pages["/"], body=f'{site.pages["/"].body}<a rel="nofollow ugc" href="/unseen">x</a>'
    )
    assert crawled.crawl("/") == ["/", "/below", "/end", "/other"]
    assert "/unseen" not in site.asked
    assert "noindex" in crawled.refused["/hidden"]


def test_one_page_is_kept_once(crawled: Crawled, site: WebServer) -> None:
    canonical = '<link rel="canonical" href="/right">'
    page(site, "/", "/p?utm_source=mail", "/p;jsessionid=1A", "/p?PHPSESSID=7", "/%70", "/x/../p",
         "/wrong?sort=up", "/wrong?sort=down", "/same", "/moved")  # fmt: skip
    page(site, "/p")
    for target in ("/wrong?sort=up", "/wrong?sort=down", "/right"):
        page(site, target, head=canonical)
    site.pages["/same"] = site.pages["/p"]
    site.pages["/moved"] = Served(status=301, headers={"Location": "/p"})
    assert crawled.crawl("/") == ["/", "/p", "/right"]
    assert site.asked.count("/p") == 2, "once for itself, once for the page that moved there"
    [report] = crawled.room.links.reports.values()
    assert report.copies == 4


def test_a_canonical_page_that_is_gone_costs_no_page(crawled: Crawled, site: WebServer) -> None:
    page(site, "/", "/a", "/b", "/c")
    page(site, "/a", head='<link rel="canonical" href="/gone">')
    # Two that name each other.
    page(site, "/b", head='<link rel="canonical" href="/c">')
    page(site, "/c", head='<link rel="canonical" href="/b">')
    read = crawled.crawl("/")
    assert read[:2] == ["/", "/a"]
    assert len(read) == 3


# --- traps ---------------------------------------------------------------------------------------


def test_a_calendar_without_end_leaves_room_for_the_rest(crawled: Crawled, site: WebServer) -> None:
    class Endless(dict[str, Served]):
        """Serves every day there is."""

        def get(self, target: str, default: Served | None = None) -> Served | None:  # type: ignore[override]
            if found := re.fullmatch(r"/cal\?day=(\d+)", target):
                day = int(found[1])
                page(site, target, f"/cal?day={day + 1}", f"/cal?day={day + 2}")
            return super().get(target, default)

    site.pages = Endless(site.pages)
    page(site, "/", "/cal?day=1", "/a")
    page(site, "/a", "/deep")
    page(site, "/deep", "/deeper")
    page(site, "/deeper")
    read = crawled.crawl("/", depth=1000, limit=60)
    assert {"/", "/a", "/deep", "/deeper"} <= set(read)
    assert 20 <= len(read) <= 40
    assert len(site.requests) <= 60


def test_paths_that_grow_and_years_ahead_end(crawled: Crawled, site: WebServer) -> None:
    page(site, "/", "a/", "/archive/2050/01/", "/archive/1955/03/")
    for depth in range(1, 9):
        page(site, "/" + "a/" * depth, "a/")
    page(site, "/archive/1955/03/")
    assert crawled.crawl("/", depth=50) == ["/", "/a/", "/a/a/", "/archive/1955/03/"]
    assert "repeats" in crawled.refused["/a/a/a/"]
    assert "calendar" in crawled.refused["/archive/2050/01/"]


def test_a_page_of_ten_thousand_links_is_bounded(crawled: Crawled, site: WebServer) -> None:
    names = [f"{'abcdefghij'[n % 10] * (n % 97 + 1)}-{n}" for n in range(10_000)]
    page(site, "/", *(f"/{name}" for name in names))
    for name in names[:30]:
        page(site, f"/{name}")
    read = crawled.crawl("/", limit=20)
    assert len(read) == 20
    [report] = crawled.room.links.reports.values()
    assert report.is_cut_off
    assert len(site.requests) < 40


def test_bodies_without_end_cost_one_page_each(crawled: Crawled, site: WebServer) -> None:
    def slow(write: Callable[[bytes], object], released: threading.Event) -> None:
        write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100000\r\n\r\n")
        while not released.wait(0.05):
            write(b"a")

    page(site, "/", "/slow", "/huge", "/loop", "/charset", "/last")
    site.pages["/slow"] = Served(writes=slow)
    site.pages["/huge"] = Served(b"<p>a" * (1 << 19))
    site.pages["/loop"] = Served(status=302, headers={"Location": "/loop"})
    site.pages["/charset"] = Served(
        "<html><head><meta charset='utf-16'></head><body><p>Grüße aus dem Leuchtturm, wo man"
        " das Wetter aufschreibt.</p><a href='/umlaut-ä'>x</a></body></html>".encode("latin-1"),
        "text/html; charset=iso-8859-1",
    )
    page(site, "/umlaut-%C3%A4")
    page(site, "/last")
    assert crawled.crawl("/") == ["/", "/charset", "/last", "/umlaut-%C3%A4"]
    text = crawled.room.documents.text(crawled.room.row(site.url("/charset")).document_id)
    assert "Grüße" in (text or "")
    assert set(crawled.refused) == {"/slow", "/huge", "/loop"}


# --- pause, stop, removal ------------------------------------------------------------------------


@pytest.fixture
def held(crawled: Crawled, site: WebServer) -> Iterator[threading.Event]:
    """A crawl that waits at its second page until this is set."""
    go_on = threading.Event()

    def wait(write: Callable[[bytes], object], _released: threading.Event) -> None:
        go_on.wait(20)
        body = b"<title>held</title><p>The held page of the keeper.</p><a href='/b'>b</a>"
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}"
        write(head.encode() + b"\r\n\r\n" + body)

    page(site, "/", "/held")
    page(site, "/b")
    site.pages["/held"] = Served(writes=wait)
    crawled.links("/")
    until(lambda: "/held" in site.asked)
    yield go_on
    go_on.set()


def test_a_pause_is_between_pages_and_goes_on_where_it_was(
    crawled: Crawled, site: WebServer, held: threading.Event
) -> None:
    crawled.room.links.set_paused(True)
    held.set()
    until(lambda: [r.state for r in crawled.room.links.reports.values()] == [CrawlState.PAUSED])
    assert "/b" not in site.asked
    crawled.room.links.set_paused(False)
    crawled.room.settle()
    assert crawled.read == ["/", "/b", "/held"]
    assert site.asked == ["/robots.txt", "/", "/held", "/b"], "nothing was asked for twice"


def test_stopping_ends_a_request_at_once_and_keeps_what_was_read(
    crawled: Crawled, held: threading.Event
) -> None:
    [source] = crawled.room.sources.sources()
    assert crawled.room.links.reports[source.source_id].state is CrawlState.RUNNING
    crawled.room.links.stop(source.source_id)
    crawled.room.settle()
    assert not held.is_set()
    assert crawled.read == ["/"]
    report = crawled.room.reports.all()[source.source_id]
    assert (report.state, report.pages, report.ended_at) == (CrawlState.STOPPED, 1, 1000.0)


def test_removing_the_source_ends_a_request_at_once(
    crawled: Crawled, held: threading.Event
) -> None:
    [source] = crawled.room.sources.sources()
    crawled.room.sources.remove_source(source.source_id)
    crawled.room.links.forget(source.source_id)
    until(lambda: crawled.room.links.is_idle)
    assert not held.is_set()
    assert crawled.room.links.reports == {}
