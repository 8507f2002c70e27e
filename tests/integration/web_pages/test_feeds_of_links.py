"""Following links over real HTTP on this computer: feeds and their entries.

The server is on loopback, which only the list of the collection opens.
"""

import pytest

from tests.servers.crawled_room import Crawled, page
from tests.servers.web_server import Served, WebServer

pytestmark = pytest.mark.slow

# --- feeds ---------------------------------------------------------------------------------------

_RSS = """<?xml version="1.0"?><rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/">
<channel><title>News</title><link>/</link>{}</channel></rss>"""
_ATOM = '<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom">{}</feed>'
_LONG = "<p>" + "The ferry brings the book of the weather once a week. " * 15 + "</p>"


def _item(n: int, more: str = "") -> str:
    return (
        f"<item><title>Entry {n}</title><link>/news/{n}</link>"
        f"<pubDate>Mon, 0{n} Jan 2024 10:00:00 GMT</pubDate>{more}</item>"
    )


def test_entries_of_a_feed_become_documents_and_stay(crawled: Crawled, site: WebServer) -> None:
    whole = f"<content:encoded><![CDATA[{_LONG} one]]></content:encoded>"
    site.pages["/feed"] = Served(_RSS.format(_item(1, whole) + _item(2)), "application/rss+xml")
    page(site, "/news/2", "/news/other")
    assert crawled.crawl("/feed", depth=0) == ["/news/1", "/news/2"]
    assert "/news/1" not in site.asked, "the feed has all of it"
    rows = [crawled.room.row(site.url(f"/news/{n}")) for n in (1, 2)]
    assert [(row.title, row.dated) for row in rows] == [
        ("Entry 1", "2024-01-01"), ("/news/2", "2024-01-02"),
    ]  # fmt: skip
    # The feed drops its oldest, and has a new one.
    entry = "<description>Only a few words about the weather, and the page is gone.</description>"
    site.pages["/feed"] = Served(_RSS.format(_item(2) + _item(3, entry)), "application/rss+xml")
    site.requests.clear()
    assert crawled.again() == ["/news/1", "/news/2", "/news/3"]
    assert site.asked == ["/robots.txt", "/feed", "/news/3"]
    assert "weather" in (
        crawled.room.documents.text(crawled.room.row(site.url("/news/3")).document_id) or ""
    )


def test_atom_and_json_feeds_are_read_and_other_sites_are_not_asked(
    crawled: Crawled, site: WebServer
) -> None:
    with WebServer() as other:
        page(other, "/x")
        entries = (
            f'<entry><title type="html">One</title><link rel="edit" href="/e"/>'
            f'<link href="/atom/1"/><updated>2024-02-03T04:05:06Z</updated>'
            f'<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">{_LONG}</div></content>'
            f'</entry><entry><title>Two</title><link href="{other.url("/x")}"/></entry>'
        )
        site.pages["/atom"] = Served(_ATOM.format(entries), "application/atom+xml")
        items = (
            f'{{"id": "1", "url": "/json/1", "title": "J", "content_html": "{_LONG}",'
            ' "date_published": "2024-05-06T07:08:09+02:00"}'
        )
        feed = f'{{"version": "https://jsonfeed.org/version/1.1", "items": [{items}]}}'
        site.pages["/json"] = Served(feed, "application/feed+json")
        assert crawled.crawl("/atom", "/json", depth=0) == ["/atom/1", "/json/1"]
        assert other.requests == []
    dates = [crawled.room.row(site.url(t)).dated for t in ("/atom/1", "/json/1")]
    assert dates == ["2024-02-03", "2024-05-06"]


@pytest.mark.parametrize(
    "feed",
    [
        '<!DOCTYPE rss [<!ENTITY a "b">]><rss><item><link>/a</link></item></rss>',
        "<rss><channel><item><link>/a</link>", "<rss>" + "<a>" * 500,
        '{"version": "https://jsonfeed.org/version/1", "items": 7}',
    ],
)  # fmt: skip
def test_a_damaged_feed_is_a_reason_and_no_page(
    crawled: Crawled, site: WebServer, feed: str
) -> None:
    kind = "application/feed+json" if feed.startswith("{") else "application/rss+xml"
    site.pages["/feed"] = Served(feed, kind)
    assert crawled.crawl("/feed", depth=0) == []
    assert "/feed" in crawled.refused
