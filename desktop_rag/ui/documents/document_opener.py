"""Opens documents in their default program or in the app's own view. Qt thread."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QWidget

from desktop_rag.core.anchors import Anchor
from desktop_rag.core.domain import Document
from desktop_rag.ui.documents.document_view import DocumentSpan, DocumentView
from desktop_rag.ui.documents.external_viewer import open_in_viewer
from desktop_rag.ui.documents.file_opener import FileOpener
from desktop_rag.ui.documents.link_confirmation import confirm_and_open
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme

if TYPE_CHECKING:
    from desktop_rag.ingest.library import Library


class DocumentOpener(QObject):
    """Opens files, web pages and document views for any page."""

    def __init__(self, bridge: Bridge, library: "Library", theme: Theme, page: QWidget) -> None:
        """Dialogs and views open over `page`."""
        super().__init__(page)
        self._bridge = bridge
        self._library = library
        self._theme = theme
        self._page = page
        self._files = FileOpener(bridge, self)

    def open(self, path: Path, url: str = "", anchor: Anchor | None = None) -> None:
        """Open a file, at its page if the viewer supports it, or a web page after confirmation."""
        if url:
            confirm_and_open(url, self._page)
            return
        self._bridge.run(
            self,
            lambda: open_in_viewer(path, anchor or Anchor()),
            lambda is_open: None if is_open else self._files.open(path),
        )

    def show_in_folder(self, path: Path) -> None:
        """Open the folder that contains a file."""
        self._files.show_in_folder(path)

    def view(self, place: DocumentSpan) -> DocumentView:
        """Show a document's extracted text with the span highlighted."""
        view = DocumentView(self._bridge, self._library, self._theme, place, self._page)
        view.open_requested.connect(self._on_open_requested)
        view.show()
        return view

    @Slot(object, object)
    def _on_open_requested(self, document: Document, anchor: Anchor | None) -> None:
        self.open(document.path, document.url, anchor)
