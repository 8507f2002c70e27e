"""Office Open XML packages: parts, how they are related, and safe parsing of them.

Matches elements by local name, since strict and transitional files differ in their namespaces.
Runs in the parser process.
"""

import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

from desktop_rag.ingest.read.foundation.document_draft import one_line
from desktop_rag.ingest.read.foundation.looks import Look, look_in_open_document, look_in_word
from desktop_rag.ingest.read.foundation.source_file import Unreadable

# An lxml element.
Element = Any
_FILE_NAME = re.compile(r"(?:\S*[\\/])?[^\s\\/]+\.[A-Za-z]{3,4}")


def unread_pictures(count: int) -> str:
    """The warning of so many pictures that nothing is known of."""
    return f"Pictures without a description are not read: {count}."


class OfficePackage:
    """The parts of an opened archive."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        # Names of parts do not heed case.
        self._names = {name.lower(): name for name in archive.namelist()}

    def main_part(self) -> str:
        """The name of the document. Raises Unreadable if there is none."""
        name = next(self.related("", "/officeDocument"), None)
        if name is None:
            raise Unreadable("damaged", "The file is damaged", "It has no document inside.")
        return name

    def related(self, part: str, kind: str) -> Iterator[str]:
        """The names of the parts to which `part` ("" is the package) is related in this way."""
        return (name for found, name in self.relations(part).values() if found.endswith(kind))

    def title(self) -> str:
        """The title in the properties of the document, "" without one."""
        return one_line(self._property("title"))

    def _property(self, name: str) -> str:
        part = next(self.related("", "/core-properties"), "")
        return getattr(child(self.root(part), name), "text", None) or ""

    def relations(self, part: str) -> dict[str, tuple[str, str]]:
        """The relations of a part to others inside the package: id → (kind, name of the part)."""
        folder = posixpath.dirname(part)
        found: dict[str, tuple[str, str]] = {}
        for relation in self._relations(part):
            if attribute(relation, "TargetMode") != "External":
                target = posixpath.join("/", folder, attribute(relation, "Target"))
                name = posixpath.normpath(target).lstrip("/")
                found[attribute(relation, "Id")] = (attribute(relation, "Type"), name)
        return found

    def addresses(self, part: str) -> dict[str, str]:
        """What a part links to outside the package, by the id of the relation."""
        return {
            attribute(relation, "Id"): attribute(relation, "Target")
            for relation in self._relations(part)
            if attribute(relation, "Type").endswith("/hyperlink")
        }

    def _relations(self, part: str) -> Iterator[Element]:
        folder, base = posixpath.split(part)
        return children(self.root(posixpath.join(folder, "_rels", f"{base}.rels")))

    def content(self, part: str) -> bytes | None:
        """The bytes of a part, None if it is missing or damaged."""
        name = self._names.get(part.lower())
        try:
            return None if name is None else self._archive.read(name)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError):
            return None

    def holds(self, part: str) -> bool:
        """True when there is such a part."""
        return part.lower() in self._names

    def root(self, part: str, *, mends: bool = False) -> Element | None:
        """The root element of a part, None if the part is missing or no XML, which it may mend.

        Raises Unreadable for XML that declares entities: no office program writes such.
        """
        from lxml import etree

        content = self.content(part)
        if content is None:
            return None
        try:
            if b"<!ENTITY" in content:
                raise Unreadable("damaged", "The file is damaged", "It declares XML entities.")
            parser = etree.XMLParser(
                resolve_entities=False, no_network=True, load_dtd=False, recover=mends
            )
            return etree.fromstring(content, parser)
        except etree.XMLSyntaxError:
            return None


def children(element: Element | None, *names: str) -> Iterator[Element]:
    """The child elements, of these names if any; no comments and instructions, none of None."""
    for item in element if element is not None else ():
        if isinstance(item.tag, str) and (not names or local_name(item) in names):
            yield item


def local_name(element: Element) -> str:
    """The name without its namespace."""
    return element.tag.rpartition("}")[2]


def child(element: Element | None, name: str) -> Element | None:
    """The first child of this name."""
    return next(children(element, name), None)


def descendants(element: Element | None, *names: str) -> Iterator[Element]:
    """The elements of these names at any depth, in order."""
    if element is None:
        return
    for item in element.iter("*"):
        if local_name(item) in names:
            yield item


def reference(element: Element, name: str = "id") -> str:
    """The id of a relation that an element names; its own attributes of that name don't count."""
    pairs = element.attrib.items()
    return next((value for key, value in pairs if key.endswith(f"relationships}}{name}")), "")


def attribute(element: Element | None, name: str = "val") -> str:
    """The attribute of this name in whichever namespace, "" without one."""
    if element is None:
        return ""
    return next((v for key, v in element.attrib.items() if key.rpartition("}")[2] == name), "")


def whole_number(element: Element | None, name: str, default: int) -> int:
    """A whole number in an attribute, the default without one."""
    said = attribute(element, name)
    return int(said) if said.isdecimal() else default


def attributes(element: Element) -> dict[str, str]:
    """All attributes, their names without namespaces."""
    return {key.rpartition("}")[2]: value for key, value in element.attrib.items()}


def look_of_run(properties: Element | None) -> Look:
    """The look of letters by the properties of a run, or a font, of Word or Excel."""
    return look_in_word({local_name(e).lower(): attribute(e) or "on" for e in children(properties)})


def open_document_looks(root: Element | None) -> dict[str, Look]:
    """The looks that an OpenDocument file gives names to."""
    return {
        attribute(found.getparent(), "name"): look_in_open_document(attributes(found))
        for found in descendants(root, "text-properties")
    }


def picture_text(*descriptions: str) -> str:
    """The first description of a picture; "" without one, or where it only names a file."""
    texts = (" ".join(each.split()) for each in descriptions)
    said = (text for text in texts if text and not _FILE_NAME.fullmatch(text))
    return next((f"[Picture: {text}]" for text in said), "")
