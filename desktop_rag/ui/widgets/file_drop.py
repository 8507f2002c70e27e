"""Drag and drop of files onto a widget. Qt thread."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject, Qt, Signal
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QWidget

from desktop_rag.ui.widgets.controls import set_property

_DRAGS = frozenset({QEvent.Type.DragEnter, QEvent.Type.DragMove})


def local_files(data: QMimeData) -> list[Path]:
    """The local files among dragged or copied data."""
    return [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]


def is_model(path: Path) -> bool:
    """True for the file of a model, which is dropped onto the window, not into a part of it."""
    return path.suffix.casefold() == ".gguf"


def is_paper(path: Path) -> bool:
    """True for any other file or folder."""
    return not is_model(path)


class FileDrop(QObject):
    """Makes a widget accept files that it `takes`; `dropped` carries their paths.

    While files hover over it, `marked` has the property `dropping` for the style sheet.
    """

    dropped = Signal(object)

    def __init__(
        self, widget: QWidget, marked: QWidget, takes: Callable[[Path], bool] = is_paper
    ) -> None:
        super().__init__(widget)
        self._marked = marked
        self._takes = takes
        widget.setAcceptDrops(True)
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.DragLeave:
            set_property(self._marked, "dropping", False)
        if not isinstance(event, QDropEvent):
            return super().eventFilter(watched, event)
        files = local_files(event.mimeData())
        if not any(map(self._takes, files)):
            return super().eventFilter(watched, event)
        # Never "move": the source program would delete the files.
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
        is_hovering = event.type() in _DRAGS
        set_property(self._marked, "dropping", is_hovering)
        if not is_hovering:
            self.dropped.emit(files)
        return True
