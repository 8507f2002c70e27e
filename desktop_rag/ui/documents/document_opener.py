"""Opens documents: to be read in the app, or in another program. Qt thread."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QWidget

from desktop_rag.core.anchors import Anchor
from desktop_rag.core.domain import Document
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import Notice
from desktop_rag.core.question_scope import QuestionScope, ScopeItem
from desktop_rag.ui.documents.document_details import DocumentDetails
from desktop_rag.ui.documents.external_viewer import open_in_viewer
from desktop_rag.ui.documents.file_opener import FileOpener, Refused
from desktop_rag.ui.documents.link_confirmation import confirm_and_open
from desktop_rag.ui.foundation.ask_request import AskAboutRequested
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.passwords.password_actions import PasswordActions
from desktop_rag.ui.reading.reading_pane import ReadingPane
from desktop_rag.ui.reading.reading_window import ReadingWindow
from desktop_rag.ui.viewers.document_span import DocumentSpan

if TYPE_CHECKING:
    from desktop_rag.ingest.library import Library


class DocumentOpener(QObject):
    """Opens files, web pages and documents for any page."""

    def __init__(self, bridge: Bridge, library: "Library", theme: Theme, page: QWidget) -> None:
        """Dialogs and windows open over `page`."""
        super().__init__(page)
        self._bridge = bridge
        self._library = library
        self._theme = theme
        self._page = page
        self._files = FileOpener(bridge, self)
        self._passwords = PasswordActions(bridge, library, page)

    def open(
        self, path: Path, url: str = "", anchor: Anchor | None = None,
        refused: Refused | None = None,
    ) -> None:  # fmt: skip
        """Open a file, at its page if the viewer supports it, or a web page after confirmation.

        `refused` is told when that fails; without it the window says so.
        """
        if url:
            confirm_and_open(url, self._page)
            return
        self._bridge.run(
            self,
            lambda: open_in_viewer(path, anchor or Anchor()),
            lambda is_open: None if is_open else self._files.open(path, refused),
            refused,
        )

    def show_in_folder(self, path: Path, refused: Refused | None = None) -> None:
        """Open the folder that contains a file."""
        self._files.show_in_folder(path, refused)

    def read(self, place: DocumentSpan) -> ReadingWindow:
        """Show a document at its words, in a window of its own."""
        window = ReadingWindow(self._bridge, self._library, self._theme, place, self._page)
        self.serve(window.pane)
        window.show()
        return window

    def serve(self, pane: ReadingPane) -> None:
        """Do what is asked for in a pane that shows documents."""

        def open_elsewhere(document: Document, anchor: Anchor) -> None:
            self.open(document.path, document.address, anchor, pane.show_failure)

        def show_folder(document: Document) -> None:
            self.show_in_folder(document.path, self._say)

        pane.open_requested.connect(open_elsewhere)
        pane.ask_requested.connect(self.ask_about)
        pane.folder_requested.connect(show_folder)
        pane.window_requested.connect(self.read)
        pane.details_requested.connect(self.show_details)
        pane.password_requested.connect(self._passwords.ask)
        pane.address_clicked.connect(lambda address: confirm_and_open(address, self._page))

    @Slot(object)
    def ask_about(self, document: Document) -> None:
        """Let the person ask about a document."""
        scope = QuestionScope.of(ScopeItem.of_document(document))
        self._bridge.post(AskAboutRequested(scope))

    @Slot(object)
    def show_details(self, place: DocumentSpan) -> DocumentDetails:
        """Show what the library knows of a document: its state, its passages."""
        details = DocumentDetails(self._bridge, self._library, self._theme, place, self._page)
        details.show()
        return details

    def _say(self, error: AppError) -> None:
        self._bridge.post(Notice(error.title, error.hint))
