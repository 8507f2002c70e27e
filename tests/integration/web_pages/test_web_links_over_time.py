"""Web links over real HTTP on this computer: schedules, restarts, pauses and politeness."""

import itertools
import threading
from collections.abc import Callable, Sequence

import pytest

from desktop_rag.core.domain import WebLinks
from desktop_rag.core.library_events import ChangeSummary
from tests.servers.web_server import Served, WebServer
from tests.waiting import until
from tests.web_room import FAILED, WORDS, Build, Room, loopback_access

pytestmark = pytest.mark.slow

_HOUR_S = 3600.0
_YEAR_S = 365 * 86_400.0


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


def test_r27_links_are_refreshed_once_after_a_jump_there_and_back(
    room: Room, site: WebServer
) -> None:
    room.add(site.page("/a", "Page a"), hours=24)
    room.settle()

    def refreshes() -> int:
        before = len(room.heard.scanned)
        for _ in range(3):
            room.links.check_schedule()
            room.settle()
        return len(room.heard.scanned) - before

    room.now += _YEAR_S
    assert refreshes() == 1
    room.now -= _YEAR_S
    assert refreshes() == 1
    room.now += 23 * _HOUR_S
    assert refreshes() == 0
    room.now += 2 * _HOUR_S
    assert refreshes() == 1


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
    until(lambda: first.heard.scanned)
    first.close()
    second = build()
    second.row(urls[1]).path.unlink()
    second.start()
    second.settle()
    assert second.states(site) == {"/a": WORDS, "/b": WORDS}
    assert site.asked.count("/a") == 2


def test_a_site_is_not_hurried(build: Build, site: WebServer) -> None:
    room = build(loopback_access(delay_s=0.15))
    room.start()
    room.add(*(site.page(f"/{n}", f"Page {n}") for n in range(3)))
    room.settle()
    times = [request.at for request in site.requests]
    assert min(b - a for a, b in itertools.pairwise(times)) >= 0.14


def test_a_site_that_asks_to_wait_is_asked_no_more(room: Room, site: WebServer) -> None:
    site.pages["/0"] = Served(status=429)
    room.add(*(site.url(f"/{n}") for n in range(5)))
    room.settle()
    assert site.asked == ["/robots.txt", "/0", "/0", "/0"]
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
    until(lambda: room.heard.stopped)
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
    until(lambda: len(room.documents.documents()) == 2)
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
    room = build(loopback_access(seconds=3600))
    has_begun = threading.Event()

    def wait(_write: Callable[[bytes], object], released: threading.Event) -> None:
        has_begun.set()
        released.wait()

    site.pages["/a"] = Served(writes=wait)
    room.start()
    room.add(site.url("/a"))
    assert has_begun.wait(10)
    room.close()
