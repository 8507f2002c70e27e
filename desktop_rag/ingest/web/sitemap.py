"""Parses sitemaps and sitemap indexes. Pure.

The XML is untrusted: it is read by the standard library's parser, and any DTD is refused, so
nothing can expand and no external resource is loaded.
"""

import re
import zlib
from dataclasses import dataclass
from xml.parsers import expat

_START = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?.*?\?>\s*|<!--.*?-->\s*)*"
    rb"<(?:[\w.-]+:)?(?:urlset|sitemapindex)[\s>/]",
    re.DOTALL,
)
_PEEK_BYTES = 4096
_GZIP = b"\x1f\x8b"
_MAX_DEPTH = 16
_MAX_URL_CHARS = 4000


class SitemapError(ValueError):
    """The data starts like a sitemap but cannot be parsed as one."""


@dataclass(frozen=True, slots=True)
class Sitemap:
    """The listed addresses in order; with `is_index` they are sitemaps."""

    urls: tuple[str, ...]
    is_index: bool


def unpacked(data: bytes, max_bytes: int) -> bytes:
    """The decompressed gzip data; other data unchanged.

    Raises SitemapError when it is damaged or longer than `max_bytes`.
    """
    if not data.startswith(_GZIP):
        return data
    inflater = zlib.decompressobj(31)
    try:
        content = inflater.decompress(data, max_bytes + 1)
    except zlib.error as exc:
        raise SitemapError("its compression is damaged") from exc
    if len(content) > max_bytes:
        raise SitemapError("it is too long")
    if not inflater.eof:
        raise SitemapError("it is cut off")
    return content


def is_sitemap(data: bytes) -> bool:
    """True when decompressed data starts like a sitemap."""
    return _START.match(data[:_PEEK_BYTES]) is not None


def parse_sitemap(data: bytes, limit: int) -> Sitemap:
    """The first `limit` addresses of a sitemap. Raises SitemapError."""
    handler = _SitemapHandler(limit)
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _refuse_doctype
    parser.StartElementHandler = handler.start
    parser.EndElementHandler = handler.end
    parser.CharacterDataHandler = handler.text
    try:
        parser.Parse(data, True)
    except _LimitReached:
        pass
    except expat.ExpatError as exc:
        raise SitemapError(f"it is damaged: {exc}") from exc
    return Sitemap(tuple(handler.urls), handler.is_index)


class _LimitReached(Exception):  # noqa: N818  it ends the parsing early, it reports no failure
    """The limit of addresses is reached."""


def _refuse_doctype(*_: object) -> None:
    raise SitemapError("it has a document type of its own")


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
        if len(self._path) > _MAX_DEPTH:
            raise SitemapError("it is nested too deep")
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
