"""Reads feeds: RSS, Atom and JSON Feed. Pure.

The XML is untrusted: it is read by the standard library's parser, and any DTD is refused, so
nothing can expand and no external resource is loaded. What an entry holds is foreign HTML, which
only the parser process reads.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from html import escape
from typing import Any, cast
from xml.parsers import expat

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
# Elements of other vocabularies have the same names: `media:content` is no text.
_SPACES = re.compile(r"purl\.org|/atom|Atom|rss|^$|backend\.userland", re.IGNORECASE)
_ISO_DAY = re.compile(r"\d{4}-\d\d-\d\d")


class FeedError(ValueError):
    """The data starts like a feed but cannot be read as one."""


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
    """The entries of a feed that have an address, as it lists them. Raises FeedError."""
    if _JSON_START.match(data[:_PEEK_BYTES]):
        return _json_entries(data)
    handler = _FeedHandler()
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _refuse_doctype
    parser.StartElementHandler = handler.start
    parser.EndElementHandler = handler.end
    parser.CharacterDataHandler = handler.text
    try:
        parser.Parse(data, True)
    except expat.ExpatError as exc:
        raise FeedError(f"it is damaged: {exc}") from exc
    return tuple(handler.entries)


def _refuse_doctype(*_: object) -> None:
    raise FeedError("it has a document type of its own")


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
            raise FeedError("it is nested too deep")
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
        raise FeedError("it is damaged") from exc
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
