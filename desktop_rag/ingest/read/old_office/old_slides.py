"""PowerPoint presentations of before 2007 (PPT): slides in their order, with their notes.

Runs in the parser process.
"""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft
from desktop_rag.ingest.read.foundation.ole import Container
from desktop_rag.ingest.read.foundation.source_file import SourceFile
from desktop_rag.ingest.read.office.sheet_extras import said_by
from desktop_rag.ingest.read.office.slide_writer import Slide, SlideWriter, given_title
from desktop_rag.ingest.read.old_office import old_slides_file as kinds
from desktop_rag.ingest.read.old_office.old_slides_file import OldSlidesFile, Record

# Which list of slides it is, by its instance.
_SLIDES, _NOTES = 0, 2
# Kinds of text: the title of a slide, or of a title slide.
_TITLES = {0, 6}
_TITLE_SLIDE = 6
_OTHER = 4
_TEXTS = (kinds.TEXT_HEADER, kinds.TEXT_CHARS, kinds.TEXT_BYTES, kinds.TEXT_REFERENCE)
_TABLE_PROPERTY = 0x039F
_ANCHOR = struct.Struct("<ii")
_BORDER = " | "
_MAX_DEPTH = 40
# Strings of headers and footers: the date, the header, the footer.
_FOOTER_STRINGS = {0, 1, 2}
_AUTHOR, _SAID = 0, 1
# Placeholders for the number of a slide or a date.
_FIELDS = {"*", ""}
# The characters that end a line without ending a paragraph, and that end a paragraph.
_LINES = str.maketrans({"\x0b": "\n", "\r": "\n", "\xad": None})


def read(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft; the title is that of a title slide, else that of the properties."""
    container = Container(source)
    file = OldSlidesFile(container)
    reader = _Reader(file)
    writer = SlideWriter(draft)
    for number, slide in enumerate(reader.slides(), 1):
        writer.write(number, slide)
    return reader.title or given_title(container.title())


@dataclass(frozen=True, slots=True)
class _Text:
    kind: int
    text: str


@dataclass(frozen=True, slots=True)
class _ListedSlide:
    """A slide as the document lists it: its numbers, and the texts of its outline."""

    stored: int
    slide_id: int
    texts: Sequence[_Text]


class _Reader:
    """Puts each slide together from the list, its drawing and its page of notes."""

    def __init__(self, file: OldSlidesFile) -> None:
        self.title = ""
        self._file = file
        lists = [r for r in file.children(file.document) if r.kind == kinds.SLIDE_LIST]
        self._listed = [
            listed for found in lists if found.instance == _SLIDES for listed in self._list(found)
        ]
        self._notes = {
            listed.slide_id: listed
            for found in lists
            if found.instance == _NOTES
            for listed in self._list(found)
        }

    def slides(self) -> Iterator[Slide]:
        """The slides in their order; those of a file whose list is lost as they are stored."""
        if self._listed:
            for listed in self._listed:
                yield self._slide(self._file.object(listed.stored, kinds.SLIDE), listed.texts)
        else:
            for record in self._file.all_of(kinds.SLIDE):
                yield self._slide(record, ())

    def _list(self, found: Record) -> Iterator[_ListedSlide]:
        stored, slide_id, texts = 0, 0, list[_Text]()
        kind = 0
        for item in self._file.children(found):
            if item.kind == kinds.SLIDE_PERSIST:
                if stored:
                    yield _ListedSlide(stored, slide_id, texts)
                stored, slide_id = self._file.number(item, 0), self._file.number(item, 12)
                texts = []
            elif item.kind == kinds.TEXT_HEADER:
                kind = self._file.number(item, 0)
                texts.append(_Text(kind, ""))
            elif item.kind in {kinds.TEXT_CHARS, kinds.TEXT_BYTES} and texts:
                texts[-1] = _Text(kind, self._cleaned(item))
        if stored:
            yield _ListedSlide(stored, slide_id, texts)

    def _slide(self, record: Record | None, outline: Sequence[_Text]) -> Slide:
        slide = Slide()
        texts, used = self._drawn(record, outline)
        # Texts of the outline that no shape shows.
        texts += [text for index, text in enumerate(outline) if index not in used]
        for text in texts:
            if text.kind in _TITLES and not slide.title:
                slide.title = text.text
                if text.kind == _TITLE_SLIDE and not self.title:
                    self.title = " ".join(text.text.split())
            else:
                slide.blocks.append(text.text)
        atom = next((r for r in self._file.children(record) if r.kind == kinds.SLIDE_ATOM), None)
        notes = self._notes.get(self._file.number(atom, 16))
        if notes:
            page = self._file.object(notes.stored, kinds.NOTES)
            slide.notes = [text.text for text in self._drawn(page, notes.texts)[0]]
        slide.footers = list(self._footers(record))
        slide.comments = list(self._comments(record))
        return slide

    def _drawn(
        self, record: Record | None, outline: Sequence[_Text]
    ) -> tuple[list[_Text], set[int]]:
        """The texts of the shapes in order, and which texts of the outline they show."""
        texts: list[_Text] = []
        used: set[int] = set()
        for drawing in self._file.children(record):
            if drawing.kind == kinds.DRAWING:
                self._collect(drawing, outline, texts, used)
        return [text for text in texts if text.text.strip() not in _FIELDS], used

    def _collect(
        self,
        record: Record,
        outline: Sequence[_Text],
        texts: list[_Text],
        used: set[int],
        depth: int = 0,
    ) -> None:
        kind = _OTHER
        for item in self._file.descendants(record, kinds.GROUP, *_TEXTS):
            if item.kind == kinds.GROUP and self._is_table(item):
                texts.append(_Text(_OTHER, self._rows(item)))
            elif item.kind == kinds.GROUP and depth < _MAX_DEPTH:
                self._collect(item, outline, texts, used, depth + 1)
            elif item.kind == kinds.TEXT_HEADER:
                kind = self._file.number(item, 0)
            elif item.kind == kinds.TEXT_REFERENCE:
                index = self._file.number(item, 0)
                if index < len(outline) and index not in used:
                    used.add(index)
                    texts.append(outline[index])
            elif item.kind != kinds.GROUP:
                texts.append(_Text(kind, self._cleaned(item)))

    def _is_table(self, group: Record) -> bool:
        """True when the properties of a group have one that only tables have."""
        first = next(self._file.children(group), None)
        for item in self._file.children(first):
            if item.kind == kinds.GROUP_PROPERTIES:
                content = self._file.content(item)
                places = range(0, min(6 * item.instance, len(content) - 5), 6)
                numbers = (int.from_bytes(content[place : place + 2], "little") for place in places)
                return any(number & 0x3FFF == _TABLE_PROPERTY for number in numbers)
        return False

    def _rows(self, group: Record) -> str:
        """The cells of a table, which are shapes, put into rows by where they are drawn."""
        rows: dict[int, list[tuple[int, str]]] = {}
        for shape in self._file.children(group):
            anchors = self._file.descendants(shape, kinds.GROUP_ANCHOR)
            anchor = next((self._file.content(item) for item in anchors), b"")
            atoms = self._file.descendants(shape, kinds.TEXT_CHARS, kinds.TEXT_BYTES)
            text = " ".join(" ".join(map(self._cleaned, atoms)).split())
            if len(anchor) >= _ANCHOR.size and shape.kind == kinds.SHAPE:
                left, top = _ANCHOR.unpack_from(anchor)
                # Lines of the grid are shapes too, but no cells.
                if next(self._file.descendants(shape, kinds.TEXT_BOX), None):
                    rows.setdefault(top, []).append((left, text))
        lines = (
            _BORDER.join(text for _, text in sorted(cells)) for _, cells in sorted(rows.items())
        )
        return "\n".join(line.strip() for line in lines if line.strip(_BORDER))

    def _footers(self, record: Record | None) -> Iterator[str]:
        for found in self._file.children(record):
            if found.kind == kinds.HEADERS_FOOTERS:
                for item in self._file.children(found):
                    if item.kind == kinds.STRING and item.instance in _FOOTER_STRINGS:
                        yield self._cleaned(item)

    def _comments(self, record: Record | None) -> Iterator[str]:
        for comment in self._file.descendants(record, kinds.COMMENT):
            strings = {
                item.instance: self._cleaned(item)
                for item in self._file.children(comment)
                if item.kind == kinds.STRING
            }
            if strings.get(_SAID):
                yield f"Comment{said_by(strings.get(_AUTHOR, ''), '')}: {strings[_SAID]}"

    def _cleaned(self, record: Record) -> str:
        lines = self._file.text(record).translate(_LINES).split("\n")
        return "\n".join(line.strip() for line in lines if line.strip())
