import gzip

import pytest

from desktop_rag.features.web_pages.sitemap_walk import (
    ListError,
    is_sitemap,
    parse_sitemap,
    unpacked,
)

SPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def sitemap(*urls: str, head: str = '<?xml version="1.0"?>') -> bytes:
    entries = "".join(
        f"<url><loc> {u} </loc><image:image><image:loc>/i.png</image:loc></image:image></url>"
        for u in urls
    )
    return f'{head}<urlset {SPACE} xmlns:image="urn:i">{entries}</urlset>'.encode()


def test_pages_are_listed_in_their_order_and_pictures_are_not() -> None:
    found = parse_sitemap(sitemap("https://a.example/1?x=1&amp;y=2", "https://a.example/2"), 10)
    assert found.urls == ("https://a.example/1?x=1&y=2", "https://a.example/2")
    assert not found.is_index


def test_an_index_lists_sitemaps() -> None:
    text = (
        b"<sitemapindex><sitemap><loc>/a.xml</loc><lastmod>2026</lastmod></sitemap></sitemapindex>"
    )
    found = parse_sitemap(text, 10)
    assert found.urls == ("/a.xml",)
    assert found.is_index


def test_no_more_than_wanted_are_read() -> None:
    assert parse_sitemap(sitemap("/1", "/2") + b"damaged after that", 1).urls == ("/1",)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (sitemap("/a"), True),
        (b"\xef\xbb\xbf<!-- made by hand -->\n<?style a?><x:urlset xmlns:x='y'>", True),
        (b"<html><pre><urlset></pre></html>", False),
        (b"# How to write a <urlset>", False),
        (b'<?xml version="1.0"?><rss></rss>', False),
        (b"<urlsets>", False),
    ],
)
def test_a_sitemap_is_known_by_its_first_element(data: bytes, expected: bool) -> None:
    assert is_sitemap(data) is expected


@pytest.mark.parametrize(
    "data",
    [
        sitemap("&a;", head='<!DOCTYPE urlset [<!ENTITY a "b">]>'),
        sitemap("/a", head='<!DOCTYPE urlset SYSTEM "file:///etc/passwd">'),
        sitemap("/a")[:-5],
        b"<urlset>" + b"<a>" * 1000,
        b"<urlset><url>&unknown;</url></urlset>",
    ],
)
def test_what_is_damaged_or_hostile_is_refused(data: bytes) -> None:
    with pytest.raises(ListError):
        parse_sitemap(data, 10)


def test_packed_sitemaps_are_unpacked_within_bounds() -> None:
    data = sitemap("/a")
    assert unpacked(data, 1000) == data
    assert unpacked(gzip.compress(data), 1000) == data
    for wrong in (gzip.compress(b"a" * 1001), gzip.compress(data)[:-9], b"\x1f\x8bnothing"):
        with pytest.raises(ListError):
            unpacked(wrong, 1000)
