"""Detects the format of a response from its headers and first bytes, and keeps copies of pages.

Pure, but for the copies, which are for the thread of the link refresher.
"""

import codecs
import contextlib
import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from desktop_rag.core.domain import FileStat
from desktop_rag.core.errors import os_error_as
from desktop_rag.core.files.own_files import write_atomically
from desktop_rag.features.web_pages.page_address import PageRefused, RefusalKind
from desktop_rag.ingest.sources.fetched_documents import stat_of

HTML, PDF, TEXT, MARKDOWN = ".html", ".pdf", ".txt", ".md"
# Not pages; possibly a sitemap or a feed.
XML, JSON = ".xml", ".json"
LISTS = frozenset({XML, JSON})

_SUFFIX_OF_TYPE = {
    "text/html": HTML, "application/xhtml+xml": HTML, "text/plain": TEXT,
    "text/markdown": MARKDOWN, "text/x-markdown": MARKDOWN, "application/pdf": PDF,
    "application/xml": XML, "text/xml": XML, "application/rss+xml": XML,
    "application/atom+xml": XML, "application/rdf+xml": XML, "application/feed+json": JSON,
    "application/json": JSON, "application/gzip": XML, "application/x-gzip": XML,
}  # fmt: skip
# Unspecific types: the content decides.
_VAGUE = {"", "application/octet-stream", "binary/octet-stream"}
_MARKDOWN_NAME = re.compile(r"\.(?:md|markdown)$", re.IGNORECASE)
_HTML_START = re.compile(
    rb"\s*(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)
_XML_START = re.compile(rb"\s*<\?xml\b|\x1f\x8b")
_PEEK_BYTES = 4096
_MAX_SHOWN_CHARS = 60
# Python codecs that are not character encodings of pages.
_NO_ENCODINGS = {"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"}
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)


def refuse_other_types(headers: Mapping[str, str]) -> None:
    """Raise PageRefused for an unsupported media type, before the body is read."""
    media_type = _media_type(headers)
    if media_type not in _SUFFIX_OF_TYPE and media_type not in _VAGUE:
        raise _unfit(media_type)


def suffix_of(headers: Mapping[str, str], url: str, body: bytes) -> str:
    """The file suffix for a page, XML for a possible sitemap; PageRefused for anything else."""
    media_type = _media_type(headers)
    if media_type in _VAGUE:
        return _suffix_by_content(body)
    suffix = _SUFFIX_OF_TYPE[media_type]
    if suffix == TEXT and _MARKDOWN_NAME.search(urlsplit(url).path):
        return MARKDOWN
    return suffix


def in_utf8(headers: Mapping[str, str], suffix: str, body: bytes) -> bytes:
    """The body, converted to UTF-8 when only the header names the encoding.

    The stored file has no headers, so their charset would be lost.
    """
    match = _CHARSET.search(headers.get("content-type", ""))
    if not match or suffix == PDF or suffix in LISTS or body.startswith(codecs.BOM_UTF8):
        return body
    try:
        encoding = codecs.lookup(match[1]).name
        if encoding == "utf-8" or encoding.replace("_", "-") in _NO_ENCODINGS:
            return body
        return codecs.BOM_UTF8 + body.decode(encoding).encode()
    except (LookupError, ValueError):  # unknown encoding, or the body is not in it
        return body


def _media_type(headers: Mapping[str, str]) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def _suffix_by_content(body: bytes) -> str:
    if body.startswith(b"%PDF-"):
        return PDF
    if _HTML_START.match(body[:_PEEK_BYTES]):
        return HTML
    if _XML_START.match(body[:_PEEK_BYTES]):
        return XML
    raise _unfit("")


def _unfit(media_type: str) -> PageRefused:
    what = (
        f"It is {media_type[:_MAX_SHOWN_CHARS]}."
        if media_type
        else "The server does not say what it is."
    )
    return PageRefused(RefusalKind.UNFIT, "Not a page that can be read.", what)


_NAME_CHARS = 32


def page_path(folder: Path, url: str, suffix: str = HTML) -> Path:
    """The path of a page's copy; the same address always gets the same name."""
    digest = hashlib.sha256(url.encode()).hexdigest()
    return folder / f"{digest[:_NAME_CHARS]}{suffix}"


def is_kept(path: Path, stat: FileStat, body: bytes) -> bool:
    """True when the copy is unchanged since it was read and contains exactly these bytes."""
    if stat_of(path) != stat or stat.size_bytes != len(body):
        return False
    try:
        return path.read_bytes() == body
    except OSError:
        return False


def save(path: Path, body: bytes) -> FileStat:
    """Write the copy atomically. Raises AppError on failure."""
    with os_error_as("A fetched page could not be saved.", path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(path, body)
        found = path.stat()
    return FileStat(found.st_size, found.st_mtime_ns, found.st_ino)


def drop(path: Path) -> None:
    """Delete a copy if it exists."""
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)
