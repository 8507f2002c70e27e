"""A document beside a page, or in its place without room for both; and over a dialog. Qt thread."""

from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QDialog, QSplitter, QWidget
from shiboken6 import isValid

from desktop_rag.core.conversation import SourceRef
from desktop_rag.ingest.library import Library
from desktop_rag.ui.documents.document_opener import DocumentOpener
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.reading.reading_pane import ReadingPane
from desktop_rag.ui.viewers.viewer import DocumentSpan, span_of

_SHARE = 0.45
_LEAST_PX = 320
# More than both minimums: a window that shows both can still be made narrower.
_NARROW_PX = 700


class DocumentBeside(QSplitter):
    """Shows the added widgets alone until a document is read.

    The pane is built when it is needed.
    """

    def __init__(
        self, bridge: Bridge, library: Library, theme: Theme, opener: DocumentOpener
    ) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._bridge = bridge
        self._library = library
        self._theme = theme
        self._opener = opener
        self._pane: ReadingPane | None = None
        self._focus_before: QWidget | None = None
        # The document's share of the width, which the person may change.
        self._share = _SHARE
        self.setHandleWidth(8)
        self.splitterMoved.connect(self._on_moved)
        self.setChildrenCollapsible(False)

    @property
    def is_reading(self) -> bool:
        """True while a document is shown."""
        return self._pane is not None and self._pane.isVisibleTo(self)

    def read(self, place: DocumentSpan) -> None:
        """Show a document at its words and focus it."""
        pane = self._pane or self._make_pane()
        if not self.is_reading:
            self._focus_before = self.window().focusWidget()
            pane.show()
            self._arrange()
        pane.read(place)

    @Slot(str)
    def read_document(self, document_id: str) -> None:
        """Show a document from its beginning."""
        self.read(DocumentSpan(document_id))

    @Slot(object)
    def read_source(self, source: SourceRef) -> None:
        """Show the document of a source at the cited words."""
        self.read(span_of(source))

    @Slot()
    def close_document(self) -> None:
        """Show the page alone; the focus returns to where it was."""
        if self._pane is None:
            return
        self._pane.hide()
        self._arrange()
        before, self._focus_before = self._focus_before, None
        if before is not None and isValid(before) and before.isVisible():
            before.setFocus(Qt.FocusReason.OtherFocusReason)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        has_room = self.width() >= _NARROW_PX
        for position in range(self.count()):
            beside = self.widget(position)
            if beside is not None and beside is not self._pane:
                beside.setVisible(has_room or not self.is_reading)
        if self.is_reading and has_room:
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
        self.addWidget(pane)
        for position in range(self.count()):
            if beside := self.widget(position):
                beside.setMinimumWidth(_LEAST_PX)
        self._pane = pane
        return pane


class DialogReading(QObject):
    """Shows sources named by a dialog in windows over it, which close with the dialog.

    Asking about a document closes the dialog, since the chat goes on behind it.
    """

    def __init__(self, bridge: Bridge, library: Library, theme: Theme, dialog: QDialog) -> None:
        super().__init__(dialog)
        self._bridge = bridge
        self._library = library
        self._dialog = dialog
        self._opener = DocumentOpener(bridge, library, theme, dialog)

    @Slot(object)
    def read(self, source: SourceRef) -> None:
        """Show the document of a source at the cited words."""
        self._bridge.run(self, lambda: self._in_library(source), self._show)

    def _in_library(self, source: SourceRef) -> SourceRef:
        """The source with its file's present id: a run may have had its own library."""
        documents, path = self._library.documents, Path(source.path)
        if documents.get(source.document_id):
            return source
        same = (d.document_id for d in documents.below(path) if d.part == source.part)
        return replace(source, document_id=next(same, source.document_id))

    def _show(self, source: SourceRef) -> None:
        window = self._opener.read(span_of(source))
        window.pane.ask_requested.connect(self._dialog.reject)
