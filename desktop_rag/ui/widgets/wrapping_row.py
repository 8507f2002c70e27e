"""A row of controls that moves some of them to a second line when it gets narrow. Qt thread."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget, QWidgetItem


class WrappingRow(QWidget):
    """Shows `row` with `group` inserted before index `at`, or on a second line when narrow.

    The widget at index `stretched` takes the remaining width; the group wraps when that would
    fall below `min_px`. On the second line the group is aligned right with `aligns_right`.
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
        self._is_wrapped = False
        self._group = QWidget()
        inner = QHBoxLayout(self._group)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(spacing)
        for widget in group:
            inner.addWidget(widget)
        self._row, self._below = QHBoxLayout(), QHBoxLayout()
        self._row.setSpacing(spacing)
        for number, widget in enumerate(row):
            self._row.addWidget(widget, int(number == stretched))
        self._row.insertWidget(at, self._group)
        self._below.addStretch(int(aligns_right))
        self._below.addStretch(int(not aligns_right))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(spacing)
        column.addLayout(self._row)
        column.addLayout(self._below)

    def set_min_px(self, min_px: int) -> None:
        """Change the width below which the group wraps."""
        if min_px != self._min_px:
            self._min_px = min_px
            self._arrange()

    @property
    def is_wrapped(self) -> bool:
        """True while the group is on the second line."""
        return self._is_wrapped

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
        if is_wrapped == self._is_wrapped:
            return
        self._is_wrapped = is_wrapped
        if is_wrapped:
            self._row.removeWidget(self._group)
            self._below.insertWidget(1, self._group)
        else:
            self._below.removeWidget(self._group)
            self._row.insertWidget(self._at, self._group)
