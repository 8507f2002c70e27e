"""Reads feeds (RSS, Atom, JSON Feed) and takes their entries as pages: from the feed, or fetched.

Runs on the thread of the link refresher.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from html import escape
from typing import Any, cast

from desktop_rag.features.web_pages.crawler import CacheValidators, Crawler, FetchedPage
from desktop_rag.features.web_pages.page_address import PageRefused, RefusalKind, host_of, joined
from desktop_rag.features.web_pages.page_type import HTML
from desktop_rag.features.web_pages.sitemap_walk import ListError, parse_xml
from desktop_rag.features.web_pages.source_pages import SourcePages

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
