"""The pages of a PDF as they are printed. Qt thread; pages are drawn in another process.

One page is drawn at a time, always the one that is needed most: those on the screen first, then the
next one in each direction.
"""

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import Event
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QSpinBox, QVBoxLayout, QWidget

from desktop_rag.core.anchors import PageView, PageWish
from desktop_rag.core.domain import StoredText
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.shortcuts import INSIDE, bind
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.viewers.document_span import Span
from desktop_rag.ui.viewers.page_canvas import ZOOM_STEP, PageCanvas, PagePicture
from desktop_rag.ui.viewers.page_layout import GAP_PX
from desktop_rag.ui.viewers.viewer import NO_WORDS, Hits, Viewer
from desktop_rag.ui.widgets.controls import IconButton, PlainLabel, TextButton

if TYPE_CHECKING:
    from desktop_rag.ingest.library import Library

_KEPT_PICTURES = 24
_AHEAD = 2
_FIELD_PADDING_PX = 48


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A picture with what it was drawn for; it is drawn again when that changes."""

    picture: PagePicture
    wish: PageWish


class PagesViewer(Viewer):
    """Shows a PDF. `failed` carries the AppError when its pages can't be drawn."""

    failed = Signal(object)

    def __init__(
        self, bridge: Bridge, library: "Library", theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._library = library
        self._theme = theme
        self._stored: StoredText | None = None
        self._starts: list[int] = []
        self._count = 0
        self._cited: Span = NO_WORDS
        self._hits = Hits()
        # Where to scroll once the page with the words is drawn: at its cited words, or its hit.
        self._target: tuple[int, int | None] | None = None
        self._drawn: OrderedDict[int, _Drawn] = OrderedDict()
        self._drawing: PageWish | None = None
        self._never = Event()
        self._build()
        self._connect()

    def _build(self) -> None:
        self.canvas = PageCanvas(self._theme)
        self.setFocusProxy(self.canvas)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.canvas)
        self._previous = IconButton(self._theme, "chevron-up:text", tr("Previous page"))
        self._next = IconButton(self._theme, "chevron-down:text", tr("Next page"))
        self._number = QSpinBox()
        self._number.setObjectName("pageNumber")
        self._number.setAccessibleName(tr("Page number"))
        self._number.setButtonSymbols(QSpinBox.ButtonSymbols.NoButtons)
        self._number.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._number.setKeyboardTracking(False)
        self._of = PlainLabel("", tone="muted")
        self._smaller = IconButton(self._theme, "minus:text", tr("Zoom out"))
        self._larger = IconButton(self._theme, "plus:text", tr("Zoom in"))
        self._fit = TextButton(tr("Fit width"), kind="quiet")

    def _connect(self) -> None:
        self.canvas.moved.connect(self._on_moved)
        self._previous.clicked.connect(lambda: self._step(-1))
        self._next.clicked.connect(lambda: self._step(1))
        self._number.valueChanged.connect(self._on_number)
        self._smaller.clicked.connect(lambda: self.canvas.set_zoom(self.canvas.zoom / ZOOM_STEP))
        self._larger.clicked.connect(lambda: self.canvas.set_zoom(self.canvas.zoom * ZOOM_STEP))
        self._fit.clicked.connect(lambda: self.canvas.set_zoom(1.0))
        for keys, words, button in (
            ("Ctrl++ Ctrl+=", tr("Zoom in"), self._larger),
            ("Ctrl+-", tr("Zoom out"), self._smaller),
            ("Ctrl+0", tr("Fit the width"), self._fit),
            ("Ctrl+PgUp", tr("Previous page"), self._previous),
            ("Ctrl+PgDown", tr("Next page"), self._next),
        ):  # fmt: skip
            bind(self, keys, words, button.click, INSIDE)

    def tools(self) -> Sequence[QWidget]:
        return (
            self._previous, self._number, self._of, self._next, self._smaller, self._larger,
            self._fit,
        )  # fmt: skip

    # --- content ---------------------------------------------------------------------------------

    def show_document(self, stored: StoredText, cited: Span) -> None:
        """Show a PDF at these words."""
        self._stored, self._cited = stored, cited
        self._starts = _page_starts(stored)
        # The page is seen first; its words, which can be selected, come when it is drawn again.
        wish = self._wish(self._page_of(cited[0]))
        self._draw(replace(wish, with_sizes=True, with_words=False))

    def show_span(self, span: Span) -> None:
        self._cited = span
        self._go_to(self._page_of(span[0]), None)

    def show_hits(self, hits: Hits) -> None:
        self._hits = hits
        if hits.current_span is not None:
            page = self._page_of(hits.current_span[0])
            self._go_to(page, self._index_on(page))
        self._show_pictures()
        self._draw_next()

    @property
    def is_settled(self) -> bool:
        """True while no page is being drawn."""
        return self._drawing is None and self._count > 0

    @property
    def has_cited_words(self) -> bool:
        """True once the page with the cited words is drawn, and they were found on it."""
        drawn = self._drawn.get(self._page_of(self._cited[0]))
        return drawn is not None and bool(drawn.picture.cited)

    def _go_to(self, page: int, hit: int | None) -> None:
        self._target = page, hit
        if not self._count:
            return
        self._reach_target()
        if self._target is not None and page not in self.canvas.visible_pages:
            self.canvas.scroll_to(page)
        self._draw_next()

    def _reach_target(self) -> None:
        """Scroll to the words, if their page is drawn with them."""
        if self._target is None:
            return
        page, hit = self._target
        drawn = self._drawn.get(page)
        if drawn is None or not _is_marked_as(drawn.wish, self._wish(page)):
            return
        boxes = drawn.picture.cited
        if hit is not None:
            hits = drawn.picture.hits
            boxes = hits[min(hit, len(hits) - 1)] if hits else ()
        self._target = None
        self.canvas.scroll_to(page, boxes[0] if boxes else None)

    # --- drawing ---------------------------------------------------------------------------------

    def _wish(self, page: int) -> PageWish:
        width_px = self.canvas.width_of(page) if self._count else self._first_width()
        start, end = self._span_of(page)
        quote = ""
        if self._stored is not None and self._cited[1] > self._cited[0]:
            quote = self._stored.text[max(start, self._cited[0]) : min(end, self._cited[1])]
        has_hit = any(start <= hit[0] < end for hit in self._hits.spans)
        find = self._hits.words if has_hit else ""
        return PageWish(page, width_px, quote, find, with_words=True)

    def _first_width(self) -> int:
        """The width of a page that fits, before the sizes of the pages are known."""
        room_px = max(1, self.canvas.viewport().width() - 2 * GAP_PX)
        return round(room_px * self.devicePixelRatioF())

    def _draw_next(self) -> None:
        """Draw the page that is needed most and not drawn yet."""
        if self._drawing or not self._count:
            return
        seen = self.canvas.visible_pages
        wanted = [*seen]
        for n in range(1, _AHEAD + 1):
            wanted += [seen.stop - 1 + n, seen.start - n]
        for page in wanted:
            if not 1 <= page <= self._count:
                continue
            drawn, wish = self._drawn.get(page), self._wish(page)
            if drawn is None or drawn.wish != wish:
                self._draw(wish)
                return

    def _draw(self, wish: PageWish) -> None:
        library, stored = self._library, self._stored
        assert stored is not None, "there is a document while pages are drawn"
        self._drawing = wish

        def draw() -> tuple[PageView, QImage] | None:
            view = library.documents.page_view(stored.document, wish, cancel=self._never)
            return (view, QImage.fromData(view.png)) if view else None

        self._bridge.run(self, draw, lambda drawn: self._on_drawn(wish, drawn), self._on_not_drawn)

    def _on_drawn(self, wish: PageWish, drawn: tuple[PageView, QImage] | None) -> None:
        self._drawing = None
        if drawn is None:
            return
        view, image = drawn
        image.setDevicePixelRatio(1.0)
        picture = PagePicture(image, view.boxes, view.found, view.words)
        self._drawn[view.page] = _Drawn(picture, replace(wish, with_sizes=False))
        self._drawn.move_to_end(view.page)
        if view.sizes:
            self._begin(view)
        while len(self._drawn) > _KEPT_PICTURES:
            self._drawn.popitem(last=False)
        self._reach_target()
        self._show_pictures()
        self._draw_next()

    def _begin(self, view: PageView) -> None:
        self._count = view.page_count
        missing = view.page_count - len(view.sizes)
        self.canvas.show_pages([*view.sizes, *[view.sizes[-1]] * missing])
        self._number.setRange(1, self._count)
        digits = self.fontMetrics().horizontalAdvance(f"{self._count}")
        self._number.setFixedWidth(digits + _FIELD_PADDING_PX)
        self._of.setText(tr("of {count:,}", count=self._count))
        page = self._target[0] if self._target else view.page
        # Drawn for the width that was expected, so it is near enough to scroll by.
        is_cited = page == view.page and bool(view.boxes)
        self.canvas.scroll_to(page, view.boxes[0] if is_cited else None)

    def _on_not_drawn(self, error: AppError) -> None:
        wish, self._drawing = self._drawing, None
        if not self._count:
            self.failed.emit(error)
        elif wish is not None:
            # One bad page stays blank and must not stop the others.
            blank = QImage(1, 1, QImage.Format.Format_RGB32)
            blank.fill(Qt.GlobalColor.white)
            self._drawn[wish.page] = _Drawn(PagePicture(blank), wish)
            self._draw_next()

    def _show_pictures(self) -> None:
        current = None
        if self._hits.current_span is not None:
            page = self._page_of(self._hits.current_span[0])
            current = page, self._index_on(page)
        pictures = {page: drawn.picture for page, drawn in self._drawn.items()}
        self.canvas.show_pictures(pictures, current)

    # --- places ----------------------------------------------------------------------------------

    def _page_of(self, offset: int) -> int:
        return max(1, bisect_right(self._starts, offset))

    def _span_of(self, page: int) -> Span:
        """The text of a page."""
        if page > len(self._starts):
            return NO_WORDS
        end = self._starts[page] if page < len(self._starts) else 1 << 60
        return self._starts[page - 1], end

    def _index_on(self, page: int) -> int:
        """The number of hits on the page before the current one."""
        start, _ = self._span_of(page)
        return sum(1 for span in self._hits.spans[: self._hits.current] if span[0] >= start)

    # --- actions of the person -------------------------------------------------------------------

    def _step(self, by: int) -> None:
        page = self.canvas.page + by
        if 1 <= page <= self._count:
            self._target = None
            self.canvas.scroll_to(page)

    @Slot(int)
    def _on_number(self, page: int) -> None:
        if page != self.canvas.page:
            self._target = None
            self.canvas.scroll_to(page)

    @Slot()
    def _on_moved(self) -> None:
        page = self.canvas.page
        if not page:
            return
        self._number.blockSignals(True)
        self._number.setValue(page)
        self._number.blockSignals(False)
        self._previous.setEnabled(page > 1)
        self._next.setEnabled(page < self._count)
        self.place_changed.emit(tr("page {page:,} of {count:,}", page=page, count=self._count))
        self._draw_next()


def _is_marked_as(drawn: PageWish, wish: PageWish) -> bool:
    return (drawn.quote, drawn.find) == (wish.quote, wish.find)


def _page_starts(stored: StoredText) -> list[int]:
    """Where the text of each page begins; pages without text begin with the next one."""
    first: dict[int, int] = {}
    for mark in stored.marks:
        if mark.anchor.page is not None:
            first.setdefault(mark.anchor.page, mark.offset)
    starts: list[int] = []
    last = max(first, default=0)
    following = len(stored.text)
    for page in range(last, 0, -1):
        following = first.get(page, following)
        starts.append(following)
    return starts[::-1]
