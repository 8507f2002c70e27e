"""A change that is made once the time to undo it is over. Qt thread."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from desktop_rag.core.library_events import Notice


class DelayedChange(QObject):
    """Until it is made it can be undone; `ended` follows the first of both."""

    ended = Signal()

    def __init__(
        self,
        notice: Notice,
        make: Callable[[], None],
        undo: Callable[[], None],
        parent: QObject | None = None,
    ) -> None:
        """`notice` says what is done, as if it were."""
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
