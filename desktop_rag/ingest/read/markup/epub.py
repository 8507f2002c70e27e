"""EPUB: the chapters in their order, as the web page reader reads them.

Names inside the archive are looked up, never followed. Runs in the parser process.
"""

import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator
from urllib.parse import unquote

from desktop_rag.core.parsed import Anchor
from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft, one_line
from desktop_rag.ingest.read.foundation.encoding import NotTextError
from desktop_rag.ingest.read.foundation.encryption import open_archive
from desktop_rag.ingest.read.foundation.ooxml import Element, attribute, local_name
from desktop_rag.ingest.read.foundation.source_file import SourceFile, Unreadable
from desktop_rag.ingest.read.markup import web_page

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_HEADING = re.compile(r"<h[1-6]\b", re.IGNORECASE)
_MAX_CHAPTERS = 5000
# The library raises these for entries that are cut short or altered.
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError)


def read(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft; the title is that of the book, or nothing."""
    with open_archive(source) as archive:
        book = _Book(archive)
        here = ""
        for number, name in enumerate(book.chapters(), start=1):
            page = book.text(name, draft)
            if not page.strip():
                continue
            title = book.contents.get(name, "")
            # Long chapters are in several files.
            here = title or here
            if draft.length:
                draft.add("\n\n")
            draft.mark(Anchor(heading=here or f"part {number}"))
            if title and not _HEADING.search(page):
                draft.add_heading(1, title)
                draft.add(f"# {title}\n\n")
            web_page.write(page, draft)
        if book.has_gaps and not draft.length:
            raise Unreadable("damaged", "The file is damaged", " ".join(draft.warnings))
        return book.title


class _Book:
    """The package of a book: its title, its chapters in order, its table of contents."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        """Raises Unreadable for a book without a package, or with copy protection."""
        self._archive = archive
        self._names = frozenset(archive.namelist())
        self._folded = {entry.casefold(): entry for entry in archive.namelist()}
        self.has_gaps = False
        package = _first(self._xml(_CONTAINER), "rootfile")
        name = attribute(package, "full-path")
        self._root = self._xml(name) if name else None
        if self._root is None:
            raise Unreadable("damaged", "The file is damaged", "It has no list of chapters.")
        self._folder = posixpath.dirname(name)
        self._items = {attribute(item, "id"): item for item in _all(self._root, "item")}
        self._refuse_protected()
        self.title = one_line(_text_of(_first(self._root, "title")))
        self.contents = dict(self._contents())

    def chapters(self) -> Iterator[str]:
        """Names of the chapters' files in reading order."""
        for number, entry in enumerate(_all(self._root, "itemref")):
            item = self._items.get(attribute(entry, "idref"))
            if item is not None and number < _MAX_CHAPTERS:
                yield self._name(attribute(item, "href"))

    def text(self, name: str, draft: DocumentDraft) -> str:
        """The markup of a chapter; nothing if it is missing or damaged."""
        try:
            return web_page.decoded(self._archive.read(self._spelled(name)), draft)
        except KeyError:
            draft.warn(f"A chapter is missing: {one_line(name)}")
            self.has_gaps = True
            return ""
        except (NotTextError, *_DAMAGE):
            draft.warn(f"A chapter can't be read: {one_line(name)}")
            self.has_gaps = True
            return ""

    def _spelled(self, name: str) -> str:
        """The name as the archive spells it, which may differ in its letter case."""
        return name if name in self._names else self._folded.get(name.casefold(), name)

    def _xml(self, name: str) -> Element | None:
        """The root element of a file, None if it is missing or no XML.

        Raises Unreadable for XML that declares entities. A document type alone is usual here.
        """
        from lxml import etree

        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, load_dtd=False, recover=True
        )
        try:
            content = self._archive.read(name)
            if b"<!ENTITY" in content:
                raise Unreadable("damaged", "The file is damaged", "It declares XML entities.")
            return etree.fromstring(content, parser)
        except (KeyError, *_DAMAGE, etree.XMLSyntaxError):
            return None

    def _name(self, href: str, folder: str | None = None) -> str:
        """The name in the archive that a link inside it means."""
        path = unquote(href.partition("#")[0])
        base = self._folder if folder is None else folder
        return posixpath.normpath(posixpath.join("/", base, path)).lstrip("/")

    def _refuse_protected(self) -> None:
        """Raise Unreadable for encrypted chapters; obfuscated fonts are harmless."""
        names = {attribute(item, "URI") for item in _all(self._xml(_ENCRYPTION),
                                                         "CipherReference")}  # fmt: skip
        chapters = {self._name(attribute(item, "href")) for item in self._items.values()
                    if "html" in attribute(item, "media-type")}  # fmt: skip
        if chapters & {unquote(name).lstrip("/") for name in names}:
            raise Unreadable("encrypted", "Encrypted: the book is copy-protected")

    def _contents(self) -> Iterator[tuple[str, str]]:
        """(file, title) of the entries of the table of contents, the later of one file first."""
        for item in self._items.values():
            name = self._name(attribute(item, "href"))
            folder = posixpath.dirname(name)
            is_page = "nav" in attribute(item, "properties").split()
            if not is_page and attribute(item, "media-type") != "application/x-dtbncx+xml":
                continue
            try:
                root = self._xml(name)
            except Unreadable:
                # The book can be read without it.
                continue
            if is_page:
                links = [(attribute(link, "href"), _text_of(link))
                         for link in _all(root, "a")]  # fmt: skip
            else:
                links = [(attribute(_first(point, "content"), "src"),
                          _text_of(_first(point, "text")))
                         for point in _all(root, "navPoint")]  # fmt: skip
            for href, title in reversed(links):
                if title.strip():
                    yield self._name(href, folder), one_line(title)


def _all(root: Element | None, name: str) -> Iterator[Element]:
    if root is not None:
        yield from (e for e in root.iter() if isinstance(e.tag, str) and local_name(e) == name)


def _first(root: Element | None, name: str) -> Element | None:
    return next(_all(root, name), None)


def _text_of(element: Element | None) -> str:
    return "".join(str(text) for text in element.itertext()) if element is not None else ""
