"""Brings the pages of one source up to date: adds, updates and removes them.

Runs on the thread of the link refresher.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from desktop_rag.core.domain import WebLinks
from desktop_rag.ingest.web.fetched_page import FetchedPage
from desktop_rag.ingest.web.page_address import normalise
from desktop_rag.ingest.web.refusal import PageRefused, RefusalKind
from desktop_rag.ingest.web.sitemap_walk import (
    FoundSitemap,
    SitemapPages,
    SitemapWalk,
    refuse_list,
    sitemap_in,
)
from desktop_rag.ingest.web.source_pages import SourcePages

if TYPE_CHECKING:
    from desktop_rag.ingest.web.crawler import Crawler


class RefreshPass:
    """One pass over the links of a source. A failing page does not affect the others."""

    def __init__(
        self, links: WebLinks, crawler: "Crawler", pages: SourcePages, may_go_on: Callable[[], bool]
    ) -> None:
        """`may_go_on` is called before each page."""
        self.is_truncated = False
        self._links = links
        self._crawler = crawler
        self._pages = pages
        self._may_go_on = may_go_on
        self._is_complete = True
        self._sitemaps: list[FoundSitemap] = []
        self._page_count = 0

    def run(self) -> bool:
        """Refresh all pages; False when interrupted, and then no page is removed for missing from a
        list.

        Raises AppError when a page can't be stored, Cancelled when the app closes.
        """
        for link in self._links.urls:
            if not self._may_go_on():
                return False
            self._process_link(link)
        listing = self._listing()
        if not self._may_go_on():
            return False
        self._is_complete &= listing.is_complete
        self.is_truncated = listing.is_truncated
        # If a list was unreadable, pages that no list names are requested one by one.
        others = [] if self._is_complete else self._pages.unsettled
        for url in dict.fromkeys([*listing.urls, *others]):
            if not self._may_go_on():
                return False
            if not self._pages.is_settled(url):
                self._process_listed(url)
        if not self._crawler.is_offline:
            self._pages.remove_unsettled()
        return True

    def _process_link(self, link: str) -> None:
        """A link from the person: a page, or a sitemap that lists pages."""
        try:
            url = normalise(link)
        except PageRefused as refused:
            self._pages.refuse(link, refused, is_link=True)
            return
        if self._pages.is_settled(url):
            return
        if self._page_count >= self._links.page_limit:
            self._pages.refuse(url, _over_limit(self._links.page_limit), is_link=True)
            return
        try:
            page = self._crawler.fetch(url, self._pages.validators_of(url))
            found = sitemap_in(url, page, self._crawler.limits.page_bytes) if page else None
        except PageRefused as refused:
            self._is_complete &= self._pages.was_read(url)
            self._pages.refuse(url, refused, is_link=True)
            return
        if found:
            self._sitemaps.append(found)
        else:
            self._take(url, page)

    def _process_listed(self, url: str) -> None:
        try:
            page = self._crawler.fetch(url, self._pages.validators_of(url))
            if page:
                refuse_list(page)
        except PageRefused as refused:
            self._pages.refuse(url, refused)
        else:
            self._take(url, page)

    def _take(self, url: str, page: FetchedPage | None) -> None:
        self._page_count += 1
        self._pages.take(url, page)

    def _listing(self) -> SitemapPages:
        left = max(0, self._links.page_limit - self._page_count)
        walk = SitemapWalk(self._crawler, left, self._may_go_on, self._pages.report)
        return walk.pages(self._sitemaps)


def _over_limit(limit: int) -> PageRefused:
    return PageRefused(
        RefusalKind.UNFIT, f"Not fetched: these links are limited to {limit:,} pages."
    )
