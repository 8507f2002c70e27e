"""Word documents (DOCX, DOCM): paragraphs, headings by style, lists, tables, text boxes, notes.

The XML is walked here and not by a library, so that content controls, tracked insertions, text
boxes and notes are not left out, nor files of the strict kind. Runs in the parser process.
"""

from collections.abc import Iterator

from desktop_rag.core.anchors import Anchor
from desktop_rag.ingest.read.archive import open_archive
from desktop_rag.ingest.read.draft import Draft, HeadingPath, one_line
from desktop_rag.ingest.read.ooxml import (
    Element,
    OfficePackage,
    attribute,
    child,
    children,
    local_name,
)
from desktop_rag.ingest.read.source import SourceFile, Unreadable
from desktop_rag.ingest.read.word_styles import Numbering, Styles

_CHARACTERS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
# Deleted text and the second copy of a drawing.
_DROPPED = {"del", "moveFrom", "Fallback"}
_NOT_IN_TEXT = _DROPPED | {"pPr", "rPr", "tbl"}
_AROUND_ROWS = {"sdt", "sdtContent", "ins", "moveTo", "customXml"}
_MAX_CELL_PARAGRAPHS = 5
_CELL_BORDER = " | "
_INDENT = "  "


def read(source: SourceFile, draft: Draft) -> str:
    """Fill the draft; the title is the first Title paragraph, else that of the properties."""
    with open_archive(source) as archive:
        package = OfficePackage(archive)
        main = package.main_part()
        document = package.root(main)
        if document is None:
            raise Unreadable("damaged", "The file is damaged", "Its document can't be read.")
        styles = Styles(_first(package, main, "/styles"))
        writer = _Writer(draft, styles, Numbering(_first(package, main, "/numbering")))
        writer.write(document)
        for kind in ("/footnotes", "/endnotes"):
            notes = _first(package, main, kind)
            for note in () if notes is None else children(notes):
                if not attribute(note, "type"):
                    writer.write(note)
        properties = _first(package, "", "/core-properties")
    return writer.title or one_line(getattr(child(properties, "title"), "text", None) or "")


def _first(package: OfficePackage, part: str, kind: str) -> Element | None:
    """The root of the first part that is related in this way."""
    return next((package.root(name) for name in package.related(part, kind)), None)


class _Writer:
    """Writes the draft block by block."""

    def __init__(self, draft: Draft, styles: Styles, numbering: Numbering) -> None:
        self.title = ""
        self._draft = draft
        self._styles = styles
        self._numbering = numbering
        self._path = HeadingPath()
        self._is_after_line = False

    def write(self, container: Element) -> None:
        """All blocks of a container, in order."""
        for block in children(container):
            name = local_name(block)
            if name == "p":
                self._write_paragraph(block)
            elif name == "tbl":
                self._write_table(block)
            elif name not in _DROPPED:
                self.write(block)

    def _write_paragraph(self, paragraph: Element) -> None:
        boxes: list[Element] = []
        text = "".join(_texts(paragraph, boxes)).strip()
        properties = child(paragraph, "pPr")
        level = self._styles.heading_level(properties)
        numbering = self._styles.numbering(properties) if text else None
        label = self._numbering.next_label(*numbering) if numbering else ""
        if text and level is not None:
            self._write_heading(level, f"{label} {text}" if label.strip("-") else text)
        elif text and numbering:
            self._add(f"{_INDENT * numbering[1]}{label} {text}", is_line=True)
        elif text:
            self._add(text)
        for box in boxes:
            self.write(box)

    def _write_heading(self, level: int, text: str) -> None:
        if level == 0 and not self.title:
            self.title = one_line(text)
        # Under a title every heading is one deeper.
        level = level + bool(self.title) if level else 1
        self._add("")
        self._draft.add_heading(level, text)
        self._draft.mark(Anchor(heading=self._path.enter(level, text)))
        self._draft.add(one_line(text))

    def _write_table(self, table: Element) -> None:
        is_first = True
        for row in _parts(table, "tr"):
            cells = list(_parts(row, "tc"))
            paragraphs = [list(_paragraphs(cell)) for cell in cells]
            # One cell, or pages of text in a cell: a table made for layout.
            if len(cells) == 1 or max(map(len, paragraphs), default=0) > _MAX_CELL_PARAGRAPHS:
                for cell in cells:
                    self.write(cell)
                continue
            texts = [" ".join(" ".join(texts).split()) for texts in paragraphs]
            if any(texts):
                self._is_after_line &= not is_first
                self._add(_CELL_BORDER.join(texts).strip(), is_line=True)
                is_first = False
        self._is_after_line = False

    def _add(self, text: str, *, is_line: bool = False) -> None:
        if self._draft.length:
            self._draft.add("\n" if is_line and self._is_after_line else "\n\n")
        self._draft.add(text)
        self._is_after_line = is_line


def _texts(element: Element, boxes: list[Element]) -> Iterator[str]:
    """The text of a paragraph piece by piece; text boxes met on the way go to `boxes`."""
    for part in children(element):
        name = local_name(part)
        if name == "t":
            yield part.text or ""
        elif name in _CHARACTERS:
            yield _CHARACTERS[name]
        elif name == "txbxContent":
            boxes.append(part)
        elif name not in _NOT_IN_TEXT:
            yield from _texts(part, boxes)


def _parts(element: Element, name: str) -> Iterator[Element]:
    """Rows of a table or cells of a row, also those inside content controls."""
    for part in children(element):
        if local_name(part) == name:
            yield part
        elif local_name(part) in _AROUND_ROWS:
            yield from _parts(part, name)


def _paragraphs(element: Element) -> Iterator[str]:
    """The text of every paragraph inside, tables and text boxes included."""
    for part in children(element):
        name = local_name(part)
        if name == "p":
            boxes: list[Element] = []
            yield "".join(_texts(part, boxes))
            for box in boxes:
                yield from _paragraphs(box)
        elif name not in _DROPPED:
            yield from _paragraphs(part)
