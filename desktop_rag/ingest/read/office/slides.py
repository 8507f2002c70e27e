"""PowerPoint presentations (PPTX, PPTM, PPSX, POTX): slides in their order, with their notes.

The XML is walked here and not by a library, so that charts, SmartArt and groups are not left out.
Runs in the parser process.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from desktop_rag.ingest.read.foundation.addresses import behind
from desktop_rag.ingest.read.foundation.blocks import (
    Slide,
    SlideWriter,
    Table,
    counted,
    given_title,
    merged,
)
from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft, one_line
from desktop_rag.ingest.read.foundation.encryption import open_archive
from desktop_rag.ingest.read.foundation.formulas import office_math
from desktop_rag.ingest.read.foundation.looks import PLAIN, Look, in_looks
from desktop_rag.ingest.read.foundation.ooxml import (
    Element,
    OfficePackage,
    attribute,
    child,
    children,
    descendants,
    local_name,
    picture_text,
    reference,
    unread_pictures,
    whole_number,
)
from desktop_rag.ingest.read.foundation.source_file import SourceFile, Unreadable
from desktop_rag.ingest.read.office.sheet_extras import chart_lines, said_by

_TITLES = {"title", "ctrTitle"}
_FOOTERS = {"ftr", "hdr", "dt"}
_NUMBER = "sldNum"
_TRUE, _FALSE = {"1", "true"}, {"0", "false"}
_INDENT = "  "
_NOT_TEXT = {"Fallback", "pPr", "rPr", "endParaRPr"}
_MAX_LEVEL = 8
_NUMBERED = re.compile("(arabic|alphaLc|alphaUc|romanLc|romanUc)(.*)")
_FORMS = {
    "alphaLc": "lowerLetter", "alphaUc": "upperLetter",
    "romanLc": "lowerRoman", "romanUc": "upperRoman",
}  # fmt: skip
_FRAMES = {"ParenR": "{})", "ParenBoth": "({})"}
_SOFT_HYPHEN = "\N{SOFT HYPHEN}"


def read(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft; the title is that of a title slide, else that of the properties."""
    with open_archive(source) as archive:
        package = OfficePackage(archive)
        main = package.main_part()
        presentation = package.root(main)
        if presentation is None:
            raise Unreadable("damaged", "The file is damaged", "Its slides can't be read.")
        relations = package.relations(main)
        authors = _authors(package, main)
        writer = SlideWriter(draft)
        title, pictures = "", 0
        for count, item in enumerate(children(child(presentation, "sldIdLst")), 1):
            part = relations.get(reference(item), ("", ""))[1]
            root = package.root(part)
            if root is None:
                draft.warn(f"Slide {count} can't be read.")
                continue
            _show_addresses(root, package.addresses(part))
            reader = _SlideReader(package, part, authors)
            slide = reader.read(root)
            if count == 1 and reader.is_title_slide:
                title = slide.title
            writer.write(count, slide)
            pictures += reader.pictures
        if pictures:
            draft.warn(unread_pictures(pictures))
        return one_line(title) or given_title(package.title())


class _SlideReader:
    """Collects what is on one slide and in the parts that belong to it."""

    def __init__(self, package: OfficePackage, part: str, authors: dict[str, str]) -> None:
        self.is_title_slide = False
        self.pictures = 0
        self._package = package
        self._authors = authors
        self._relations = package.relations(part)
        self._slide = Slide()

    def read(self, root: Element) -> Slide:
        self._slide.is_hidden = attribute(root, "show") in _FALSE
        self._walk(child(child(root, "cSld"), "spTree"))
        for kind, name in self._relations.values():
            if kind.endswith("/notesSlide"):
                self._slide.notes += _notes(self._package.root(name))
            elif kind.endswith("/comments"):
                self._slide.comments += _comments(self._package.root(name), self._authors)
        return self._slide

    def _walk(self, shapes: Element | None) -> None:
        for shape in children(shapes):
            name = local_name(shape)
            named = child(next(children(shape), None), "cNvPr")
            if attribute(named, "hidden") in _TRUE:
                continue
            if name == "sp":
                self._add_shape(shape)
            elif name == "graphicFrame":
                self._add_frame(shape)
            elif name == "pic":
                said = picture_text(attribute(named, "descr"), attribute(named, "title"))
                self._slide.blocks.append(said)
                self.pictures += not said
            elif name in {"grpSp", "AlternateContent", "Choice"}:
                self._walk(shape)

    def _add_shape(self, shape: Element) -> None:
        kind = _placeholder(shape)
        text = "\n".join(_lines(child(shape, "txBody")))
        if not text or kind == _NUMBER:
            return
        if kind in _TITLES and not self._slide.title:
            self._slide.title = text
            self.is_title_slide = kind == "ctrTitle"
        elif kind in _FOOTERS:
            self._slide.footers.append(text)
        else:
            self._slide.blocks.append(text)

    def _add_frame(self, frame: Element) -> None:
        """Add a table, or a chart or diagram in a part of its own."""
        for item in descendants(frame, "tbl", "chart", "relIds"):
            match local_name(item):
                case "tbl":
                    is_named = attribute(child(item, "tblPr"), "firstRow") in _TRUE
                    self._slide.blocks.append(Table(_rows(item), int(is_named)))
                    continue
                case "chart":
                    root = self._related(reference(item))
                    lines = [] if root is None else chart_lines(root)
                case _:
                    points = descendants(self._related(reference(item, "dm")), "t")
                    lines = [line for point in points for line in _lines(point)]
            self._slide.blocks.append("\n".join(lines))

    def _related(self, relation: str) -> Element | None:
        return self._package.root(self._relations.get(relation, ("", ""))[1])


def _show_addresses(root: Element, addresses: dict[str, str]) -> None:
    """Write the address of each link behind its words: those of a run, or of a whole shape."""
    for link in descendants(root, "hlinkClick") if addresses else ():
        holder = link.getparent().getparent()
        if local_name(link.getparent()) == "cNvPr":
            holder = holder.getparent()
        address, following = addresses.get(reference(link), ""), holder.getnext()
        goes_on = (
            following is not None
            and child(following, "rPr") is not None
            and any(
                addresses.get(reference(other)) == address
                for other in descendants(child(following, "rPr"), "hlinkClick")
            )
        )
        texts = [] if goes_on else list(descendants(holder, "t"))
        if texts:
            texts[-1].text = (texts[-1].text or "") + behind(
                "".join(text.text or "" for text in texts), address
            )


def _placeholder(shape: Element) -> str:
    """The role of a shape in the layout; `body` if the layout names none."""
    place = child(child(child(shape, "nvSpPr"), "nvPr"), "ph")
    return "" if place is None else attribute(place, "type") or "body"


class SlideLine(NamedTuple):
    """A paragraph of a text body, its level from 0, and how it is numbered, as in PPTX."""

    text: str
    depth: int = 0
    kind: str = ""
    first: int = 1


def _lines(body: Element | None) -> Iterator[str]:
    """The paragraphs of a text body that are not empty, indented by their level and numbered."""
    return numbered_lines(_lines_of(body))


def _lines_of(body: Element | None) -> Iterator[SlideLine]:
    for paragraph in children(body, "p"):
        properties = child(paragraph, "pPr")
        numbering = child(properties, "buAutoNum")
        yield SlideLine(
            in_looks(_runs(paragraph)),
            whole_number(properties, "lvl", 0),
            attribute(numbering, "type"),
            whole_number(numbering, "startAt", 1),
        )


def numbered_lines(lines: Iterable[SlideLine]) -> Iterator[str]:
    """The lines that are not empty, indented by their level and numbered."""
    counts: dict[int, int] = {}
    for line in lines:
        if not (text := line.text.strip()):
            continue
        depth = min(line.depth, _MAX_LEVEL)
        counts = {other: count for other, count in counts.items() if other <= depth}
        if kind := _NUMBERED.fullmatch(line.kind):
            counts[depth] = counts.get(depth, line.first - 1) + 1
            label = counted(counts[depth], _FORMS.get(kind[1], ""))
            text = f"{_FRAMES.get(kind[2], '{}.').format(label)} {text}"
        else:
            counts.pop(depth, None)
        yield _INDENT * depth + text


def _runs(element: Element, look: Look = PLAIN) -> Iterator[tuple[str, Look]]:
    for part in children(element):
        name = local_name(part)
        if said := office_math(part, lambda inner: in_looks(_runs(inner))):
            yield said, look
        elif name == "t":
            yield (part.text or "").replace(_SOFT_HYPHEN, ""), look
        elif name == "br":
            yield "\n", PLAIN
        elif name == "tab":
            yield "\t", PLAIN
        elif name not in _NOT_TEXT and attribute(part, "type") != "slidenum":
            yield from _runs(part, _look_of(part) if name == "r" else look)


def _look_of(run: Element) -> Look:
    properties = child(run, "rPr")
    baseline = attribute(properties, "baseline")
    is_crossed_out = attribute(properties, "strike") in {"sngStrike", "dblStrike"}
    is_shifted = baseline.lstrip("-").rstrip("%").isdecimal() and baseline.strip("-0%") != ""
    is_lowered = is_shifted and baseline.startswith("-")
    return Look(is_shifted and not is_lowered, is_lowered, is_crossed_out)


def _rows(table: Element) -> list[list[str]]:
    """The cells of each row; the text of a merged cell is repeated wherever it reaches."""
    rows: list[list[str]] = [[]]
    for row in children(table, "tr"):
        cells: list[tuple[str, str, int]] = []
        for cell in children(row, "tc"):
            text = " ".join(" ".join(_lines(child(cell, "txBody"))).split())
            is_left, is_above = (attribute(cell, f"{way}Merge") in _TRUE for way in "hv")
            cells.append((text, "above" if is_above else "left" * is_left, 1))
        rows.append(merged(cells, rows[-1]))
    return rows


def _notes(root: Element | None) -> list[str]:
    """The text of the notes page, without its number and date."""
    shapes = descendants(child(root, "cSld"), "sp")
    dropped = {*_FOOTERS, _NUMBER, "sldImg"}
    bodies = [child(shape, "txBody") for shape in shapes if _placeholder(shape) not in dropped]
    return ["\n".join(_lines(body)) for body in bodies]


def _comments(root: Element | None, authors: dict[str, str]) -> list[str]:
    """The comments of either kind: with a text, or with paragraphs and replies."""
    texts: list[str] = []
    for comment in descendants(root, "cm", "reply"):
        text = child(comment, "text")
        lines = [text.text or ""] if text is not None else _lines(child(comment, "txBody"))
        author = authors.get(attribute(comment, "authorId"), "")
        time = attribute(comment, "dt") or attribute(comment, "created")
        said = " ".join(lines).strip()
        if said:
            texts.append(f"Comment{said_by(author, time)}: {said}")
    return texts


def _authors(package: OfficePackage, main: str) -> dict[str, str]:
    """The authors of comments: number → name, of either kind."""
    return {
        attribute(author, "id"): attribute(author, "name")
        for kind in ("/commentAuthors", "/authors")
        for part in package.related(main, kind)
        for author in children(package.root(part))
    }
