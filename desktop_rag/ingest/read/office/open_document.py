"""OpenDocument texts (ODT) and presentations (ODP). Runs in the parser process."""

import zipfile
from collections.abc import Callable, Iterator, Sequence
from itertools import repeat

from desktop_rag.ingest.read.foundation.addresses import behind
from desktop_rag.ingest.read.foundation.blocks import (
    BlockWriter,
    Slide,
    SlideWriter,
    Table,
    counted,
    is_for_layout,
)
from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft, one_line
from desktop_rag.ingest.read.foundation.encryption import encrypted_for_good, open_archive
from desktop_rag.ingest.read.foundation.formulas import mathml
from desktop_rag.ingest.read.foundation.looks import PLAIN, in_looks, look_in_open_document
from desktop_rag.ingest.read.foundation.ooxml import (
    Element,
    OfficePackage,
    attribute,
    attributes,
    child,
    children,
    descendants,
    local_name,
    picture_text,
    unread_pictures,
    whole_number,
)
from desktop_rag.ingest.read.foundation.source_file import SourceFile, Unreadable
from desktop_rag.ingest.read.office.sheet_extras import said_by

_TITLE = "Title"
_MAY_HIDE = {"section", "hidden-text", "hidden-paragraph", "frame", "custom-shape", "g", "rect"}
_UNSEEN = {"none", "printer"}
_BOXES = {"checkbox", "radio"}
_OUTLINE = "outline-style"
_MAX_DEPTH = 10
# An attribute of our own.
_LABEL = "label-of-list"
_FORMS = {"a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}


class OpenStyles:
    """The paragraph and list styles, those of the document and those made while writing."""

    def __init__(self, package: OfficePackage) -> None:
        self._parents: dict[str, str] = {}
        self._said: dict[str, dict[str, str]] = {}
        self.hidden_pages: set[str] = set()
        # By name of the list style, or _OUTLINE, and level from 0, the levels that count.
        self._numbered: dict[tuple[str, int], Element] = {}
        for part in ("styles.xml", "content.xml"):
            for style in descendants(package.root(part), "style", "list-style", _OUTLINE):
                is_outline = local_name(style) == _OUTLINE
                name = _OUTLINE if is_outline else attribute(style, "name")
                if local_name(style) == "style":
                    self._parents[name] = attribute(style, "parent-style-name")
                    said = child(style, "text-properties")
                    self._said[name] = {} if said is None else attributes(said)
                    page = child(style, "drawing-page-properties")
                    if attribute(page, "visibility") == "hidden":
                        self.hidden_pages.add(name)
                    continue
                for level in children(style, "list-level-style-number", "outline-level-style"):
                    number = attribute(level, "level")
                    if number.isdecimal() and attribute(level, "num-format"):
                        self._numbered[name, int(number) - 1] = level

    def show_looks(self, body: Element) -> None:
        """Rewrite the letters of a body that are raised, lowered, crossed out or hidden."""
        for item in list(descendants(body, *_MAY_HIDE)):
            if attribute(item, "display") in _UNSEEN or attribute(item, "is-hidden") == "true":
                is_around = local_name(item) == "hidden-paragraph"
                (item.getparent() if is_around else item).clear(keep_tail=True)
        self._show(body, {})

    def _show(self, element: Element, around: dict[str, str]) -> None:
        """Rewrite an element; spans look like the text around them where they say nothing else."""
        name = local_name(element)
        said = {} if name in {"p", "h"} else around
        if name in {"p", "h", "span"}:
            said = said | self._said_by(attribute(element, "style-name"))
        look = look_in_open_document(said) if said else PLAIN
        if look != PLAIN:
            element.text = element.text and in_looks([(element.text, look)])
        for part in children(element):
            self._show(part, said)
            if look != PLAIN:
                part.tail = part.tail and in_looks([(part.tail, look)])

    def _said_by(self, style: str) -> dict[str, str]:
        """What a style and those that it is made from say of letters."""
        said: dict[str, str] = {}
        for _ in range(_MAX_DEPTH):
            said = self._said.get(style, {}) | said
            style = self._parents.get(style, "")
        return said

    def is_title(self, style: str) -> bool:
        """True when paragraphs of this style are the title of the document."""
        for _ in range(_MAX_DEPTH):
            if style == _TITLE:
                return True
            style = self._parents.get(style, "")
        return False

    def label(self, list_style: str, counts: Sequence[int]) -> str:
        """The label of an item by its number and those above it; "" where none is counted."""
        levels = [self._numbered.get((list_style, level)) for level in range(len(counts))]
        said = levels[-1]
        if said is None:
            return ""
        shown = max(len(counts) - whole_number(said, "display-levels", 1), 0)
        numbers = (
            counted(count, _FORMS.get(attribute(level, "num-format"), ""))
            for level, count in zip(levels[shown:], counts[shown:], strict=True)
            if level is not None
        )
        return f"{attribute(said, 'num-prefix')}{'.'.join(numbers)}{attribute(said, 'num-suffix')}"

    def first(self, list_style: str, level: int) -> int:
        """The number that a level begins with."""
        return whole_number(self._numbered.get((list_style, level)), "start-value", 1)


class _Labels:
    """Writes into the paragraphs of a body the numbers of their lists and headings."""

    def __init__(self, styles: OpenStyles) -> None:
        self._styles = styles
        # The levels of items whose label is still to be written, and the last number of each.
        self._waiting: set[int] = set()
        self._last: dict[int, int] = {}
        self._headings: dict[int, int] = {}

    def write(self, container: Element, level: int = -1, style: str = "") -> None:
        """Write all of a container; `level` counts from 0 inside a list."""
        for block in children(container):
            name = local_name(block)
            if name == "list":
                self._write_list(block, level + 1, style)
            elif name in {"p", "h"}:
                is_numbered = name == "h" and not self._styles.is_title(
                    attribute(block, "style-name")
                )
                label = self._number_of(block) if is_numbered else ""
                if label := label or (self._label(level, style) if level >= 0 else ""):
                    block.set(_LABEL, label)
                self.write(block)
            elif name not in DROPPED:
                self.write(block, level, style)

    def _number_of(self, heading: Element) -> str:
        """The number of a heading as the outline counts it, "" for one that is not counted."""
        if attribute(heading, "is-list-header") == "true":
            return ""
        level = _heading_level(heading)
        counts = {n: count for n, count in self._headings.items() if n <= level}
        first = whole_number(heading, "start-value", self._styles.first(_OUTLINE, level - 1))
        is_new = attribute(heading, "restart-numbering") == "true" or level not in counts
        counts[level] = first if is_new else counts[level] + 1
        self._headings = counts
        return self._styles.label(_OUTLINE, [counts.get(n, 1) for n in range(1, level + 1)])

    def _label(self, level: int, style: str) -> str:
        """The number of an item, or a dash; the second paragraph of an item has none."""
        if level not in self._waiting:
            return ""
        self._waiting.discard(level)
        label = self._styles.label(style, [self._last.get(n, 1) for n in range(level + 1)])
        # A bare number would not be told from words.
        return f"{label}." if label[-1:].isalnum() else label or "-"

    def _write_list(self, items: Element, level: int, style: str) -> None:
        style = attribute(items, "style-name") or style
        goes_on = attribute(items, "continue-numbering") == "true" or attribute(
            items, "continue-list"
        )
        before = self._last.get(level, 0) if goes_on else self._styles.first(style, level) - 1
        self._last[level] = before
        for item in children(items):
            is_item = local_name(item) == "list-item"
            if is_item:
                self._last[level] = whole_number(item, "start-value", self._last[level] + 1)
                self._waiting.add(level)
            # A header of a list has no number, nor has one that holds only a deeper list.
            self.write(item, level if is_item else -1, style)
            self._waiting.discard(level)


def _heading_level(heading: Element) -> int:
    return min(max(whole_number(heading, "outline-level", 1), 1), 9)


def _numbered(paragraph: Element, text: str) -> str:
    """The text of a paragraph behind its number, if it has one."""
    return f"{paragraph.get(_LABEL, '').strip('-')} {text}".strip()


# Deleted text, what is only for programs, and ruby letters above the others.
DROPPED = {"tracked-changes", "forms", "sequence-decls", "variable-decls", "user-field-decls",
            "ruby-text", "event-listeners", "script"}  # fmt: skip
_CHARACTERS = {"tab": "\t", "line-break": "\n"}
# Spreadsheets pasted into a text repeat their last cell a thousand times.
_MAX_REPEATED = 50
_MAX_SPACES = 100


def rows_of(table: Element, *, is_header: bool = False) -> Iterator[tuple[Element, bool]]:
    """The rows, also those in groups, and whether the document calls them headers."""
    for part in children(table):
        name = local_name(part)
        if name == "table-row" and attribute(part, "visibility") != "collapse":
            is_filled = next(paragraphs_of(part), None) is not None
            repeated = whole_number(part, "number-rows-repeated", 1) if is_filled else 1
            times = min(repeated, _MAX_REPEATED)
            yield from repeat((part, is_header), times)
        elif name in {"table-header-rows", "table-rows", "table-row-group"}:
            yield from rows_of(part, is_header=is_header or name == "table-header-rows")


def cells_of(row: Element) -> Iterator[Element]:
    """The cells of a row, one for each column that a cell covers."""
    for cell in children(row, "table-cell", "covered-table-cell"):
        yield from repeat(
            cell, min(whole_number(cell, "number-columns-repeated", 1), _MAX_REPEATED)
        )


def texts_of(element: Element, met: list[Element]) -> Iterator[str]:
    """The text of a paragraph piece by piece; notes and text boxes in it go to `met`."""
    yield element.text or ""
    for part in children(element):
        name = local_name(part)
        if name == "s":
            yield " " * min(whole_number(part, "c", 1), _MAX_SPACES)
        elif name in _CHARACTERS:
            yield _CHARACTERS[name]
        elif name == "note":
            met.append(part)
            yield f"[{_citation(part)}]"
        elif name in {"text-box", "annotation"}:
            met.append(part)
        elif name != "object" and name not in DROPPED:
            is_frame = name in {"frame", "g", "custom-shape", "a", "control"}
            yield from _frame_texts(part, met) if is_frame else texts_of(part, met)
        yield part.tail or ""


def _frame_texts(frame: Element, met: list[Element]) -> Iterator[str]:
    """The paragraphs drawn in a frame or shape; white space between its elements is none."""
    if local_name(frame) == "a":
        words = "".join(texts_of(frame, met))
        yield words + behind(words, attribute(frame, "href"))
        return
    for part in children(frame):
        name = local_name(part)
        if name == "p":
            yield from texts_of(part, met)
        elif name in {"text-box", "annotation"}:
            met.append(part)
        elif name in {"frame", "g", "custom-shape"}:
            yield from _frame_texts(part, met)


def paragraphs_of(element: Element) -> Iterator[str]:
    """The text of every paragraph inside that is not empty, without notes."""
    for part in children(element):
        name = local_name(part)
        if name in {"p", "h"}:
            met: list[Element] = []
            text = "".join(texts_of(part, met)).strip()
            if text:
                yield _numbered(part, text)
            for box in met:
                if local_name(box) == "text-box":
                    yield from paragraphs_of(box)
        elif name not in DROPPED and name != "annotation":
            yield from paragraphs_of(part)


def _citation(note: Element) -> str:
    return " ".join("".join(texts_of(child(note, "note-citation"), [])).split())


def note_text(note: Element) -> str:
    """A footnote or endnote, with its mark."""
    return f"[{_citation(note)}] {' '.join(paragraphs_of(child(note, 'note-body')))}"


def comment_text(annotation: Element) -> str:
    """A comment with its author, "" for an empty one."""
    text = " ".join(paragraphs_of(annotation))
    author, date = child(annotation, "creator"), child(annotation, "date")
    said = said_by(getattr(author, "text", None) or "", getattr(date, "text", None) or "")
    return f"[Comment{said}: {text}]" if text else ""


_FOOTERS = {"footer", "header", "date-time"}
_SHAPES = {"frame", "custom-shape", "rect", "ellipse", "line", "polygon", "connector", "control"}


def read_text(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft with a text; the title is the Title paragraph, else that of the properties."""
    return _read(source, draft, _write_text)


def read_slides(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft with slides; the title is that of the properties."""
    return _read(source, draft, _write_slides)


_Write = Callable[[OfficePackage, OpenStyles, Element, DocumentDraft], str]


def _read(source: SourceFile, draft: DocumentDraft, write: _Write) -> str:
    with open_archive(source) as archive:
        package = OfficePackage(archive)
        content = package.root("content.xml")
        body = child(content, "body")
        if body is None:
            _refuse_encrypted(archive)
            raise Unreadable("damaged", "The file is damaged", "Its content can't be read.")
        title = next(descendants(package.root("meta.xml"), "title"), None)
        styles = OpenStyles(package)
        styles.show_looks(body)
        _Labels(styles).write(body)
        _show_drawn(package, body, draft)
        return write(package, styles, body, draft) or one_line(getattr(title, "text", None) or "")


def _show_drawn(package: OfficePackage, body: Element, draft: DocumentDraft) -> None:
    """Write into frames the formulas, and what is said of the pictures, that are in them."""
    pictures = 0
    for frame in list(descendants(body, "frame")):
        line = frame.makeelement("p")
        if (item := child(frame, "object")) is not None:
            part = attribute(item, "href").removeprefix("./")
            root = package.root(f"{part}/content.xml") if part else child(item, "math")
            if root is not None and local_name(root) == "math":
                line.text = mathml(root)
        elif child(frame, "image") is not None and child(frame, "object-ole") is None:
            texts = (getattr(child(frame, name), "text", None) or "" for name in ("desc", "title"))
            line.text = picture_text(*texts)
            pictures += not line.text
        if line.text:
            frame.append(line)
    fields = {
        attribute(e, "id"): _field_text(e) for f in descendants(body, "form") for e in children(f)
    }
    for control in list(descendants(body, "control")):
        line = control.makeelement("p")
        line.text = fields.get(attribute(control, "control"), "")
        control.append(line)
    if pictures:
        draft.warn(unread_pictures(pictures))


def _field_text(field: Element) -> str:
    """What a field of a form shows: its box and label, what was chosen, or what was filled in."""
    label, state = attribute(field, "label"), attribute(field, "current-state")
    if local_name(field) in _BOXES:
        return f"{'☒' if state == 'checked' else '☐'} {label}"
    chosen = [e for e in children(field, "option") if attribute(e, "current-selected") == "true"]
    said = ", ".join(attribute(e, "label") for e in chosen)
    return said or attribute(field, "current-value") or attribute(field, "value") or label


def _refuse_encrypted(archive: zipfile.ZipFile) -> None:
    if "META-INF/manifest.xml" in archive.namelist():
        try:
            manifest = archive.read("META-INF/manifest.xml")
        except zipfile.BadZipFile:
            return
        if b"encryption-data" in manifest:
            raise encrypted_for_good()


def _write_text(
    package: OfficePackage, styles: OpenStyles, body: Element, draft: DocumentDraft
) -> str:
    blocks = BlockWriter(draft)
    reader = _TextReader(blocks, styles)
    reader.write(body)
    blocks.add_margins(
        "".join(texts_of(paragraph, []))
        for master in descendants(package.root("styles.xml"), "master-page")
        for margin in children(master)
        if local_name(margin).startswith(("header", "footer"))
        for paragraph in descendants(margin, "p", "h")
    )
    blocks.finish()
    return blocks.title


class _TextReader:
    """Walks the body of a text and writes its blocks."""

    def __init__(self, blocks: BlockWriter, styles: OpenStyles) -> None:
        self._blocks = blocks
        self._styles = styles

    def write(self, container: Element, list_level: int = -1) -> None:
        """Write all blocks of a container; `list_level` counts from 0 inside a list."""
        for block in children(container):
            name = local_name(block)
            if name in {"p", "h"}:
                self._write_paragraph(block, list_level)
            elif name == "list":
                for item in children(block):
                    is_item = local_name(item) == "list-item"
                    self.write(item, list_level + 1 if is_item else -1)
            elif name == "table":
                self._write_table(block)
            elif name == "annotation":
                self._blocks.add_note(comment_text(block))
            elif name not in DROPPED:
                self.write(block, list_level)

    def _write_paragraph(self, paragraph: Element, list_level: int) -> None:
        met: list[Element] = []
        text = "".join(texts_of(paragraph, met)).strip()
        for item in met:
            if local_name(item) == "note":
                self._blocks.add_note(note_text(item))
            elif local_name(item) == "annotation":
                self._blocks.add_note(comment_text(item))
        if text and self._styles.is_title(attribute(paragraph, "style-name")):
            self._blocks.add_heading(0, text)
        elif text and local_name(paragraph) == "h":
            self._blocks.add_heading(_heading_level(paragraph), _numbered(paragraph, text))
        elif text and list_level >= 0:
            self._blocks.add_item(list_level, paragraph.get(_LABEL, " "), text)
        else:
            self._blocks.add_paragraph(text)
        for item in met:
            if local_name(item) == "text-box":
                self.write(item)

    def _write_table(self, table: Element) -> None:
        self._blocks.end_table()
        above: dict[int, tuple[str, int]] = {}
        for row, is_header in rows_of(table):
            cells = list(cells_of(row))
            texts = [list(paragraphs_of(cell)) for cell in cells]
            if is_for_layout(texts):
                for cell in cells:
                    self.write(cell)
                continue
            for cell in cells:
                for item in descendants(cell, "note", "annotation"):
                    is_note = local_name(item) == "note"
                    self._blocks.add_note(note_text(item) if is_note else comment_text(item))
            self._blocks.add_row(_spread(cells, texts, above), is_header=is_header)
        self._blocks.end_table()


def _spread(
    cells: Sequence[Element], texts: Sequence[list[str]], above: dict[int, tuple[str, int]]
) -> list[str]:
    """A text for each column: that of a merged cell stands wherever it reaches.

    `above` holds the cells that reach into rows below: by column, the text and the rows to come.
    """
    spread = [" ".join(lines) for lines in texts]
    # A cell alone in its row is a title.
    is_title = len(list(filter(None, spread))) == 1 and not above
    for column, cell in enumerate(() if is_title else cells):
        if local_name(cell) == "table-cell":
            wide, rows = (
                whole_number(cell, f"number-{what}-spanned", 1) for what in ("columns", "rows")
            )
            reach = range(column, min(column + min(wide, _MAX_REPEATED), len(cells)))
            above |= dict.fromkeys(reach, (spread[column], rows))
        text, rows = above.pop(column, ("", 0))
        spread[column] = spread[column] or text
        if rows > 1:
            above[column] = text, rows - 1
    return spread


def _write_slides(_: OfficePackage, styles: OpenStyles, body: Element, draft: DocumentDraft) -> str:
    writer = SlideWriter(draft)
    pages = (page for page in descendants(child(body, "presentation"), "page"))
    for count, page in enumerate(pages, 1):
        slide = Slide(is_hidden=attribute(page, "style-name") in styles.hidden_pages)
        _collect(page, slide)
        writer.write(count, slide)
    return ""


def _collect(container: Element, slide: Slide) -> None:
    """Collect the shapes on a slide, in order."""
    for part in children(container):
        name = local_name(part)
        kind = attribute(part, "class")
        if name == "notes":
            slide.notes += [
                text
                for frame in children(part)
                if attribute(frame, "class") not in {"page-number", *_FOOTERS}
                for text in paragraphs_of(frame)
            ]
        elif name == "annotation":
            slide.comments.append(comment_text(part).strip("[]"))
        elif name == "g":
            _collect(part, slide)
        elif name in _SHAPES:
            slide.blocks += _tables(part)
            text = "\n".join(_lines(part))
            if kind == "title" and not slide.title:
                slide.title = text
            elif kind in _FOOTERS:
                slide.footers.append(text)
            elif kind != "page-number":
                slide.blocks.append(text)


def _tables(shape: Element) -> Iterator[Table]:
    for table in children(shape, "table"):
        rows, above = list(rows_of(table)), dict[int, tuple[str, int]]()
        cells = [list(cells_of(row)) for row, _ in rows]
        texts = [_spread(row, [list(paragraphs_of(c)) for c in row], above) for row in cells]
        is_named = any(is_header for _, is_header in rows)
        is_named |= attribute(table, "use-first-row-styles") == "true"
        yield Table(texts, int(is_named))


def _lines(container: Element, depth: int = -1) -> Iterator[str]:
    """The lines of a shape: paragraphs, and items of lists indented."""
    for part in children(container):
        name = local_name(part)
        if name in {"p", "h"}:
            text = "".join(texts_of(part, [])).strip()
            if text:
                yield "  " * max(depth, 0) + _numbered(part, text)
        elif name == "list":
            yield from _lines(part, depth + 1)
        elif name not in {"table", "image", "object", "object-ole", "title", "desc", *DROPPED}:
            yield from _lines(part, depth)
