"""Keeps everything where it is while a mouse button is down. Qt thread.

A press and its release must meet the same widget. Leaving a field, or a result from another
thread, may move a button away in between, and the click is lost.
"""

import time

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLineEdit

# A click is shorter. A button that is held down to select text or to drag must not stop a stream.
_LONGEST_CLICK_S = 0.4
_POLL_MS = 15


def is_pressed() -> bool:
    """True while a mouse button is down."""
    return QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton


class ClickWatch:
    """Tells whether a press is so recent that it may become a click."""

    def __init__(self) -> None:
        self._since: float | None = None

    def is_clicking(self) -> bool:
        """True from a press to its release, for the length of a click at most."""
        if not is_pressed():
            self._since = None
            return False
        now = time.monotonic()
        if self._since is None:
            self._since = now
        return now - self._since < _LONGEST_CLICK_S


class EditEnd(QObject):
    """Emits `ended` when editing a field is finished, but not while a mouse button is down."""

    ended = Signal()

    def __init__(self, field: QLineEdit) -> None:
        super().__init__(field)
        self._is_waiting = False
        field.editingFinished.connect(self._on_finished)

    def settle(self) -> None:
        """Emit `ended` now if it is waiting for a release."""
        if self._is_waiting:
            self._is_waiting = False
            self.ended.emit()

    @Slot()
    def _on_finished(self) -> None:
        if not is_pressed():
            self._is_waiting = False
            self.ended.emit()
        elif not self._is_waiting:
            self._is_waiting = True
            QTimer.singleShot(_POLL_MS, self, self._on_polled)

    @Slot()
    def _on_polled(self) -> None:
        if self._is_waiting and is_pressed():
            QTimer.singleShot(_POLL_MS, self, self._on_polled)
        else:
            self.settle()
