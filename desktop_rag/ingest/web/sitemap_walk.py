"""Follows sitemaps to the pages they list. Runs on the thread of the link refresher."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from desktop_rag.ingest.web.fetched_page import FetchedPage
from desktop_rag.ingest.web.page_address import host_of, joined
from desktop_rag.ingest.web.page_type import LISTS, PDF
from desktop_rag.ingest.web.refusal import PageRefused, RefusalKind
from desktop_rag.ingest.web.sitemap import (
    Sitemap,
    SitemapError,
    is_sitemap,
    parse_sitemap,
    unpacked,
)

if TYPE_CHECKING:
    from desktop_rag.ingest.web.crawler import Crawler

log = logging.getLogger(__name__)

# A sitemap of sitemaps of sitemaps.
_MAX_DEPTH = 3
_MAX_SITEMAPS = 50
_MAX_ENTRIES = 50_000


@dataclass(frozen=True, slots=True)
class SitemapPages:
    """Unique page addresses in order. Without `is_complete` a list was unreadable; with
    `is_truncated` the limit cut the list off.
    """

    urls: tuple[str, ...]
    is_complete: bool
    is_truncated: bool


@dataclass(frozen=True, slots=True)
class FoundSitemap:
    """A sitemap and the hosts it may list: its own, before and after redirects."""

    sitemap: Sitemap
    url: str
    hosts: frozenset[str]
    depth: int = 1
    link: str = ""


def sitemap_in(asked_url: str, page: FetchedPage, max_bytes: int) -> FoundSitemap | None:
    """The sitemap received in place of a page; None when it is a page.

    Raises PageRefused when it is neither.
    """
    if page.suffix == PDF:
        return None
    try:
        content = unpacked(page.body, max_bytes)
        if is_sitemap(content):
            hosts = frozenset({host_of(asked_url), host_of(page.url)})
            return FoundSitemap(
                parse_sitemap(content, _MAX_ENTRIES), page.url, hosts, link=asked_url
            )
    except SitemapError as exc:
        raise PageRefused(RefusalKind.UNFIT, f"The sitemap can't be read: {exc}.") from exc
    refuse_list(page)
    return None


def refuse_list(page: FetchedPage) -> None:
    """Raise PageRefused for data that may be a list of pages but is not a page."""
    if page.suffix in LISTS:
        raise PageRefused(
            RefusalKind.UNFIT, "Not a page that can be read.", "It is XML or JSON, or packed."
        )


class SitemapWalk:
    """Collects up to `limit` pages from sitemaps, in order."""

    def __init__(
        self,
        crawler: "Crawler",
        limit: int,
        may_go_on: Callable[[], bool],
        report: Callable[[str, PageRefused], None],
    ) -> None:
        """`may_go_on` is called before each request; on False no further request is sent.

        `report` is called with each sitemap that was refused.
        """
        self._report = report
        self._crawler = crawler
        self._limit = limit
        self._may_go_on = may_go_on
        self._urls: dict[str, None] = {}
        self._is_complete = True
        self._is_truncated = False
        self._fetched: set[str] = set()

    def pages(self, roots: list[FoundSitemap]) -> SitemapPages:
        """The pages that these sitemaps list, directly or through other sitemaps."""
        self._fetched.update(root.url for root in roots)
        for root in roots:
            self._collect(root)
        return SitemapPages(tuple(self._urls), self._is_complete, self._is_truncated)

    def _collect(self, found: FoundSitemap) -> None:
        for entry in found.sitemap.urls:
            if self._is_truncated:
                return
            url = _inside(entry, found)
            if url is None:
                continue
            if not found.sitemap.is_index:
                self._add(url)
            elif below := self._fetch(url, found):
                self._collect(below)

    def _add(self, url: str) -> None:
        if url in self._urls:
            return
        if len(self._urls) < self._limit:
            self._urls[url] = None
        else:
            self._is_truncated = True

    def _fetch(self, url: str, parent: FoundSitemap) -> FoundSitemap | None:
        if url in self._fetched:
            return None
        self._fetched.add(url)
        is_too_much = parent.depth >= _MAX_DEPTH or len(self._fetched) > _MAX_SITEMAPS
        if is_too_much or not self._may_go_on():
            self._is_complete = False
            return None
        try:
            page = self._crawler.fetch(url)
            found = sitemap_in(url, page, self._crawler.limits.page_bytes) if page else None
        except PageRefused as refused:
            log.info("a sitemap could not be read: %s", refused.title)
            self._report(url, refused)
            self._is_complete = False
            return None
        if found is None:
            return None
        return FoundSitemap(found.sitemap, found.url, parent.hosts, parent.depth + 1)


def _inside(entry: str, found: FoundSitemap) -> str | None:
    """The normalised address of an entry; None when it is invalid or on another host."""
    try:
        url = joined(found.url, entry)
    except PageRefused:
        return None
    return url if host_of(url) in found.hosts else None
