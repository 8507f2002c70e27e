"""EPUB: the chapters in their order, as the web page reader reads them.

Names inside the archive are looked up, never followed. Runs in the parser process.
"""

import posixpath
import re
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import unquote

from desktop_rag.core.parsed import Anchor
from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft, one_line
from desktop_rag.ingest.read.foundation.encoding import NotTextError
from desktop_rag.ingest.read.foundation.encryption import open_archive
from desktop_rag.ingest.read.foundation.ooxml import Element, OfficePackage, attribute, descendants
from desktop_rag.ingest.read.foundation.source_file import SourceFile, Unreadable
from desktop_rag.ingest.read.markup import web_page

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_HEADING = re.compile(r"<h[1-6]\b", re.IGNORECASE)
_MAX_CHAPTERS = 5000


def read(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft; the title is that of the book, or nothing."""
    with open_archive(source) as archive:
        book = _Book(OfficePackage(archive))
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

    def __init__(self, archive: OfficePackage) -> None:
        """Raises Unreadable for a book without a package, or with copy protection."""
        self._archive = archive
        self.has_gaps = False
        package = _first(self._xml(_CONTAINER), "rootfile")
        name = attribute(package, "full-path")
        self._root = self._xml(name) if name else None
        if self._root is None:
            raise Unreadable("damaged", "The file is damaged", "It has no list of chapters.")
        self._folder = posixpath.dirname(name)
        self._items = {attribute(item, "id"): item for item in descendants(self._root, "item")}
        self._refuse_protected()
        self.title = one_line(_text_of(_first(self._root, "title")))
        self.contents = dict(self._contents())

    def chapters(self) -> Iterator[str]:
        """Names of the chapters' files in reading order."""
        for number, entry in enumerate(descendants(self._root, "itemref")):
            item = self._items.get(attribute(entry, "idref"))
            if item is not None and number < _MAX_CHAPTERS:
                yield self._name(attribute(item, "href"))

    def text(self, name: str, draft: DocumentDraft) -> str:
        """The markup of a chapter; nothing if it is missing or damaged."""
        data = self._archive.content(name)
        with suppress(NotTextError):
            if data is not None:
                return web_page.decoded(data, draft)
        why = "can't be read" if self._archive.holds(name) else "is missing"
        draft.warn(f"A chapter {why}: {one_line(name)}")
        self.has_gaps = True
        return ""

    def _xml(self, name: str) -> Element | None:
        return self._archive.root(name, mends=True)

    def _name(self, href: str, folder: str | None = None) -> str:
        """The name in the archive that a link inside it means."""
        path = unquote(href.partition("#")[0])
        base = self._folder if folder is None else folder
        return posixpath.normpath(posixpath.join("/", base, path)).lstrip("/")

    def _refuse_protected(self) -> None:
        """Raise Unreadable for encrypted chapters; obfuscated fonts are harmless."""
        names = {attribute(item, "URI") for item in descendants(self._xml(_ENCRYPTION),
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
                         for link in descendants(root, "a")]  # fmt: skip
            else:
                links = [(attribute(_first(point, "content"), "src"),
                          _text_of(_first(point, "text")))
                         for point in descendants(root, "navPoint")]  # fmt: skip
            for href, title in reversed(links):
                if title.strip():
                    yield self._name(href, folder), one_line(title)


def _first(root: Element | None, name: str) -> Element | None:
    return next(descendants(root, name), None)


def _text_of(element: Element | None) -> str:
    return "".join(map(str, element.itertext())) if element is not None else ""
