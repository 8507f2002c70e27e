"""What can be done with the results that are selected: ask, tag, open, narrow down. Qt thread."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from desktop_rag.core.domain import Document
from desktop_rag.core.language.translation import count_of, tr
from desktop_rag.core.question_scope import QuestionScope, ScopeItem
from desktop_rag.ui.documents.document_opener import DocumentOpener
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.passages.found_passage import copied
from desktop_rag.ui.search.filter_choices import folder_filter
from desktop_rag.ui.search.result_list import ResultList
from desktop_rag.ui.tags.tag_actions import TagActions

if TYPE_CHECKING:
    from desktop_rag.ingest.library import Library

# A scope of more files than this is better named by a filter.
MOST_ASKED = 100


class ResultActions(QObject):
    """Acts on the selection of a list. `filter_added` carries a SearchFilter."""

    ask_requested = Signal(object)
    filter_added = Signal(object)
    read_requested = Signal()
    tags_changed = Signal()

    def __init__(
        self,
        bridge: Bridge,
        library: "Library",
        opener: DocumentOpener,
        results: ResultList,
        page: QWidget,
    ) -> None:
        super().__init__(page)
        self._opener = opener
        self._results = results
        self._page = page
        self._tags = TagActions(bridge, library, page)
        self._tags.changed.connect(self.tags_changed)
        results.menu_requested.connect(self._show_menu)

    @property
    def asked(self) -> Sequence[Document]:
        """The documents that a question would be about: those selected, else all, if not many."""
        if selected := self._results.selected:
            return selected
        files = self._results.results.files
        return [file.document for file in files] if len(files) <= MOST_ASKED else []

    def ask_in_words(self) -> str:
        """The words on the button."""
        asked, is_all = self.asked, not self._results.selected
        if len(asked) == 1:
            return tr("Ask about this file")
        files = count_of(len(asked), tr("file"), tr("files"))
        if not (is_all and asked):
            return tr("Ask about {files}", files=files)
        if self._results.results.are_best:
            return tr("Ask about these {files}", files=files)
        return tr("Ask about all {files}", files=files)

    @Slot()
    def ask(self) -> None:
        """Ask about the selection."""
        if asked := self.asked:
            items = (ScopeItem.of_document(document) for document in asked)
            self.ask_requested.emit(QuestionScope.of(*items))

    @Slot()
    def edit_tags(self) -> None:
        """Change the tags of the selected files."""
        self._tags.edit(self._results.selected)

    @Slot()
    def open(self) -> None:
        """Open the current result in another program, at its place."""
        if found := self._results.current:
            document = self._results.results.document(found.passage)
            self._opener.open(document.path, document.address, found.passage.anchor)

    @Slot(QPoint)
    def _show_menu(self, place: QPoint) -> None:
        if self._results.selected:
            self.make_menu().popup(place)

    def make_menu(self) -> QMenu:
        """The menu for the selection."""
        found = self._results.current
        menu = QMenu(self._page)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self.ask_in_words(), self.ask)
        if found:
            document = self._results.results.document(found.passage)
            menu.addAction(tr("Read"), self.read_requested.emit)
            menu.addAction(tr("Open in another program"), self.open)
            if not document.url:
                menu.addAction(
                    tr("Show in folder"), lambda: self._opener.show_in_folder(document.path)
                )
                menu.addAction(
                    tr("Search only this folder"),
                    lambda: self.filter_added.emit(folder_filter(document.path.parent)),
                )
            menu.addSeparator()
            passage = found.passage
            menu.addAction(
                tr("Copy passage with its source"),
                lambda: QGuiApplication.clipboard().setText(copied(passage)),
            )
        menu.addAction(tr("Tags…"), self.edit_tags)
        return menu
