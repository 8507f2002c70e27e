"""Detects parts of a window that were shown before they had a parent.

Each is a top-level window for a moment: it flashes and takes the focus.
"""

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QAbstractButton, QFrame, QLabel, QMenu, QWidget

_PARTS = (QAbstractButton, QFrame, QLabel)


class StrayWindows(QObject):
    """An event filter for the application."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Show and isinstance(watched, QWidget):
            is_part = isinstance(watched, _PARTS) and not isinstance(watched, QMenu)
            # The drop-down list of a field is a window by design.
            is_by_intent = watched.windowType() is not watched.windowType().Window
            if watched.isWindow() and is_part and not is_by_intent:
                self.found.append(type(watched).__name__)
        return False
