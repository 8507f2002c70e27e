"""Keeps web links up to date: a round over the pages of a source, and the entries of its feeds.

Runs on a thread of its own.
"""

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from html import escape
from threading import Event
from typing import Any, cast

from desktop_rag.core.domain import LINKS, Source, WebLinks
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import Notice
from desktop_rag.features.web_pages.crawler import CacheValidators, Crawler, FetchedPage, WebAccess
from desktop_rag.features.web_pages.follower import Follower, Following, LinkReader
from desktop_rag.features.web_pages.intranet_hosts import (
    NO_HOSTS,
    IntranetHosts,
    intranet_hosts_of,
    parse_intranet_hosts,
)
from desktop_rag.features.web_pages.page_address import (
    PageRefused,
    RefusalKind,
    host_of,
    joined,
    normalise,
    parse_base_address,
    parse_links,
)
from desktop_rag.features.web_pages.page_type import HTML, PDF
from desktop_rag.features.web_pages.sitemap_walk import (
    FoundSitemap,
    ListError,
    SitemapPages,
    SitemapWalk,
    parse_xml,
    refuse_list,
    sitemap_in,
    unpacked,
)
from desktop_rag.features.web_pages.source_pages import SourcePages, WebPageStore
from desktop_rag.ingest.sources.fetch_rounds import FetchRounds, FetchRun
from desktop_rag.ingest.sources.source_kinds import LinkKind, SourceKit

_START = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?.*?\?>\s*|<!--.*?-->\s*)*<(?:rss|(?:[\w.-]+:)?feed|rdf:RDF)[\s>]",
    re.DOTALL,
)
_JSON_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*\{")
_JSON_VERSION = "https://jsonfeed.org/version/"
_PEEK_BYTES = 4096
_MAX_DEPTH = 64
_MAX_ENTRIES = 5_000
_MAX_TITLE_CHARS = 1_000
_ENTRIES = frozenset({"item", "entry"})
_FIELDS = {
    "title": "title", "link": "link", "guid": "id", "id": "id", "pubdate": "published",
    "published": "published", "date": "published", "updated": "updated", "modified": "updated",
    "description": "summary", "summary": "summary", "encoded": "content", "content": "content",
}  # fmt: skip
# The vocabularies of feeds. Others have the same names: `media:content` is no text.
_SPACES = re.compile(r"purl\.org|/atom|Atom|rss|^$|backend\.userland", re.IGNORECASE)
_ISO_DAY = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """An entry: its address as it is written, its day (ISO) or "", and its text as HTML.

    `content` is all of it where the feed has it, `summary` what stands for it.
    """

    link: str
    title: str = ""
    dated: str = ""
    content: str = ""
    summary: str = ""


def is_feed(data: bytes) -> bool:
    """True when the data starts like a feed in XML, or is JSON that says that it is one."""
    begin = data[:_PEEK_BYTES]
    if _START.match(begin):
        return True
    return bool(_JSON_START.match(begin)) and _JSON_VERSION.encode() in begin.replace(b"\\/", b"/")


def parse_feed(data: bytes) -> tuple[FeedEntry, ...]:
    """The entries of a feed that have an address, as it lists them. Raises ListError.

    What an entry holds is foreign HTML, which only the parser process reads.
    """
    if _JSON_START.match(data[:_PEEK_BYTES]):
        return _json_entries(data)
    handler = _FeedHandler()
    parse_xml(data, handler)
    return tuple(handler.entries)


@dataclass
class _Draft:
    fields: dict[str, str] = field(default_factory=dict[str, str])
    link: str = ""

    def entry(self) -> FeedEntry | None:
        known = self.fields
        guid = known.get("id", "").strip()
        link = self.link or known.get("link", "").strip() or guid
        if not link.startswith(("http://", "https://", "/")) and link == guid:
            return None
        title = " ".join(known.get("title", "").split())[:_MAX_TITLE_CHARS]
        dated = day_of(known.get("published", "")) or day_of(known.get("updated", ""))
        return FeedEntry(link, title, dated, known.get("content", ""), known.get("summary", ""))


class _FeedHandler:
    """Collects the fields of items and entries and ignores everything else."""

    def __init__(self) -> None:
        self.entries: list[FeedEntry] = []
        self._depth = 0
        self._draft: _Draft | None = None
        self._entry_depth = 0
        self._field = ""
        self._field_depth = 0
        self._pieces: list[str] = []

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        space, _, tag = name.rpartition(" ")
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise ListError("it is nested too deep")
        if self._field:
            # Atom may hold XHTML as elements.
            self._pieces.append(f"<{tag}>")
            return
        if self._draft is None:
            if tag.lower() in _ENTRIES:
                self._draft, self._entry_depth = _Draft(), self._depth
            return
        if self._depth != self._entry_depth + 1 or not _SPACES.search(space):
            return
        kind = _FIELDS.get(tag.lower(), "")
        if kind == "link" and attributes.get("href"):
            if attributes.get("rel", "alternate") == "alternate" and not self._draft.link:
                self._draft.link = attributes["href"].strip()
        elif kind:
            self._field, self._field_depth, self._pieces = kind, self._depth, []

    def end(self, name: str) -> None:
        tag = name.rpartition(" ")[2]
        if self._field and self._depth == self._field_depth and self._draft:
            self._draft.fields.setdefault(self._field, "".join(self._pieces))
            self._field = ""
        elif self._field:
            self._pieces.append(f"</{tag}>")
        elif self._draft and self._depth == self._entry_depth:
            entry = self._draft.entry()
            if entry and len(self.entries) < _MAX_ENTRIES:
                self.entries.append(entry)
            self._draft = None
        self._depth -= 1

    def text(self, text: str) -> None:
        if self._field:
            # Inside elements it is text; directly in the field it is markup, written as text.
            self._pieces.append(escape(text) if self._depth > self._field_depth else text)


def _json_entries(data: bytes) -> tuple[FeedEntry, ...]:
    try:
        read: Any = json.loads(data)
        items: list[Any] = list(read["items"])[:_MAX_ENTRIES]
        found = [_json_entry(cast("Mapping[str, Any]", item)) for item in items]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as exc:
        raise ListError("it is damaged") from exc
    return tuple(entry for entry in found if entry.link)


def _json_entry(item: Mapping[str, Any]) -> FeedEntry:
    def of(name: str) -> str:
        value = item.get(name)
        return value if isinstance(value, str) else ""

    link = of("url") or (of("id") if of("id").startswith(("http://", "https://")) else "")
    text = of("content_text")
    content = of("content_html") or (f"<p>{escape(text)}</p>" if text else "")
    dated = day_of(of("date_published")) or day_of(of("date_modified"))
    title = " ".join(of("title").split())[:_MAX_TITLE_CHARS]
    return FeedEntry(link.strip(), title, dated, content, escape(of("summary")))


def day_of(written: str) -> str:
    """The day of a date in the forms of feeds, ISO; "" for another text."""
    text = written.strip()[:_MAX_TITLE_CHARS]
    try:
        if _ISO_DAY.match(text):
            return date.fromisoformat(text[:10]).isoformat()
        moment: datetime = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return ""
    return moment.astimezone(UTC).date().isoformat() if moment.tzinfo else moment.date().isoformat()


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
    except ListError as exc:
        raise PageRefused(RefusalKind.UNFIT, f"The feed can't be read: {exc}.") from exc
    return FoundFeed(link, page.url, entries, frozenset({host_of(link), host_of(page.url)}))


class FeedPages:
    """Takes the entries of feeds that are not in the library yet."""

    def __init__(self, crawler: Crawler, pages: SourcePages) -> None:
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


class RefreshPass:
    """One pass over the links of a source: adds, updates and removes its pages.

    A failing page does not affect the others.
    """

    def __init__(self, links: WebLinks, work: Following, may_go_on: Callable[[], bool]) -> None:
        """`may_go_on` is called before each page."""
        self.is_truncated = False
        self.pages = work.pages
        self.crawler: Crawler = work.crawler
        self._links = links
        self._may_go_on = may_go_on
        self._follower = Follower(links, work)
        self._feed_pages = FeedPages(work.crawler, work.pages)
        self._is_complete = True
        self._sitemaps: list[FoundSitemap] = []
        self._feeds: list[FoundFeed] = []
        self._page_count = 0

    def run(self) -> bool:
        """Refresh all pages; False when interrupted, and then no page is removed for missing from a
        list. Called again, it goes on where it was.

        Raises AppError when a page can't be stored, Cancelled when it was stopped.
        """
        for link in self._links.urls:
            if not self._may_go_on():
                return False
            self._process_link(link)
            self._count()
        if not self._follower.follow(self._counted, lambda: self._left):
            return False
        if not self._process_feeds():
            return False
        listing = self._listing()
        if not self._may_go_on():
            return False
        self._is_complete &= listing.is_complete and self._follower.is_complete
        self.is_truncated |= listing.is_truncated or self._follower.is_cut_off
        # If a list was unreadable, pages that no list names are requested one by one.
        others = [] if self._is_complete else self.pages.unsettled
        for url in dict.fromkeys([*listing.urls, *others]):
            if not self._counted():
                return False
            if not self.pages.is_settled(url):
                self._process_listed(url)
        if not self.crawler.is_offline:
            self.pages.remove_unsettled()
        self._count()
        return True

    @property
    def _left(self) -> int:
        """How many more pages the limit allows."""
        return max(0, self._links.page_limit - self._page_count - self._follower.page_count)

    def _counted(self) -> bool:
        self._count()
        return self._may_go_on()

    def _count(self) -> None:
        findings = self.pages.findings
        self.pages.log.change(
            requests=self.crawler.requests,
            pages=self._page_count + self._follower.page_count,
            fresh=findings.added + findings.changed,
            copies=self._follower.copies,
            waiting=self._follower.waiting,
        )

    def _process_link(self, link: str) -> None:
        """Take a link of the person: a page, or a sitemap or feed that lists pages."""
        try:
            url = normalise(link)
        except PageRefused as refused:
            self.pages.refuse(link, refused, is_link=True)
            return
        if self.pages.is_settled(url) or url in {f.link for f in (*self._feeds, *self._sitemaps)}:
            return
        if not self._left:
            self.pages.refuse(url, _over_limit(self._links.page_limit), is_link=True)
            return
        try:
            page = self.crawler.fetch(url, self.pages.validators_of(url))
            is_list = page is not None and self._keep_list(url, page)
        except PageRefused as refused:
            # Pages that it led to may still be there.
            self._is_complete &= self.pages.was_read(url) and not self._links.follow_depth
            self.pages.refuse(url, refused, is_link=True)
            return
        if is_list:
            return
        if self._links.follow_depth:
            self._follower.begin(url, page)
        else:
            self._take(url, page)

    def _keep_list(self, url: str, page: FetchedPage) -> bool:
        """True when the page lists others, which are processed later."""
        if page.suffix == PDF:
            return False
        limit = self.crawler.limits.page_bytes
        try:
            content = unpacked(page.body, limit)
        except ListError as exc:
            raise PageRefused(RefusalKind.UNFIT, f"The sitemap can't be read: {exc}.") from exc
        if feed := feed_in(url, page, content):
            self._feeds.append(feed)
            return True
        if found := sitemap_in(url, page, limit):
            self._sitemaps.append(found)
            return True
        return False

    def _process_feeds(self) -> bool:
        for feed in self._feeds:
            for url, entry in self._feed_pages.addresses(feed).items():
                if not self._counted():
                    return False
                if self.pages.is_settled(url):
                    continue
                if not self._left:
                    self.is_truncated = True
                    break
                self._page_count += 1
                self._feed_pages.take(feed, url, entry)
        self._page_count += self.pages.keep_entries(self._links.urls, self._left)
        return True

    def _process_listed(self, url: str) -> None:
        try:
            page = self.crawler.fetch(url, self.pages.validators_of(url))
            if page:
                refuse_list(page)
        except PageRefused as refused:
            self.pages.refuse(url, refused)
        else:
            self._take(url, page)

    def _take(self, url: str, page: FetchedPage | None) -> None:
        self._page_count += 1
        self.pages.take(url, page)

    def _listing(self) -> SitemapPages:
        walk = SitemapWalk(self.crawler, self._left, self._may_go_on, self.pages.report)
        return walk.pages(self._sitemaps)


def _over_limit(limit: int) -> PageRefused:
    return PageRefused(
        RefusalKind.UNFIT, f"Not fetched: these links are limited to {limit:,} pages."
    )


class RefreshRun(FetchRun):
    """One refresh of the links of a source."""

    def __init__(
        self,
        source: Source,
        kit: SourceKit,
        stored: WebPageStore,
        web: WebAccess,
        intranet: IntranetHosts,
        *,
        reader: LinkReader,
        clock: Callable[[], float],
        may_go_on: Callable[[], bool],
    ) -> None:
        super().__init__(source, clock())
        assert source.links is not None, "a source of links"
        self._connections = ExitStack()
        pages = SourcePages(self, kit, stored)
        self._crawler = self._connections.enter_context(web.crawler(self.stop, intranet))
        work = Following(self._crawler, pages, reader, source.path, self.stop, clock)
        self._refresh = RefreshPass(source.links, work, may_go_on)

    def go_on(self) -> bool:
        """As `FetchRun.go_on`."""
        try:
            return self._refresh.run()
        finally:
            self.is_offline = self._crawler.is_offline
            self.is_cut_off = self._refresh.is_truncated

    def close(self) -> None:
        """Close the connections."""
        self._connections.close()


# Each address takes a request or two, and up to the time limit of a page.
_MOST_CHECKED = 5


class LinkRefresher(FetchRounds, LinkKind):
    """Keeps web links up to date."""

    def __init__(
        self, kit: SourceKit, web: WebAccess | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        """`clock` is the wall clock."""
        super().__init__(kit, LINKS, clock)
        self._pages = WebPageStore(kit.storage)
        self._web = web or WebAccess(make_parser=kit.make_parser)
        self._reader = LinkReader(self._web.make_parser())
        self._reported_missed: dict[str, frozenset[str]] = {}

    def close(self) -> None:
        """Stop at once, and end the process that reads links. Idempotent."""
        super().close()
        self._reader.close()

    def checked(self, links: WebLinks) -> WebLinks:
        """As `SourceKind.checked`."""
        path = links.path_limit.strip()
        if path and not path.startswith("/"):
            raise AppError(f"“{path}” is not the path of a site.", "Write it like /guide/.")
        return replace(links, urls=parse_links("\n".join(links.urls)), path_limit=path)

    checked_base = staticmethod(parse_base_address)
    checked_hosts = staticmethod(parse_intranet_hosts)

    def refused(
        self, urls: Sequence[str], collection_id: str, cancel: Event
    ) -> list[tuple[str, str]]:
        """The first addresses that can't be fetched now, each with its reason.

        AppError when a text is no address, Cancelled soon after `cancel` was set.
        """
        refused: list[tuple[str, str]] = []
        with self._web.crawler(cancel, self._intranet_of(collection_id)) as crawler:
            for url in parse_links("\n".join(urls))[:_MOST_CHECKED]:
                try:
                    crawler.fetch(url)
                except PageRefused as refusal:
                    refused.append((url, refusal.reason))
        return refused

    def release(self) -> None:
        """End the process that reads links, unless it is at work; it starts again when needed."""
        self._background.while_idle(self._reader.close)

    def open_run(self, source: Source, may_go_on: Callable[[], bool]) -> RefreshRun:
        """As `FetchRounds.open_run`."""
        return RefreshRun(
            source, self._kit, self._pages, self._web, self._intranet_of(source.collection_id),
            reader=self._reader, clock=self._clock, may_go_on=may_go_on,
        )  # fmt: skip

    def notices(self, run: FetchRun) -> Iterator[Notice]:
        """A limit that left pages out the first time, and pages that are missed since now."""
        if run.is_offline:
            return
        source, found = run.source, run.findings.missed
        if run.is_cut_off and not source.refreshed_at:
            yield _truncated_notice(source)
        before = self._reported_missed.get(source.source_id, frozenset())
        self._reported_missed[source.source_id] = missed = frozenset(found)
        if missed - before:
            yield _missed_notice(found)

    def purge(self) -> None:
        """As `FetchRounds.purge`."""
        self._pages.purge()

    def _intranet_of(self, collection_id: str) -> IntranetHosts:
        for collection in self._kit.sources.collections():
            if collection.collection_id == collection_id:
                return intranet_hosts_of(collection.intranet_hosts)
        return NO_HOSTS


def _missed_notice(missed: dict[str, str]) -> Notice:
    url, reason = next(iter(missed.items()))
    what = f"{url} could" if len(missed) == 1 else f"{len(missed):,} pages could"
    return Notice(
        f"{what} not be fetched again.", f"{reason} What was read before stays searchable."
    )


def _truncated_notice(source: Source) -> Notice:
    assert source.links is not None, "a source of links"
    limit = f"{source.links.page_limit:,} pages"
    return Notice(
        f"Only {limit} of {source.name} are read.",
        "There are more. A higher limit, in the options of the link, has them all.",
    )
