"""Follows sitemaps to the pages they list. Runs on the thread of the links."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from desktop_rag.ingest.web.fetched_page import FetchedPage
from desktop_rag.ingest.web.page_address import host_of, joined
from desktop_rag.ingest.web.page_type import PDF, XML
from desktop_rag.ingest.web.refusal import Kind, PageRefused
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

# A sitemap that lists sitemaps that list sitemaps.
_MAX_DEPTH = 3
_MAX_SITEMAPS = 50
_MAX_ENTRIES = 50_000


@dataclass(frozen=True, slots=True)
class Listing:
    """The addresses in their order, each once. Not `is_complete`: some list could not be read.
    `is_cut`: there are more than were wanted.
    """

    urls: tuple[str, ...]
    is_complete: bool
    is_cut: bool


@dataclass(frozen=True, slots=True)
class FoundSitemap:
    """A sitemap with the hosts whose pages it may list: its own, before and after redirects."""

    sitemap: Sitemap
    url: str
    hosts: frozenset[str]
    depth: int = 1


def sitemap_in(asked_url: str, page: FetchedPage, max_bytes: int) -> FoundSitemap | None:
    """The sitemap that came in place of a page, None if it is a page.

    Raises PageRefused for what is neither.
    """
    if page.suffix == PDF:
        return None
    try:
        content = unpacked(page.body, max_bytes)
        if is_sitemap(content):
            hosts = frozenset({host_of(asked_url), host_of(page.url)})
            return FoundSitemap(parse_sitemap(content, _MAX_ENTRIES), page.url, hosts)
    except SitemapError as exc:
        raise PageRefused(Kind.UNFIT, f"The sitemap can't be read: {exc}.") from exc
    refuse_list(page)
    return None


def refuse_list(page: FetchedPage) -> None:
    """Raise PageRefused for what may be a list of pages, but is none itself."""
    if page.suffix == XML:
        raise PageRefused(Kind.UNFIT, "Not a page that can be read.", "It is XML, or packed.")


class SitemapWalk:
    """Collects up to `limit` pages from sitemaps, in the order they stand there."""

    def __init__(self, visitor: "Crawler", limit: int, may_go_on: Callable[[], bool]) -> None:
        """`may_go_on` is asked before each request: once it says no, nothing more is asked for."""
        self._visitor = visitor
        self._limit = limit
        self._may_go_on = may_go_on
        self._urls: dict[str, None] = {}
        self._is_complete = True
        self._is_cut = False
        self._fetched: set[str] = set()

    def pages(self, roots: list[FoundSitemap]) -> Listing:
        """The pages that these sitemaps list, themselves or through others."""
        self._fetched.update(root.url for root in roots)
        for root in roots:
            self._collect(root)
        return Listing(tuple(self._urls), self._is_complete, self._is_cut)

    def _collect(self, found: FoundSitemap) -> None:
        for entry in found.sitemap.urls:
            if self._is_cut:
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
            self._is_cut = True

    def _fetch(self, url: str, parent: FoundSitemap) -> FoundSitemap | None:
        if url in self._fetched:
            return None
        self._fetched.add(url)
        is_too_much = parent.depth >= _MAX_DEPTH or len(self._fetched) > _MAX_SITEMAPS
        if is_too_much or not self._may_go_on():
            self._is_complete = False
            return None
        try:
            page = self._visitor.fetch(url)
            found = sitemap_in(url, page, self._visitor.limits.page_bytes) if page else None
        except PageRefused as refused:
            log.info("a sitemap could not be read: %s", refused.title)
            self._is_complete = False
            return None
        if found is None:
            return None
        return FoundSitemap(found.sitemap, found.url, parent.hosts, parent.depth + 1)


def _inside(entry: str, found: FoundSitemap) -> str | None:
    """The address of an entry in one form; None if it is none or leads to another host."""
    try:
        url = joined(found.url, entry)
    except PageRefused:
        return None
    return url if host_of(url) in found.hosts else None
