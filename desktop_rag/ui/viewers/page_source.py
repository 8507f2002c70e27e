"""A long text in chapters, each rendered as HTML when it is needed. Worker threads.

A chapter is cut where the text allows it: at headings, else at empty lines. It is rendered as
pieces, which are so small that the window can lay one out between two events.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from desktop_rag.core.parsed import Heading
from desktop_rag.ui.markdown.formula_drawing import Drawing
from desktop_rag.ui.markdown.markdown_html import MarkdownStyle, render_html
from desktop_rag.ui.markdown.segments import next_segment
from desktop_rag.ui.viewers.document_span import Span
from desktop_rag.ui.viewers.formula_pen import FormulaPen
from desktop_rag.ui.viewers.section_html import section_html

_CHAPTER_CHARS = 2_500
# In Markdown an empty line may be inside a block of code, so it is cut there only if need be.
_MARKDOWN_CHAPTER_CHARS = 24_000
_PIECE_CHARS = 2_500


@dataclass(frozen=True, slots=True)
class Piece:
    """The HTML of the text [start, end).

    `pictures` are the formulas of this text that are drawn, as spans from its start on; `drawings`
    are theirs by the names of their images.
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
        """The index of the chapter that holds the offset, or of the nearest one."""
        starts = [start for start, _ in self.chapters]
        return max(0, bisect_right(starts, offset) - 1)


def markdown_source(text: str, headings: Sequence[Heading], start: int = 0) -> PageSource:
    """A Markdown text from `start` on. Raw HTML in it stays text, and images become their names.

    Its relative links are `path:` links.
    """
    chapters = tuple(_chapters(text, headings, (start, len(text)), _MARKDOWN_CHAPTER_CHARS))
    return PageSource(text, chapters, partial(_markdown_pieces, text, chapters))


def section_source(
    text: str, headings: Sequence[Heading], span: Span | None = None, *, is_plain: bool = False
) -> PageSource:
    """A text with headings, lists and tables as the readers write them; plain has none of these."""
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
    """Whole sections up to `_CHAPTER_CHARS`, and parts of the sections that are longer."""
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
    """The end of a part: behind an empty line, else a line, else a word."""
    stop = start + max_chars
    for border in ("\n\n", "\n", " "):
        at = text.rfind(border, start + max_chars // 4, stop)
        if at >= 0:
            return at + len(border)
    return stop
