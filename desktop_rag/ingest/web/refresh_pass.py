"""Brings the pages of one source up to date: adds, updates and removes them.

Runs on the thread of the link refresher.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from desktop_rag.core.domain import WebLinks
from desktop_rag.ingest.web.feeds.feed_pages import FeedPages, FoundFeed, feed_in
from desktop_rag.ingest.web.fetched_page import FetchedPage
from desktop_rag.ingest.web.following.follower import Follower, Following
from desktop_rag.ingest.web.page_address import normalise
from desktop_rag.ingest.web.page_type import PDF
from desktop_rag.ingest.web.refusal import PageRefused, RefusalKind
from desktop_rag.ingest.web.sitemap import SitemapError, unpacked
from desktop_rag.ingest.web.sitemap_walk import (
    FoundSitemap,
    SitemapPages,
    SitemapWalk,
    refuse_list,
    sitemap_in,
)

if TYPE_CHECKING:
    from desktop_rag.ingest.web.crawler import Crawler


class RefreshPass:
    """One pass over the links of a source. A failing page does not affect the others."""

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
        self.pages.log.count(
            requests=self.crawler.requests,
            pages=self._page_count + self._follower.page_count,
            fresh=findings.added + findings.changed,
            copies=self._follower.copies,
            waiting=self._follower.waiting,
        )

    def _process_link(self, link: str) -> None:
        """A link from the person: a page, or a sitemap or feed that lists pages."""
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
        except SitemapError as exc:
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
