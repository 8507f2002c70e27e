"""Word documents of before 2007 (DOC): paragraphs, headings, lists, tables, notes, headers.

Runs in the parser process.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from desktop_rag.ingest.read.foundation.blocks import BlockWriter
from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft
from desktop_rag.ingest.read.foundation.ole import Container
from desktop_rag.ingest.read.foundation.source_file import SourceFile
from desktop_rag.ingest.read.old_office.old_word_file import OldWordFile
from desktop_rag.ingest.read.old_office.old_word_styles import Paragraph

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f]")
_CELL, _NOTE, _COMMENT = "\x07", "\x02", "\x05"
_FIELD, _FIELD_RESULT, _FIELD_END = "\x13", "\x14", "\x15"
_ENDS = {"\r", "\x0c", _CELL}
_SHOWN = {"\x0b": "\n", "\x0e": "\n", "\x1e": "-"}
_MAX_CELL_PARAGRAPHS = 5
# The header's tables of where notes are referred to, the size of an entry, and where their text is.
_NOTES = (("footnotes", 2, 2, 3), ("endnotes", 46, 2, 47), ("comments", 4, 30, 5))


def read(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft; the title is the first Title paragraph, else that of the properties."""
    container = Container(source)
    blocks = BlockWriter(draft)
    _Reader(OldWordFile(container), blocks).read()
    return blocks.title or container.title()


@dataclass(frozen=True, slots=True)
class _Ended:
    """A paragraph, the character that ends it, and the place of that character."""

    text: str
    end: str
    position: int


class _Reader:
    """Writes the parts of the text one after the other, notes where they are referred to."""

    def __init__(self, file: OldWordFile, blocks: BlockWriter) -> None:
        self._file = file
        self._blocks = blocks
        self._notes: dict[int, tuple[str, str]] = {}
        self._is_noted: set[str] = set()
        self._cell: list[tuple[str, Paragraph | None]] = []
        self._row: list[list[tuple[str, Paragraph | None]]] = []

    def read(self) -> None:
        """Write everything."""
        for kind in _NOTES:
            self._find_notes(*kind)
        self._write_main()
        # Notes of a file that does not say where they belong.
        parts = ["boxes", *(part for part, *_ in _NOTES if part not in self._is_noted)]
        for part in parts:
            for found in self._paragraphs(part):
                self._blocks.add_paragraph(found.text)
        margins = [
            found.text.strip()
            for part in ("headers", "header boxes")
            for found in self._paragraphs(part)
        ]
        self._blocks.add_margins(margins)
        self._blocks.finish()

    def _find_notes(self, part: str, references: int, entry_bytes: int, texts: int) -> None:
        _, text = self._file.text(part)
        places = self._file.positions(references, entry_bytes)[:-1]
        borders = self._file.positions(texts, 0)
        if not text or not places or len(borders) <= len(places):
            return
        self._is_noted.add(part)
        for index, place in enumerate(places):
            note = " ".join(
                found.text for found in _split(text[borders[index] : borders[index + 1]])
            )
            note = " ".join(note.split())
            if part == "comments":
                self._notes[place] = ("", f"[Comment: {note}]" if note else "")
            else:
                label = f"[{len(self._notes) + 1}]"
                self._notes[place] = (label, f"{label} {note}")

    def _paragraphs(self, part: str) -> Iterator[_Ended]:
        start, text = self._file.text(part)
        return _split(text, start)

    def _write_main(self) -> None:
        is_after_cell = False
        start, text = self._file.text("main")
        labels = {place: label for place, (label, _) in self._notes.items()}
        waiting = sorted(self._notes, reverse=True)
        for found in _split(text, start, labels):
            while waiting and waiting[-1] <= found.position:
                self._blocks.add_note(self._notes[waiting.pop()][1])
            look = self._file.paragraph(found.position)
            if found.end == _CELL:
                # Nothing says so in older files: the mark of a row follows that of its last cell.
                is_row_end = look.is_row_end if look else is_after_cell and not found.text
                if is_row_end:
                    self._end_row()
                else:
                    self._row.append([*self._cell, (found.text, look)])
                    self._cell = []
            elif look and look.is_in_table:
                self._cell.append((found.text, look))
            else:
                self._end_row()
                self._write_paragraph(found.text, look)
            is_after_cell = found.end == _CELL and bool(self._row)
        self._end_row()

    def _write_paragraph(self, text: str, look: Paragraph | None) -> None:
        text = text.strip()
        if text and look and look.level is not None:
            self._blocks.add_heading(look.level, text)
        elif text and look and look.list_level is not None:
            self._blocks.add_item(look.list_level, "-", text)
        else:
            self._blocks.add_paragraph(text)

    def _end_row(self) -> None:
        row, self._row = [*self._row, *filter(None, [self._cell])], []
        self._cell = []
        # One cell, or pages of text in a cell: a table made for layout.
        if len(row) == 1 or max(map(len, row), default=0) > _MAX_CELL_PARAGRAPHS:
            for text, look in (paragraph for cell in row for paragraph in cell):
                self._write_paragraph(text, look)
        elif row:
            self._blocks.add_row(" ".join(text for text, _ in cell) for cell in row)


def _split(text: str, start: int = 0, labels: dict[int, str] | None = None) -> Iterator[_Ended]:
    """The paragraphs, with the results of fields and without their codes."""
    pieces: list[str] = []
    # For each open field whether its code is still going on.
    fields: list[bool] = []
    done = 0
    for control in _CONTROL.finditer(f"{text}\r"):
        sign, place = control[0], control.start()
        if not any(fields):
            pieces.append(text[done:place])
            pieces.append((labels or {}).get(start + place, "") or _SHOWN.get(sign, ""))
        done = place + 1
        if sign == _FIELD:
            fields.append(True)
        elif sign == _FIELD_RESULT and fields:
            fields[-1] = False
        elif sign == _FIELD_END and fields:
            fields.pop()
        elif sign in _ENDS:
            joined = "".join(pieces)
            # Two halves of a character, where they belong together.
            whole = joined.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
            yield _Ended(whole, sign, start + place)
            pieces = []
            # A code never goes on in the next paragraph.
            fields = [False] * len(fields)
