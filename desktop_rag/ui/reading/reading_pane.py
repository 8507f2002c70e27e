"""A document at the cited words: a pane beside the chat, or a window. Qt thread.

The document is read from the library through the bridge; its file is looked at afterwards, since
that may take long.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import unquote

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from desktop_rag.core.domain import Document, FileCondition
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.core.shared_library import is_shared
from desktop_rag.ui.foundation.bridge import Bridge, Job
from desktop_rag.ui.foundation.error_words import hint_of, title_of
from desktop_rag.ui.foundation.place_words import place_in_words
from desktop_rag.ui.foundation.shortcuts import INSIDE, PLACE, bind
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.reading.document_loading import Loaded, load
from desktop_rag.ui.reading.document_state import (
    StateNotice,
    WayOut,
    notice_of_file,
    notice_of_pages,
    notice_of_text,
)
from desktop_rag.ui.reading.path_links import linked_document
from desktop_rag.ui.reading.reading_header import ReadingHeader
from desktop_rag.ui.reading.reading_history import ReadingHistory
from desktop_rag.ui.reading.state_card import StateCard
from desktop_rag.ui.reading.viewer_stack import ViewerStack
from desktop_rag.ui.reading.word_finding import WordFinding
from desktop_rag.ui.viewers.content_kind import ContentKind, kind_of
from desktop_rag.ui.viewers.document_span import DocumentSpan
from desktop_rag.ui.widgets.find_bar import FindBar

if TYPE_CHECKING:
    from desktop_rag.ingest.library import Library


class ReadingPane(QWidget):
    """Shows one document after another.

    `open_requested` carries a Document and an Anchor to open in another program, `ask_requested`
    and `folder_requested` a Document, `window_requested` and `details_requested` the DocumentSpan
    that is open.
    """

    open_requested = Signal(object, object)
    ask_requested = Signal(object)
    folder_requested = Signal(object)
    password_requested = Signal(object)
    library_requested = Signal()
    window_requested = Signal(object)
    details_requested = Signal(object)
    address_clicked = Signal(str)
    close_requested = Signal()
    title_changed = Signal(str)

    def __init__(
        self, bridge: Bridge, library: "Library", theme: Theme, parent: QWidget | None = None,
        *, is_window: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self._bridge = bridge
        self._library = library
        self._theme = theme
        self._history = ReadingHistory()
        self._loaded: Loaded | None = None
        self._job: Job | None = None
        self._takes_focus = False
        self._marked = ""
        self._build(is_window=is_window)
        self._connect()

    def _build(self, *, is_window: bool) -> None:
        self.setProperty("kind", "page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName(tr("Document"))
        self._header = ReadingHeader(self._theme, is_window=is_window)
        self._state = StateCard(self._theme)
        self._viewers = ViewerStack(self._bridge, self._library, self._theme)
        self._find = FindBar(self._theme, tr("Find in the document"))
        self._find.hide()
        self._finding = WordFinding(self._bridge, self)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._header)
        column.addWidget(self._find)
        state = QHBoxLayout()
        state.setContentsMargins(10, 0, 10, 0)
        state.addWidget(self._state)
        column.addLayout(state)
        column.addWidget(self._viewers, 1)

    def _connect(self) -> None:
        header = self._header
        header.back_requested.connect(lambda: self._go(-1))
        header.forward_requested.connect(lambda: self._go(1))
        header.close_requested.connect(self.close_requested)
        header.open_requested.connect(self._on_open)
        header.ask_requested.connect(self._on_ask)
        header.window_requested.connect(lambda: self._emit_place(self.window_requested.emit))
        header.details_requested.connect(lambda: self._emit_place(self.details_requested.emit))
        header.find_requested.connect(self.find_words)
        header.text_toggled.connect(self._on_text_toggled)
        self._viewers.place_changed.connect(header.show_place)
        self._viewers.address_clicked.connect(self.address_clicked)
        self._viewers.part_opened.connect(lambda part: self.read(DocumentSpan(part)))
        self._viewers.path_clicked.connect(self._on_path_clicked)
        self._viewers.pages_failed.connect(self._on_pages_failed)
        self._state.way_out_chosen.connect(self._on_way_out)
        self._find.words_changed.connect(self._on_words_changed)
        self._find.stepped.connect(self._finding.step)
        self._find.closed.connect(self._close_find)
        self._finding.changed.connect(self._on_hits_changed)
        self.setProperty(PLACE, "Document")
        for keys, words, act in (
            ("Alt+Left Back", tr("Back to the document before"), lambda: self._go(-1)),
            ("Alt+Right Forward", tr("Forward to the next document"), lambda: self._go(1)),
            ("Ctrl+F", tr("Find in the document"), self.find_words),
            ("F3", tr("Next place found"), lambda: self._step(1)),
            ("Shift+F3", tr("Place found before"), lambda: self._step(-1)),
        ):
            bind(self, keys, words, act, INSIDE)

    # --- opening ---------------------------------------------------------------------------------

    @property
    def place(self) -> DocumentSpan | None:
        """What is open."""
        return self._history.current

    @property
    def viewers(self) -> ViewerStack:
        """The views of the content."""
        return self._viewers

    def read(self, place: DocumentSpan) -> None:
        """Open a document at its words; the keyboard goes there too."""
        self._history.visit(place)
        self._takes_focus = True
        self._marked = ""
        self._show(place)

    def preview(self, place: DocumentSpan, words: str = "") -> None:
        """Show a document at a passage, with words of a query marked; the keyboard stays."""
        self._history.replace(place)
        self._takes_focus = False
        self._marked = words
        self._show(place)

    def show_failure(self, error: AppError) -> None:
        """Say quietly that another program did not open the document."""
        self._state.show_notice(StateNotice(title_of(error), hint_of(error), WayOut.FOLDER))

    def _go(self, by: int) -> None:
        place = self._history.go(by)
        if place is not None:
            self._takes_focus = True
            self._show(place)

    def _show(
        self, place: DocumentSpan, *, as_text: bool = False, notice: StateNotice | None = None
    ) -> None:
        if self._job:
            self._job.cancel()
        self._header.show_history(
            can_go_back=self._history.can_go_back, can_go_forward=self._history.can_go_forward
        )
        loaded = self._loaded
        is_open = loaded is not None and loaded.stored is not None and loaded.text
        if not is_open or loaded is None or loaded.place.document_id != place.document_id:
            self._header.show_loading(one_line(place.title))
        library = self._library
        self._job = self._bridge.run(
            self,
            lambda: load(library, place, as_text=as_text),
            lambda loaded: self._on_loaded(loaded, notice),
        )

    def _on_loaded(self, loaded: Loaded, notice: StateNotice | None) -> None:
        self._job = None
        self._loaded = loaded
        self._finding.set_text(loaded.text)
        self._state.show_notice(notice_of_text(loaded) or notice)
        self._show_header(loaded)
        viewer = self._viewers.show_loaded(loaded)
        self._header.show_tools(viewer.tools())
        if self._takes_focus:
            self._takes_focus = False
            viewer.setFocus(Qt.FocusReason.OtherFocusReason)
        if self._find.isVisible():
            self._finding.find(self._find.field.text())
        elif self._marked:
            self._finding.mark(self._marked, loaded.span)
        if loaded.stored is not None:
            self._look_at_file(loaded.stored.document)

    def _show_header(self, loaded: Loaded) -> None:
        document = loaded.stored.document if loaded.stored else None
        title = one_line(loaded.place.title)
        if document is not None:
            title = one_line(document.title or document.name)
        self._header.show_document(
            title, document, has_pages=document is not None and _has_pages(document),
            is_text=loaded.kind is not ContentKind.PAGES,
        )  # fmt: skip
        if loaded.stored is not None and loaded.span[1] > loaded.span[0]:
            self._header.show_place(place_in_words(loaded.anchor))
        self.title_changed.emit(title)

    def _look_at_file(self, document: Document) -> None:
        library = self._library

        def tell(condition: FileCondition) -> None:
            is_open = self._loaded is not None and self._loaded.stored is not None
            if is_open and self._state.is_free:
                self._state.show_notice(notice_of_file(document, condition))

        self._job = self._bridge.run(self, lambda: library.documents.file_condition(document), tell)

    @Slot(object)
    def _on_pages_failed(self, error: AppError) -> None:
        if self._loaded is not None:
            self._show(self._loaded.place, as_text=True, notice=notice_of_pages(error))

    # --- finding ---------------------------------------------------------------------------------

    @Slot()
    def find_words(self) -> None:
        """Show the bar that finds words."""
        self._find.show()
        self._find.begin()

    def _step(self, by: int) -> None:
        if self._find.isVisible() or self._finding.hits.spans:
            self._finding.step(by)
        else:
            self.find_words()

    @Slot(str)
    def _on_words_changed(self, words: str) -> None:
        span = self._loaded.span if self._loaded else (0, 0)
        self._finding.find(words, span[0])

    @Slot(object)
    def _on_hits_changed(self) -> None:
        hits = self._finding.hits
        self._find.show_count(hits.words, hits.current, len(hits.spans))
        if self._viewers.viewer is not None:
            self._viewers.viewer.show_hits(hits)

    @Slot()
    def _close_find(self) -> None:
        self._find.hide()
        self._finding.find("")
        if self._viewers.viewer is not None:
            self._viewers.viewer.setFocus(Qt.FocusReason.OtherFocusReason)

    # --- actions of the person -------------------------------------------------------------------

    def event(self, event: QEvent) -> bool:
        # Elsewhere on the page Esc stops an answer; here it closes what is open.
        is_escape = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
        if is_escape and event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() != Qt.Key.Key_Escape:
            super().keyPressEvent(event)
        elif self._find.isVisible():
            self._close_find()
        else:
            self.close_requested.emit()

    def _emit_place(self, emit: Callable[[object], None]) -> None:
        if self.place is not None:
            emit(self.place)

    @Slot()
    def _on_open(self) -> None:
        loaded = self._loaded
        if loaded is not None and loaded.stored is not None:
            self.open_requested.emit(loaded.stored.document, loaded.anchor)

    @Slot()
    def _on_ask(self) -> None:
        if self._loaded is not None and self._loaded.stored is not None:
            self.ask_requested.emit(self._loaded.stored.document)

    @Slot(str, str)
    def _on_path_clicked(self, target: str, words: str) -> None:
        """Follow a relative link to another document of the library."""
        page = self._loaded.stored if self._loaded else None
        if page is None:
            return

        def show(place: DocumentSpan | None) -> None:
            if place:
                self.read(place)
            else:
                title = tr("What this link names is not in your library.")
                self._state.show_notice(StateNotice(title, one_line(unquote(target))))

        library = self._library
        self._bridge.run(self, lambda: linked_document(library, page, target, words), show)

    @Slot(bool)
    def _on_text_toggled(self, as_text: bool) -> None:
        if self.place is not None:
            self._show(self.place, as_text=as_text)

    @Slot(object)
    def _on_way_out(self, way_out: WayOut) -> None:
        document = self._loaded.stored.document if self._loaded and self._loaded.stored else None
        if way_out is WayOut.LIBRARY:
            self.library_requested.emit()
        elif document is not None and way_out is WayOut.PASSWORD:
            self.password_requested.emit(document)
        elif document is not None and way_out is WayOut.FOLDER:
            self.folder_requested.emit(document)


def _has_pages(document: Document) -> bool:
    return kind_of(document) is ContentKind.PAGES and not is_shared(document.document_id)
