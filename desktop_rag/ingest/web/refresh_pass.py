"""Brings the pages of one source up to date: new ones in, old ones out, the others untouched.

Runs on the thread of the links.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from desktop_rag.core.domain import WebLinks
from desktop_rag.ingest.web.fetched_page import FetchedPage
from desktop_rag.ingest.web.page_address import normalise
from desktop_rag.ingest.web.refusal import Kind, PageRefused
from desktop_rag.ingest.web.sitemap_walk import (
    FoundSitemap,
    Listing,
    SitemapWalk,
    refuse_list,
    sitemap_in,
)
from desktop_rag.ingest.web.source_pages import SourcePages

if TYPE_CHECKING:
    from desktop_rag.ingest.web.crawler import Crawler


class RefreshPass:
    """One pass over the links of a source. What goes wrong with a page stays with that page."""

    def __init__(
        self, links: WebLinks, visitor: "Crawler", shelf: SourcePages, may_go_on: Callable[[], bool]
    ) -> None:
        """`may_go_on` is asked before each page."""
        self.is_cut = False
        self._links = links
        self._visitor = visitor
        self._shelf = shelf
        self._may_go_on = may_go_on
        self._is_complete = True
        self._sitemaps: list[FoundSitemap] = []
        self._page_count = 0

    def run(self) -> bool:
        """Do it; False when it was to stop on the way, and then nothing was removed for its
        absence from a list.

        Raises AppError when a page can't be stored, Cancelled when the app closes.
        """
        for link in self._links.urls:
            if not self._may_go_on():
                return False
            self._visit_link(link)
        listing = self._listing()
        if not self._may_go_on():
            return False
        self._is_complete &= listing.is_complete
        self.is_cut = listing.is_cut
        # What a list does not name that could not be read is asked for itself.
        others = [] if self._is_complete else self._shelf.unsettled
        for url in dict.fromkeys([*listing.urls, *others]):
            if not self._may_go_on():
                return False
            if not self._shelf.is_settled(url):
                self._visit_listed(url)
        if not self._visitor.is_offline:
            self._shelf.remove_unsettled()
        return True

    def _visit_link(self, link: str) -> None:
        """A link that the person gave: a page, or a sitemap that stands for others."""
        try:
            url = normalise(link)
        except PageRefused as refused:
            self._shelf.refuse(link, refused, is_link=True)
            return
        if self._shelf.is_settled(url):
            return
        if self._page_count >= self._links.page_limit:
            self._shelf.refuse(url, _beyond(self._links.page_limit), is_link=True)
            return
        try:
            page = self._visitor.fetch(url, self._shelf.stamp_of(url))
            found = sitemap_in(url, page, self._visitor.limits.page_bytes) if page else None
        except PageRefused as refused:
            self._is_complete &= self._shelf.was_read(url)
            self._shelf.refuse(url, refused, is_link=True)
            return
        if found:
            self._sitemaps.append(found)
        else:
            self._take(url, page)

    def _visit_listed(self, url: str) -> None:
        try:
            page = self._visitor.fetch(url, self._shelf.stamp_of(url))
            if page:
                refuse_list(page)
        except PageRefused as refused:
            self._shelf.refuse(url, refused)
        else:
            self._take(url, page)

    def _take(self, url: str, page: FetchedPage | None) -> None:
        self._page_count += 1
        self._shelf.take(url, page)

    def _listing(self) -> Listing:
        left = max(0, self._links.page_limit - self._page_count)
        return SitemapWalk(self._visitor, left, self._may_go_on).pages(self._sitemaps)


def _beyond(limit: int) -> PageRefused:
    return PageRefused(Kind.UNFIT, f"Not fetched: these links are limited to {limit:,} pages.")
