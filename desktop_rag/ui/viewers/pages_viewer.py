"""The pages of a PDF as they are printed. Qt thread; pages are drawn in another process.

One page is drawn at a time, the most urgent one: those on the screen first, then the next ones in
both directions.
"""

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from threading import Event

from PySide6.QtCore import QPoint, QRect, QRectF, Qt, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QGuiApplication,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QMenu, QSpinBox, QWidget

from desktop_rag.core.domain import StoredText
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.core.parsed import Box, PageView, PageWish, PageWord
from desktop_rag.ingest.library import Library
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.shortcuts import FOCUSED, INSIDE, bind
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.viewers.viewer import NO_WORDS, Hits, Span, Viewer
from desktop_rag.ui.widgets.controls import IconButton, PlainLabel, TextButton
from desktop_rag.ui.widgets.layouts import vertical

# A page (from 1) and the number of a word on it, in the order of the page's text.
Place = tuple[int, int]
Words = Mapping[int, Sequence[PageWord]]
# Beside a line, prefers one of its words to one of a line above or below.
_LINE_WEIGHT = 4.0


def word_at(words: Sequence[PageWord], x: float, y: float) -> int | None:
    """The number of the word at, or nearest to, these fractions of a page; None without words."""
    return min(range(len(words)), key=lambda n: _distance(words[n].box, x, y), default=None)


def is_on_a_word(words: Sequence[PageWord], x: float, y: float) -> bool:
    """True if there is a word at these fractions of a page."""
    return any(_distance(word.box, x, y) == 0 for word in words)


def selected(words: Words, start: Place, end: Place) -> dict[int, range]:
    """The numbers of the selected words by page, both places included."""
    first, last = min(start, end), max(start, end)
    found: dict[int, range] = {}
    for page in range(first[0], last[0] + 1):
        begin = first[1] if page == first[0] else 0
        stop = last[1] + 1 if page == last[0] else len(words.get(page, ()))
        found[page] = range(begin, min(stop, len(words.get(page, ()))))
    return found


def text_of(words: Words, chosen: Mapping[int, range]) -> str:
    """The selected words, line by line; an empty line stands between pages."""
    pages: list[str] = []
    for page, numbers in chosen.items():
        parts = [words[page][n].text + ("\n" if words[page][n].ends_line else " ") for n in numbers]
        pages.append("".join(parts).strip())
    return "\n\n".join(filter(None, pages))


def _distance(box: Box, x: float, y: float) -> float:
    beside = max(box.left - x, 0.0, x - box.right)
    above = max(box.top - y, 0.0, y - box.bottom)
    return beside + _LINE_WEIGHT * above


GAP_PX = 12
MIN_ZOOM, MAX_ZOOM, ZOOM_STEP = 0.25, 5.0, 1.25
_SCROLL_STEP_PX = 40
_MARK_MARGIN_PX = 2


class PageLayout:
    """Positions of pages centred in a column, in pixels. At zoom 1 the widest fills the width."""

    def __init__(self, sizes: Sequence[tuple[float, float]], width_px: int, zoom: float) -> None:
        """`sizes` are the widths and heights of the pages in any unit."""
        room_px = max(1, width_px - 2 * GAP_PX)
        scale = zoom * room_px / max(width for width, _ in sizes)
        self._sizes = [
            (max(1, round(width * scale)), max(1, round(height * scale))) for width, height in sizes
        ]
        heights = (height + GAP_PX for _, height in self._sizes)
        self._tops = list(accumulate(heights, initial=GAP_PX))
        self.width_px = max(width_px, 2 * GAP_PX + max(width for width, _ in self._sizes))

    @property
    def height_px(self) -> int:
        """The height of the whole column."""
        return self._tops[-1]

    def rect(self, page: int) -> tuple[int, int, int, int]:
        """Left, top, width and height of a page (from 1)."""
        width, height = self._sizes[page - 1]
        return (self.width_px - width) // 2, self._tops[page - 1], width, height

    def page_at(self, y: float) -> int:
        """The page at a height, or the nearest one."""
        return min(max(1, bisect_right(self._tops, y)), len(self._sizes))


@dataclass(frozen=True, slots=True)
class PagePicture:
    """A drawn page: its image, the cited words, the hits on it in order, and all its words."""

    image: QImage
    cited: tuple[Box, ...] = ()
    hits: tuple[tuple[Box, ...], ...] = ()
    words: tuple[PageWord, ...] = ()


class PageCanvas(QAbstractScrollArea):
    """Pages in one column, as pictures once they are drawn, until then as blank paper.

    Words are selected with the mouse, all of a page with Ctrl+A, and copied with Ctrl+C. `moved`
    follows when other pages may be visible, or pages have another size.
    """

    moved = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._sizes: Sequence[tuple[float, float]] = ()
        self._layout: PageLayout | None = None
        self.zoom = 1.0
        self._pictures: Mapping[int, PagePicture] = {}
        self._current: tuple[int, int] | None = None
        # The words between both are selected; kept although pictures of pages come and go.
        self._words: dict[int, tuple[PageWord, ...]] = {}
        self._selection: tuple[Place, Place] | None = None
        self._from: Place = (0, 0)
        self._is_selecting = False
        self.viewport().setMouseTracking(True)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._on_menu_requested)
        bind(self, "Ctrl+C", tr("Copy the selected words"), self.copy, FOCUSED)
        bind(self, "Ctrl+A", tr("Select the page"), self.select_page, FOCUSED)
        self.setObjectName("pages")
        self.setAccessibleName(tr("Pages"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.verticalScrollBar().setSingleStep(_SCROLL_STEP_PX)
        self.horizontalScrollBar().setSingleStep(_SCROLL_STEP_PX)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.verticalScrollBar().valueChanged.connect(self._on_moved)
        theme.changed.connect(self.viewport().update)

    # --- what is shown ---------------------------------------------------------------------------

    def show_pages(self, sizes: Sequence[tuple[float, float]]) -> None:
        """Lay out pages of these sizes, of a new document."""
        self._sizes = sizes
        self._words, self._selection = {}, None
        self._lay_out()

    def show_pictures(
        self, pictures: Mapping[int, PagePicture], current: tuple[int, int] | None
    ) -> None:
        """Show these pictures by page; `current` is the page and index of the current hit."""
        self._pictures, self._current = pictures, current
        self._words |= {page: p.words for page, p in pictures.items() if p.words}
        self.viewport().update()

    @Slot(float)
    def set_zoom(self, zoom: float) -> None:
        """Change the zoom; the middle of the window stays where it is."""
        zoom = min(max(zoom, MIN_ZOOM), MAX_ZOOM)
        if zoom != self.zoom:
            self.zoom = zoom
            self._lay_out()

    # --- selection -------------------------------------------------------------------------------

    @property
    def selected_text(self) -> str:
        """The selected words, line by line."""
        if self._selection is None:
            return ""
        return text_of(self._words, selected(self._words, *self._selection))

    @Slot()
    def copy(self) -> None:
        """Put the selected words on the clipboard."""
        if text := self.selected_text:
            QGuiApplication.clipboard().setText(text)

    @Slot()
    def select_page(self) -> None:
        """Select all words of the current page."""
        if words := self._words.get(self.page):
            self._select((self.page, 0), (self.page, len(words) - 1))

    def _select(self, start: Place, end: Place) -> None:
        self._selection = start, end
        self.viewport().update()

    def _spot(self, place: QPoint) -> tuple[int, float, float]:
        """The page under a place of the window, and where on it, as fractions."""
        assert self._layout is not None, "there are pages to point at"
        x = place.x() + self.horizontalScrollBar().value()
        y = place.y() + self.verticalScrollBar().value()
        page = self._layout.page_at(y)
        left, top, width, height = self._layout.rect(page)
        return page, (x - left) / width, (y - top) / height

    def _place_at(self, place: QPoint) -> Place | None:
        if self._layout is None:
            return None
        page, x, y = self._spot(place)
        number = word_at(self._words.get(page, ()), x, y)
        return None if number is None else (page, number)

    @Slot(QPoint)
    def _on_menu_requested(self, place: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(tr("Copy"), self.copy).setEnabled(self._selection is not None)
        menu.addAction(tr("Select the page"), self.select_page)
        menu.popup(self.mapToGlobal(place))

    # --- places ----------------------------------------------------------------------------------

    @property
    def visible_pages(self) -> range:
        """The pages on the screen."""
        if self._layout is None:
            return range(0)
        top = self.verticalScrollBar().value()
        last = self._layout.page_at(top + self.viewport().height())
        return range(self._layout.page_at(top), last + 1)

    @property
    def page(self) -> int:
        """The page in the upper third of the window; 0 without pages."""
        if self._layout is None:
            return 0
        top = self.verticalScrollBar().value()
        return self._layout.page_at(top + self.viewport().height() / 3)

    def width_of(self, page: int) -> int:
        """The width of a page in pixels of the screen."""
        assert self._layout is not None, "pages are laid out before they are drawn"
        return round(self._layout.rect(page)[2] * self.devicePixelRatioF())

    def scroll_to(self, page: int, box: Box | None = None) -> None:
        """Show a page from its top, or a place on it in the upper third."""
        if self._layout is None:
            return
        left, top, width, height = self._layout.rect(page)
        if box is None:
            self.verticalScrollBar().setValue(top - GAP_PX)
            return
        view = self.viewport()
        self.verticalScrollBar().setValue(round(top + box.top * height - view.height() / 3))
        if self._layout.width_px > view.width():
            centre = left + (box.left + box.right) / 2 * width
            self.horizontalScrollBar().setValue(round(centre - view.width() / 2))

    def _lay_out(self) -> None:
        if not self._sizes:
            return
        vertical, horizontal = self.verticalScrollBar(), self.horizontalScrollBar()
        view = self.viewport()
        middle = vertical.value() + view.height() / 2
        before, share = self._layout, 0.0
        page = before.page_at(middle) if before else 1
        if before:
            _, top, _, height = before.rect(page)
            share = (middle - top) / height
        self._layout = layout = PageLayout(self._sizes, view.width(), self.zoom)
        vertical.setRange(0, max(0, layout.height_px - view.height()))
        vertical.setPageStep(view.height())
        horizontal.setRange(0, max(0, layout.width_px - view.width()))
        horizontal.setPageStep(view.width())
        if before:
            _, top, _, height = layout.rect(page)
            vertical.setValue(round(top + share * height - view.height() / 2))
        view.update()
        self.moved.emit()

    # --- events ----------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_out()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        bar = self.verticalScrollBar()
        if event.key() == Qt.Key.Key_Home:
            bar.setValue(bar.minimum())
        elif event.key() == Qt.Key.Key_End:
            bar.setValue(bar.maximum())
        elif event.key() == Qt.Key.Key_Space:
            bar.triggerAction(bar.SliderAction.SliderPageStepAdd)
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            place = self._place_at(event.position().toPoint())
            self._selection, self._is_selecting = None, place is not None
            self._from = place or (0, 0)
            self.viewport().update()
            event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        at = event.position().toPoint()
        if self._is_selecting and (place := self._place_at(at)):
            self._select(self._from, place)
        elif self._layout is not None:
            page, x, y = self._spot(at)
            is_text = is_on_a_word(self._words.get(page, ()), x, y)
            shape = Qt.CursorShape.IBeamCursor if is_text else Qt.CursorShape.ArrowCursor
            self.viewport().setCursor(shape)
        event.accept()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._is_selecting = False
        event.accept()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if place := self._place_at(event.position().toPoint()):
            self._select(place, place)
        event.accept()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            if turns := event.angleDelta().y():
                self.set_zoom(self.zoom * (ZOOM_STEP if turns > 0 else 1 / ZOOM_STEP))
            event.accept()
        else:
            super().wheelEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.fillRect(event.rect(), self._theme.colour("hover"))
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        chosen = selected(self._words, *self._selection) if self._selection else {}
        for page in self.visible_pages:
            self._paint_page(painter, page, chosen.get(page, range(0)))
        painter.end()

    def _paint_page(self, painter: QPainter, page: int, chosen: range) -> None:
        assert self._layout is not None, "only laid out pages are visible"
        left, top, width, height = self._layout.rect(page)
        x, y = self.horizontalScrollBar().value(), self.verticalScrollBar().value()
        place = QRect(left - x, top - y, width, height)
        picture = self._pictures.get(page)
        if picture is None:
            painter.fillRect(place, Qt.GlobalColor.white)
            painter.setPen(QColor(Qt.GlobalColor.darkGray))
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, tr("Page {page:,}", page=page))
            return
        painter.drawImage(place, picture.image)
        # Multiplied, the mark colours the paper and leaves the print as it is.
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Multiply)
        for box in picture.cited:
            painter.fillRect(_on(place, box), self._theme.colour("page_mark"))
        for boxes in picture.hits:
            for box in boxes:
                painter.fillRect(_on(place, box), self._theme.colour("page_hit"))
        for number in chosen:
            box = self._words[page][number].box
            painter.fillRect(_on(place, box), self._theme.colour("page_selection"))
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceOver)
        if self._current is not None and self._current[0] == page:
            painter.setPen(QPen(self._theme.colour("accent"), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            for boxes in picture.hits[self._current[1] : self._current[1] + 1]:
                for box in boxes:
                    painter.drawRect(_on(place, box))

    @Slot()
    def _on_moved(self) -> None:
        self.viewport().update()
        self.moved.emit()


def _on(place: QRect, box: Box) -> QRectF:
    return QRectF(
        place.left() + box.left * place.width(), place.top() + box.top * place.height(),
        (box.right - box.left) * place.width(), (box.bottom - box.top) * place.height(),
    ).adjusted(-_MARK_MARGIN_PX, -_MARK_MARGIN_PX, _MARK_MARGIN_PX, _MARK_MARGIN_PX)  # fmt: skip


_KEPT_PICTURES = 24
_AHEAD = 2
_FIELD_PADDING_PX = 48


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A picture and what it was drawn for; it is drawn again when that changes."""

    picture: PagePicture
    wish: PageWish


class PagesViewer(Viewer):
    """Shows a PDF. `failed` carries the AppError when its pages can't be drawn."""

    failed = Signal(object)

    def __init__(
        self, bridge: Bridge, library: Library, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._library = library
        self._theme = theme
        self._stored: StoredText | None = None
        self._starts: list[int] = []
        self._count = 0
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
        vertical(self.canvas, on=self, margins=0)
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
        self._number.valueChanged.connect(self._scroll_to)
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
        # The page is shown first; its words, for selecting, come when it is drawn again.
        wish = self._wish(self._page_of(cited[0]))
        self._draw(replace(wish, with_sizes=True, with_words=False))

    def show_hits(self, hits: Hits) -> None:
        self._hits = hits
        if (hit := self._current_hit()) is not None:
            self._go_to_page(*hit)
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

    def _go_to(self, span: Span) -> None:
        self._go_to_page(self._page_of(span[0]), None)

    def _go_to_page(self, page: int, hit: int | None) -> None:
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
        if (drawn := self._drawn.get(page)) is None:
            return
        wish = self._wish(page)
        if (drawn.wish.quote, drawn.wish.find) != (wish.quote, wish.find):
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
        find = self._hits.words if any(start <= hit[0] < end for hit in self._hits.spans) else ""
        return PageWish(page, width_px, quote, find, with_words=True)

    def _first_width(self) -> int:
        """The width of a page that fits, before the sizes of the pages are known."""
        room_px = max(1, self.canvas.viewport().width() - 2 * GAP_PX)
        return round(room_px * self.devicePixelRatioF())

    def _draw_next(self) -> None:
        """Draw the most urgent page that is not drawn yet."""
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
        # Drawn for the expected width, which is close enough for scrolling.
        is_cited = page == view.page and bool(view.boxes)
        self.canvas.scroll_to(page, view.boxes[0] if is_cited else None)

    def _on_not_drawn(self, error: AppError) -> None:
        wish, self._drawing = self._drawing, None
        if not self._count:
            self.failed.emit(error)
        elif wish is not None:
            # One bad page stays blank; the others are drawn.
            blank = QImage(1, 1, QImage.Format.Format_RGB32)
            blank.fill(Qt.GlobalColor.white)
            self._drawn[wish.page] = _Drawn(PagePicture(blank), wish)
            self._draw_next()

    def _show_pictures(self) -> None:
        pictures = {page: drawn.picture for page, drawn in self._drawn.items()}
        self.canvas.show_pictures(pictures, self._current_hit())

    # --- places ----------------------------------------------------------------------------------

    def _page_of(self, offset: int) -> int:
        return max(1, bisect_right(self._starts, offset))

    def _span_of(self, page: int) -> Span:
        if page > len(self._starts):
            return NO_WORDS
        end = self._starts[page] if page < len(self._starts) else 1 << 60
        return self._starts[page - 1], end

    def _current_hit(self) -> tuple[int, int] | None:
        """The page of the current hit, and the number of hits on it before that one."""
        if self._hits.current_span is None:
            return None
        page = self._page_of(self._hits.current_span[0])
        start, _ = self._span_of(page)
        before = self._hits.spans[: self._hits.current]
        return page, sum(1 for span in before if span[0] >= start)

    # --- actions of the person -------------------------------------------------------------------

    def _step(self, by: int) -> None:
        if 1 <= self.canvas.page + by <= self._count:
            self._scroll_to(self.canvas.page + by)

    @Slot(int)
    def _scroll_to(self, page: int) -> None:
        if page != self.canvas.page:
            self._target = None
            self.canvas.scroll_to(page)

    @Slot()
    def _on_moved(self) -> None:
        if not (page := self.canvas.page):
            return
        self._number.blockSignals(True)
        self._number.setValue(page)
        self._number.blockSignals(False)
        self._previous.setEnabled(page > 1)
        self._next.setEnabled(page < self._count)
        self.place_changed.emit(tr("page {page:,} of {count:,}", page=page, count=self._count))
        self._draw_next()


def _page_starts(stored: StoredText) -> list[int]:
    """Where the text of each page begins; pages without text begin with the next one."""
    first: dict[int, int] = {}
    for mark in stored.marks:
        if mark.anchor.page is not None:
            first.setdefault(mark.anchor.page, mark.offset)
    starts: list[int] = []
    following = len(stored.text)
    for page in range(max(first, default=0), 0, -1):
        following = first.get(page, following)
        starts.append(following)
    return starts[::-1]
