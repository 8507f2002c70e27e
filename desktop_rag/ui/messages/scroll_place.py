"""What stays in view while messages change their heights. Qt thread.

The newest text while the person is at the end, else what they look at: when rows come above, when
the text is wrapped anew, and when a place is gone to whose messages are still being laid out.
"""

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtWidgets import QScrollArea, QWidget
from shiboken6 import isValid

# Messages take their new heights within a few events after the width.
_HELD_MS = 250
# New rows take theirs one after the other.
_GROWTH_MS = 1_000
_NEAR_PX = 4


class ScrollPlace(QObject):
    """Moves the scroll bar of an area. `moved` follows every movement, `scrolled` the person's.

    `is_whole` says whether the end of what is shown is the end of all there is.
    """

    moved = Signal()
    scrolled = Signal()

    def __init__(self, area: QScrollArea, is_whole: Callable[[], bool]) -> None:
        super().__init__(area)
        self._area = area
        self._bar = area.verticalScrollBar()
        self._is_whole = is_whole
        self.is_at_end = True
        self._is_own = False
        self._distance_from_end: int | None = None
        self._growth = QTimer(self, singleShot=True, interval=_GROWTH_MS)
        # While the width changes: a message, and the share of its height that stays in view.
        self._held: tuple[QWidget, float] | None = None
        self._sought: Callable[[], int | None] | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_HELD_MS)
        self._timer.timeout.connect(self._let_go)
        self._bar.rangeChanged.connect(self._on_range_changed)
        self._bar.valueChanged.connect(self._on_value_changed)
        self._bar.actionTriggered.connect(self.release)

    def follow_end(self) -> None:
        """Go to the end, and stay there."""
        self._let_go()
        self.is_at_end = True
        self._move(self._bar.maximum())

    def seek(self, place: Callable[[], int | None]) -> None:
        """Go to a height within the area's content, which is asked for until it has settled."""
        self._distance_from_end, self._held = None, None
        self.is_at_end, self._sought = False, place
        self.seek_again()

    def show_widget(self, widget: QWidget) -> None:
        """Bring the top of a widget into view, which is still being laid out."""
        self.seek(lambda: self._top_of(widget) if isValid(widget) else None)

    def seek_again(self) -> None:
        """Go on seeking, because something was added."""
        if self._sought is None:
            return
        if (height := self._sought()) is not None:
            self._move(height - self._third())
        self._timer.start()

    def hold(self, items: Callable[[], list[QWidget]]) -> None:
        """Keep the item across the upper third in view, because the width changes."""
        if self._held is None:
            self._held = self._item_in_view(items())
        self._timer.start()

    def keep_distance_from_end(self) -> None:
        """Keep in view what is in view while rows are added above, wherever the person scrolls."""
        self._distance_from_end = self._bar.maximum() - self._bar.value()
        self._growth.start()

    def shorten(self, height_px: int) -> None:
        """So much is taken away at the end."""
        if self._distance_from_end is not None:
            self._distance_from_end -= height_px

    @Slot()
    def release(self) -> None:
        """The person scrolls."""
        self._distance_from_end = None
        self._let_go()

    def _third(self) -> int:
        return self._area.viewport().height() // 3

    def _item_in_view(self, items: list[QWidget]) -> tuple[QWidget, float] | None:
        """The item across the upper third of the window, and how far down in it that is."""
        at = self._bar.value() + self._third()
        for item in items:
            top = self._top_of(item)
            if top <= at < top + item.height():
                return item, (at - top) / item.height()
        return None

    def _top_of(self, item: QWidget) -> int:
        """Its top within the content."""
        return self._bar.value() + item.mapTo(self._area.viewport(), item.rect().topLeft()).y()

    def _move(self, value: int) -> None:
        self._is_own = True
        self._bar.setValue(value)
        self._is_own = False

    @Slot()
    def _let_go(self) -> None:
        self._timer.stop()
        self._held = self._sought = None

    @Slot()
    def _on_range_changed(self) -> None:
        if self.is_at_end:
            self._move(self._bar.maximum())
        elif self._sought is not None:
            self.seek_again()
        elif self._held is not None and isValid(self._held[0]):
            # Text that is wrapped anew, as beside a panel that opens, stays where it is read.
            item, share = self._held
            self._move(round(self._top_of(item) + share * item.height()) - self._third())
            self._timer.start()
        elif self._distance_from_end is not None:
            self._move(self._bar.maximum() - self._distance_from_end)
        self.moved.emit()

    @Slot(int)
    def _on_value_changed(self, value: int) -> None:
        self.is_at_end = self._is_whole() and value >= self._bar.maximum() - _NEAR_PX
        if not self._is_own:
            self._held = None
            if self._growth.isActive():
                self._distance_from_end = self._bar.maximum() - value
            self.scrolled.emit()
        self.moved.emit()
