"""Shows the sources that a dialog names, in windows over it. Qt thread."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QDialog

from desktop_rag.core.conversation import SourceRef
from desktop_rag.ui.documents.document_opener import DocumentOpener
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.viewers.document_span import span_of

if TYPE_CHECKING:
    from desktop_rag.ingest.library import Library


class DialogReading(QObject):
    """Belongs to the dialog; its windows are closed with it.

    Who asks about a document goes on in the chat: the dialog would be in the way.
    """

    def __init__(self, bridge: Bridge, library: "Library", theme: Theme, dialog: QDialog) -> None:
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
        """The source with the id that its file has now: a run may have had its own library."""
        documents, path = self._library.documents, Path(source.path)
        if documents.get(source.document_id):
            return source
        same = (d.document_id for d in documents.below(path) if d.part == source.part)
        return replace(source, document_id=next(same, source.document_id))

    def _show(self, source: SourceRef) -> None:
        window = self._opener.read(span_of(source))
        window.pane.ask_requested.connect(self._dialog.reject)
