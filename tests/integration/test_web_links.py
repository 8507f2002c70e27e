"""Web links over real HTTP on this computer, with the real store and the real parser process."""

import itertools
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from desktop_rag.core.domain import Document, DocumentState, Source, WebLinks
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import ChangeSummary, Notice
from desktop_rag.core.parsed import ChunkSettings
from desktop_rag.core.paths import Home
from desktop_rag.core.text import rough_token_counts
from desktop_rag.ingest.cutter import Cutter
from desktop_rag.ingest.indexer import Indexer
from desktop_rag.ingest.progress import ProgressMeter
from desktop_rag.ingest.web.access import WebAccess
from desktop_rag.ingest.web.links import LinkListeners, Links
from desktop_rag.ingest.worker import ParserProcess
from desktop_rag.store.database import Database
from desktop_rag.store.documents import DocumentStore
from desktop_rag.store.sources import SourceStore
from desktop_rag.store.web_pages import WebPageStore
from tests.web_server import Served, WebServer, loopback_access

WORDS = DocumentState.SEARCHABLE_BY_WORDS
SKIPPED, FAILED = DocumentState.SKIPPED, DocumentState.FAILED
_HOUR_S = 3600.0


@dataclass
class Heard:
    """What the links told."""

    changed: list[Document] = field(default_factory=list[Document])
    scanned: list[ChangeSummary] = field(default_factory=list[ChangeSummary])
    reached: list[bool] = field(default_factory=list[bool])
    told: list[Notice] = field(default_factory=list[Notice])
    stopped: list[AppError] = field(default_factory=list[AppError])


class Room:
    """The links with all they stand on, over one home; may be closed and built again."""

    def __init__(self, home: Home, access: WebAccess, now: float = 1000.0) -> None:
        home.create()
        self.pages = home.pages
        self.now = now
        self.heard = Heard()
        self.database = Database(home.database, memory_mb=256, backups=home.backups)
        self.documents = DocumentStore(self.database)
        self.sources = SourceStore(self.database)
        self.web_pages = WebPageStore(self.database)
        self.indexer = Indexer(
            self.documents, ParserProcess(), Cutter(rough_token_counts, 256),
            lambda _: ChunkSettings(), ProgressMeter(has_embedder=False),
            changed=lambda _: None, went_idle=lambda: None, stopped=self.heard.stopped.append,
        )  # fmt: skip
        listeners = LinkListeners(
            self.heard.changed.extend,
            lambda _, summary: self.heard.scanned.append(summary),
            lambda _, is_online: self.heard.reached.append(is_online),
            self.heard.told.append,
            self.heard.stopped.append,
        )
        self.links = Links(
            self.documents, self.sources, self.web_pages, self.indexer, listeners,
            folder=self.pages, web=access, clock=lambda: self.now,
        )  # fmt: skip

    def start(self) -> None:
        self.indexer.start()
        self.links.start()

    def close(self) -> None:
        self.links.close()
        self.indexer.close()
        self.database.close()

    def add(self, *urls: str, limit: int = 100, hours: float = 24.0) -> Source:
        source = self.sources.add_links(WebLinks(urls, limit, hours), self.pages, "c")
        self.links.request(source)
        return source

    def settle(self) -> None:
        """Wait until all is fetched and read."""
        deadline, pause = time.monotonic() + 20, threading.Event()
        while not (self.links.is_idle and self.indexer.is_idle):
            assert time.monotonic() < deadline, "it never came to rest"
            pause.wait(0.01)
        assert not self.heard.stopped

    def refresh(self) -> ChangeSummary:
        self.links.request(self.sources.sources()[0])
        self.settle()
        return self.heard.scanned[-1]

    def states(self, site: WebServer) -> dict[str, DocumentState]:
        """States by the path of the address on the site."""
        rows = self.documents.documents()
        return {row.url.removeprefix(site.url("")): row.state for row in rows}

    def row(self, url: str) -> Document:
        return next(row for row in self.documents.documents() if row.url == url)


Build = Callable[..., Room]


@pytest.fixture
def build(home: Home) -> Iterator[Build]:
    built: list[Room] = []

    def make(access: WebAccess | None = None, now: float = 1000.0) -> Room:
        room = Room(home, access or loopback_access(), now)
        built.append(room)
        return room

    yield make
    for room in built:
        room.close()


@pytest.fixture
def room(build: Build) -> Room:
    made = build()
    made.start()
    return made


@pytest.fixture
def site() -> Iterator[WebServer]:
    with WebServer() as server:
        yield server


def files(folder: Path) -> int:
    return len(list(folder.iterdir())) if folder.exists() else 0


def test_links_become_searchable_documents(room: Room, site: WebServer) -> None:
    site.page("/a", "The ferry leaves at noon")
    site.pages["/b"] = Served("# Tides\n\nHigh water is at six.", "text/markdown")
    source = room.add(site.url("/a"), site.url("/b"), site.url("/c"))
    room.settle()
    assert room.states(site) == {"/a": WORDS, "/b": WORDS, "/c": FAILED}
    row = room.row(site.url("/a"))
    assert row.title == "The ferry leaves at noon"
    assert row.path.parent == source.path
    assert "ferry" in (room.documents.text(row.document_id) or "")
    assert "404" in room.row(site.url("/c")).reason
    assert room.heard.reached == [True]
    assert room.heard.scanned == [ChangeSummary(added=3)]
    assert room.sources.sources()[0].refreshed_at == 1000.0


def test_a_refresh_touches_only_what_changed(room: Room, site: WebServer) -> None:
    pages = [site.page(f"/{name}", f"Page {name}", has_etag=name != "b") for name in "abcd"]
    room.add(*pages)
    room.settle()
    before = {row.url: row for row in room.documents.documents()}
    site.page("/c", "Page c is another now", has_etag=True)
    del site.pages["/d"]
    room.heard.changed.clear()
    summary = room.refresh()
    assert summary == ChangeSummary(added=1, changed=1, gone=1, unchanged=2)
    assert {row.url for row in room.heard.changed} == {pages[2], pages[3]}
    assert room.row(pages[0]) == before[pages[0]]
    assert room.row(pages[1]) == before[pages[1]]
    assert room.row(pages[2]).title == "Page c is another now"
    assert room.row(pages[2]).document_id == before[pages[2]].document_id
    assert room.row(pages[3]).state is FAILED
    assert room.row(pages[3]).chunk_count == 0
    assert files(room.sources.sources()[0].path) == 3


def test_an_unchanged_page_is_not_sent_again_even_after_a_restart(
    build: Build, site: WebServer
) -> None:
    first = build()
    first.start()
    url = site.page("/a", "Page a", has_etag=True)
    first.add(url)
    first.settle()
    first.close()
    second = build()
    second.start()
    second.settle()
    assert site.asked.count("/a") == 1
    assert second.refresh() == ChangeSummary(unchanged=1)
    asked = [request for request in site.requests if request.target == "/a"]
    assert [request.headers.get("if-none-match") for request in asked] == [
        None,
        site.pages["/a"].etag,
    ]


def test_a_copy_that_was_lost_is_fetched_again(room: Room, site: WebServer) -> None:
    url = site.page("/a", "Page a", has_etag=True)
    room.add(url)
    room.settle()
    room.row(url).path.unlink()
    assert room.refresh() == ChangeSummary(changed=1)
    assert room.row(url).state is WORDS
    assert room.row(url).path.exists()


def test_a_sitemap_stands_for_its_pages(room: Room, site: WebServer) -> None:
    pages = [site.page(f"/{n}", f"Page {n}") for n in range(4)]
    elsewhere = "http://127.0.0.2/x"
    site.sitemap("/deep.xml", pages[2], pages[3], elsewhere)
    site.sitemap("/packed.xml.gz", pages[0], pages[1], is_gzipped=True)
    site.sitemap("/index.xml", site.url("/packed.xml.gz"), site.url("/deep.xml"), tag="sitemap")
    room.add(site.url("/index.xml"))
    room.settle()
    assert room.states(site) == {f"/{n}": WORDS for n in range(4)}
    site.pages["/new"] = site.pages["/0"]
    site.sitemap("/deep.xml", pages[2], site.url("/new"))
    assert room.refresh() == ChangeSummary(added=1, gone=1, unchanged=3)
    assert set(room.states(site)) == {"/0", "/1", "/2", "/new"}


def test_a_packed_file_of_a_sitemap_is_read(room: Room, site: WebServer) -> None:
    page = site.page("/a", "Page a")
    site.sitemap("/x", page, is_gzipped=True)
    data = site.pages["/x"].payload
    site.pages["/sitemap.xml.gz"] = Served(data, "application/x-gzip")
    room.add(site.url("/sitemap.xml.gz"))
    room.settle()
    assert room.states(site) == {"/a": WORDS}


def test_no_more_pages_than_wanted_are_fetched_and_that_is_said(
    room: Room, site: WebServer
) -> None:
    pages = [site.page(f"/{n}", f"Page {n}") for n in range(5)]
    single = site.page("/single", "A single page")
    room.add(site.sitemap("/sitemap.xml", *pages), single, limit=3)
    room.settle()
    assert set(room.states(site)) == {"/single", "/0", "/1"}
    [notice] = room.heard.told
    assert "3 pages" in notice.title
    room.refresh()
    assert len(room.heard.told) == 1


def test_a_sitemap_that_fails_removes_nothing(room: Room, site: WebServer) -> None:
    pages = [site.page(f"/{n}", f"Page {n}") for n in range(2)]
    room.add(site.sitemap("/sitemap.xml", *pages))
    room.settle()
    for broken in (Served(status=503), Served(status=404), Served("<urlset><url>", "text/xml")):
        site.pages["/sitemap.xml"] = broken
        room.refresh()
        assert room.states(site) == {"/0": WORDS, "/1": WORDS, "/sitemap.xml": room.row(
            site.url("/sitemap.xml")).state}  # fmt: skip
        assert room.row(site.url("/sitemap.xml")).reason
    site.sitemap("/sitemap.xml", *pages)
    room.refresh()
    assert room.states(site) == {"/0": WORDS, "/1": WORDS}


def test_what_a_site_asks_of_programs_is_heeded(room: Room, site: WebServer) -> None:
    public, private = site.page("/a", "Page a"), site.page("/private/b", "Page b")
    site.pages["/robots.txt"] = Served("User-agent: *\nDisallow: /private", "text/plain")
    room.add(public, private)
    room.settle()
    assert room.states(site) == {"/a": WORDS, "/private/b": SKIPPED}
    assert "robots.txt" in room.row(private).reason
    assert "/private/b" not in site.asked
    site.pages["/robots.txt"] = Served("User-agent: *\nDisallow: /", "text/plain")
    room.refresh()
    assert room.states(site) == {"/a": SKIPPED, "/private/b": SKIPPED}
    assert room.documents.text(room.row(public).document_id) is None
    assert files(room.sources.sources()[0].path) == 0


def test_a_site_that_fails_to_say_is_left_alone_for_now(room: Room, site: WebServer) -> None:
    url = site.page("/a", "Page a")
    site.pages["/robots.txt"] = Served(status=500)
    room.add(url, site.url("/b"))
    room.settle()
    assert room.states(site) == {"/a": FAILED, "/b": FAILED}
    assert site.asked == ["/robots.txt"]
    del site.pages["/robots.txt"]
    room.refresh()
    assert room.row(url).state is WORDS


def test_a_redirect_to_a_private_address_is_refused_and_stops_nothing(
    room: Room, site: WebServer
) -> None:
    site.pages["/away"] = Served(status=302, headers={"Location": "http://10.0.0.1/"})
    room.add(site.url("/away"), "http://192.168.0.1/", site.page("/a", "Page a"))
    room.settle()
    assert room.states(site)["/a"] is WORDS
    for url in (site.url("/away"), "http://192.168.0.1/"):
        assert room.row(url).state is SKIPPED
        assert "public" in room.row(url).reason


def test_what_can_not_be_had_again_is_kept_and_told_once(room: Room, site: WebServer) -> None:
    url, other = site.page("/a", "Page a"), site.page("/b", "Page b")
    room.add(url, other)
    room.settle()
    before = room.row(url)
    for bad in (Served(status=500), Served(status=403), Served(writes=lambda _w, _r: None)):
        site.pages["/a"] = bad
        assert room.refresh() == ChangeSummary(unchanged=2)
        assert room.row(url) == before
    [notice] = room.heard.told
    assert url in notice.title


def test_a_page_that_becomes_something_else_is_skipped(room: Room, site: WebServer) -> None:
    url = site.page("/a", "Page a")
    room.add(url)
    room.settle()
    site.pages["/a"] = Served(b"\x89PNG", "image/png")
    room.refresh()
    assert room.row(url).state is SKIPPED
    assert "image/png" in room.row(url).reason
    assert room.documents.count_inconsistent() == 0
    site.page("/a", "Page a is back")
    room.refresh()
    assert room.row(url).state is WORDS


def test_a_page_whose_type_changes_leaves_one_copy(room: Room, site: WebServer) -> None:
    url = site.page("/a", "Page a")
    source = room.add(url)
    room.settle()
    site.pages["/a"] = Served("Plain words now.", "text/plain")
    room.refresh()
    assert room.row(url).state is WORDS
    assert [path.suffix for path in source.path.iterdir()] == [".txt"]


def test_a_network_that_is_down_changes_nothing(build: Build, site: WebServer) -> None:
    is_down = threading.Event()

    def resolve(_host: str, _port: int) -> Sequence[str]:
        if is_down.is_set():
            raise OSError("no network")
        return ["127.0.0.1"]

    room = build(loopback_access(resolve=resolve))
    room.start()
    site.page("/a", "Page a")
    site.pages["/robots.txt"] = Served(status=404, headers={"Connection": "close"})
    room.add(site.url("/a", "pages.example"), site.url("/b", "pages.example"))
    room.settle()
    before = room.documents.documents()
    is_down.set()
    room.now += 25 * _HOUR_S
    room.links.check_schedule()
    room.settle()
    assert room.heard.reached == [True, False]
    assert room.documents.documents() == before
    assert room.sources.sources()[0].refreshed_at == 1000.0
    room.links.check_schedule()
    assert room.links.is_idle, "it waits before it tries again"
    is_down.clear()
    room.now += _HOUR_S
    room.links.check_schedule()
    room.settle()
    assert room.heard.reached == [True, False, True]
    assert room.sources.sources()[0].refreshed_at == room.now


def test_pages_are_fetched_again_when_it_is_time(build: Build, site: WebServer) -> None:
    first = build()
    first.start()
    first.add(site.page("/a", "Page a"), hours=2)
    first.settle()
    first.now += 1.9 * _HOUR_S
    first.links.check_schedule()
    assert first.links.is_idle
    first.now += 0.2 * _HOUR_S
    first.links.check_schedule()
    first.settle()
    assert len(first.heard.scanned) == 2
    first.close()
    second = build(now=first.now + 3 * _HOUR_S)
    second.start()
    second.settle()
    assert len(second.heard.scanned) == 1


def test_links_without_a_schedule_are_fetched_when_asked(room: Room, site: WebServer) -> None:
    room.add(site.page("/a", "Page a"), hours=0)
    room.settle()
    room.now += 1000 * _HOUR_S
    room.links.check_schedule()
    assert room.links.is_idle
    assert room.refresh() == ChangeSummary(unchanged=1)


def test_a_forgotten_source_leaves_no_copies(room: Room, site: WebServer) -> None:
    source = room.add(site.page("/a", "Page a", has_etag=True))
    kept = room.add(site.page("/b", "Page b"))
    other = room.pages / "not ours"
    other.mkdir()
    room.settle()
    document_id = room.row(site.url("/a")).document_id
    assert room.web_pages.get([document_id])
    room.sources.remove_source(source.source_id)
    room.links.forget(source.source_id)
    room.settle()
    assert set(room.pages.iterdir()) == {kept.path, other}
    assert room.web_pages.get([document_id]) == {}


def test_what_waited_when_the_app_closed_is_read_at_the_next_start(
    build: Build, site: WebServer
) -> None:
    first = build()
    first.indexer.set_paused(True)
    first.start()
    urls = [site.page("/a", "Page a"), site.page("/b", "Page b")]
    first.add(*urls)
    pause = threading.Event()
    while not first.heard.scanned:
        pause.wait(0.01)
    first.close()
    second = build()
    second.row(urls[1]).path.unlink()
    second.start()
    second.settle()
    assert second.states(site) == {"/a": WORDS, "/b": WORDS}
    assert site.asked.count("/a") == 2


def test_a_site_is_not_hurried(build: Build, site: WebServer) -> None:
    room = build(loopback_access(gap_s=0.15))
    room.start()
    room.add(*(site.page(f"/{n}", f"Page {n}") for n in range(3)))
    room.settle()
    times = [request.at for request in site.requests]
    assert min(b - a for a, b in itertools.pairwise(times)) >= 0.14


def test_a_site_that_asks_to_wait_is_asked_no_more(room: Room, site: WebServer) -> None:
    site.pages["/0"] = Served(status=429)
    room.add(*(site.url(f"/{n}") for n in range(5)))
    room.settle()
    assert site.asked == ["/robots.txt", "/0"]
    assert set(room.states(site).values()) == {FAILED}


def test_pausing_holds_and_resuming_goes_on(build: Build, site: WebServer) -> None:
    room = build()
    room.links.set_paused(True)
    room.start()
    room.add(site.page("/a", "Page a"))
    assert not room.links.is_idle
    assert site.asked == []
    room.links.set_paused(False)
    room.settle()
    assert room.states(site) == {"/a": WORDS}


def test_a_disk_that_is_full_stops_it_and_loses_nothing(build: Build, site: WebServer) -> None:
    room = build()
    source = room.sources.add_links(WebLinks((site.page("/a", "Page a"),)), room.pages, "c")
    source.path.write_text("in the way")
    room.start()
    pause = threading.Event()
    while not room.heard.stopped:
        pause.wait(0.01)
    assert "could not be saved" in room.heard.stopped[0].title
    assert room.documents.documents() == []
    room.heard.stopped.clear()
    source.path.unlink()
    room.links.set_paused(False)
    room.settle()
    assert room.states(site) == {"/a": WORDS}


def test_pausing_in_the_middle_keeps_what_was_fetched(build: Build, site: WebServer) -> None:
    room = build()
    has_begun, may_end = threading.Event(), threading.Event()

    def wait(write: Callable[[bytes], object], _released: threading.Event) -> None:
        has_begun.set()
        assert may_end.wait(10)
        write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nSome words.")

    site.pages["/b"] = Served(writes=wait)
    room.start()
    room.add(site.page("/a", "Page a"), site.url("/b"), site.page("/c", "Page c"))
    assert has_begun.wait(10)
    room.links.set_paused(True)
    may_end.set()
    pause = threading.Event()
    while len(room.documents.documents()) < 2:
        pause.wait(0.01)
    assert room.heard.scanned == []
    assert not room.links.is_idle
    room.links.set_paused(False)
    room.settle()
    assert room.states(site) == {"/a": WORDS, "/b": WORDS, "/c": WORDS}


def test_a_source_forgotten_in_the_middle_is_fetched_no_further(
    room: Room, site: WebServer
) -> None:
    has_begun, may_end = threading.Event(), threading.Event()

    def wait(_write: Callable[[bytes], object], _released: threading.Event) -> None:
        has_begun.set()
        assert may_end.wait(10)

    site.pages["/a"] = Served(writes=wait)
    source = room.add(site.url("/a"), site.page("/b", "Page b"))
    assert has_begun.wait(10)
    room.sources.remove_source(source.source_id)
    room.links.forget(source.source_id)
    may_end.set()
    room.settle()
    assert "/b" not in site.asked
    assert room.documents.documents() == []
    assert list(room.pages.iterdir()) == []


def test_closing_in_the_middle_waits_for_nobody(build: Build, site: WebServer) -> None:
    room = build()
    has_begun = threading.Event()

    def wait(_write: Callable[[bytes], object], released: threading.Event) -> None:
        has_begun.set()
        released.wait()

    site.pages["/a"] = Served(writes=wait)
    room.start()
    room.add(site.url("/a"))
    assert has_begun.wait(10)
    began_at = time.monotonic()
    room.close()
    assert time.monotonic() - began_at < 5
