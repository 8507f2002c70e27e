"""Slides one by one, as the text that stands on them. Qt thread."""

from bisect import bisect_right
from collections.abc import Sequence

from PySide6.QtWidgets import QVBoxLayout, QWidget

from desktop_rag.core.domain import StoredText
from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.shortcuts import INSIDE, bind
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.viewers.document_span import Span
from desktop_rag.ui.viewers.page_source import section_source
from desktop_rag.ui.viewers.page_viewer import PageViewer
from desktop_rag.ui.viewers.viewer import NO_WORDS, Hits, Viewer
from desktop_rag.ui.widgets.controls import IconButton, PlainLabel


class SlidesViewer(Viewer):
    """Shows one slide at a time."""

    def __init__(self, bridge: Bridge, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._stored: StoredText | None = None
        self._slides: list[tuple[int, Span]] = []
        self._shown = -1
        self._cited: Span = NO_WORDS
        self._hits = Hits()
        self.slide = PageViewer(bridge, theme)
        self.slide.page.setAccessibleName(tr("Slide"))
        self.slide.page.setProperty("paper", "slide")
        self.setFocusProxy(self.slide)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.slide)
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
