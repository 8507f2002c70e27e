"""A rendered text of any length, loaded around the place that is read. Qt thread.

Chapters are rendered on a worker thread and laid out a few milliseconds at a time, those next to
the place first. A very long text is loaded further when the person scrolls towards its end.
"""

import time
from collections import deque

from PySide6.QtCore import QTimer, Slot
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QVBoxLayout, QWidget

from desktop_rag.ui.foundation.bridge import Bridge, Job
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.markdown.markdown_html import MarkdownStyle
from desktop_rag.ui.viewers.document_span import Span
from desktop_rag.ui.viewers.page_browser import PageBrowser
from desktop_rag.ui.viewers.page_source import PageSource, Piece
from desktop_rag.ui.viewers.viewer import NO_WORDS, Hits, Viewer

_BUDGET_S = 0.008
# Loaded on each side without waiting for the person to scroll there.
_AHEAD_CHARS = 120_000
# Loaded further from here on, in heights of the window.
_NEAR_END = 3


class PageViewer(Viewer):
    """Shows a PageSource."""

    def __init__(self, bridge: Bridge, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._theme = theme
        self._source: PageSource | None = None
        self._cited: Span = NO_WORDS
        self._hits = Hits()
        self._target: Span | None = None
        # The chapters on the page are [first, last).
        self._first = self._last = self._home = 0
        self._job: Job | None = None
        self._waiting: deque[tuple[Piece, bool]] = deque()
        self.page = PageBrowser(theme)
        self.setFocusProxy(self.page)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.page)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
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
        """Show another text at these words."""
        self._source, self._cited, self._hits = source, cited, Hits()
        self._begin_at(cited)

    def show_span(self, span: Span) -> None:
        self._cited = span
        self._go_to(span)

    def show_hits(self, hits: Hits) -> None:
        self._hits = hits
        self.page.mark(self._cited, hits)
        if hits.current_span is not None:
            self._go_to(hits.current_span)

    # --- loading ---------------------------------------------------------------------------------

    def _go_to(self, span: Span) -> None:
        covered = self.page.covered
        if covered is not None and covered[0] <= span[0] < covered[1]:
            self._target = None
            self.page.mark(self._cited, self._hits)
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
        self.page.mark(self._cited, self._hits)
        self._load(self._home, below=True)

    def _load(self, chapter: int, *, below: bool) -> None:
        source, look = self._source, MarkdownStyle(self._theme.colours, _code_font())
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
        if self._target is not None and self._is_there(self._target):
            self.page.scroll_to(self._target)
            if not self._waiting and self._is_filled():
                self._target = None
        if self._waiting:
            self._timer.start(0)
        else:
            self._load_more()

    def _is_there(self, span: Span) -> bool:
        covered = self.page.covered
        return covered is not None and covered[0] <= span[0] < max(covered[1], covered[0] + 1)

    def _is_filled(self) -> bool:
        """True once there is enough below the place that it can stay in the upper third."""
        assert self._source is not None, "there is a text while chapters are loaded"
        rest = self.page.verticalScrollBar().maximum() - self.page.verticalScrollBar().value()
        return rest > self.page.viewport().height() or self._last == len(self._source.chapters)

    def _load_more(self) -> None:
        """Load the next chapter below or above, as far as it may be needed soon."""
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


def _code_font() -> str:
    return QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).family()
