"""XML: paragraphs and headings of a document, the text as it stands of any other file.

The share of sentences tells a document (JATS, DocBook, TEI, a patent, a feed) from machine data.
Entities are never resolved. Runs in the parser process.
"""

import html
import re
from contextlib import suppress

from desktop_rag.core.anchors import Anchor
from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft, HeadingPath
from desktop_rag.ingest.read.foundation.source_file import SourceFile, Unreadable
from desktop_rag.ingest.read.markup import plain_text
from desktop_rag.ingest.read.markup.xml_blocks import Block, Node, blocks_of, name_of

# A tree takes several times the memory of the text.
_MAX_PARSED_BYTES = 40_000_000
_PROLOG_BYTES = 200_000
_MAX_ENTITY_CHARS = 200
_MIN_PROSE_SHARE = 0.2
_MIN_PROSE_CHARS = 40
_ENTITY = re.compile(r"<!ENTITY\s+(%\s+)?(\S+)\s+([^>]*)>")
_REFERENCE = re.compile(r"[&%](?!#)[^\s;\"']+;")
_HTML_ENTITY = re.compile(rb"&[A-Za-z][A-Za-z0-9]{1,30};")
_SUBSET_START = re.compile(r"<!DOCTYPE[^\[>]*\[")
# Word, Excel and OpenDocument as a single file: mostly styles, and yet to be read.
_OFFICE_ROOTS = {"worddocument", "workbook", "document", "package"}


def read(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft; the title is that of the document, or nothing.

    Raises Unreadable for entities made of entities, which are there to fill the memory.
    """
    entities = _entities(source.data, draft)
    if len(source.data) > _MAX_PARSED_BYTES:
        return plain_text.read(source, draft)
    root = _root(source.data)
    blocks = [] if root is None else list(blocks_of(root, entities))
    if not _is_document(root, blocks, len(source.data)):
        return plain_text.read(source, draft)
    _write(blocks, draft)
    return next((block.text for block in blocks if block.is_title), "")


def _entities(data: bytes, draft: DocumentDraft) -> dict[str, str]:
    """The short texts the file gives names to. What it declares is looked at before any parser."""
    # Without its zeros UTF-16 reads like ASCII, as far as markup goes.
    prolog = data[:_PROLOG_BYTES].replace(b"\0", b"").decode("utf-8", "replace")
    subset = _SUBSET_START.search(prolog)
    entities: dict[str, str] = {}
    for is_parameter, name, value in _ENTITY.findall(prolog, subset.end()) if subset else ():
        is_outside = value.startswith(("SYSTEM", "PUBLIC"))
        if not is_outside and _REFERENCE.search(value):
            hint = "It declares entities made of entities."
            raise Unreadable("damaged", "The file is made to exhaust its reader", hint)
        if is_outside and "NDATA" not in value and not is_parameter:
            draft.warn("What it takes from other files is left out.")
        # A long text that is named often would fill the memory as well.
        if not is_outside and len(value) <= _MAX_ENTITY_CHARS and "<" not in value:
            entities[name] = html.unescape(value.strip()[1:-1])
    return entities


def _root(data: bytes) -> Node | None:
    """The root element; None if this is no well-formed XML."""
    from lxml import etree

    for content in (data, _HTML_ENTITY.sub(_numbered, data)):
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
        with suppress(etree.XMLSyntaxError, ValueError):
            return etree.fromstring(content, parser)
    return None


def _numbered(match: re.Match[bytes]) -> bytes:
    """A letter by its name in HTML, which XML knows by its number only."""
    letters = html.unescape(match[0].decode("ascii"))
    if letters.startswith("&") or letters in "<>\"'":
        return match[0]
    return b"".join(b"&#%d;" % ord(letter) for letter in letters)


def _is_document(root: Node, blocks: list[Block], size_bytes: int) -> bool:
    """True when the file was written for people, not only for programs."""
    prose = sum(len(block.text) for block in blocks if _is_prose(block.text))
    if prose >= _MIN_PROSE_SHARE * size_bytes:
        return True
    return bool(blocks) and name_of(root) in _OFFICE_ROOTS


def _is_prose(text: str) -> bool:
    return len(text) >= _MIN_PROSE_CHARS and (" " in text or not text.isascii())


def _write(blocks: list[Block], draft: DocumentDraft) -> None:
    path = HeadingPath()
    here: str | None = None
    for block in blocks:
        if draft.length:
            draft.add(block.gap)
        if block.level:
            draft.add_heading(block.level, block.text)
            here = path.enter(block.level, block.text)
        if block.level or draft.is_mark_due(draft.length):
            draft.mark(Anchor(heading=here, line=block.line))
        draft.add(block.text)
