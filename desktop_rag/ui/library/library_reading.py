"""The library with a document beside it. Qt thread."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QWidget
from shiboken6 import isValid

from desktop_rag.ui.documents.document_opener import DocumentOpener
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.reading.reading_pane import ReadingPane
from desktop_rag.ui.viewers.document_span import DocumentSpan

if TYPE_CHECKING:
    from desktop_rag.ingest.library import Library

_SHARE = 0.45
_LEAST_PX = 320


class LibraryReading(QSplitter):
    """Shows the library alone until a document is read. The pane is made when it is needed."""

    def __init__(
        self, bridge: Bridge, library: "Library", theme: Theme, opener: DocumentOpener,
        parent: QWidget | None = None,
    ) -> None:  # fmt: skip
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._bridge = bridge
        self._library = library
        self._theme = theme
        self._opener = opener
        self._pane: ReadingPane | None = None
        self._focus_before: QWidget | None = None
        # Of the width, what the document gets: the person's choice once there is one.
        self._share = _SHARE
        self.setHandleWidth(8)
        self.splitterMoved.connect(self._on_moved)
        self.setChildrenCollapsible(False)

    @property
    def is_reading(self) -> bool:
        """True while a document is shown."""
        return self._pane is not None and self._pane.isVisibleTo(self)

    def read(self, document_id: str) -> None:
        """Show a document beside the library; the keyboard goes there."""
        pane = self._pane or self._make_pane()
        if not self.is_reading:
            self._focus_before = self.window().focusWidget()
            pane.show()
            self._arrange()
        pane.read(DocumentSpan(document_id))

    @Slot()
    def close_document(self) -> None:
        """Show the library alone; the keyboard goes back to where it was."""
        if self._pane is None:
            return
        self._pane.hide()
        before, self._focus_before = self._focus_before, None
        if before is not None and isValid(before) and before.isVisible():
            before.setFocus(Qt.FocusReason.OtherFocusReason)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self.is_reading:
            self._arrange()

    def _arrange(self) -> None:
        right = round(self.width() * self._share)
        self.setSizes([self.width() - right, right])

    @Slot()
    def _on_moved(self) -> None:
        if self.is_reading and self._pane is not None:
            self._share = self._pane.width() / max(1, self.width())

    def _make_pane(self) -> ReadingPane:
        pane = ReadingPane(self._bridge, self._library, self._theme, self)
        self._opener.serve(pane)
        pane.close_requested.connect(self.close_document)
        pane.library_requested.connect(self.close_document)
        self.addWidget(pane)
        for position in range(self.count()):
            if beside := self.widget(position):
                beside.setMinimumWidth(_LEAST_PX)
        self._pane = pane
        return pane
