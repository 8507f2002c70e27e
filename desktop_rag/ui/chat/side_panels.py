"""A splitter with side panels; a narrow window shows only one of them at a time. Qt thread.

On the right there are two: the sources of an answer, or in their place the document that is read,
which has a width of its own.
"""

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QStackedWidget, QWidget

NARROW_PX = 960
_LEFT_PX, _SOURCES_PX = 220, 340
_MIN_PX = (180, 320, 260)
_MIN_READING_PX = 340
# Of the whole width, while the person has not chosen another.
_READING_SHARE = 0.42
_SETTLE_MS = 400


class SidePanels(QSplitter):
    """Shows the left panel unless it is closed, and the right one while it has content.

    `reading_width_chosen` carries the width in pixels that the person gave the document.
    """

    reading_width_chosen = Signal(int)

    def __init__(
        self,
        left: QWidget,
        middle: QWidget,
        sources: QWidget,
        reading: QWidget,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._left = left
        self._sources = sources
        self._reading = reading
        self._right = QStackedWidget()
        self._right.addWidget(sources)
        self._right.addWidget(reading)
        self._is_left_wanted = True
        self._is_right_wanted = True
        self._has_right = False
        self._is_reading = False
        self._reading_px = 0
        self._sources_px = _SOURCES_PX
        self.setHandleWidth(1)
        for position, widget in enumerate((left, middle, self._right)):
            widget.setMinimumWidth(_MIN_PX[position])
            self.addWidget(widget)
            self.setStretchFactor(position, int(widget is middle))
            self.setCollapsible(position, False)
        self.setSizes([_LEFT_PX, 600, _SOURCES_PX])
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_SETTLE_MS)
        self._timer.timeout.connect(self._tell_width)
        self.splitterMoved.connect(self._on_moved)
        self._arrange()

    def set_right_content(self, *, has_content: bool) -> None:
        """Set to True while there are sources to show."""
        self._has_right = has_content
        self._arrange()

    @property
    def is_reading(self) -> bool:
        """True while a document is shown."""
        return self._is_reading

    def set_reading_width(self, width_px: int) -> None:
        """The width that the person gave the document earlier."""
        self._reading_px = width_px

    def open_reading(self) -> None:
        """Show the document in place of the sources."""
        if not self._is_reading:
            self._is_reading = True
            self._right.setCurrentWidget(self._reading)
            self._arrange()
            self._give_right(self._reading_px or round(self.width() * _READING_SHARE))

    @Slot()
    def close_reading(self) -> None:
        """Show the sources again, if they are wanted."""
        if self._is_reading:
            self._is_reading = False
            self._right.setCurrentWidget(self._sources)
            self._arrange()
            self._give_right(self._sources_px)

    def open_right(self) -> None:
        """Show the sources, even if they were closed."""
        self._is_right_wanted = True
        self._arrange()

    @Slot()
    def toggle_right(self) -> None:
        """Close or show the sources."""
        self._is_right_wanted = self._right.isHidden()
        self._arrange()

    @Slot()
    def toggle_left(self) -> None:
        """Close or show the left panel, which replaces the right one in a narrow window."""
        self._is_left_wanted = self._left.isHidden()
        if self._is_left_wanted and self.width() < NARROW_PX:
            self._is_right_wanted = False
            self.close_reading()
        self._arrange()

    def _arrange(self) -> None:
        is_right_shown = self._is_reading or (self._is_right_wanted and self._has_right)
        self._right.setVisible(is_right_shown)
        is_narrow = self.width() < NARROW_PX
        self._left.setVisible(self._is_left_wanted and not (is_narrow and is_right_shown))

    def _give_right(self, width_px: int) -> None:
        """Give the right panel this width, at the cost of the middle one."""
        left, middle, right = self.sizes()
        least = _MIN_READING_PX if self._is_reading else _MIN_PX[2]
        room = middle + right - _MIN_PX[1]
        width_px = max(_MIN_PX[2], min(max(width_px, least), room))
        self.setSizes([left, middle + right - width_px, width_px])

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    @Slot(int, int)
    def _on_moved(self, _position: int, _handle: int) -> None:
        width_px = self._right.width()
        if not self._right.isVisible():
            return
        if self._is_reading:
            self._reading_px = width_px
            self._timer.start()
        else:
            self._sources_px = width_px

    @Slot()
    def _tell_width(self) -> None:
        self.reading_width_chosen.emit(self._reading_px)
