"""The entries of a feed as pages: made from the feed's text, or fetched.

Runs on the thread of the link refresher.
"""

from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING

from desktop_rag.ingest.web.feeds.feed import FeedEntry, FeedError, is_feed, parse_feed
from desktop_rag.ingest.web.fetched_page import CacheValidators, FetchedPage
from desktop_rag.ingest.web.page_address import host_of, joined
from desktop_rag.ingest.web.page_type import HTML
from desktop_rag.ingest.web.refusal import PageRefused, RefusalKind
from desktop_rag.ingest.web.source_pages import SourcePages

if TYPE_CHECKING:
    from desktop_rag.ingest.web.crawler import Crawler

# A shorter text in the feed is a teaser: the page says more.
_WHOLE_CHARS = 600
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class FoundFeed:
    """A feed by the link that led to it, and the hosts whose pages may be fetched for it."""

    link: str
    url: str
    entries: tuple[FeedEntry, ...]
    hosts: frozenset[str]


def feed_in(link: str, page: FetchedPage, content: bytes) -> FoundFeed | None:
    """The feed received in place of a page; None when it is something else.

    Raises PageRefused when it is damaged.
    """
    if page.suffix == HTML or not is_feed(content):
        return None
    try:
        entries = parse_feed(content)
    except FeedError as exc:
        raise PageRefused(RefusalKind.UNFIT, f"The feed can't be read: {exc}.") from exc
    return FoundFeed(link, page.url, entries, frozenset({host_of(link), host_of(page.url)}))


class FeedPages:
    """Takes the entries of feeds that are not in the library yet."""

    def __init__(self, crawler: "Crawler", pages: SourcePages) -> None:
        self._crawler = crawler
        self._pages = pages

    def addresses(self, feed: FoundFeed) -> dict[str, FeedEntry]:
        """The entries by their normalised addresses; those without one are left out."""
        found: dict[str, FeedEntry] = {}
        for entry in feed.entries:
            try:
                found.setdefault(joined(feed.url, entry.link), entry)
            except PageRefused as refused:
                self._pages.report(entry.link, refused)
        return found

    def take(self, feed: FoundFeed, url: str, entry: FeedEntry) -> None:
        """Store an entry: its text in the feed if that is all of it, else its page."""
        if len(entry.content) >= _WHOLE_CHARS:
            self._pages.take(url, _made_of(url, entry), listed_in=feed.link)
            return
        if self._pages.was_read(url):
            self._pages.keep(url)
            return
        try:
            if host_of(url) not in feed.hosts:
                raise PageRefused(RefusalKind.CLOSED, "The entry leads to another site.")
            page = self._crawler.fetch(url)
            if page is None or page.suffix not in {HTML, ".pdf", ".txt", ".md"}:
                raise PageRefused(RefusalKind.UNFIT, "Not a page that can be read.")
        except PageRefused as refused:
            if not (entry.content or entry.summary):
                self._pages.refuse(url, refused, is_listed=False)
                return
            page = _made_of(url, entry)
        self._pages.take(url, _dated(page, entry.dated), listed_in=feed.link)


def _made_of(url: str, entry: FeedEntry) -> FetchedPage:
    title = escape(entry.title or url)
    html = (
        f'<!doctype html><html><head><meta charset="utf-8">{_date_meta(entry.dated)}'
        f"<title>{title}</title></head><body><article><h1>{title}</h1>"
        f"<div>{entry.content or entry.summary}</div></article></body></html>"
    )
    return FetchedPage(url, HTML, html.encode("utf-8", "replace"), CacheValidators())


def _dated(page: FetchedPage, dated: str) -> FetchedPage:
    """The page with the date of its entry, which the reader takes from its head."""
    meta = _date_meta(dated).encode()
    if page.suffix != HTML or not meta or meta in page.body:
        return page
    bom = _BOM if page.body.startswith(_BOM) else b""
    return replace(page, body=bom + meta + page.body[len(bom) :])


def _date_meta(dated: str) -> str:
    return f'<meta name="dcterms.date" content="{dated}">' if dated else ""
