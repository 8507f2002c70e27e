"""The text of OpenDocument elements: paragraphs, rows of tables, notes and comments.

Runs in the parser process.
"""

from collections.abc import Iterator

from desktop_rag.ingest.read.foundation.ooxml import Element, attribute, child, children, local_name
from desktop_rag.ingest.read.office.sheet_extras import said_by

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
        if name == "table-row":
            repeated = attribute(part, "number-rows-repeated")
            is_filled = next(paragraphs_of(part), None) is not None
            times = min(int(repeated), _MAX_REPEATED) if repeated.isdecimal() and is_filled else 1
            for _ in range(times):
                yield part, is_header
        elif name in {"table-header-rows", "table-rows", "table-row-group"}:
            yield from rows_of(part, is_header=is_header or name == "table-header-rows")


def cells_of(row: Element) -> Iterator[Element]:
    """The cells of a row, one for each column that a cell covers."""
    for cell in children(row):
        if local_name(cell) in {"table-cell", "covered-table-cell"}:
            repeated = attribute(cell, "number-columns-repeated")
            times = min(int(repeated), _MAX_REPEATED) if repeated.isdecimal() else 1
            for _ in range(times):
                yield cell


def texts_of(element: Element, met: list[Element]) -> Iterator[str]:
    """The text of a paragraph piece by piece; notes and text boxes in it go to `met`."""
    yield element.text or ""
    for part in children(element):
        name = local_name(part)
        if name == "s":
            count = attribute(part, "c")
            yield " " * (min(int(count), _MAX_SPACES) if count.isdecimal() else 1)
        elif name in _CHARACTERS:
            yield _CHARACTERS[name]
        elif name == "note":
            met.append(part)
            yield f"[{_citation(part)}]"
        elif name in {"text-box", "annotation"}:
            met.append(part)
        elif name == "object":
            pass
        elif name not in DROPPED:
            # Only what is written, not the titles that programs give to pictures.
            is_frame = name in {"frame", "g", "custom-shape", "a"}
            yield from _frame_texts(part, met) if is_frame else texts_of(part, met)
        yield part.tail or ""


def _frame_texts(frame: Element, met: list[Element]) -> Iterator[str]:
    """The paragraphs drawn in a frame or shape; white space between its elements is none."""
    if local_name(frame) == "a":
        yield from texts_of(frame, met)
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
                yield text
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
    """A comment with who made it, "" for an empty one."""
    text = " ".join(paragraphs_of(annotation))
    author, date = child(annotation, "creator"), child(annotation, "date")
    said = said_by(getattr(author, "text", None) or "", getattr(date, "text", None) or "")
    return f"[Comment{said}: {text}]" if text else ""
