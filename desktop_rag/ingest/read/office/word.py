"""Word documents (DOCX, DOCM): paragraphs, headings by style, lists, tables, text boxes, notes.

The XML is walked here and not by a library, so that content controls, tracked insertions, text
boxes and notes are not left out, nor files of the strict kind. Runs in the parser process.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from desktop_rag.ingest.read.foundation.blocks import BlockWriter
from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft
from desktop_rag.ingest.read.foundation.encryption import open_archive
from desktop_rag.ingest.read.foundation.ooxml import (
    Element,
    OfficePackage,
    attribute,
    child,
    children,
    local_name,
    reference,
)
from desktop_rag.ingest.read.foundation.source_file import SourceFile, Unreadable
from desktop_rag.ingest.read.office.sheet_extras import chart_lines, said_by

_HEADING_NAME = re.compile(r"heading (\d)", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"%(\d)")
_MAX_OUTLINE_LEVEL = 9
_MAX_STYLE_DEPTH = 10
_MAX_LIST_LEVEL = 8
_BULLET = "-"
_LETTERS = 26
_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
    (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_MAX_ROMAN = 4000


class Styles:
    """The paragraph styles of a document."""

    def __init__(self, styles: Element | None) -> None:
        elements = children(styles)
        self._styles = {
            attribute(style, "styleId"): style for style in elements if local_name(style) == "style"
        }
        self._levels: dict[str, int | None] = {}

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
        """(numbering id, level from 0) of a list item or a numbered heading, else None."""
        style_id = attribute(child(properties, "pStyle"))
        number, level = "", ""
        for source in (properties, *(child(style, "pPr") for style in self._chain(style_id))):
            numbering = child(source, "numPr")
            number = number or attribute(child(numbering, "numId"))
            level = level or attribute(child(numbering, "ilvl"))
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


def _outline_level(properties: Element | None) -> int | None:
    value = attribute(child(properties, "outlineLvl"))
    return int(value) + 1 if value.isdecimal() else None


class Numbering:
    """Counts list items and numbered headings the way Word does."""

    def __init__(self, numbering: Element | None) -> None:
        self._levels: dict[tuple[str, int], tuple[str, str, int]] = {}
        self._counted_as: dict[str, str] = {}
        self._counts: defaultdict[str, dict[int, int]] = defaultdict(dict)
        elements = list(children(numbering))
        abstract = {
            attribute(item, "abstractNumId"): item
            for item in elements
            if local_name(item) == "abstractNum"
        }
        for item in elements:
            if local_name(item) == "num":
                shared = attribute(child(item, "abstractNumId"))
                self._add(attribute(item, "numId"), item, shared, abstract.get(shared))

    def next_label(self, number: str, level: int) -> str:
        """The label of the next paragraph of this numbering: `2.1.`, `b)` or `-`."""
        style, text, start = self._levels.get((number, level), ("bullet", "", 1))
        counts = self._counts[self._counted_as.get(number, number)]
        counts[level] = counts.get(level, start - 1) + 1
        for deeper in [other for other in counts if other > level]:
            del counts[deeper]
        if style in {"bullet", "none"} or not text:
            return _BULLET if style == "bullet" else ""

        def shown(match: re.Match[str]) -> str:
            place = int(match[1]) - 1
            other_style, _, other_start = self._levels.get((number, place), ("decimal", "", 1))
            return _formatted(counts.get(place, other_start), other_style)

        return _PLACEHOLDER.sub(shown, text).strip()

    def _add(self, number: str, item: Element, shared: str, abstract: Element | None) -> None:
        restarts = False
        overrides = [part for part in children(item) if local_name(part) == "lvlOverride"]
        for level in children(abstract):
            if local_name(level) == "lvl":
                self._add_level(number, level)
        for override in overrides:
            level = child(override, "lvl")
            if level is not None:
                self._add_level(number, level)
            start = attribute(child(override, "startOverride"))
            key = (number, _number(attribute(override, "ilvl"), 0))
            if start and key in self._levels:
                restarts = True
                self._levels[key] = (*self._levels[key][:2], _number(start, 1))
        # Numberings of one kind go on counting where the other left off, unless told to restart.
        self._counted_as[number] = number if restarts else f"shared {shared}"

    def _add_level(self, number: str, level: Element) -> None:
        self._levels[number, _number(attribute(level, "ilvl"), 0)] = (
            attribute(child(level, "numFmt")) or "decimal",
            attribute(child(level, "lvlText")),
            _number(attribute(child(level, "start")), 1),
        )


def _number(text: str, default: int) -> int:
    return int(text) if text.isdecimal() else default


def _formatted(count: int, style: str) -> str:
    match style:
        case "lowerLetter" | "upperLetter" if count > 0:
            letter = chr(ord("a") + (count - 1) % _LETTERS) * ((count - 1) // _LETTERS + 1)
            return letter if style == "lowerLetter" else letter.upper()
        case "lowerRoman" | "upperRoman" if 0 < count < _MAX_ROMAN:
            roman = ""
            for value, sign in _ROMAN:
                times, count = divmod(count, value)
                roman += sign * times
            return roman if style == "lowerRoman" else roman.upper()
        case "decimalZero":
            return f"{count:02}"
        case _:
            return str(count)


_CHARACTERS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
# Deleted text and the second copy of a drawing.
_DROPPED = {"del", "moveFrom", "Fallback"}
_NOT_IN_TEXT = _DROPPED | {"pPr", "rPr", "tbl"}
_AROUND_ROWS = {"sdt", "sdtContent", "ins", "moveTo", "customXml"}
_NOTE_PARTS = {"footnoteReference": "/footnotes", "endnoteReference": "/endnotes"}
# Drawings in parts of their own, and the attribute that names the part.
_DRAWN = {"chart": "id", "relIds": "dm"}
_MAX_CELL_PARAGRAPHS = 5


def read(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft; the title is the first Title paragraph, else that of the properties."""
    with open_archive(source) as archive:
        package = OfficePackage(archive)
        main = package.main_part()
        document = package.root(main)
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


class _Reader:
    """Reads the document, and the parts beside it where they belong."""

    def __init__(self, package: OfficePackage, main: str, blocks: BlockWriter) -> None:
        self._package = package
        self._main = main
        self._blocks = blocks
        self._relations = package.relations(main)
        self._styles = Styles(self._root("/styles"))
        self._numbering = Numbering(self._root("/numbering"))
        self._notes = {kind: self._by_id(kind) for kind in _NOTE_PARTS.values()}
        self._comments = self._by_id("/comments")

    @property
    def title(self) -> str:
        """The first Title paragraph."""
        return self._blocks.title

    def read(self, document: Element) -> None:
        """Write everything in reading order."""
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
            for text in _paragraphs(self._package.root(part))
        ]
        self._blocks.add_margins(margins)
        self._blocks.finish()

    def _root(self, kind: str) -> Element | None:
        """The root of the first part that is related in this way."""
        return next(map(self._package.root, self._package.related(self._main, kind)), None)

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
            elif name not in _DROPPED:
                self._write(block)

    def _write_paragraph(self, paragraph: Element) -> None:
        found = _ParagraphExtras()
        text = "".join(_texts(paragraph, found)).strip()
        properties = child(paragraph, "pPr")
        level = self._styles.heading_level(properties)
        numbering = self._styles.numbering(properties) if text else None
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
        for row in _parts(table, "tr"):
            found = _ParagraphExtras()
            cells = list(_parts(row, "tc"))
            paragraphs = [list(_paragraphs(cell, found)) for cell in cells]
            # One cell, or pages of text in a cell: a table made for layout.
            if len(cells) == 1 or max(map(len, paragraphs), default=0) > _MAX_CELL_PARAGRAPHS:
                for cell in cells:
                    self._write(cell)
                continue
            self._add_notes(found)
            is_header = child(child(row, "trPr"), "tblHeader") is not None
            texts = [" ".join(texts) for texts in paragraphs]
            self._blocks.add_row([*[""] * _skipped(row), *texts], is_header=is_header)
        self._blocks.end_table()


def _skipped(row: Element) -> int:
    """The number of columns left out before the first cell of a row."""
    number = attribute(child(child(row, "trPr"), "gridBefore"))
    return min(int(number), 20) if number.isdecimal() else 0


def _joined(note: Element) -> str:
    return " ".join(text.strip() for text in _paragraphs(note))


def _comment(comment: Element) -> str:
    said = said_by(attribute(comment, "author"), attribute(comment, "date"))
    return f"[Comment{said}: {_joined(comment)}]"


def _texts(element: Element, found: _ParagraphExtras) -> Iterator[str]:
    """The text of a paragraph piece by piece; other elements go to `found`."""
    for part in children(element):
        name = local_name(part)
        if name == "t":
            yield part.text or ""
        elif name in _CHARACTERS:
            yield _CHARACTERS[name]
        elif name == "txbxContent":
            found.boxes.append(part)
        elif name in _DRAWN:
            found.drawings.append((name, reference(part, _DRAWN[name])))
        elif name in _NOTE_PARTS:
            number = attribute(part, "id")
            found.notes.append((name, number))
            yield f"[{number}]"
        elif name == "commentReference":
            found.comments.append(attribute(part, "id"))
        elif name not in _NOT_IN_TEXT:
            yield from _texts(part, found)


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
            yield "".join(_texts(part, met))
            for box in met.boxes:
                yield from _paragraphs(box, found)
            if found:
                found.notes += met.notes
                found.comments += met.comments
        elif name not in _DROPPED:
            yield from _paragraphs(part, found)
