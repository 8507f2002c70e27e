"""The sources of an answer and the document that is read, beside the chat. Qt thread."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from desktop_rag.core.conversation import Message, SourceRef
from desktop_rag.core.files.atomic_file import read_object, write_object
from desktop_rag.core.question_scope import QuestionScope, ScopeItem
from desktop_rag.ui.chat.answer_sources import AnswerSources
from desktop_rag.ui.chat.side_panels import SidePanels
from desktop_rag.ui.documents.document_opener import DocumentOpener
from desktop_rag.ui.documents.link_confirmation import confirm_and_open
from desktop_rag.ui.documents.sources_panel import SourcesPanel
from desktop_rag.ui.foundation.ask_request import AskAboutRequested
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.messages.message_model import MessageModel
from desktop_rag.ui.reading.reading_pane import ReadingPane
from desktop_rag.ui.viewers.document_span import DocumentSpan, span_of

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat
    from desktop_rag.ingest.library import Library


class SourceReading(QObject):
    """Owns the panels on the right: `sides` holds them, with the list and the chat."""

    library_requested = Signal()

    def __init__(  # noqa: PLR0913, PLR0917  the page passes everything in
        self, bridge: Bridge, library: "Library", chat: "Chat", theme: Theme,
        opener: DocumentOpener, left: QWidget, middle: QWidget, page: QWidget,
        remembered: Path | None,
    ) -> None:  # fmt: skip
        """`remembered` is the file with the width of the document; without it none is kept."""
        super().__init__(page)
        self._bridge = bridge
        self._library = library
        self._opener = opener
        self._page = page
        self._remembered = remembered
        self._is_ready_for_pages = False
        self._focus_before: QWidget | None = None
        self._panel = SourcesPanel(theme)
        self.pane = ReadingPane(bridge, library, theme)
        self.sides = SidePanels(left, middle, self._panel, self.pane)
        self._sources = AnswerSources(bridge, chat, self._panel, self.sides)
        opener.serve(self.pane)
        self.pane.close_requested.connect(self.close)
        self.pane.library_requested.connect(self.library_requested)
        self._panel.close_requested.connect(self.sides.toggle_right)
        self._panel.ask_requested.connect(self._on_ask_requested)
        self._panel.read_requested.connect(self.read)
        self._panel.open_requested.connect(self.open_elsewhere)
        self.sides.reading_width_chosen.connect(self._on_width_chosen)
        if remembered is not None:
            bridge.run(self, lambda: read_object(remembered), self._on_width_read)

    def follow(self, model: MessageModel) -> None:
        """Show the sources of the last answer of a conversation."""
        self._sources.follow(model)
        if self._panel.sources and not self._is_ready_for_pages:
            # The first page then comes as fast as those that follow.
            self._is_ready_for_pages = True
            self._bridge.run(self, self._library.documents.prepare_pages)

    @Slot(object, object)
    def read_citation(self, message: Message, source: SourceRef) -> None:
        """Show the document of a cited source of an answer, at its quote."""
        self._sources.show(message)
        self._panel.choose(source.n)
        self.read(source)

    @Slot(object)
    def show_sources(self, message: Message) -> None:
        """Show the sources of an answer."""
        self.sides.close_reading()
        self._sources.show(message)
        self.sides.open_right()

    @Slot()
    def toggle_sources(self) -> None:
        """Show or hide the sources; a document that is read makes way for them."""
        if self.sides.is_reading:
            self.sides.close_reading()
            self.sides.open_right()
        else:
            self._sources.toggle()

    @Slot(object)
    def read(self, source: SourceRef) -> None:
        """Show the document of a source beside the chat, at the cited words."""
        self.read_span(span_of(source))

    def read_span(self, place: DocumentSpan) -> None:
        """Show a document beside the chat."""
        if not self.sides.is_reading:
            self._focus_before = self._page.window().focusWidget()
        self.sides.open_reading()
        self.pane.read(place)

    @Slot()
    def close(self) -> None:
        """Close the document; the keyboard goes back to where it was."""
        self.sides.close_reading()
        before, self._focus_before = self._focus_before, None
        # A chat that was switched meanwhile has deleted it.
        if before is not None and isValid(before) and before.isVisible():
            before.setFocus(Qt.FocusReason.OtherFocusReason)

    def leave(self) -> None:
        """Another chat is shown: its sources take the place of the document."""
        self._focus_before = None
        self.sides.close_reading()

    @Slot(object)
    def _on_ask_requested(self, sources: Sequence[SourceRef]) -> None:
        items = (
            ScopeItem.of_place(s.document_id, s.path, s.part, s.url)
            for s in sources
            if s.is_in_library
        )
        self._bridge.post(AskAboutRequested(QuestionScope.of(*items)))

    @Slot(object)
    def open_elsewhere(self, source: SourceRef) -> None:
        """Open the file of a source in another program."""
        if source.is_in_library:
            self._opener.open(Path(source.path), source.url, source.anchor)

    @Slot(str)
    def open_address(self, address: str) -> None:
        """Open a link of an answer once the person agrees."""
        confirm_and_open(address, self._page)

    def _on_width_read(self, remembered: dict[str, object]) -> None:
        width_px = remembered.get("width")
        if isinstance(width_px, int):
            self.sides.set_reading_width(width_px)

    @Slot(int)
    def _on_width_chosen(self, width_px: int) -> None:
        if (path := self._remembered) is not None:
            self._bridge.run(self, lambda: write_object(path, {"width": width_px}))
