"""Files dropped anywhere onto a widget. Qt thread."""

from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject, Qt, Signal
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QWidget

from desktop_rag.ui.widgets.controls import set_property

_DRAGS = frozenset({QEvent.Type.DragEnter, QEvent.Type.DragMove})


def local_files(data: QMimeData) -> list[Path]:
    """The files of this computer that are dragged or copied."""
    return [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]


class FileDrop(QObject):
    """Lets a widget take files; `dropped` carries their paths.

    While files are held over it, `marked` has the property `dropping` for the style.
    """

    dropped = Signal(object)

    def __init__(self, widget: QWidget, marked: QWidget) -> None:
        super().__init__(widget)
        self._marked = marked
        widget.setAcceptDrops(True)
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.DragLeave:
            set_property(self._marked, "dropping", False)
        if not isinstance(event, QDropEvent) or not local_files(event.mimeData()):
            return super().eventFilter(watched, event)
        # Never "move": the program they come from would delete them.
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
        is_held = event.type() in _DRAGS
        set_property(self._marked, "dropping", is_held)
        if not is_held:
            self.dropped.emit(local_files(event.mimeData()))
        return True
