"""A splitter with side panels; a narrow window shows only one of them at a time. Qt thread."""

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QWidget

NARROW_PX = 960
_SIZES_PX = (220, 600, 340)
_MIN_PX = (180, 320, 260)


class SidePanels(QSplitter):
    """Shows the left panel unless it is closed, and the right one while it has content."""

    def __init__(
        self, left: QWidget, middle: QWidget, right: QWidget, parent: QWidget | None = None
    ) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._left = left
        self._right = right
        self._is_left_wanted = True
        self._is_right_wanted = True
        self._has_right = False
        self.setHandleWidth(1)
        for position, widget in enumerate((left, middle, right)):
            widget.setMinimumWidth(_MIN_PX[position])
            self.addWidget(widget)
            self.setStretchFactor(position, int(widget is middle))
            self.setCollapsible(position, False)
        self.setSizes(list(_SIZES_PX))
        self._arrange()

    def set_right_content(self, *, has_content: bool) -> None:
        """Set to True while the right panel has content."""
        self._has_right = has_content
        self._arrange()

    def open_right(self) -> None:
        """Show the right panel, even if it was closed."""
        self._is_right_wanted = True
        self._arrange()

    @Slot()
    def toggle_right(self) -> None:
        """Close or show the right panel."""
        self._is_right_wanted = self._right.isHidden()
        self._arrange()

    @Slot()
    def toggle_left(self) -> None:
        """Close or show the left panel, which replaces the right one in a narrow window."""
        self._is_left_wanted = self._left.isHidden()
        if self._is_left_wanted and self.width() < NARROW_PX:
            self._is_right_wanted = False
        self._arrange()

    def _arrange(self) -> None:
        is_right_shown = self._is_right_wanted and self._has_right
        self._right.setVisible(is_right_shown)
        is_narrow = self.width() < NARROW_PX
        self._left.setVisible(self._is_left_wanted and not (is_narrow and is_right_shown))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()
