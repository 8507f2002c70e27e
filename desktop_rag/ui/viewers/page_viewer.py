"""Rendered text of any length, loaded around the current place; and slides. Qt thread.

Chapters are rendered on a worker thread and laid out a few milliseconds at a time, the nearest
first. A very long text is loaded further when the person scrolls towards its end.
"""

import re
import time
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, QUrl, Signal, Slot
from PySide6.QtGui import QFontDatabase, QTextBlockFormat, QTextCharFormat, QTextCursor, QTextOption
from PySide6.QtWidgets import QWidget

from desktop_rag.core.domain import StoredText
from desktop_rag.core.language.translation import tr
from desktop_rag.core.markup.inert_markdown import safe_address
from desktop_rag.ui.foundation.bridge import Bridge, Job
from desktop_rag.ui.foundation.shortcuts import INSIDE, bind
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.word_search import qt_offset
from desktop_rag.ui.markdown.formula_object import OBJECT, InertBrowser
from desktop_rag.ui.markdown.markdown_html import MarkdownStyle, linked_path
from desktop_rag.ui.viewers.page_source import PageSource, Piece, section_source
from desktop_rag.ui.viewers.viewer import NO_WORDS, Hits, Span, Viewer, text_marks
from desktop_rag.ui.widgets.controls import IconButton, PlainLabel
from desktop_rag.ui.widgets.layouts import vertical

if TYPE_CHECKING:
    from desktop_rag.ui.markdown.formula_drawing import Drawing

# In scripts without spaces each character counts as a word.
_WORD = re.compile(rf"{OBJECT}|[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\u0e00-\u0e7f]|[^\W_]+")
# Alignment takes the square of this many words.
_MAX_WORDS = 4_000


class WordMap:
    """Maps spans of `source` to spans of `rendered`. Any thread.

    Rendering removes Markdown signs and changes white space, but keeps the words in order, so both
    texts are aligned by words. A drawn formula is one word: one sign in the rendered text.
    """

    def __init__(self, source: str, rendered: str, pictures: Sequence[Span] = ()) -> None:
        """`pictures` are the spans of formulas that are drawn."""
        self._source = source
        self._rendered = rendered
        self._pictures = frozenset(pictures)
        words = list(_words(source, pictures))[:_MAX_WORDS]
        shown = [m.span() for m in _WORD.finditer(rendered)][:_MAX_WORDS]
        matcher = SequenceMatcher(
            None,
            [OBJECT if word in self._pictures else source[slice(*word)] for word in words],
            [rendered[slice(*word)] for word in shown],
            autojunk=False,
        )
        pairs = [
            (words[block.a + n], shown[block.b + n])
            for block in matcher.get_matching_blocks()
            for n in range(block.size)
        ]
        self._from = [word for word, _ in pairs]
        self._to = [word for _, word in pairs]
        self._starts = [start for start, _ in self._from]
        self._ends = [end for _, end in self._from]

    def rendered(self, start: int, end: int) -> Span | None:
        """The rendered span of the words in [start, end); None if none of them is shown."""
        first, last = bisect_right(self._ends, start), bisect_left(self._starts, end) - 1
        if first > last:
            return None
        # Cut within a word as in the source: only whole words were aligned. Formulas stay whole.
        is_cut = self._from[first] not in self._pictures
        before = max(0, start - self._from[first][0]) if is_cut else 0
        is_cut = self._from[last] not in self._pictures
        after = max(0, self._from[last][1] - end) if is_cut else 0
        begin, stop = self._to[first][0] + before, self._to[last][1] - after
        return begin, stop + self._signs_behind(self._from[last][1], end, stop)

    def _signs_behind(self, at: int, end: int, shown_at: int) -> int:
        """The number of equal signs behind the last word in both texts, such as a full stop."""
        count = 0
        signs = self._source[at:end]
        for sign, shown in zip(
            signs, self._rendered[shown_at : shown_at + len(signs)], strict=False
        ):
            if sign != shown or sign.isspace():
                break
            count += 1
        return count


def _words(source: str, pictures: Sequence[Span]) -> Iterator[Span]:
    """The words of the source in order, each formula as one."""
    done = 0
    for start, end in pictures:
        yield from (m.span() for m in _WORD.finditer(source, done, start))
        yield start, end
        done = end
    yield from (m.span() for m in _WORD.finditer(source, done))


_MARGIN_PX = 20
# Separates two pieces, without a height of its own.
_BORDER = "<p>\u200b</p>"


@dataclass(slots=True)
class _Placed:
    """A piece and the position where it begins; its words are mapped on demand."""

    piece: Piece
    begin: QTextCursor
    words: WordMap | None = None
    base: int = 0


class PageBrowser(InertBrowser):
    """Shows adjacent pieces of a text, growing at both ends, and marks spans of it.

    Links are emitted. `path_clicked` carries the target of a relative link, and its words.
    """

    address_clicked = Signal(str)
    path_clicked = Signal(str, str)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._text = ""
        self._placed: list[_Placed] = []
        self._cited: Span = NO_WORDS
        self._hits = Hits()
        self.setObjectName("page")
        self.setAccessibleName(tr("Document"))
        self.document().setDocumentMargin(_MARGIN_PX)
        option = self.document().defaultTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.document().setDefaultTextOption(option)
        self._drawings: dict[str, Drawing] = {}
        self.formulas.set_drawings(self._drawings)
        self.anchorClicked.connect(self._on_anchor_clicked)

    # --- pieces ----------------------------------------------------------------------------------

    def begin(self, text: str) -> None:
        """Clear the page; the pieces that follow are of this text."""
        self._text = text
        self._placed.clear()
        self._drawings.clear()
        self.setExtraSelections([])
        self.document().clear()

    def add_below(self, piece: Piece) -> None:
        """Add the piece that follows the last one."""
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        if self._placed:
            cursor.insertBlock(_border_format(), QTextCharFormat())
        else:
            cursor.setBlockFormat(_border_format())
        self._placed.append(_Placed(piece, self._insert(cursor, piece)))

    def add_above(self, piece: Piece) -> None:
        """Add the piece before the first one, without moving what is on the screen."""
        bar = self.verticalScrollBar()
        below = self.document().size().height() - bar.value()
        cursor = QTextCursor(self.document())
        cursor.insertBlock(_border_format(), QTextCharFormat())
        cursor.movePosition(QTextCursor.MoveOperation.Start)
        cursor.setBlockFormat(_border_format())
        self._placed.insert(0, _Placed(piece, self._insert(cursor, piece)))
        bar.setValue(round(self.document().size().height() - below))

    def _insert(self, cursor: QTextCursor, piece: Piece) -> QTextCursor:
        begin = QTextCursor(self.document())
        begin.setPosition(cursor.position())
        begin.setKeepPositionOnInsert(True)
        self._drawings |= piece.drawings
        cursor.insertHtml(_BORDER + piece.html)
        begin.setKeepPositionOnInsert(False)
        return begin

    @property
    def covered(self) -> Span | None:
        """The span of the text that is on the page; None while there is none."""
        if not self._placed:
            return None
        return self._placed[0].piece.start, self._placed[-1].piece.end

    # --- marks -----------------------------------------------------------------------------------

    def mark(self, cited: Span, hits: Hits) -> None:
        """Mark the cited words and the hits, as far as they are on the page."""
        self._cited, self._hits = cited, hits
        self.show_marks()

    def show_marks(self) -> None:
        """Mark again, after pieces were added or the theme changed."""
        self.setExtraSelections(text_marks(self._theme, self._cited, self._hits, self._cursor))

    def scroll_to(self, span: Span) -> bool:
        """Scroll the words to the upper third; False if they are not on the page."""
        cursor = self._cursor(span)
        if cursor is None:
            return False
        start = QTextCursor(cursor)
        start.setPosition(cursor.selectionStart())
        self.setTextCursor(start)
        bar = self.verticalScrollBar()
        bar.setValue(bar.value() + self.cursorRect(start).top() - self.viewport().height() // 3)
        return True

    def _cursor(self, span: Span) -> QTextCursor | None:
        """The words as they are shown, with all their pieces; None if none of them is."""
        covered = self.covered
        if covered is None or span[0] >= covered[1] or max(span[1], span[0] + 1) <= covered[0]:
            return None
        starts = [placed.piece.start for placed in self._placed]
        first = max(0, bisect_right(starts, span[0]) - 1)
        last = max(first, bisect_right(starts, max(span[0], span[1] - 1)) - 1)
        if span[0] == span[1]:
            return QTextCursor(self._placed[first].begin)
        found = [self._found(n, span) for n in range(first, last + 1)]
        places = [place for place in found if place is not None]
        if not places:
            return None
        cursor = QTextCursor(self.document())
        cursor.setPosition(min(start for start, _ in places))
        cursor.setPosition(max(end for _, end in places), QTextCursor.MoveMode.KeepAnchor)
        return cursor

    def _found(self, index: int, span: Span) -> Span | None:
        """The part of the span in one piece, as positions on the page."""
        placed = self._placed[index]
        source = self._text[placed.piece.start : placed.piece.end]
        begin, rendered = self._rendered(index)
        if placed.words is None:
            placed.words = WordMap(source, rendered, placed.piece.pictures)
        offset = placed.piece.start
        place = placed.words.rendered(max(0, span[0] - offset), min(len(source), span[1] - offset))
        if place is None:
            return None
        return begin + qt_offset(rendered, place[0]), begin + qt_offset(rendered, place[1])

    def _rendered(self, index: int) -> tuple[int, str]:
        """Where a piece begins on the page, and its text there."""
        begin = self._placed[index].begin.position()
        cursor = QTextCursor(self.document())
        cursor.setPosition(begin)
        if index + 1 < len(self._placed):
            end = self._placed[index + 1].begin.position()
            cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        else:
            cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        return begin, cursor.selectedText()

    @Slot(QUrl)
    def _on_anchor_clicked(self, url: QUrl) -> None:
        href = url.toString(QUrl.ComponentFormattingOption.FullyEncoded)
        if target := linked_path(href):
            self.path_clicked.emit(target, _words_of_link(self.textCursor()))
        elif address := safe_address(url.toString()):
            self.address_clicked.emit(address)


def _words_of_link(cursor: QTextCursor) -> str:
    """The words of the link at the cursor, which a click or the keyboard has set."""
    iterator = cursor.block().begin()
    place = cursor.selectionStart()
    while not iterator.atEnd():
        fragment = iterator.fragment()
        if fragment.position() <= place <= fragment.position() + fragment.length() and (
            fragment.charFormat().isAnchor()
        ):
            return fragment.text()
        iterator += 1
    return ""


def _border_format() -> QTextBlockFormat:
    form = QTextBlockFormat()
    form.setLineHeight(1, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
    return form


_BUDGET_S = 0.008
# Loaded on each side without scrolling.
_AHEAD_CHARS = 120_000
# Distance from an end, in window heights, at which more is loaded.
_NEAR_END = 3


class PageViewer(Viewer):
    """Shows a PageSource."""

    def __init__(self, bridge: Bridge, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._theme = theme
        self._source: PageSource | None = None
        self._target: Span | None = None
        # The chapters on the page are [first, last).
        self._first = self._last = self._home = 0
        self._job: Job | None = None
        self._waiting: deque[tuple[Piece, bool]] = deque()
        self.page = PageBrowser(theme)
        self.setFocusProxy(self.page)
        vertical(self.page, on=self, margins=0)
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._lay_out)
        self.page.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        self.page.address_clicked.connect(self.address_clicked)
        self.page.path_clicked.connect(self.path_clicked)
        theme.changed.connect(self._on_theme_changed)

    @property
    def is_settled(self) -> bool:
        """True while nothing is being rendered or laid out."""
        return self._job is None and not self._timer.isActive() and self._target is None

    def show_source(self, source: PageSource, cited: Span = NO_WORDS) -> None:
        """Show another text, scrolled to these words."""
        self._source, self._cited, self._hits = source, cited, Hits()
        self._begin_at(cited)

    def _mark(self) -> None:
        self.page.mark(self._cited, self._hits)

    # --- loading ---------------------------------------------------------------------------------

    def _go_to(self, span: Span) -> None:
        covered = self.page.covered
        if covered is not None and covered[0] <= span[0] < covered[1]:
            self._target = None
            self._mark()
            self.page.scroll_to(span)
        else:
            self._begin_at(span)

    def _begin_at(self, span: Span) -> None:
        if self._source is None or not self._source.chapters:
            self.page.begin("")
            return
        if self._job:
            self._job.cancel()
            self._job = None
        self._waiting.clear()
        self._target = span
        self._home = self._first = self._last = self._source.chapter_at(span[0])
        self.page.begin(self._source.text)
        self._mark()
        self._load(self._home, below=True)

    def _load(self, chapter: int, *, below: bool) -> None:
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        source, look = self._source, MarkdownStyle(self._theme.colours, font.family())
        assert source is not None, "there is a text while chapters are loaded"

        def arrived(pieces: list[Piece]) -> None:
            self._job = None
            self._first = min(self._first, chapter)
            self._last = max(self._last, chapter + 1)
            self._waiting.extend((p, below) for p in (pieces if below else reversed(pieces)))
            self._lay_out()

        self._job = self._bridge.run(self, lambda: source.render(chapter, look), arrived)

    @Slot()
    def _lay_out(self) -> None:
        """Put pieces on the page for a few milliseconds, then let the window handle events."""
        stop_at = time.perf_counter() + _BUDGET_S
        while self._waiting:
            piece, below = self._waiting.popleft()
            (self.page.add_below if below else self.page.add_above)(piece)
            if time.perf_counter() > stop_at:
                break
        self.page.show_marks()
        covered, target = self.page.covered, self._target
        is_there = covered and target and covered[0] <= target[0] < max(covered[1], covered[0] + 1)
        if target and is_there:
            self.page.scroll_to(target)
            if not self._waiting and self._is_filled():
                self._target = None
        if self._waiting:
            self._timer.start(0)
        else:
            self._load_more()

    def _is_filled(self) -> bool:
        """True once there is enough text below for the words to stay in the upper third."""
        assert self._source is not None, "there is a text while chapters are loaded"
        rest = self.page.verticalScrollBar().maximum() - self.page.verticalScrollBar().value()
        return rest > self.page.viewport().height() or self._last == len(self._source.chapters)

    def _load_more(self) -> None:
        """Load the next chapter below or above, if it may be needed soon."""
        if self._job or self._source is None:
            return
        chapters = self._source.chapters
        bar, height = self.page.verticalScrollBar(), self.page.viewport().height()
        home = chapters[self._home][0]
        ahead = chapters[self._last - 1][1] - home
        behind = home - chapters[self._first][0]
        near_end = bar.maximum() - bar.value() < _NEAR_END * height
        near_start = bar.value() < _NEAR_END * height
        wants_below = self._last < len(chapters) and (near_end or ahead < _AHEAD_CHARS)
        wants_above = self._first > 0 and (near_start or behind < _AHEAD_CHARS)
        if wants_below and (near_end or not wants_above or ahead <= behind):
            self._load(self._last, below=True)
        elif wants_above:
            self._load(self._first - 1, below=False)

    @Slot()
    def _on_scrolled(self) -> None:
        if not self._waiting:
            self._load_more()

    @Slot()
    def _on_theme_changed(self) -> None:
        if self._source is not None:
            self._begin_at(self._cited)


class SlidesViewer(Viewer):
    """Shows one slide at a time, as its text."""

    def __init__(self, bridge: Bridge, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._stored: StoredText | None = None
        self._slides: list[tuple[int, Span]] = []
        self._shown = -1
        self.slide = PageViewer(bridge, theme)
        self.slide.page.setAccessibleName(tr("Slide"))
        self.slide.page.setProperty("paper", "slide")
        self.setFocusProxy(self.slide)
        vertical(self.slide, on=self, margins=0)
        self._previous = IconButton(theme, "chevron-left:text", tr("Previous slide"))
        self._next = IconButton(theme, "chevron-right:text", tr("Next slide"))
        self._number = PlainLabel("", tone="muted")
        self._previous.clicked.connect(lambda: self._show(self._shown - 1))
        self._next.clicked.connect(lambda: self._show(self._shown + 1))
        self.slide.address_clicked.connect(self.address_clicked)
        bind(self, "PgUp Ctrl+PgUp", tr("Previous slide"), self._previous.click, INSIDE)
        bind(self, "PgDown Ctrl+PgDown", tr("Next slide"), self._next.click, INSIDE)

    def tools(self) -> Sequence[QWidget]:
        return self._previous, self._number, self._next

    def show_document(self, stored: StoredText, cited: Span) -> None:
        """Show the slide with these words."""
        self._stored, self._hits, self._shown = stored, Hits(), -1
        self._slides = _slides(stored)
        self.show_span(cited)

    def show_span(self, span: Span) -> None:
        self._cited = span
        self._go_to(span)
        self.slide.show_span(span)

    def show_hits(self, hits: Hits) -> None:
        self._hits = hits
        if hits.current_span is not None:
            self._go_to(hits.current_span)
        self.slide.show_hits(hits)

    def _go_to(self, span: Span) -> None:
        starts = [start for _, (start, _) in self._slides]
        self._show(max(0, bisect_right(starts, span[0]) - 1))

    def _show(self, index: int) -> None:
        if index == self._shown or not 0 <= index < len(self._slides) or self._stored is None:
            return
        self._shown = index
        number, (start, end) = self._slides[index]
        source = section_source(self._stored.text, self._stored.headings, (start, end))
        is_cited = start <= self._cited[0] < end
        self.slide.show_source(source, self._cited if is_cited else (start, start))
        self.slide.show_hits(Hits(self._hits.words, self._hits.spans))
        last = self._slides[-1][0]
        self._number.setText(tr("Slide {number:,} of {last:,}", number=number, last=last))
        self._previous.setEnabled(index > 0)
        self._next.setEnabled(index < len(self._slides) - 1)
        self.place_changed.emit(tr("slide {number:,} of {last:,}", number=number, last=last))


def _slides(stored: StoredText) -> list[tuple[int, Span]]:
    """The number and the text of each slide that has text."""
    first: dict[int, int] = {}
    for mark in stored.marks:
        if mark.anchor.slide is not None:
            first.setdefault(mark.anchor.slide, mark.offset)
    starts = sorted(first.items(), key=lambda item: item[1])
    ends = [*(start for _, start in starts[1:]), len(stored.text)]
    found = [(n, (start, end)) for (n, start), end in zip(starts, ends, strict=True)]
    return found or [(1, (0, len(stored.text)))]
