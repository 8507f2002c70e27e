"""The views of all kinds of content, of which one is shown. Qt thread."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.reading.document_loading import Loaded
from desktop_rag.ui.viewers.code_viewer import CodeViewer
from desktop_rag.ui.viewers.content_kind import ContentKind
from desktop_rag.ui.viewers.mail_viewer import MailViewer
from desktop_rag.ui.viewers.page_viewer import PageViewer
from desktop_rag.ui.viewers.pages_viewer import PagesViewer
from desktop_rag.ui.viewers.sheet_viewer import SheetViewer
from desktop_rag.ui.viewers.slides_viewer import SlidesViewer
from desktop_rag.ui.viewers.viewer import Viewer

if TYPE_CHECKING:
    from desktop_rag.ingest.library import Library


class ViewerStack(QStackedWidget):
    """Builds a view for each document, so that nothing of the one before remains."""

    place_changed = Signal(str)
    address_clicked = Signal(str)
    part_opened = Signal(str)
    path_clicked = Signal(str, str)
    pages_failed = Signal(object)

    def __init__(
        self, bridge: Bridge, library: "Library", theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._library = library
        self._theme = theme
        self.viewer: Viewer | None = None

    def clear(self) -> None:
        """Show nothing."""
        if self.viewer is not None:
            self.viewer.leave()
            self.viewer.hide()
            self.removeWidget(self.viewer)
            self.viewer.deleteLater()
            self.viewer = None

    def show_loaded(self, loaded: Loaded) -> Viewer:
        """Show a document in place of the one before."""
        self.clear()
        viewer = self._built(loaded)
        viewer.place_changed.connect(self.place_changed)
        viewer.address_clicked.connect(self.address_clicked)
        viewer.part_opened.connect(self.part_opened)
        viewer.path_clicked.connect(self.path_clicked)
        self.viewer = viewer
        self.addWidget(viewer)
        self.setCurrentWidget(viewer)
        # Once it has its size, which decides where the words come to lie.
        self._fill(viewer, loaded)
        return viewer

    def _built(self, loaded: Loaded) -> Viewer:
        match loaded.kind:
            case ContentKind.PAGES:
                pages = PagesViewer(self._bridge, self._library, self._theme, self)
                pages.failed.connect(self.pages_failed)
                return pages
            case ContentKind.SHEETS:
                return SheetViewer(self._theme, self)
            case ContentKind.SLIDES:
                return SlidesViewer(self._bridge, self._theme, self)
            case ContentKind.MAIL:
                return MailViewer(self._bridge, self._theme, self)
            case ContentKind.CODE:
                return CodeViewer(self._bridge, self._library, self._theme, self)
            case _:
                return PageViewer(self._bridge, self._theme, self)

    @staticmethod
    def _fill(viewer: Viewer, loaded: Loaded) -> None:
        match viewer:
            case SheetViewer():
                viewer.show_grids(loaded.grids, loaded.span)
            case CodeViewer() if loaded.stored and loaded.lines:
                viewer.show_document(loaded.stored, loaded.lines, loaded.span)
            case PagesViewer() | SlidesViewer() | MailViewer() if loaded.stored:
                viewer.show_document(loaded.stored, loaded.span)
            case PageViewer() if loaded.page:
                viewer.show_source(loaded.page, loaded.span)
            case _:
                raise AssertionError(loaded.kind)
