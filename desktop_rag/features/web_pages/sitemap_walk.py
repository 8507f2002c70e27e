"""Parses sitemaps and follows them to the pages they list, on the thread of the link refresher."""

import logging
import re
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol
from xml.parsers import expat

from desktop_rag.features.web_pages.crawler import Crawler, FetchedPage
from desktop_rag.features.web_pages.page_address import PageRefused, RefusalKind, host_of, joined
from desktop_rag.features.web_pages.page_type import LISTS, PDF

log = logging.getLogger(__name__)

_START = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?.*?\?>\s*|<!--.*?-->\s*)*"
    rb"<(?:[\w.-]+:)?(?:urlset|sitemapindex)[\s>/]",
    re.DOTALL,
)
_PEEK_BYTES = 4096
_GZIP = b"\x1f\x8b"
_MAX_SITEMAP_DEPTH = 16
_MAX_URL_CHARS = 4000


class ListError(ValueError):
    """The data starts like a list of pages but cannot be parsed as one."""


class _Handler(Protocol):
    def start(self, name: str, attributes: dict[str, str], /) -> None: ...
    def end(self, name: str, /) -> None: ...
    def text(self, text: str, /) -> None: ...


def parse_xml(data: bytes, handler: _Handler) -> None:
    """Call the handler for each element and text. Raises ListError.

    The XML is untrusted: any DTD is refused, so nothing can expand and nothing external is loaded.
    """
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _refuse_doctype
    parser.StartElementHandler = handler.start
    parser.EndElementHandler = handler.end
    parser.CharacterDataHandler = handler.text
    try:
        parser.Parse(data, True)
    except expat.ExpatError as exc:
        raise ListError(f"it is damaged: {exc}") from exc


def _refuse_doctype(*_: object) -> None:
    raise ListError("it has a document type of its own")


@dataclass(frozen=True, slots=True)
class Sitemap:
    """The listed addresses in order; with `is_index` they are sitemaps."""

    urls: tuple[str, ...]
    is_index: bool


def unpacked(data: bytes, max_bytes: int) -> bytes:
    """The decompressed gzip data; other data unchanged.

    Raises ListError when it is damaged or longer than `max_bytes`.
    """
    if not data.startswith(_GZIP):
        return data
    inflater = zlib.decompressobj(31)
    try:
        content = inflater.decompress(data, max_bytes + 1)
    except zlib.error as exc:
        raise ListError("its compression is damaged") from exc
    if len(content) > max_bytes:
        raise ListError("it is too long")
    if not inflater.eof:
        raise ListError("it is cut off")
    return content


def is_sitemap(data: bytes) -> bool:
    """True when decompressed data starts like a sitemap."""
    return _START.match(data[:_PEEK_BYTES]) is not None


def parse_sitemap(data: bytes, limit: int) -> Sitemap:
    """The first `limit` addresses of a sitemap. Raises ListError."""
    handler = _SitemapHandler(limit)
    with suppress(_LimitReached):
        parse_xml(data, handler)
    return Sitemap(tuple(handler.urls), handler.is_index)


class _LimitReached(Exception):  # noqa: N818  it ends the parsing early, it reports no failure
    """The limit of addresses is reached."""


class _SitemapHandler:
    """Collects `<loc>` of `<url>` and `<sitemap>` and ignores everything else."""

    def __init__(self, limit: int) -> None:
        self.urls: list[str] = []
        self.is_index = False
        self._limit = limit
        self._path: list[str] = []
        self._pieces: list[str] = []

    def start(self, name: str, _attributes: object) -> None:
        tag = name.rpartition(" ")[2].lower()
        self._path.append(tag)
        if len(self._path) > _MAX_SITEMAP_DEPTH:
            raise ListError("it is nested too deep")
        self.is_index |= tag == "sitemapindex" and len(self._path) == 1
        self._pieces.clear()

    def end(self, _name: str) -> None:
        if self._is_in_address:
            url = "".join(self._pieces).strip()
            if 0 < len(url) <= _MAX_URL_CHARS:
                self.urls.append(url)
        self._path.pop()
        self._pieces.clear()
        if len(self.urls) >= self._limit:
            raise _LimitReached

    def text(self, text: str) -> None:
        if self._is_in_address:
            self._pieces.append(text)

    @property
    def _is_in_address(self) -> bool:
        return self._path[1:] in (["url", "loc"], ["sitemap", "loc"])


# A sitemap of sitemaps of sitemaps.
_MAX_DEPTH = 3
_MAX_SITEMAPS = 50
_MAX_ENTRIES = 50_000


@dataclass(frozen=True, slots=True)
class SitemapPages:
    """Unique page addresses in order; whether every list was read, and whether the limit cut."""

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
    except ListError as exc:
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
        crawler: Crawler,
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
