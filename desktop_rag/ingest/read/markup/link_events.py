"""What a page says of other pages: its links, its canonical address, its wishes to robots.

The page is read as a stream of events, as in `web_page.py`. Runs in the parser process.
"""

import hashlib
import re
from collections.abc import Mapping
from typing import Any, cast

from desktop_rag.core.crawling.page_links import MOST_LINK_CHARS, MOST_LINKS, PageLinks
from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft
from desktop_rag.ingest.read.foundation.source_file import SourceFile
from desktop_rag.ingest.read.markup.web_page import decoded

_SILENT = frozenset({"script", "style", "noscript", "template"})
_LINKING = frozenset({"a", "area"})
_NOT_FOLLOWED = frozenset({"nofollow", "ugc", "sponsored"})
# The names by which a page addresses all robots, or this app.
_ROBOTS = frozenset({"robots", "desktop-rag"})
_SPACE = re.compile(r"\s+")


def read_page_links(source: SourceFile, max_chars: int) -> PageLinks:
    """The links of an HTML page, the first MOST_LINKS of them."""
    from lxml import etree

    text = decoded(source.data, DocumentDraft(max_chars))[:max_chars]
    page = _Page()
    # The stubs ask for handlers of events that lxml does without.
    parser = etree.HTMLParser(target=cast("Any", page), encoding="utf-8", huge_tree=True)
    parser.feed(text.encode("utf-8", "replace"))
    parser.close()
    return page.links()


class _Page:
    def __init__(self) -> None:
        self._hrefs: dict[str, None] = {}
        self._base = ""
        self._canonical = ""
        self._robots: list[str] = []
        self._silent_depth = 0
        self._words = hashlib.sha256()
        self._has_words = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag in _SILENT:
            self._silent_depth += 1
        elif tag in _LINKING:
            self._add(attributes)
        elif tag == "link":
            relations = attributes.get("rel", "").lower().split()
            if "canonical" in relations and not self._canonical:
                self._canonical = _address(attributes)
        elif tag == "base":
            self._base = self._base or _address(attributes)
        elif tag == "meta" and attributes.get("name", "").strip().lower() in _ROBOTS:
            self._robots.append(attributes.get("content", "")[:MOST_LINK_CHARS])

    def end(self, tag: str) -> None:
        if tag in _SILENT and self._silent_depth:
            self._silent_depth -= 1

    def data(self, text: str) -> None:
        if self._silent_depth:
            return
        words = _SPACE.sub("", text)
        if words:
            self._has_words = True
            self._words.update(words.encode("utf-8", "replace"))

    def close(self) -> None:
        pass

    def links(self) -> PageLinks:
        digest = self._words.hexdigest() if self._has_words else ""
        wishes = ",".join(self._robots)[:MOST_LINK_CHARS]
        return PageLinks(tuple(self._hrefs), self._base, self._canonical, wishes, digest)

    def _add(self, attributes: Mapping[str, str]) -> None:
        href = _address(attributes)
        relations = attributes.get("rel", "").lower().split()
        if href and len(self._hrefs) < MOST_LINKS and not _NOT_FOLLOWED.intersection(relations):
            self._hrefs[href] = None


def _address(attributes: Mapping[str, str]) -> str:
    href = attributes.get("href", "").strip()
    return href if len(href) <= MOST_LINK_CHARS else ""
