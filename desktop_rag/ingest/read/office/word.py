"""Word documents (DOCX, DOCM): paragraphs, headings by style, lists, tables, text boxes, notes.

The XML is walked here and not by a library, so that content controls, tracked insertions, text
boxes and notes are not left out, nor files of the strict kind. Runs in the parser process.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field

from desktop_rag.ingest.read.foundation.addresses import address_of_field, behind
from desktop_rag.ingest.read.foundation.blocks import (
    BlockWriter,
    ListLevel,
    Numbering,
    is_for_layout,
    merged,
)
from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft
from desktop_rag.ingest.read.foundation.encryption import open_archive
from desktop_rag.ingest.read.foundation.formulas import office_math
from desktop_rag.ingest.read.foundation.looks import OFF, PLAIN, Look, in_looks
from desktop_rag.ingest.read.foundation.ooxml import (
    Element,
    OfficePackage,
    attribute,
    child,
    children,
    descendants,
    local_name,
    look_of_run,
    picture_text,
    reference,
    unread_pictures,
    whole_number,
)
from desktop_rag.ingest.read.foundation.source_file import SourceFile, Unreadable
from desktop_rag.ingest.read.markup import web_page
from desktop_rag.ingest.read.office.sheet_extras import chart_lines, said_by

_HEADING_NAME = re.compile(r"heading (\d)", re.IGNORECASE)
_MAX_OUTLINE_LEVEL = 9
_MAX_STYLE_DEPTH = 10
_MAX_LIST_LEVEL = 8
_LOOKS = ("vertAlign", "strike", "dstrike", "vanish")


class Styles:
    """The paragraph styles of a document."""

    def __init__(self, styles: Element | None) -> None:
        self._styles = {attribute(each, "styleId"): each for each in children(styles, "style")}
        self._levels: dict[str, int | None] = {}
        self._numbers: dict[str, tuple[str, str]] = {}
        # What styles say of the looks of letters, the nearest style first.
        self._looks: dict[str, dict[str, Element]] = {}
        for style_id in self._styles:
            for style in self._chain(style_id):
                for said in children(child(style, "rPr"), *_LOOKS):
                    looks = self._looks.setdefault(style_id, {})
                    looks.setdefault(local_name(said), said)

    def show_looks(self, root: Element | None) -> None:
        """Write into runs the looks that come by the styles of their letters and paragraphs."""
        for run in descendants(root, "r") if self._looks else ():
            properties = child(run, "rPr")
            paragraph = next(run.iterancestors("{*}p"), None)
            own = attribute(child(properties, "rStyle"))
            around = attribute(child(child(paragraph, "pPr"), "pStyle"))
            looks = self._looks.get(around, {}) | self._looks.get(own, {})
            if looks:
                holder = run.makeelement("rPr") if properties is None else properties
                new = [deepcopy(e) for name, e in looks.items() if child(holder, name) is None]
                holder.extend(new)
                run.insert(0, holder)

    def heading_level(self, properties: Element | None) -> int | None:
        """0 for the document's title, 1-9 for headings, None for text."""
        own = _outline_level(properties)
        if own is not None:
            return own if own <= _MAX_OUTLINE_LEVEL else None
        style_id = attribute(child(properties, "pStyle"))
        if style_id not in self._levels:
            self._levels[style_id] = self._level_of_style(style_id)
        return self._levels[style_id]

    def numbering(self, properties: Element | None) -> tuple[str, int] | None:
        """(numbering id, level from 0) of a list item or a numbered heading, else None.

        A paragraph whose mark was deleted goes on in the next one.
        """
        if next(children(child(properties, "rPr"), *_DROPPED), None) is not None:
            return None
        style_id = attribute(child(properties, "pStyle"))
        if style_id not in self._numbers:
            styles = (child(style, "pPr") for style in self._chain(style_id))
            self._numbers[style_id] = _first_number(styles)
        own, styled = _first_number([properties]), self._numbers[style_id]
        number, level = own[0] or styled[0], own[1] or styled[1]
        if not number or number == "0":
            return None
        return number, min(int(level), _MAX_LIST_LEVEL) if level.isdecimal() else 0

    def _level_of_style(self, style_id: str) -> int | None:
        for style in self._chain(style_id):
            name = attribute(child(style, "name"))
            heading = _HEADING_NAME.fullmatch(name)
            if heading or name.lower() == "title":
                return int(heading[1]) if heading else 0
            level = _outline_level(child(style, "pPr"))
            if level is not None:
                return level if level <= _MAX_OUTLINE_LEVEL else None
        return None

    def _chain(self, style_id: str) -> Iterator[Element]:
        """The style, what it is based on, and so on."""
        for _ in range(_MAX_STYLE_DEPTH):
            style = self._styles.get(style_id)
            if style is None:
                return
            yield style
            style_id = attribute(child(style, "basedOn"))


def _first_number(properties: Iterable[Element | None]) -> tuple[str, str]:
    """The first numbering and the first level that are named, "" without one."""
    number, level = "", ""
    for each in properties:
        numbering = child(each, "numPr")
        number = number or attribute(child(numbering, "numId"))
        level = level or attribute(child(numbering, "ilvl"))
    return number, level


def _outline_level(properties: Element | None) -> int | None:
    value = attribute(child(properties, "outlineLvl"))
    return int(value) + 1 if value.isdecimal() else None


def _numbering(root: Element | None) -> Numbering:
    numbering = Numbering()
    kinds = {attribute(item, "abstractNumId"): item for item in children(root, "abstractNum")}
    for item in children(root, "num"):
        number, shared = attribute(item, "numId"), attribute(child(item, "abstractNumId"))
        for level in children(kinds.get(shared), "lvl"):
            _add_level(numbering, number, level)
        # Numberings of one kind go on counting where the other left off, unless told to restart.
        numbering.counted_as[number] = f"shared {shared}"
        for override in children(item, "lvlOverride"):
            for level in children(override, "lvl"):
                _add_level(numbering, number, level)
            start = attribute(child(override, "startOverride"))
            key = (number, whole_number(override, "ilvl", 0))
            if start and key in numbering.levels:
                numbering.counted_as[number] = number
                first = int(start) if start.isdecimal() else 1
                numbering.levels[key] = numbering.levels[key]._replace(first=first)
    return numbering


def _add_level(numbering: Numbering, number: str, level: Element) -> None:
    numbering.levels[number, whole_number(level, "ilvl", 0)] = ListLevel(
        attribute(child(level, "numFmt")) or "decimal",
        attribute(child(level, "lvlText")),
        whole_number(child(level, "start"), "val", 0),
        whole_number(child(level, "lvlRestart"), "val", _MAX_LIST_LEVEL + 1),
        child(level, "isLgl") is not None,
    )


# Boxes of the fonts Wingdings and Wingdings 2, by the last two digits of their letters.
_TICKED, _UNTICKED = "☒", "☐"
_SYMBOLS = {
    **dict.fromkeys(("FE", "FD", "52", "53"), _TICKED),
    **dict.fromkeys(("A8", "6F", "A3"), _UNTICKED),
    "FC": "✓",
    "FB": "✗",
}
_CHARACTERS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
# Deleted text and the second copy of a drawing.
_DROPPED = {"del", "moveFrom", "Fallback"}
_NOT_IN_TEXT = _DROPPED | {"pPr", "rPr", "tbl"}
_AROUND_ROWS = {"sdt", "sdtContent", "ins", "moveTo", "customXml"}
_NOTE_PARTS = {"footnoteReference": "/footnotes", "endnoteReference": "/endnotes"}
# Drawings in parts of their own, and the attribute that names the part.
_DRAWN = {"chart": "id", "relIds": "dm"}
_LINKS, _IN_FIELDS = ("{*}hyperlink", "{*}fldSimple", "{*}instrText"), ("{*}fldChar", "{*}t")
_MAX_COLUMNS = 60
_SHAPES = {"inline", "anchor"}
_PAGES = (".htm", ".html", ".xhtml")


def read(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft; the title is the first Title paragraph, else that of the properties."""
    with open_archive(source) as archive:
        package = OfficePackage(archive)
        main = package.main_part()
        document = _linked_root(package, main)
        if document is None:
            raise Unreadable("damaged", "The file is damaged", "Its document can't be read.")
        reader = _Reader(package, main, BlockWriter(draft))
        reader.read(document)
        return reader.title or package.title()


@dataclass(slots=True)
class _ParagraphExtras:
    """Elements inside a paragraph that do not belong to its text."""

    boxes: list[Element] = field(default_factory=list)
    drawings: list[tuple[str, str]] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    pictures: int = 0


@dataclass(slots=True)
class _Field:
    """A field that is open: its code so far, and the words that it shows."""

    code: str = ""
    words: str = ""
    is_code: bool = True


class _Reader:
    """Reads the document, and the parts beside it where they belong."""

    def __init__(self, package: OfficePackage, main: str, blocks: BlockWriter) -> None:
        self._package = package
        self._main = main
        self._blocks = blocks
        self._relations = package.relations(main)
        self._styles = Styles(package.root(next(package.related(main, "/styles"), "")))
        self._numbering = _numbering(self._root("/numbering"))
        self._notes = {kind: self._by_id(kind) for kind in _NOTE_PARTS.values()}
        self._comments = self._by_id("/comments")
        self._pictures = 0

    @property
    def title(self) -> str:
        """The first Title paragraph."""
        return self._blocks.title

    def read(self, document: Element) -> None:
        """Write everything in reading order."""
        self._styles.show_looks(document)
        self._write(document)
        # Notes that nothing refers to.
        for notes in self._notes.values():
            for note in notes.values():
                self._blocks.add_paragraph(_joined(note))
        for comment in self._comments.values():
            self._blocks.add_paragraph(_comment(comment))
        margins = [
            text.strip()
            for kind in ("/header", "/footer")
            for part in self._package.related(self._main, kind)
            for text in _paragraphs(self._shown(part))
        ]
        self._blocks.add_margins(margins)
        self._blocks.finish()
        if self._pictures:
            self._blocks.draft.warn(unread_pictures(self._pictures))

    def _root(self, kind: str) -> Element | None:
        """The root of the first part that is related in this way."""
        return next(map(self._shown, self._package.related(self._main, kind)), None)

    def _shown(self, part: str) -> Element | None:
        root = _linked_root(self._package, part)
        self._styles.show_looks(root)
        return root

    def _by_id(self, kind: str) -> dict[str, Element]:
        """The notes or comments of a part, without those that only draw lines."""
        notes = (note for note in children(self._root(kind)) if not attribute(note, "type"))
        return {attribute(note, "id"): note for note in notes}

    def _write(self, container: Element) -> None:
        for block in children(container):
            name = local_name(block)
            if name == "p":
                self._write_paragraph(block)
            elif name == "tbl":
                self._write_table(block)
            elif name == "altChunk":
                self._write_chunk(reference(block))
            elif name not in _DROPPED:
                self._write(block)

    def _write_chunk(self, relation: str) -> None:
        """Write a page that is kept in a part of its own; a file of another kind stays beside it.

        Word takes it in when it next saves.
        """
        part = self._relations.get(relation, ("", ""))[1]
        data = self._package.content(part)
        if data is None:
            self._blocks.draft.warn("A document inside this one is not read.")
            return
        if not part.lower().endswith(_PAGES):
            self._blocks.draft.attach(posixpath.basename(part), data)
            return
        page = DocumentDraft(self._blocks.draft.max_chars)
        web_page.write(web_page.decoded(data, page), page)
        for paragraph in page.text().split("\n\n"):
            self._blocks.add_paragraph(paragraph)

    def _write_paragraph(self, paragraph: Element) -> None:
        found = _ParagraphExtras()
        text = in_looks(_runs(paragraph, found)).strip()
        properties = child(paragraph, "pPr")
        level = self._styles.heading_level(properties)
        numbering = self._styles.numbering(properties)
        label = self._numbering.next_label(*numbering) if numbering else ""
        self._add_notes(found)
        if text and level is not None:
            self._blocks.add_heading(level, f"{label} {text}" if label.strip("-") else text)
        elif text and numbering:
            self._blocks.add_item(numbering[1], label, text)
        else:
            self._blocks.add_paragraph(text)
        self._write_drawings(found)

    def _write_drawings(self, found: _ParagraphExtras) -> None:
        for box in found.boxes:
            self._write(box)
        for name, relation in found.drawings:
            root = self._package.root(self._relations.get(relation, ("", ""))[1])
            if root is not None:
                lines = chart_lines(root) if name == "chart" else _paragraphs(root)
                self._blocks.add_paragraph("\n".join(filter(None, lines)))

    def _add_notes(self, found: _ParagraphExtras) -> None:
        """Write each note and comment once, where it is first referred to."""
        self._pictures += found.pictures
        for kind, number in found.notes:
            note = self._notes[_NOTE_PARTS[kind]].pop(number, None)
            if note is not None:
                self._blocks.add_note(f"[{number}] {_joined(note)}")
        for number in found.comments:
            comment = self._comments.pop(number, None)
            if comment is not None:
                self._blocks.add_note(_comment(comment))

    def _write_table(self, table: Element) -> None:
        self._blocks.end_table()
        above: list[str] = []
        for row in _parts(table, "tr"):
            properties, found = child(row, "trPr"), _ParagraphExtras()
            hidden = child(properties, "hidden")
            if hidden is not None and attribute(hidden) not in OFF:
                continue
            cells = list(_parts(row, "tc"))
            paragraphs = [list(_paragraphs(cell, found)) for cell in cells]
            if is_for_layout(paragraphs):
                for cell in cells:
                    self._write(cell)
                continue
            self._add_notes(found)
            is_header = child(properties, "tblHeader") is not None
            texts = [
                " ".join(self._numbered(*each)) for each in zip(cells, paragraphs, strict=True)
            ]
            above = _spread(row, cells, texts, above)
            self._blocks.add_row(above, is_header=is_header)
        self._blocks.end_table()

    def _numbered(self, cell: Element, texts: list[str]) -> list[str]:
        """The texts of the paragraphs of a cell behind their numbers."""
        if not self._numbering.levels:
            return texts
        found = [self._styles.numbering(child(p, "pPr")) for p in cell.iter("{*}p")]
        if not any(found) or len(found) != len(texts):
            return texts
        labels = [self._numbering.next_label(*each).strip("-") if each else "" for each in found]
        return [f"{label} {text}".strip() for label, text in zip(labels, texts, strict=True)]


def _linked_root(package: OfficePackage, part: str) -> Element | None:
    """The root of a part, with the address of each link behind its words."""
    root = package.root(part)
    if root is None or next(root.iter(*_LINKS), None) is None:
        return root
    addresses = package.addresses(part)
    fields: list[_Field] = []
    for element in list(root.iter(*_LINKS, *_IN_FIELDS)):
        match local_name(element):
            case "hyperlink" | "fldSimple":
                code = attribute(element, "instr")
                target = address_of_field(code) or addresses.get(reference(element), "")
                words = "".join(text.text or "" for text in element.iter("{*}t"))
                _add_text(element, behind(words, target))
            case "fldChar" if attribute(element, "fldCharType") == "begin":
                fields.append(_Field())
            case "fldChar" if fields and attribute(element, "fldCharType") == "separate":
                fields[-1].is_code = False
            case "fldChar" if fields:
                closed = fields.pop()
                _add_text(element.getparent(), behind(closed.words, address_of_field(closed.code)))
            case "instrText" if fields:
                fields[-1].code += element.text or ""
            case "t" if fields and not fields[-1].is_code:
                fields[-1].words += element.text or ""
            case _:
                pass
    return root


def _add_text(element: Element, text: str) -> None:
    if text:
        added = element.makeelement(f"{element.tag.rpartition('}')[0]}}}t")
        added.text = text
        element.append(added)


def _spread(
    row: Element, cells: Sequence[Element], texts: Sequence[str], above: Sequence[str]
) -> list[str]:
    """A text for each column of a row: that of a merged cell stands wherever it reaches."""
    spread = [("", "", _columns(child(row, "trPr"), "gridBefore", 0))]
    for cell, text in zip(cells, texts, strict=True):
        properties = child(cell, "tcPr")
        kinds = {"above": child(properties, "vMerge"), "left": child(properties, "hMerge")}
        goes_on = [k for k, e in kinds.items() if e is not None and attribute(e) != "restart"]
        spread.append((text, goes_on[-1] if goes_on else "", _columns(properties, "gridSpan", 1)))
    return merged(spread, above)


def _columns(properties: Element | None, name: str, default: int) -> int:
    """The number of columns that a property says."""
    return min(whole_number(child(properties, name), "val", default), _MAX_COLUMNS)


def _joined(note: Element) -> str:
    return " ".join(text.strip() for text in _paragraphs(note))


def _comment(comment: Element) -> str:
    said = said_by(attribute(comment, "author"), attribute(comment, "date"))
    return f"[Comment{said}: {_joined(comment)}]"


def _runs(
    element: Element, found: _ParagraphExtras, look: Look = PLAIN
) -> Iterator[tuple[str, Look]]:
    """The text of a paragraph piece by piece with its look; other elements go to `found`."""
    for part in children(element):
        name = local_name(part)
        if name == "r":
            yield from _runs(part, found, look_of_run(child(part, "rPr")))
        elif name in _NOTE_PARTS:
            number = attribute(part, "id")
            found.notes.append((name, number))
            yield f"[{number}]", PLAIN
        elif (text := _written(part, name, found)) is not None:
            yield text, look
        elif not _is_set_apart(part, name, found) and name not in _NOT_IN_TEXT:
            yield from _runs(part, found, look)


def _written(part: Element, name: str, found: _ParagraphExtras) -> str | None:
    """What an element itself writes; None for one that only holds others."""
    if name in _CHARACTERS:
        return _CHARACTERS[name]
    if said := office_math(part, lambda inner: in_looks(_runs(inner, found))):
        return said
    match name:
        case "t":
            return part.text or ""
        case "sym":
            return _SYMBOLS.get(attribute(part, "char").upper()[-2:], "")
        case "ffData":
            return _field_value(part)
        case "imagedata":
            # A picture of old; that of a shape of today has its description there.
            said = picture_text(attribute(part.getparent(), "alt"), attribute(part, "title"))
            found.pictures += not said
            return said
        case "docPr":
            said = picture_text(attribute(part, "descr"), attribute(part, "title"))
            picture = next(descendants(part.getparent(), "pic"), None)
            found.pictures += picture is not None and not said
            return said
        case _:
            return None


def _is_set_apart(part: Element, name: str, found: _ParagraphExtras) -> bool:
    """True for an element that is written elsewhere, which goes to `found`."""
    if name == "txbxContent":
        found.boxes.append(part)
    elif name in _DRAWN:
        found.drawings.append((name, reference(part, _DRAWN[name])))
    elif name == "commentReference":
        found.comments.append(attribute(part, "id"))
    else:
        shape = child(part, "docPr") if name in _SHAPES else None
        is_hidden = attribute(shape, "hidden") not in {"", *OFF}
        return is_hidden or "visibility:hidden" in part.get("style", "").replace(" ", "")
    return True


def _field_value(field: Element) -> str:
    """What a field of an old form shows that has no text of its own: its tick, or its choice."""
    if (box := child(field, "checkBox")) is not None:
        state = child(box, "checked")
        state = child(box, "default") if state is None else state
        return _TICKED if state is not None and attribute(state) not in OFF else _UNTICKED
    choices = child(field, "ddList")
    entries = [attribute(entry) for entry in children(choices, "listEntry")]
    chosen = attribute(child(choices, "result")) or attribute(child(choices, "default")) or "0"
    return entries[int(chosen)] if chosen.isdecimal() and int(chosen) < len(entries) else ""


def _parts(element: Element, name: str) -> Iterator[Element]:
    """Rows of a table or cells of a row, also those inside content controls."""
    for part in children(element):
        if local_name(part) == name:
            yield part
        elif local_name(part) in _AROUND_ROWS:
            yield from _parts(part, name)


def _paragraphs(element: Element | None, found: _ParagraphExtras | None = None) -> Iterator[str]:
    """The text of every paragraph inside, tables and text boxes included."""
    for part in children(element):
        name = local_name(part)
        if name == "p":
            met = _ParagraphExtras()
            yield in_looks(_runs(part, met))
            for box in met.boxes:
                yield from _paragraphs(box, found)
            if found:
                found.notes += met.notes
                found.comments += met.comments
                found.pictures += met.pictures
        elif name not in _DROPPED:
            yield from _paragraphs(part, found)
