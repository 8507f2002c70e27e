"""A change that takes effect once it can no longer be undone. Qt thread."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from desktop_rag.core.library_events import Notice


class DelayedChange(QObject):
    """A change that waits. `ended` follows when it is made or undone."""

    ended = Signal()

    def __init__(
        self,
        notice: Notice,
        make: Callable[[], None],
        undo: Callable[[], None],
        parent: QObject | None = None,
    ) -> None:
        """`notice` describes the change as already made."""
        super().__init__(parent)
        self.notice = notice
        self._make = make
        self._undo = undo
        self._is_over = False

    def make(self) -> None:
        """Make the change, unless it was made or undone."""
        self._end(self._make)

    def undo(self) -> None:
        """Leave everything as it was, unless the change was made."""
        self._end(self._undo)

    def _end(self, how: Callable[[], None]) -> None:
        if not self._is_over:
            self._is_over = True
            how()
            self.ended.emit()
