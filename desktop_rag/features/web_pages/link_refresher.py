"""Keeps web links up to date: what a round over the pages of a source does."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from threading import Event

from desktop_rag.core.domain import LINKS, Source, WebLinks
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import Notice
from desktop_rag.features.web_pages.crawler import Crawler, FetchedPage, WebAccess
from desktop_rag.features.web_pages.feed_pages import FeedPages, FoundFeed, feed_in
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
    normalise,
    parse_base_address,
    parse_links,
)
from desktop_rag.features.web_pages.page_type import PDF
from desktop_rag.features.web_pages.sitemap_walk import (
    FoundSitemap,
    ListError,
    SitemapPages,
    SitemapWalk,
    refuse_list,
    sitemap_in,
    unpacked,
)
from desktop_rag.features.web_pages.source_pages import SourcePages, WebPageStore
from desktop_rag.ingest.sources.fetch_rounds import FetchRounds, FetchRun
from desktop_rag.ingest.sources.source_kinds import LinkKind, SourceKit


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
