"""A long text in chapters, each rendered as HTML when it is needed. Worker threads.

Chapters are cut at headings, otherwise at empty lines, and rendered as pieces small enough for the
window to lay one out between two events.
"""

import html
import re
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from desktop_rag.core.markup.formulas import formulas
from desktop_rag.core.parsed import Heading
from desktop_rag.ui.markdown.formula_drawing import Drawing, draw
from desktop_rag.ui.markdown.formula_object import formula_image, formula_name
from desktop_rag.ui.markdown.markdown_html import Formulas, MarkdownStyle, render_html
from desktop_rag.ui.markdown.parsing import next_segment
from desktop_rag.ui.viewers.viewer import Span

_BAR = " | "
_ITEM = re.compile(r"(\s*)(?:[-*•◦▪‣–]|\d{1,3}[.)])\s+(?=\S)")
_SIZES = {1: "x-large", 2: "large", 3: "medium"}
_PARAGRAPH = '<p style="margin-top:0px; margin-bottom:9px; line-height:140%;">'
_SIGN_OF_HEADING = re.compile(r"^#{1,6}\s+(?=\S)")
_SPACES = re.compile(r"  +")
_MAX_COLUMNS = 60
_INDENT_PX = 18


def section_html(
    text: str,
    span: Span,
    levels: Mapping[int, int],
    look: MarkdownStyle,
    draws: Formulas | None = None,
    *,
    is_plain: bool = False,
) -> str:
    """The HTML of the text [start, end). `levels` are the levels of headings by offset.

    Readers write a heading as a line of its own, list items behind a dash or bullet, and table rows
    as lines with bars between the cells. Everything is escaped: a document can't bring HTML. A
    formula that `draws` has a drawing of becomes an image, any other stays text.
    """
    if is_plain:
        paragraphs = re.split(r"\n[ \t]*\n", text[slice(*span)])
        written = (_lines_of(each.strip("\n")) for each in paragraphs if each.strip())
        return "".join(f"{_PARAGRAPH}{lines}</p>" for lines in written)
    return "".join(_Blocks(look, draws).written(text, span, levels))


class _Blocks:
    def __init__(self, look: MarkdownStyle, draws: Formulas | None) -> None:
        self._look = look
        self._draws = draws

    def written(self, text: str, span: Span, levels: Mapping[int, int]) -> Iterator[str]:
        """The blocks of the text [start, end), with their formulas."""
        pending: list[str] = []
        rows: list[str] = []
        offset = span[0]
        inside = self._inside_formulas(text[slice(*span)], span[0])
        for line in text[slice(*span)].split("\n"):
            level, is_inside = levels.get(offset), offset in inside
            is_row = _BAR in line and not is_inside
            item = None if is_inside else _ITEM.match(line)
            offset += len(line) + 1
            if rows and (not is_row or level):
                yield self._table(rows)
                rows = []
            if pending and not is_inside and (not line.strip() or is_row or level or item):
                yield f"{_PARAGRAPH}{self._lines(pending)}</p>"
                pending = []
            if level:
                yield self._heading(line, level)
            elif is_row:
                rows.append(line)
            elif item:
                yield self._item(line, item)
            elif line.strip():
                pending.append(line)
        if rows:
            yield self._table(rows)
        if pending:
            yield f"{_PARAGRAPH}{self._lines(pending)}</p>"

    def _inside_formulas(self, text: str, offset: int) -> set[int]:
        """The offsets of lines that continue a formula, whatever they look like."""
        if not self._draws:
            return set()
        return {
            offset + at + 1
            for found in formulas(text)
            for at in range(found.start, found.end)
            if text[at] == "\n"
        }

    def _heading(self, line: str, level: int) -> str:
        size = _SIZES.get(level, "medium")
        line = _SIGN_OF_HEADING.sub("", line.strip())
        style = f"font-size:{size}; font-weight:600; margin-top:12px; margin-bottom:6px;"
        return f'<p style="{style}">{self._words(line)}</p>'

    def _item(self, line: str, found: re.Match[str]) -> str:
        """An item behind its sign: a list of HTML would lose the document's own sign."""
        depth = 1 + min(4, len(found[1].expandtabs(4)) // 2)
        sign = found[0].strip()
        style = (
            f"margin-top:0px; margin-bottom:5px; margin-left:{depth * _INDENT_PX}px;"
            f" text-indent:-{_INDENT_PX - 4}px; line-height:140%;"
        )
        shown = "•" if sign in "-*" else html.escape(sign)
        colour = self._look.colours["muted"]
        words = self._words(line[found.end() :].rstrip())
        return f'<p style="{style}"><span style="color:{colour};">{shown}</span> {words}</p>'

    def _table(self, lines: Sequence[str]) -> str:
        border = self._look.colours["border_strong"]
        # A bar at an end of the line has an empty cell outside.
        cells = (f" {line.strip()} ".split(_BAR) for line in lines)
        rows = [[cell.strip() for cell in row[:_MAX_COLUMNS]] for row in cells]
        width = max(map(len, rows))
        written = "".join(
            "<tr>"
            + "".join(
                f"<td>{self._words(cell)}</td>" for cell in [*row, *[""] * (width - len(row))]
            )
            + "</tr>"
            for row in rows
        )
        return (
            '<table cellspacing="0" cellpadding="5" border="1" style="border-collapse:collapse;'
            f' border-style:solid; border-color:{border}; margin-top:4px; margin-bottom:12px;">'
            f"{written}</table>"
        )

    def _lines(self, lines: Sequence[str]) -> str:
        return self._words("\n".join(lines), _lines_of)

    def _words(self, text: str, written: Callable[[str], str] = html.escape) -> str:
        parts: list[str] = []
        done = 0
        for found in formulas(text) if self._draws else ():
            if self._draws and (drawing := self._draws(found.latex, found.is_display)):
                parts.append(written(text[done : found.start]))
                parts.append(formula_image(found.latex, found.is_display, drawing))
                done = found.end
        return "".join([*parts, written(text[done:])])


def _lines_of(text: str) -> str:
    """The text as HTML with its line breaks and runs of spaces."""
    *whole, last = text.split("\n")
    # A formula may continue after the last line.
    lines = [*(line.rstrip() for line in whole), last]
    escaped = (html.escape(line.expandtabs(4)) for line in lines)
    return "<br>".join(_SPACES.sub(lambda run: "\u00a0" * len(run[0]), line) for line in escaped)


_MOST = 400
# Processor time, so that a busy computer draws as many; includes loading the library.
_MOST_S = 4.0


class FormulaPen:
    """Draws the formulas of one chapter; a call returns a drawing, or None.

    A document may hold thousands of formulas, or one that takes long. What exceeds the limits, is
    wrong or unknown stays text.
    """

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._begun = time.thread_time()
        self._drawn: dict[tuple[str, bool], Drawing | None] = {}

    def __call__(self, latex: str, is_display: bool) -> Drawing | None:
        """The drawing; `is_display` for a formula on its own lines."""
        key = latex, is_display
        if key not in self._drawn:
            is_beyond = len(self._drawn) >= self._most
            if is_beyond or time.thread_time() - self._begun > _MOST_S:
                return None
            self._drawn[key] = draw(latex, is_display)
        return self._drawn[key]

    def pictures_in(self, source: str) -> tuple[Span, ...]:
        """The spans of the drawn formulas in a source text, in order."""
        found = formulas(source)
        return tuple((f.start, f.end) for f in found if self._drawn.get((f.latex, f.is_display)))

    @property
    def drawings(self) -> Mapping[str, Drawing]:
        """All drawings by the names of their images."""
        return {formula_name(*key): drawn for key, drawn in self._drawn.items() if drawn}


_CHAPTER_CHARS = 2_500
# Larger, as an empty line of Markdown may be inside a block of code.
_MARKDOWN_CHAPTER_CHARS = 24_000


@dataclass(frozen=True, slots=True)
class Piece:
    """The HTML of the text [start, end).

    `pictures` are the spans, from `start` on, of its drawn formulas; `drawings` are their drawings
    by image name.
    """

    start: int
    end: int
    html: str
    pictures: tuple[Span, ...] = ()
    drawings: Mapping[str, Drawing] = field(default_factory=dict[str, Drawing])


@dataclass(frozen=True, slots=True)
class PageSource:
    """A text, its chapters in order, and the function that renders one of them."""

    text: str
    chapters: tuple[Span, ...]
    render: Callable[[int, MarkdownStyle], list[Piece]]

    def chapter_at(self, offset: int) -> int:
        """The index of the chapter with this offset, or of the nearest one."""
        starts = [start for start, _ in self.chapters]
        return max(0, bisect_right(starts, offset) - 1)


def markdown_source(text: str, headings: Sequence[Heading]) -> PageSource:
    """A Markdown text; relative links become `path:` links.

    Raw HTML stays text, and images become their names.
    """
    chapters = tuple(_chapters(text, headings, (0, len(text)), _MARKDOWN_CHAPTER_CHARS))
    return PageSource(text, chapters, partial(_markdown_pieces, text, chapters))


def section_source(
    text: str, headings: Sequence[Heading], span: Span | None = None, *, is_plain: bool = False
) -> PageSource:
    """A text with headings, lists and tables as the readers write them; `is_plain` has none."""
    span = span or (0, len(text))
    headings = () if is_plain else headings
    chapters = tuple(_chapters(text, headings, span, 2 * _CHAPTER_CHARS))
    levels = {heading.offset: heading.level for heading in headings}

    def render(index: int, look: MarkdownStyle) -> list[Piece]:
        start, end = chapters[index]
        pen = FormulaPen()
        draws = None if is_plain else pen
        html = section_html(text, (start, end), levels, look, draws, is_plain=is_plain)
        return [Piece(start, end, html, pen.pictures_in(text[start:end]), pen.drawings)]

    return PageSource(text, chapters, render)


def _markdown_pieces(
    text: str, chapters: Sequence[Span], index: int, look: MarkdownStyle
) -> list[Piece]:
    start, end = chapters[index]
    chapter = text[start:end]
    pieces: list[Piece] = []
    pen = FormulaPen()
    at, fence = 0, ""
    while at < len(chapter):
        segment = next_segment(chapter, at, fence)
        html = render_html(segment.source, (), look, formulas=pen, links_paths=True)
        pictures = pen.pictures_in(chapter[at : segment.end])
        pieces.append(Piece(start + at, start + segment.end, html, pictures, pen.drawings))
        at, fence = segment.end, segment.fence
    return pieces


def _chapters(text: str, headings: Sequence[Heading], span: Span, max_chars: int) -> Iterator[Span]:
    """Whole sections up to `_CHAPTER_CHARS`, and parts of longer sections."""
    first, last = span
    start = end = first
    for border in [*(h.offset for h in headings if first < h.offset < last), last]:
        if border - start > _CHAPTER_CHARS and end > start:
            yield start, end
            start = end
        end = border
        while end - start > max_chars:
            cut = _cut(text, start, max_chars)
            yield start, cut
            start = cut
    if last > start:
        yield start, last


def _cut(text: str, start: int, max_chars: int) -> int:
    """The end of a part: behind an empty line, otherwise a line, otherwise a word."""
    stop = start + max_chars
    for border in ("\n\n", "\n", " "):
        at = text.rfind(border, start + max_chars // 4, stop)
        if at >= 0:
            return at + len(border)
    return stop
