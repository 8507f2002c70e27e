"""Opens a place of a document: in the program the desktop has for it, or in a view of our own.

Qt thread.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QWidget

from desktop_rag.core.anchors import Anchor
from desktop_rag.core.domain import Document
from desktop_rag.ui.documents.address_question import ask_to_open
from desktop_rag.ui.documents.document_view import DocumentView, PlaceInDocument
from desktop_rag.ui.documents.file_opening import FileOpener
from desktop_rag.ui.documents.open_place import open_at
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme

if TYPE_CHECKING:
    from desktop_rag.ingest.library import Library


class PlaceOpener(QObject):
    """What every page uses that can open documents."""

    def __init__(self, bridge: Bridge, library: "Library", theme: Theme, page: QWidget) -> None:
        """Questions and views open over `page`."""
        super().__init__(page)
        self._bridge = bridge
        self._library = library
        self._theme = theme
        self._page = page
        self._files = FileOpener(bridge, self)

    def open(self, path: Path, url: str = "", anchor: Anchor | None = None) -> None:
        """A file at its place, where its viewer takes one; a page of the web after a question."""
        if url:
            ask_to_open(url, self._page)
            return
        self._bridge.run(
            self,
            lambda: open_at(path, anchor or Anchor()),
            lambda is_open: None if is_open else self._files.open(path),
        )

    def show_in_folder(self, path: Path) -> None:
        """The folder that holds a file."""
        self._files.show_in_folder(path)

    def view(self, place: PlaceInDocument) -> DocumentView:
        """Show what was read of a document, with the place marked."""
        view = DocumentView(self._bridge, self._library, self._theme, place, self._page)
        view.open_asked.connect(self._on_open_asked)
        view.show()
        return view

    @Slot(object, object)
    def _on_open_asked(self, document: Document, anchor: Anchor | None) -> None:
        self.open(document.path, document.url, anchor)
