"""Web links over real HTTP on this computer: pages and lists of pages."""

from pathlib import Path

import pytest

from desktop_rag.core.library_events import ChangeSummary
from tests.servers.web_server import Served, WebServer
from tests.stored_rows import count_inconsistent
from tests.web_room import FAILED, SKIPPED, WORDS, Build, Room


def files(folder: Path) -> int:
    return len(list(folder.iterdir())) if folder.exists() else 0


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_copy_that_was_lost_is_fetched_again(room: Room, site: WebServer) -> None:
    url = site.page("/a", "Page a", has_etag=True)
    room.add(url)
    room.settle()
    room.row(url).path.unlink()
    assert room.refresh() == ChangeSummary(changed=1)
    assert room.row(url).state is WORDS
    assert room.row(url).path.exists()


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_packed_file_of_a_sitemap_is_read(room: Room, site: WebServer) -> None:
    page = site.page("/a", "Page a")
    site.sitemap("/x", page, is_gzipped=True)
    data = site.pages["/x"].payload
    site.pages["/sitemap.xml.gz"] = Served(data, "application/x-gzip")
    room.add(site.url("/sitemap.xml.gz"))
    room.settle()
    assert room.states(site) == {"/a": WORDS}


@pytest.mark.slow
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


@pytest.mark.everyday
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_page_that_becomes_something_else_is_skipped(room: Room, site: WebServer) -> None:
    url = site.page("/a", "Page a")
    room.add(url)
    room.settle()
    site.pages["/a"] = Served(b"\x89PNG", "image/png")
    room.refresh()
    assert room.row(url).state is SKIPPED
    assert "image/png" in room.row(url).reason
    assert count_inconsistent(room.documents) == 0
    site.page("/a", "Page a is back")
    room.refresh()
    assert room.row(url).state is WORDS


@pytest.mark.slow
def test_a_page_whose_type_changes_leaves_one_copy(room: Room, site: WebServer) -> None:
    url = site.page("/a", "Page a")
    source = room.add(url)
    room.settle()
    site.pages["/a"] = Served("Plain words now.", "text/plain")
    room.refresh()
    assert room.row(url).state is WORDS
    assert [path.suffix for path in source.path.iterdir()] == [".txt"]


@pytest.mark.slow
def test_a_link_that_is_no_address_is_listed_with_its_reason(room: Room, site: WebServer) -> None:
    room.add("file:///etc/passwd", site.page("/a", "Page a"), site.url("/a#part"))
    room.settle()
    assert room.states(site) == {"file:///etc/passwd": SKIPPED, "/a": WORDS}


@pytest.mark.slow
def test_links_beyond_the_limit_are_listed_and_not_fetched(room: Room, site: WebServer) -> None:
    room.add(*(site.page(f"/{n}", f"Page {n}") for n in range(3)), limit=2)
    room.settle()
    assert room.states(site) == {"/0": WORDS, "/1": WORDS, "/2": SKIPPED}
    assert "/2" not in site.asked


@pytest.mark.slow
def test_a_sitemap_inside_that_fails_removes_nothing(room: Room, site: WebServer) -> None:
    pages = [site.page(f"/{n}", f"Page {n}") for n in range(2)]
    site.sitemap("/first.xml", pages[0])
    site.sitemap("/second.xml", pages[1])
    listed = [site.url("/first.xml"), site.url("/second.xml"), site.url("/index.xml")]
    room.add(site.sitemap("/index.xml", *listed, "file:///etc/passwd", tag="sitemap"))
    room.settle()
    assert room.states(site) == {"/0": WORDS, "/1": WORDS}
    site.pages["/second.xml"] = Served(status=500)
    assert room.refresh() == ChangeSummary(unchanged=2)


@pytest.mark.slow
def test_sitemaps_are_followed_three_deep(room: Room, site: WebServer) -> None:
    site.sitemap("/4.xml", site.page("/deep", "Too deep"))
    site.sitemap("/3.xml", site.url("/4.xml"), tag="sitemap")
    site.sitemap("/2.xml", site.url("/3.xml"), site.url("/other.xml"), tag="sitemap")
    site.sitemap("/other.xml", site.page("/a", "Page a"), site.url("/4.xml"))
    room.add(site.sitemap("/1.xml", site.url("/2.xml"), tag="sitemap"))
    room.settle()
    assert room.states(site) == {"/a": WORDS, "/4.xml": SKIPPED}
    assert "/deep" not in site.asked
