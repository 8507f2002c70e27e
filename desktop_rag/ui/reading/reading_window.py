"""A document in a window of its own. Qt thread."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.reading.reading_pane import ReadingPane
from desktop_rag.ui.viewers.document_span import DocumentSpan

if TYPE_CHECKING:
    from desktop_rag.ingest.library import Library

_WIDTH_PX, _HEIGHT_PX = 900, 780


class ReadingWindow(QWidget):
    """A ReadingPane that stays open beside the window; Esc closes it."""

    def __init__(
        self, bridge: Bridge, library: "Library", theme: Theme, place: DocumentSpan,
        parent: QWidget,
    ) -> None:  # fmt: skip
        super().__init__(parent, Qt.WindowType.Window)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Document"))
        self.pane = ReadingPane(bridge, library, theme, is_window=True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.pane)
        room = parent.screen().availableSize()
        self.resize(min(_WIDTH_PX, room.width()), min(_HEIGHT_PX, room.height()))
        self.pane.close_requested.connect(self.close)
        self.pane.title_changed.connect(self._on_title)
        self.pane.read(place)

    @Slot(str)
    def _on_title(self, title: str) -> None:
        self.setWindowTitle(title or tr("Document"))
