"""Pictures of pages in one column, with marks that leave the print readable. Qt thread."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRect, QRectF, Qt, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QImage,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

from desktop_rag.core.anchors import Box
from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.viewers.page_layout import GAP_PX, PageLayout

MIN_ZOOM, MAX_ZOOM, ZOOM_STEP = 0.25, 5.0, 1.25
_SCROLL_STEP_PX = 40
_MARK_MARGIN_PX = 2


@dataclass(frozen=True, slots=True)
class PagePicture:
    """A drawn page: its image, the cited words, and the hits on it in order."""

    image: QImage
    cited: tuple[Box, ...] = ()
    hits: tuple[tuple[Box, ...], ...] = ()


class PageCanvas(QAbstractScrollArea):
    """Shows pages as far as there are pictures of them, others as blank paper.

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
        """Lay out pages of these sizes."""
        self._sizes = sizes
        self._lay_out()

    def show_pictures(
        self, pictures: Mapping[int, PagePicture], current: tuple[int, int] | None
    ) -> None:
        """Show these pictures by page; `current` is the page and index of the current hit."""
        self._pictures, self._current = pictures, current
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
        for page in self.visible_pages:
            self._paint_page(painter, page)
        painter.end()

    def _paint_page(self, painter: QPainter, page: int) -> None:
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
