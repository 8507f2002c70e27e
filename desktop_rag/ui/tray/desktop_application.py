"""The application object, and what the desktop hands to it while it runs, as macOS does.

Qt thread. Other systems start the program again, with the link or the path.
"""

from pathlib import Path

from PySide6.QtCore import QEvent, Signal
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication

from desktop_rag.core.errors import AppError
from desktop_rag.desktop.requests import DesktopRequest, QuickAskRequested, request_of_url


class DesktopApplication(QApplication):
    """`requested` carries the request in a link, a quick ask about a file, or an AppError."""

    requested = Signal(object)

    def event(self, event: QEvent) -> bool:
        if not isinstance(event, QFileOpenEvent):
            return super().event(event)
        self.requested.emit(request_of(event))
        return True


def request_of(event: QFileOpenEvent) -> DesktopRequest | AppError:
    """What the desktop asks for."""
    if event.file():
        return QuickAskRequested(about=(Path(event.file()),))
    try:
        return request_of_url(event.url().toString())
    except AppError as error:
        return error
