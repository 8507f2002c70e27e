"""Pictures of pages in one column, with marks that leave the print readable. Qt thread."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
from PySide6.QtWidgets import QAbstractScrollArea, QMenu, QWidget

from desktop_rag.core.anchors import Box, PageWord
from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.shortcuts import FOCUSED, bind
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.viewers.page_layout import GAP_PX, PageLayout
from desktop_rag.ui.viewers.page_selection import Place, is_on_a_word, selected, text_of, word_at

MIN_ZOOM, MAX_ZOOM, ZOOM_STEP = 0.25, 5.0, 1.25
_SCROLL_STEP_PX = 40
_MARK_MARGIN_PX = 2


@dataclass(frozen=True, slots=True)
class PagePicture:
    """A drawn page: its image, the cited words, the hits on it in order, and all its words."""

    image: QImage
    cited: tuple[Box, ...] = ()
    hits: tuple[tuple[Box, ...], ...] = ()
    words: tuple[PageWord, ...] = ()


class PageCanvas(QAbstractScrollArea):
    """Shows pages as far as there are pictures of them, others as blank paper.

    Words are selected with the mouse, all of a page with Ctrl+A, and copied with Ctrl+C.
    `moved` tells that other pages may be visible, or that they have another size.
    """

    moved = Signal()
    zoom_changed = Signal(float)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._sizes: Sequence[tuple[float, float]] = ()
        self._layout: PageLayout | None = None
        self._zoom = 1.0
        self._pictures: Mapping[int, PagePicture] = {}
        self._current: tuple[int, int] | None = None
        # The words between both are selected. Kept, as pictures of pages come and go.
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

    @property
    def zoom(self) -> float:
        """The zoom; 1 fits the width."""
        return self._zoom

    @Slot(float)
    def set_zoom(self, zoom: float) -> None:
        """Change the zoom; the middle of the window stays where it is."""
        zoom = min(max(zoom, MIN_ZOOM), MAX_ZOOM)
        if zoom != self._zoom:
            self._zoom = zoom
            self._lay_out()
            self.zoom_changed.emit(zoom)

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
        """Select all words of the page that is read."""
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
        copy = menu.addAction(tr("Copy"), self.copy)
        copy.setEnabled(self._selection is not None)
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
        self._layout = layout = PageLayout(self._sizes, view.width(), self._zoom)
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
            turns = event.angleDelta().y()
            if turns:
                self.set_zoom(self._zoom * (ZOOM_STEP if turns > 0 else 1 / ZOOM_STEP))
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
            self._frame(painter, place, picture.hits[self._current[1] : self._current[1] + 1])

    def _frame(self, painter: QPainter, place: QRect, hits: Sequence[Sequence[Box]]) -> None:
        painter.setPen(QPen(self._theme.colour("accent"), 2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for boxes in hits:
            for box in boxes:
                painter.drawRect(_on(place, box))

    @Slot()
    def _on_moved(self) -> None:
        self.viewport().update()
        self.moved.emit()


def _on(place: QRect, box: Box) -> QRectF:
    margin = _MARK_MARGIN_PX
    return QRectF(
        place.left() + box.left * place.width(), place.top() + box.top * place.height(),
        (box.right - box.left) * place.width(), (box.bottom - box.top) * place.height(),
    ).adjusted(-margin, -margin, margin, margin)  # fmt: skip
