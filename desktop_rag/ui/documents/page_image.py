"""An image of a PDF page, scaled to the available width, with highlighted boxes. Qt thread."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from desktop_rag.core.anchors import Box, PageView
from desktop_rag.ui.foundation.theme import Theme

_MARK_ALPHA = 90


class PageImage(QWidget):
    """Shows a PageView, or nothing."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._image = QImage()
        self._boxes: tuple[Box, ...] = ()
        self.setAccessibleName("Page")
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def show_view(self, view: PageView | None) -> None:
        """Show this page; None shows nothing."""
        self._image = QImage.fromData(view.png) if view else QImage()
        self._boxes = view.boxes if view else ()
        self.updateGeometry()
        self.update()

    @property
    def first_box_top(self) -> int:
        """The top of the first highlighted box in pixels; 0 if there is none."""
        tops = [box.top for box in self._boxes]
        return int(min(tops) * self.heightForWidth(self.width())) if tops else 0

    def hasHeightForWidth(self) -> bool:
        return not self._image.isNull()

    def heightForWidth(self, width: int) -> int:
        if self._image.isNull():
            return 0
        return round(width * self._image.height() / self._image.width())

    def sizeHint(self) -> QSize:
        return QSize(self.width(), self.heightForWidth(self.width()))

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._image.isNull():
            return
        width, height = self.width(), self.heightForWidth(self.width())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(QRectF(0, 0, width, height), self._image)
        mark = QColor(self._theme.colour("highlight"))
        mark.setAlpha(_MARK_ALPHA)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(mark)
        for box in self._boxes:
            painter.drawRect(
                QRectF(box.left * width, box.top * height,
                       (box.right - box.left) * width, (box.bottom - box.top) * height)
            )  # fmt: skip
        painter.end()
