"""Widgets side by side that go on in further lines where there is no more room. Qt thread."""

from collections.abc import Iterator

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


class FlowRow(QLayout):
    """Gives each widget the width it would like, from the side on which reading begins."""

    def __init__(self, parent: QWidget | None = None, *, spacing: int = 6) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self.setSpacing(spacing)
        self.setContentsMargins(0, 0, 0, 0)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._place(QRect(0, 0, width, 0), is_only_measured=True)

    def sizeHint(self) -> QSize:
        sizes = [item.sizeHint() for item in self._items if not item.isEmpty()]
        width = sum(size.width() for size in sizes) + self.spacing() * max(0, len(sizes) - 1)
        return QSize(width, max((size.height() for size in sizes), default=0))

    def minimumSize(self) -> QSize:
        sizes = [item.minimumSize() for item in self._items if not item.isEmpty()]
        width = max((size.width() for size in sizes), default=0)
        return QSize(width, max((size.height() for size in sizes), default=0))

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._place(rect, is_only_measured=False)

    def _place(self, rect: QRect, *, is_only_measured: bool) -> int:
        """Place the widgets in the rectangle; returns the height that they take."""
        top = 0
        for line in self._lines(rect.width()):
            height = max(size.height() for _, size in line)
            left = 0
            for item, size in line:
                if not is_only_measured:
                    middle = top + (height - size.height()) // 2
                    item.setGeometry(self._mirrored(rect, QPoint(left, middle), size))
                left += size.width() + self.spacing()
            top += height + self.spacing()
        return max(0, top - self.spacing())

    def _lines(self, width: int) -> Iterator[list[tuple[QLayoutItem, QSize]]]:
        """The visible widgets with their sizes, by lines."""
        line: list[tuple[QLayoutItem, QSize]] = []
        left = 0
        for item in self._items:
            if item.isEmpty():
                continue
            size = item.sizeHint().boundedTo(QSize(width, 2**15))
            if line and left + size.width() > width:
                yield line
                line, left = [], 0
            line.append((item, size))
            left += size.width() + self.spacing()
        if line:
            yield line

    def _mirrored(self, rect: QRect, place: QPoint, size: QSize) -> QRect:
        parent = self.parentWidget()
        if parent is not None and parent.isRightToLeft():
            place = QPoint(rect.width() - place.x() - size.width(), place.y())
        return QRect(rect.topLeft() + place, size)
