"""HTML: what a browser would show, as Markdown text with headings, and the links of a page.

The page is read as a stream of events, never as a tree: nesting a hundred thousand levels deep
costs no stack and loses nothing. Runs in the parser process.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from desktop_rag.core.crawling import MOST_LINK_CHARS, MOST_LINKS, PageLinks
from desktop_rag.core.domain import MOST_TAGS, typed_tags
from desktop_rag.core.parsed import HEADING_SEPARATOR, Anchor
from desktop_rag.ingest.read.foundation.addresses import LinkWriter
from desktop_rag.ingest.read.foundation.blocks import CELL_BORDER
from desktop_rag.ingest.read.foundation.document_draft import (
    DocumentDraft,
    HeadingPath,
    day_of,
    one_line,
)
from desktop_rag.ingest.read.foundation.encoding import usual_name
from desktop_rag.ingest.read.foundation.formulas import Formula
from desktop_rag.ingest.read.foundation.looks import PLAIN, Look, in_looks
from desktop_rag.ingest.read.foundation.source_file import SourceFile
from desktop_rag.ingest.read.markup.element_looks import StyleRules, hides, look_of
from desktop_rag.ingest.read.markup.page_parts import CELLS, LISTS, HtmlTable, PageList, Survey

_CHARSET = re.compile(
    rb"<(?:meta[^>]{0,200}?charset|\?xml[^>]{0,200}?encoding)\s*=\s*[\"']?\s*([\w.:-]+)",
    re.IGNORECASE,
)
_AHEAD = re.compile(rb"<table\b|<select\b|\breversed\b", re.IGNORECASE)
_META_BYTES = 4096
_DROPPED = {
    "script", "style", "nav", "template", "noscript", "svg", "iframe", "object", "canvas",
    "audio", "video", "button", "annotation", "annotation-xml",
}  # fmt: skip
_FORMULAS = {"math", "mml:math", "m:math"}
_ICONS = {"a", "i", "span", "img"}
_PARAGRAPHS = {
    "p", "blockquote", "dl", "figure", "section", "article", "main", "aside", "header",
    "footer", "details", "form", "fieldset", "address", "hr", "ul", "ol", "pre",
}  # fmt: skip
_LINES = {"div", "li", "dt", "dd", "caption", "figcaption", "summary", "br"}
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_TABLE_PARTS = {"table", "tr", "td", "th"}
_AROUND_PAGE = {"header", "footer", "aside"}
_ROLES_AROUND_PAGE = {"navigation", "banner", "contentinfo", "menu", "menubar", "complementary"}
_SPACED = {"option", "select"}
_FENCE = "```"
# Fields that show what was filled in.
_SHOWN_FIELDS = {"text", "search", "email", "tel", "url", "number", "date", "time"}
_BOXES = {"checkbox", "radio"}
_WITHOUT_TEXT = {"meta", "base", "link", "img", "input"}
_MAX_INNER = 3
# The names by which a page says when it was published.
_DATES = {"article:published_time", "dcterms.date", "dc.date", "date", "datepublished"}
# Tags, as Dublin Core has them. What pages call keywords is written for search engines.
_SUBJECTS = "dcterms.subject"
_SPACE = re.compile(r"[ \t\n\r\f\v\xa0]+")
# The texts by which a heading links to itself.
_SELF_LINKS = {"¶", "§", "#", "🔗"}
_INDENT = "  "
_MAX_INDENT = 6
_ANYWHERE = Anchor()


def read(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft; the title is that of the page, or nothing."""
    return write(decoded(source.data, draft), draft)


def decoded(data: bytes, draft: DocumentDraft, declared: str = "") -> str:
    """The markup as text, by the encoding it was declared to have, or declares itself.

    Raises NotTextError for bytes that are something else.
    """
    found = None if declared else _CHARSET.search(data[:_META_BYTES])
    if found:
        declared = found[1].decode("ascii", "replace")
    return draft.decoded(data, usual_name(declared))


def write(
    text: str, draft: DocumentDraft, place: Anchor = _ANYWHERE, *, with_addresses: bool = True
) -> str:
    """Add a page that was decoded; returns its title, or nothing.

    If `place` has a heading, the page is below it: so are its headings and their anchors.
    The words of a link are followed by its address `with_addresses`, but for those of menus.
    """
    begin = draft.length
    markup = draft.fitting(text).encode("utf-8", "replace")
    survey = Survey()
    if _AHEAD.search(markup):
        _feed(markup, survey)
    links = LinkWriter(draft, is_shown=with_addresses)
    rules = StyleRules(text)
    page = _Page(draft, survey, place, links, rules, keep_hidden=False)
    _feed(markup, page)
    if draft.length == begin:
        # Some pages are hidden whole until their script has run.
        page = _Page(draft, survey, place, links, rules, keep_hidden=True)
        _feed(markup, page)
    return page.title


def _feed(markup: bytes, target: "Survey | _Page | _LinkPage") -> None:
    from lxml import etree

    # The stubs ask for handlers of events that lxml does without.
    parser = etree.HTMLParser(target=cast("Any", target), encoding="utf-8", huge_tree=True)
    parser.feed(markup)
    parser.close()


@dataclass(slots=True)
class _OpenElement:
    """An element that is open, and the look of letters in it."""

    look: Look
    is_around_page: bool = False


class _Page:
    """Writes the draft from the events. White space is held back until text follows it."""

    def __init__(
        self,
        draft: DocumentDraft,
        survey: Survey,
        place: Anchor,
        links: LinkWriter,
        rules: StyleRules,
        *,
        keep_hidden: bool,
    ) -> None:
        self.title = ""
        self._place = place
        self._draft = draft
        self._links = links
        self._rules = rules
        self._formula: Formula | None = None
        self._begin = draft.length
        self._path = HeadingPath()
        self._survey = survey
        self._keep_hidden = keep_hidden
        self._hidden_depth = 0
        self._title_pieces: list[str] | None = None
        self._heading_pieces: list[str] | None = None
        self._heading_offset = 0
        self._pending = _Pending()
        self._is_pre = False
        self._lists: list[PageList] = []
        self._list_count = 0
        self._choice_count = 0
        self._is_undecided = False
        self._tables: list[HtmlTable] = []
        self._table_count = 0
        self._is_in_cell = False
        # The open elements that are not hidden.
        self._open: list[_OpenElement] = []
        self._inner_depth = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._count(tag)
        is_plain = self._hidden_depth or not attributes
        style = {} if is_plain else self._rules.style_of(attributes)
        if self._hidden_depth or self._is_hidden(tag, attributes, style):
            if not self._hidden_depth and tag == "iframe":
                self._read_inner(attributes.get("srcdoc", ""))
            self._hidden_depth += 1
            return
        if self._formula or tag in _FORMULAS:
            self._formula = self._formula or Formula()
            self._formula.start(tag, attributes)
            return
        self._enter(tag, attributes, style)
        if tag == "title":
            self._title_pieces = []
        elif tag in _WITHOUT_TEXT:
            self._take_attributes(tag, attributes)
        elif tag in _TABLE_PARTS:
            self._start_in_table(tag, attributes)
        elif not self._is_inline:
            self._start_block(tag, attributes, style)
        elif tag in _PARAGRAPHS or tag in _LINES:
            self._pending.has_space = True
            if bullet := self._start_list(tag, attributes, style).strip("- "):
                self._pending.prefix = f"{bullet} "

    def _count(self, tag: str) -> None:
        """Count what the survey counted: the page, without those kept in attributes of it."""
        if self._inner_depth:
            return
        self._table_count += tag == "table"
        self._list_count += tag in LISTS
        if tag == "select":
            self._is_undecided = self._survey.undecided[self._choice_count]
            self._choice_count += 1

    def _read_inner(self, markup: str) -> None:
        """Read a page that is kept in an attribute, as saved pages have them."""
        if markup and self._inner_depth < _MAX_INNER:
            self._inner_depth += 1
            self._pending.need(2)
            _feed(markup.encode("utf-8", "replace"), self)
            self._pending.need(2)
            self._inner_depth -= 1

    def _enter(self, tag: str, attributes: Mapping[str, str], style: Mapping[str, str]) -> None:
        """Note the look of an element."""
        outer = self._open[-1] if self._open else _OpenElement(PLAIN)
        look = look_of(tag, style, outer.look)
        role = attributes.get("role", "") if attributes else ""
        is_around = outer.is_around_page or tag in _AROUND_PAGE or role in _ROLES_AROUND_PAGE
        self._open.append(_OpenElement(look, is_around_page=is_around))
        self._pending.has_space |= tag in _SPACED
        if tag == "a":
            self._links.open(attributes, is_around_page=is_around)

    def _leave(self, tag: str) -> None:
        if self._open:
            self._open.pop()
        if tag == "a":
            self._links.close()
        self._pending.has_space |= tag in _SPACED

    def _take_attributes(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Take the words of an element that are attributes of it."""
        if tag == "meta":
            self._take_property(attributes)
        elif tag in {"base", "link"}:
            if tag == "base" or attributes.get("rel", "").lower() == "canonical":
                self._links.base = self._links.base or attributes.get("href", "")
        elif tag == "img":
            self.data(f" {attributes.get('alt', '')} ")
        elif (kind := attributes.get("type", "text").lower()) in _BOXES:
            self.data(" ☒ " if "checked" in attributes else " ☐ ")
        elif kind in _SHOWN_FIELDS:
            self.data(f" {attributes.get('value', '')} ")

    def _take_property(self, attributes: Mapping[str, str]) -> None:
        name = attributes.get("property") or attributes.get("name") or ""
        if name.lower() in _DATES and not self._draft.dated:
            self._draft.dated = day_of(attributes.get("content", ""))
        elif name.lower() == _SUBJECTS:
            self._draft.tags = typed_tags(attributes.get("content", ""))[:MOST_TAGS]

    def end(self, tag: str) -> None:
        if self._hidden_depth:
            self._hidden_depth -= 1
            return
        if self._formula:
            self._end_in_formula()
            return
        self._leave(tag)
        if tag in LISTS and self._lists:
            self._lists.pop()
        if tag == "title" and self._title_pieces is not None:
            self.title = self.title or one_line("".join(self._title_pieces))
            self._title_pieces = None
        elif tag in _HEADINGS and self._heading_pieces is not None:
            self._end_heading(_HEADINGS[tag])
        elif tag in _TABLE_PARTS:
            self._end_in_table(tag)
        elif self._is_inline:
            self._pending.has_space |= tag in _PARAGRAPHS or tag in _LINES
        else:
            self._end_block(tag)

    def _end_in_formula(self) -> None:
        said = self._formula.end() if self._formula else None
        if said is not None:
            self._formula = None
            self.data(said)

    def data(self, text: str) -> None:
        if self._hidden_depth:
            return
        if self._formula:
            self._formula.data(text)
        elif self._title_pieces is not None:
            self._title_pieces.append(text)
        elif self._is_pre:
            self._emit(text)
        else:
            collapsed = _SPACE.sub(" ", text)
            words = collapsed.strip()
            self._pending.has_space |= collapsed.startswith(" ")
            if words:
                look = self._open[-1].look if self._open else PLAIN
                self._emit(in_looks([(words, look)]))
                self._pending.has_space = collapsed.endswith(" ")

    def close(self) -> None:
        pass

    @property
    def _is_inline(self) -> bool:
        """True where blocks make no lines: a heading and a table row are one line."""
        return self._is_in_cell or self._heading_pieces is not None

    def _is_hidden(self, tag: str, attributes: Mapping[str, str], style: Mapping[str, str]) -> bool:
        if tag == "template" and attributes and "shadowrootmode" in attributes:
            return False
        if tag == "option":
            # Of a list to choose from a page shows what was chosen, else the first.
            is_first, self._is_undecided = self._is_undecided, False
            return not ("selected" in attributes or (is_first and attributes.get("value", "-")))
        if tag in _DROPPED:
            # In headings that fold their section the words are on a button.
            return tag != "button" or self._heading_pieces is None
        if not attributes or self._keep_hidden:
            return False
        if tag in _ICONS and attributes.get("aria-hidden") == "true":
            return True
        return "hidden" in attributes or hides(style)

    def _start_block(
        self, tag: str, attributes: Mapping[str, str], style: Mapping[str, str]
    ) -> None:
        if tag in _PARAGRAPHS:
            self._pending.need(1 if self._lists and tag in LISTS else 2)
        elif tag in _LINES:
            self._pending.need(1)
        if tag in _HEADINGS:
            self._pending.need(2)
            self._pending.prefix = "#" * _HEADINGS[tag] + " "
            self._heading_pieces = []
        elif tag == "pre":
            self._is_pre = True
            self._pending.prefix = _FENCE + "\n"
        elif bullet := self._start_list(tag, attributes, style):
            depth = min(max(len(self._lists) - 1, 0), _MAX_INDENT)
            self._pending.prefix = _INDENT * depth + bullet

    def _start_list(self, tag: str, attributes: Mapping[str, str], style: Mapping[str, str]) -> str:
        """Begin a list, or an item: what stands before that."""
        if tag in LISTS:
            known = self._survey.items[self._list_count - 1 : self._list_count]
            items = 0 if self._inner_depth else sum(known)
            self._lists.append(PageList(tag, attributes, style, items))
        elif tag == "li":
            return self._lists[-1].bullet(attributes) if self._lists else "- "
        return ""

    def _end_block(self, tag: str) -> None:
        if tag == "pre" and self._is_pre:
            self._is_pre = False
            if self._pending.prefix:
                self._pending.prefix = ""
            else:
                self._draft.add("\n" + _FENCE)
        if tag in _PARAGRAPHS:
            self._pending.need(1 if self._lists and tag in LISTS else 2)
        elif tag in _LINES:
            self._pending.need(1)

    def _start_in_table(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "table":
            self._pending.need(2)
            is_layout = not self._inner_depth and self._table_count - 1 in self._survey.layout
            self._tables.append(HtmlTable(is_layout=is_layout))
        elif tag == "tr":
            self._pending.need(1)
            if self._tables:
                self._tables[-1].start_row()
        elif self._tables and not self._tables[-1].is_layout:
            self._fill(self._tables[-1].reached())
            self._start_cell(tag, attributes)
        else:
            self._pending.need(1)

    def _start_cell(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._is_in_cell = True
        self._tables[-1].start_cell(tag, attributes)
        self._pending.cells += self._tables[-1].cell_number > 1

    def _fill(self, texts: Sequence[str], tag: str = "th") -> None:
        """Write the text of a merged cell once more for each column or row that it covers."""
        for text in texts:
            self._start_cell(tag, {})
            if text:
                self._emit(text)
        self._is_in_cell = False

    def _end_in_table(self, tag: str) -> None:
        if tag in CELLS:
            if self._is_in_cell:
                self._fill(self._tables[-1].end_cell(), tag)
            return
        if tag == "tr" and self._tables and not self._tables[-1].is_layout:
            self._fill(self._tables[-1].reached())
        self._pending.cells = 0
        self._pending.need(1 if tag == "tr" else 2)
        if tag == "tr" and self._tables:
            self._tables[-1].end_row(self._draft.length)
        elif tag == "table" and self._tables:
            self._tables.pop().close(self._draft)

    def _end_heading(self, level: int) -> None:
        title = "".join(self._heading_pieces or ())
        self._heading_pieces = None
        if title.strip():
            path = self._path.enter(level, title)
            outer = self._place.heading
            if outer:
                level, path = level + 1, f"{outer}{HEADING_SEPARATOR}{path}"
            self._draft.add_heading(level, title, self._heading_offset)
            self._draft.mark(replace(self._place, heading=path), self._heading_offset)
        self._pending.prefix = ""
        self._pending.need(2)

    def _emit(self, text: str) -> None:
        if self._heading_pieces is not None and text in _SELF_LINKS:
            return
        self._links.before(text, is_new_line=self._pending.breaks > 0)
        space, prefix = self._pending.take(is_first=self._draft.length == self._begin)
        if self._heading_pieces is not None:
            if not self._heading_pieces:
                self._heading_offset = self._draft.length + len(space)
            self._heading_pieces.append((" " if space else "") + text)
        if self._is_in_cell:
            self._tables[-1].add(prefix + text)
        self._draft.add(space + prefix + text)


class _Pending:
    """The gap between the last text and the next."""

    def __init__(self) -> None:
        self.breaks = 0
        self.cells = 0
        self.has_space = False
        self.prefix = ""

    def need(self, breaks: int) -> None:
        """Ask for at least this many line ends before the next text."""
        self.breaks = max(self.breaks, breaks)

    def take(self, *, is_first: bool) -> tuple[str, str]:
        """The white space and the prefix that are due, which are then settled."""
        breaks = 0 if is_first else self.breaks
        space = "\n" * breaks
        if self.cells:
            space += (CELL_BORDER * self.cells)[breaks > 0 :]
        elif self.has_space and not breaks and not is_first:
            space = " "
        prefix = self.prefix
        self.breaks = self.cells = 0
        self.has_space = False
        self.prefix = ""
        return space, prefix


_SILENT = frozenset({"script", "style", "noscript", "template"})
_LINKING = frozenset({"a", "area"})
_NOT_FOLLOWED = frozenset({"nofollow", "ugc", "sponsored"})
# The names by which a page addresses all robots, or this app.
_ROBOTS = frozenset({"robots", "desktop-rag"})
_LINK_SPACE = re.compile(r"\s+")


def read_page_links(source: SourceFile, max_chars: int) -> PageLinks:
    """The first MOST_LINKS links of an HTML page, its canonical address, its wishes to robots."""
    text = decoded(source.data, DocumentDraft(max_chars))[:max_chars]
    page = _LinkPage()
    _feed(text.encode("utf-8", "replace"), page)
    return page.links()


class _LinkPage:
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
        words = _LINK_SPACE.sub("", text)
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
