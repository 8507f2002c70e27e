"""A row of controls of which some go below the others where there is no room for all. Qt thread."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget, QWidgetItem


class FoldingRow(QWidget):
    """`row` with the `group` before its widget number `at`, or below where it is narrow.

    One of `row` takes what room is left, `least_px` at the least before the group goes below.
    Below, the group stands on the right if it `ends` there, else on the left.
    """

    def __init__(
        self,
        row: Sequence[QWidget],
        group: Sequence[QWidget],
        *,
        at: int,
        stretched: int,
        least_px: int,
        ends: bool = False,
        spacing: int = 2,
    ) -> None:
        super().__init__()
        self._others, self._at, self._least_px = row, at, least_px
        self._stretched = row[stretched]
        self._is_folded = False
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
        self._below.addStretch(int(ends))
        self._below.addStretch(int(not ends))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(spacing)
        column.addLayout(self._row)
        column.addLayout(self._below)

    @property
    def is_folded(self) -> bool:
        """Whether the group stands below."""
        return self._is_folded

    def minimumSizeHint(self) -> QSize:
        """As narrow as the wider of two rows: else it would never get narrow enough to fold."""
        width = max(self._row_px(), self._group.minimumSizeHint().width())
        return QSize(width, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            # Something came, went or says something else.
            self._arrange()
        return super().event(event)

    def _row_px(self) -> int:
        """What the row takes without the group, at the least."""
        widths = [QWidgetItem(w).minimumSize().width() for w in self._others if not w.isHidden()]
        return sum(widths) + self._row.spacing() * len(widths)

    def _arrange(self) -> None:
        stretched_px = QWidgetItem(self._stretched).minimumSize().width()
        missing_px = max(0, self._least_px - stretched_px)
        is_folded = self.width() < self._row_px() + missing_px + self._group.sizeHint().width()
        if is_folded == self._is_folded:
            return
        self._is_folded = is_folded
        if is_folded:
            self._row.removeWidget(self._group)
            self._below.insertWidget(1, self._group)
        else:
            self._below.removeWidget(self._group)
            self._row.insertWidget(self._at, self._group)
