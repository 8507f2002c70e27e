"""Detects parts of a window that were shown before they had a parent.

Each is a top-level window for a moment: it flashes and takes the focus.
"""

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QAbstractButton, QFrame, QLabel, QMenu

_PARTS = (QAbstractButton, QFrame, QLabel)


class StrayWindows(QObject):
    """An event filter for the application."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # The type last: it costs more than all else, and every event passes here.
        if isinstance(watched, _PARTS) and watched.isWindow() and event.type() is QEvent.Type.Show:
            # The drop-down list of a field is a window by design.
            is_by_intent = watched.windowType() is not watched.windowType().Window
            if not (is_by_intent or isinstance(watched, QMenu)):
                self.found.append(type(watched).__name__)
        return False
