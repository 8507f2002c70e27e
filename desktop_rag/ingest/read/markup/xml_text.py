"""XML: paragraphs and headings of a document, the text as it stands of any other file.

The share of sentences tells a document (JATS, DocBook, TEI, a patent, a feed) from machine data.
Entities are never resolved. Runs in the parser process.
"""

import html
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from desktop_rag.core.parsed import Anchor
from desktop_rag.ingest.read.foundation.addresses import behind
from desktop_rag.ingest.read.foundation.blocks import BlockWriter
from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft, HeadingPath
from desktop_rag.ingest.read.foundation.formulas import mathml
from desktop_rag.ingest.read.foundation.looks import PLAIN, Look, in_looks, look_in_word
from desktop_rag.ingest.read.foundation.ooxml import attributes, local_name, open_document_looks
from desktop_rag.ingest.read.foundation.source_file import SourceFile, Unreadable
from desktop_rag.ingest.read.markup import plain_text
from desktop_rag.ingest.read.markup.element_looks import look_of

# An lxml node.
Node = Any

_PARAGRAPHS = {
    "p", "para", "simpara", "title", "subtitle", "head", "heading", "h", "abstract-title",
    "article-title", "label", "caption", "term", "definition", "item", "li", "td", "th", "entry",
    "cell", "verse", "l", "line", "speech", "quote", "attrib", "ab", "invention-title",
    "claim-text", "book-title", "verbatim", "screen", "programlisting", "code", "preformat",
    "listing", "literallayout",
}  # fmt: skip
_BLOCKS = _PARAGRAPHS | {
    "sec", "section", "chapter", "part", "div", "body", "front", "back", "abstract", "ack",
    "ref-list", "ref", "list", "list-item", "itemizedlist", "orderedlist", "listitem",
    "variablelist", "varlistentry", "table-wrap", "table", "thead", "tbody", "tr", "row", "fig",
    "figure", "disp-quote", "disp-formula", "blockquote", "note", "entry", "claim", "description",
    "channel", "lg", "sp", "stanza", "poem", "epigraph", "cite", "author", "boxed-text", "fn",
    "footnote",
}  # fmt: skip
_ROWS = {"tr", "row"}
_CELLS = {"td", "th", "tc", "entry", "cell"}
_TITLES = {"title", "head", "heading", "h", "article-title", "invention-title", "book-title"}
# A title in one of these is the caption of something, or names something else.
_NO_SECTIONS = {
    "fig", "figure", "table-wrap", "table", "caption", "ref", "mixed-citation",
    "element-citation", "citation", "product", "biblstruct", "bibl", "formalpara",
    "related-article", "item", "entry", "image", "link",
}  # fmt: skip
_DOCUMENT_TITLES = {"article-title", "invention-title", "book-title"}
_TITLE_HOLDERS = {"title-group", "article", "book", "bookinfo", "articleinfo", "info", "titlestmt",
                  "channel", "feed", "title-info", "prolog", "topic", "document"}  # fmt: skip
# Pictures and the second form of a formula.
_LEFT_OUT = {
    "binary-data", "bindata", "binarydata", "binary", "docoledata", "tex-math", "annotation",
    "graphicdata", "style", "script",
}  # fmt: skip
_TARGETS = ("href", "target", "url")
_BORDER = " | "
_SHORT_CHARS = 60
_ESCAPED_TAG = re.compile(r"</?[a-zA-Z][a-zA-Z0-9]*\b[^<>]{0,2000}>")
_ESCAPED_HTML = re.compile(r"</(?:p|div|span|td|a|li|b|i|strong|em|h\d)>|<br\s*/?>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph with what stands between it and the one before. A heading has a `level`."""

    text: str
    line: int | None
    gap: str
    level: int = 0
    is_title: bool = False


def blocks_of(root: Node, entities: Mapping[str, str]) -> Iterator[Block]:
    """The paragraphs in their order, none of them empty. `entities` are those with plain text."""
    return _Walk(root, entities).blocks()


def name_of(node: Node) -> str:
    """The name without its namespace in lower case, "" for what is no element."""
    return local_name(node).lower() if isinstance(node.tag, str) else ""


class _Walk:
    """Walks the tree without recursion, which a deep one would exhaust.

    Names that many vocabularies share begin a paragraph, a row or a heading; elsewhere text beside
    elements makes a paragraph, and text alone a line.
    """

    def __init__(self, root: Node, entities: Mapping[str, str]) -> None:
        self._root = root
        self._entities = entities
        self._open: list[str] = []
        self._looks = [PLAIN]
        # Of each open element: which piece is its first, and what it links to.
        self._links: list[tuple[int, str]] = []
        self._styles = open_document_looks(root)
        self._pieces: list[str] = []
        self._line: int | None = None
        self._gap = ""
        self._before: Node | None = None
        self._table: Node | None = None
        # How deep the element lies whose text runs on over its children, 0 for none.
        self._mixed_depth = 0
        self._sections = 0

    def blocks(self) -> Iterator[Block]:
        """All blocks of the tree."""
        waiting: list[tuple[Node, bool]] = [(self._root, True)]
        while waiting:
            node, is_start = waiting.pop()
            name = name_of(node)
            if is_start and name and name not in _LEFT_OUT:
                yield from self._enter(node, name)
                waiting.append((node, False))
                if name == "math":
                    self._add(mathml(node), node)
                else:
                    waiting += ((child, True) for child in reversed(node))
                continue
            if not is_start:
                yield from self._leave(node)
            elif not name:
                self._add(self._entity_text(node), node)
            if node is not self._root:
                self._add(node.tail or "", node)
        yield from self._flush()

    def _enter(self, node: Node, name: str) -> Iterator[Block]:
        if name == "p" and self._open and self._open[-1] in _TITLES:
            # A line of a title.
            self._pieces.append(" ")
            name = ""
        self._open.append(name)
        said = attributes(node)
        self._looks.append(self._look(node, name, said))
        target = next(filter(None, map(said.get, _TARGETS)), "")
        self._links.append((len(self._pieces), target if name not in _BLOCKS else ""))
        if self._is_in_row():
            has_cells = name in _CELLS and any(piece.strip() for piece in self._pieces)
            self._pieces.append(_BORDER if has_cells else " " if name in _BLOCKS else "")
        else:
            if name in _BLOCKS or not self._mixed_depth:
                yield from self._flush(None if name in _BLOCKS else node)
            if name in _ROWS:
                self._gap = "\n" if node.getparent() is self._table else self._gap
                self._table = node.getparent()
            is_whole = name in _ROWS or name in _PARAGRAPHS
            if is_whole or (not self._mixed_depth and _has_text_beside(node)):
                self._mixed_depth = len(self._open)
        self._sections += _begins_section(node, name)
        self._add(node.text or "", node)

    def _leave(self, node: Node) -> Iterator[Block]:
        name = self._open[-1]
        if self._is_in_row() and len(self._open) > self._mixed_depth:
            self._pieces.append(" " if name in _BLOCKS else "")
        elif name in _TITLES:
            yield from self._flush_heading(node, name)
        elif name in _BLOCKS or len(self._open) == self._mixed_depth:
            yield from self._flush()
        self._sections -= _begins_section(node, name)
        if len(self._open) == self._mixed_depth:
            self._mixed_depth = 0
        self._open.pop()
        self._looks.pop()
        first, target = self._links.pop()
        if target:
            self._pieces.append(behind("".join(self._pieces[first:]), target))

    def _is_in_row(self) -> bool:
        depth = self._mixed_depth
        return bool(depth) and self._open[depth - 1] in _ROWS

    def _add(self, text: str, node: Node) -> None:
        if self._line is None and text.strip():
            self._line = node.sourceline
        self._pieces.append(
            text if self._looks[-1] == PLAIN else in_looks([(text, self._looks[-1])])
        )

    def _look(self, node: Node, name: str, said: Mapping[str, str]) -> Look:
        """The look of an element by its name, what it says of itself, or its style."""
        outer = self._looks[-1]
        for word in (name, *f"{said.get('rend', '')} {said.get('role', '')}".split()):
            outer = look_of(word, {}, outer)
        own = _word_look(node) if name == "r" else self._styles.get(said.get("style-name", ""))
        return own or outer

    def _flush(self, leaf: Node | None = None) -> Iterator[Block]:
        """End the paragraph. Short texts of elements that stand side by side share a line."""
        text = _shown("".join(self._pieces))
        line, gap = self._line, self._gap
        self._pieces, self._line = [], None
        if text:
            yield Block(text, line, gap)
        if leaf is None:
            self._gap = "\n\n"
        elif text:
            is_beside = self._before is not None and leaf.getprevious() is self._before
            self._gap = " " if is_beside and len(text) <= _SHORT_CHARS else "\n"
        self._before = leaf

    def _flush_heading(self, node: Node, name: str) -> Iterator[Block]:
        parent = self._open[-2] if len(self._open) > 1 else ""
        is_heading = not _NO_SECTIONS.intersection(self._open[:-1])
        level = max(self._sections, 1) + (name == "heading" and _stated_level(node) - 1)
        for block in self._flush():
            is_title = name in _DOCUMENT_TITLES or parent in _TITLE_HOLDERS
            level = level if is_heading else 0
            yield Block(block.text, block.line, block.gap, level, is_heading and is_title)

    def _entity_text(self, node: Node) -> str:
        """The text of an entity: a letter of HTML, or one that the file declares."""
        from lxml import etree

        if node.tag is not etree.Entity:
            return ""
        letter = html.unescape(node.text)
        return self._entities.get(node.text[1:-1], "") if letter.endswith(";") else letter


def _word_look(run: Node) -> Look | None:
    """The look of a run of Word, which its first child tells."""
    properties = next(iter(run), None)
    if properties is None or name_of(properties) != "rpr":
        return None
    return look_in_word({name_of(e): next(iter(e.attrib.values()), "on") for e in properties})


def _has_text_beside(node: Node) -> bool:
    """True when the element holds text and elements side by side."""
    if len(node) == 0:
        return False
    texts = [node.text, *(child.tail for child in node)]
    return any(text and text.strip() for text in texts)


def _begins_section(node: Node, name: str) -> bool:
    return name not in _NO_SECTIONS and any(name_of(child) in _TITLES for child in node)


def _stated_level(node: Node) -> int:
    level = node.get("level", "1")
    return min(int(level), 6) if level.isdecimal() and level.isascii() else 1


def _shown(text: str) -> str:
    """The text with white space collapsed, and without the tags of HTML that was put in as text."""
    if _ESCAPED_HTML.search(text):
        text = html.unescape(_ESCAPED_TAG.sub(" ", text))
    return " ".join(text.split())


# A tree takes several times the memory of the text.
_MAX_PARSED_BYTES = 40_000_000
_PROLOG_BYTES = 200_000
_MAX_ENTITY_CHARS = 200
_MIN_PROSE_SHARE = 0.2
_MIN_PROSE_CHARS = 40
_ENTITY = re.compile(r"<!ENTITY\s+(%\s+)?(\S+)\s+([^>]*)>")
_REFERENCE = re.compile(r"[&%](?!#)[^\s;\"']+;")
_HTML_ENTITY = re.compile(rb"&[A-Za-z][A-Za-z0-9]{1,30};")
_OUTLINE_ADDRESSES = ("htmlUrl", "url", "xmlUrl")
_SUBSET_START = re.compile(r"<!DOCTYPE[^\[>]*\[")
# Word, Excel and OpenDocument as a single file: mostly styles, and yet to be read.
_OFFICE_ROOTS = {"worddocument", "workbook", "document", "package"}
# A book is mostly its pictures.
_DOCUMENT_ROOTS = _OFFICE_ROOTS | {"fictionbook"}


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


def read_outline(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft from OPML: an item for each line of an outline or feed of a list."""
    _entities(source.data, draft)
    root = _root(source.data) if len(source.data) <= _MAX_PARSED_BYTES else None
    if root is None:
        return plain_text.read(source, draft)
    blocks = BlockWriter(draft)
    waiting = [(node, 0) for node in reversed(root) if name_of(node)]
    while waiting:
        node, level = waiting.pop()
        is_item = name_of(node) == "outline"
        text = node.get("text") or node.get("title") or ""
        target = next(filter(None, map(node.get, _OUTLINE_ADDRESSES)), "")
        if is_item and text:
            said = [_shown(text) + behind(text, target), node.get("_note") or ""]
            draft.mark(Anchor(line=node.sourceline))
            blocks.add_item(level, "-", "\n".join(filter(None, said)))
        waiting += ((inner, level + is_item) for inner in reversed(node) if name_of(inner))
    blocks.finish()
    title = next((node.text for node in root.iter("{*}title")), None)
    return _shown(title or "")


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
    return bool(blocks) and name_of(root) in _DOCUMENT_ROOTS


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
