"""Rows of widgets that continue on further lines where there is no more room. Qt thread."""

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLayout, QLayoutItem, QWidget, QWidgetItem

from desktop_rag.ui.widgets.layouts import vertical


class FlowRow(QLayout):
    """Gives each widget its preferred width, from the side on which reading begins."""

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
        """Place the widgets in the rectangle and return the height they take."""
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


class WrappingRow(QWidget):
    """Shows `row` with `group` inserted before index `at`, or on a second line when narrow.

    The widget at index `stretched` takes the remaining width; the group wraps when that would fall
    below `min_px`. On the second line the group is aligned right with `aligns_right`.
    """

    def __init__(
        self,
        row: Sequence[QWidget],
        group: Sequence[QWidget],
        *,
        at: int,
        stretched: int,
        min_px: int,
        aligns_right: bool = False,
        spacing: int = 2,
    ) -> None:
        super().__init__()
        self._others, self._at, self._min_px = row, at, min_px
        self._stretched = row[stretched]
        self.is_wrapped = False
        self._group = QWidget()
        # On further lines where the second one is too narrow as well.
        flow = FlowRow(self._group, spacing=spacing)
        for widget in group:
            flow.addWidget(widget)
        self._row, self._below = QHBoxLayout(), QHBoxLayout()
        self._row.setSpacing(spacing)
        for number, widget in enumerate(row):
            self._row.addWidget(widget, int(number == stretched))
        self._row.insertWidget(at, self._group, 0, Qt.AlignmentFlag.AlignVCenter)
        self._below.addStretch(int(aligns_right))
        self._below.addStretch(int(not aligns_right))
        vertical(self._row, self._below, on=self, margins=0, spacing=spacing)

    def set_min_px(self, min_px: int) -> None:
        """Change the width below which the group wraps."""
        if min_px != self._min_px:
            self._min_px = min_px
            self._arrange()

    def minimumSizeHint(self) -> QSize:
        """The wider of the two lines; a larger minimum would keep the row from ever wrapping."""
        width = max(self._row_px(), self._group.minimumSizeHint().width())
        return QSize(width, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            # A widget was added, removed or resized.
            self._arrange()
        return super().event(event)

    def _row_px(self) -> int:
        """The minimum width of the row without the group."""
        widths = [QWidgetItem(w).minimumSize().width() for w in self._others if not w.isHidden()]
        return sum(widths) + self._row.spacing() * len(widths)

    def _arrange(self) -> None:
        stretched_px = QWidgetItem(self._stretched).minimumSize().width()
        missing_px = max(0, self._min_px - stretched_px)
        is_wrapped = self.width() < self._row_px() + missing_px + self._group.sizeHint().width()
        if is_wrapped == self.is_wrapped:
            return
        self.is_wrapped = is_wrapped
        if is_wrapped:
            self._row.removeWidget(self._group)
            self._below.insertWidget(1, self._group)
        else:
            self._below.removeWidget(self._group)
            self._row.insertWidget(self._at, self._group, 0, Qt.AlignmentFlag.AlignVCenter)
