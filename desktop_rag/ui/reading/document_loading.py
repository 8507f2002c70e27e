"""Loads a document on worker threads; its state and its header on the Qt thread."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from desktop_rag.core.domain import Document, DocumentState, FileCondition, StoredText
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import told, tr
from desktop_rag.core.parsed import HEADING_SEPARATOR, Anchor
from desktop_rag.core.places import Places
from desktop_rag.core.quotes import locate
from desktop_rag.core.shared_library import can_open, is_shared
from desktop_rag.ingest.library import Library
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import failure_in_words, one_line
from desktop_rag.ui.viewers.code_viewer import CodeLines, code_lines
from desktop_rag.ui.viewers.content_kind import ContentKind, kind_of
from desktop_rag.ui.viewers.page_source import PageSource, markdown_source, section_source
from desktop_rag.ui.viewers.sheet_grid import SheetGrid, sheet_grids
from desktop_rag.ui.viewers.viewer import DocumentSpan, Span
from desktop_rag.ui.widgets.controls import ElidedLabel, IconButton, begin_with_window
from desktop_rag.ui.widgets.flow_row import FlowRow
from desktop_rag.ui.widgets.layouts import clear, horizontal, vertical


@dataclass(frozen=True, slots=True)
class Loaded:
    """A document ready to be shown at `span`, in one of the ways of `ContentKind`.

    `stored` is None when the library does not have it. With `is_lost` the cited words are no longer
    in its text.
    """

    place: DocumentSpan
    stored: StoredText | None
    kind: ContentKind
    span: Span
    page: PageSource | None = None
    grids: tuple[SheetGrid, ...] = ()
    lines: CodeLines | None = None
    is_lost: bool = False
    anchor: Anchor = field(default_factory=Anchor)

    @property
    def text(self) -> str:
        """The searchable text: what is stored, or else the cited passage."""
        return self.stored.text if self.has_text and self.stored else self.place.passage

    @property
    def has_text(self) -> bool:
        """True if the library has its text."""
        return self.stored is not None and bool(self.stored.text)


def load(library: Library, place: DocumentSpan, *, as_text: bool = False) -> Loaded:
    """The document of a place; `as_text` shows the text of pages instead of pictures."""
    stored = _stored(library, place)
    if stored is None or not stored.text:
        page = section_source(place.passage, (), is_plain=True)
        return Loaded(place, stored, ContentKind.PLAIN, (0, 0), page)
    span, is_lost = _span_now(place, stored.text)
    kind = kind_of(stored.document)
    if (as_text or is_shared(place.document_id)) and kind is ContentKind.PAGES:
        # The file of a shared document is on another computer.
        kind = ContentKind.PLAIN
    grids = tuple(sheet_grids(stored)) if kind is ContentKind.SHEETS else ()
    if kind is ContentKind.SHEETS and not grids:
        kind = ContentKind.SECTIONS
    page, lines = None, None
    if kind is ContentKind.MARKDOWN:
        page = markdown_source(stored.text, stored.headings)
    elif kind in {ContentKind.SECTIONS, ContentKind.PLAIN}:
        page = section_source(stored.text, stored.headings, is_plain=kind is ContentKind.PLAIN)
    elif kind is ContentKind.CODE:
        lines = code_lines(stored.text, span[0])
    anchor = _anchor(stored, grids, span)
    return Loaded(place, stored, kind, span, page, grids, lines, is_lost, anchor)


def _stored(library: Library, place: DocumentSpan) -> StoredText | None:
    """The document, or the one its file has now after its folder was removed and added again."""
    stored = library.documents.stored_text(place.document_id) if place.document_id else None
    if stored is not None or not place.path:
        return stored
    path = Path(place.path)
    same = (d for d in library.documents.below(path) if (d.path, d.part) == (path, place.part))
    found = next(same, None)
    return library.documents.stored_text(found.document_id) if found else None


def _anchor(stored: StoredText, grids: Sequence[SheetGrid], span: Span) -> Anchor:
    if grids:
        # The marks of a large sheet are not all decoded for one place.
        grid = next((grid for grid in grids if grid.holds(span[0])), grids[0])
        return Anchor(sheet=grid.name or None, cells=grid.range_at(span[0]))
    return Places(stored.marks, stored.headings).anchor(*span)


def _span_now(place: DocumentSpan, text: str) -> tuple[Span, bool]:
    """Where the cited words are in the present text, and True if they are gone."""
    quote = place.quote.strip()
    if not quote or text[slice(*place.span)].strip() == quote:
        return place.span, False
    found = locate(quote, text)
    return (found, False) if found else ((0, 0), True)


_STORED = tr("Below is the text that is stored of it.")


class WayOut(Enum):
    """What the person can do about a document that can't be read as cited, in words."""

    NONE = ""
    FOLDER = tr("Show its folder")
    PASSWORD = tr("Enter password…")
    LIBRARY = tr("Open the library")


@dataclass(frozen=True, slots=True)
class StateNotice:
    """A title, a hint, and the way out."""

    title: str
    hint: str = ""
    way_out: WayOut = WayOut.NONE


def notice_of_text(loaded: Loaded) -> StateNotice | None:
    """The notice about the stored text; None when all is well."""
    if loaded.stored is None:
        hint = tr("Below is the passage as it was cited.") if loaded.place.passage else ""
        if is_shared(loaded.place.document_id):
            title = tr("The shared library is offline, or no longer has this document.")
            return StateNotice(title, hint)
        return StateNotice(tr("This document is no longer in your library."), hint, WayOut.LIBRARY)
    document = loaded.stored.document
    if document.needs_password:
        return StateNotice(tr("This document needs a password."), "", WayOut.PASSWORD)
    if not loaded.has_text:
        return _without_text(document, bool(loaded.place.passage))
    if loaded.is_lost:
        return StateNotice(
            tr("The document has changed: the cited words are no longer in it."),
            tr("They were: “{one_line}”", one_line=one_line(_shortened(loaded.place.quote))),
        )
    return None


def notice_of_file(document: Document, condition: FileCondition) -> StateNotice | None:
    """The notice about the file; None when it is as it was read."""
    if document.url:
        return None
    if condition is FileCondition.ELSEWHERE:
        path = one_line(str(document.path))
        return StateNotice(
            tr("From the shared library: its file is on another computer."), f"{path} {_STORED}"
        )
    if document.state is DocumentState.GONE or condition is FileCondition.MISSING:
        title = tr("{one_line} was moved or deleted.", one_line=one_line(document.path.name))
        return StateNotice(title, _STORED, WayOut.FOLDER)
    if condition is FileCondition.OUT_OF_REACH:
        return StateNotice(
            tr("The file can't be reached: its drive or folder is not connected."), _STORED
        )
    if condition is FileCondition.CHANGED:
        return StateNotice(
            tr("The file has changed since it was read."),
            tr("Below is the text as it was read. The new one follows when it is read again."),
        )
    return None


def notice_of_pages(error: AppError) -> StateNotice:
    """The notice when the pages of a file can't be drawn."""
    return StateNotice(failure_in_words(error), _STORED)


def _without_text(document: Document, has_passage: bool) -> StateNotice:
    title = tr("There is no text of this document.")
    if document.state in {DocumentState.WAITING, DocumentState.READING}:
        title = tr("This document is still to be read.")
    hint = one_line(told(document.reason))
    if has_passage:
        hint = tr("{hint} Below is the passage as it was cited.", hint=hint).strip()
    return StateNotice(title, hint)


def _shortened(text: str, most: int = 200) -> str:
    words = " ".join(text.split())
    return words if len(words) <= most else f"{words[:most]}…"


# The title's least width among its buttons, in characters.
_LEAST_TITLE_CHARS = 24


class ReadingHeader(QWidget):
    """The title with its buttons, and below it the place with the tools of the content.

    The title stands among its buttons, or below them where they leave it too little room.
    """

    back_requested = Signal()
    forward_requested = Signal()
    ask_requested = Signal()
    open_requested = Signal()
    window_requested = Signal()
    details_requested = Signal()
    find_requested = Signal()
    text_toggled = Signal(bool)
    close_requested = Signal()

    def __init__(self, theme: Theme, *, is_window: bool, has_details: bool) -> None:
        super().__init__()
        self._file = ""
        self._back = IconButton(
            theme, "chevron-left:text", tr("Back (Alt+Left)"), then=self.back_requested
        )
        self._forward = IconButton(
            theme, "chevron-right:text", tr("Forward (Alt+Right)"), then=self.forward_requested
        )
        self._title = ElidedLabel()
        self._title.setObjectName("readingTitle")
        begin_with_window(self._title)
        self._place = ElidedLabel(tone="muted", scale="small", mode=Qt.TextElideMode.ElideLeft)
        self._place.setObjectName("readingPlace")
        self._find = IconButton(
            theme, "search:muted", tr("Find in the document (Ctrl+F)"), then=self.find_requested
        )
        self._text = IconButton(
            theme, "file-text:muted", tr("Show as text"), then=self.text_toggled
        )
        self._text.setCheckable(True)
        self._ask = IconButton(
            theme, "chat:muted", tr("Ask about this document"), then=self.ask_requested
        )
        self._open = IconButton(
            theme, "open:muted", tr("Open in another program"), then=self.open_requested
        )
        self._window = IconButton(
            theme, "window:muted", tr("Open in a window of its own"), then=self.window_requested
        )
        self._details = IconButton(theme, "info:muted", tr("Details"), then=self.details_requested)
        self._close = IconButton(
            theme, "close:muted", tr("Close the document (Esc)"), then=self.close_requested
        )
        self._top = self._build_top()
        self._tools = FlowRow(spacing=2)
        vertical(
            self._top,
            self._own_row,
            horizontal((self._place, 1), self._tools, margins=(6, 0, 0, 0)),
            on=self,
            margins=(6, 6, 6, 4),
            spacing=0,
        )
        self._window.setVisible(not is_window)
        self._details.setVisible(has_details)
        self.show_history(can_go_back=False, can_go_forward=False)

    def _build_top(self) -> QHBoxLayout:
        self._among = horizontal(self._title, margins=(4, 0, 0, 0))
        self._own_row = horizontal(margins=(6, 0, 6, 4))
        top = horizontal(self._back, self._forward, (self._among, 1), spacing=2)
        buttons = (
            self._ask, self._find, self._text, self._open, self._details, self._window, self._close
        )  # fmt: skip
        for button in buttons:
            top.addWidget(button)
        return top

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_title()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._place_title()

    def _place_title(self) -> None:
        buttons_px = self._top.minimumSize().width()
        title_px = _LEAST_TITLE_CHARS * self.fontMetrics().averageCharWidth()
        has_room = self.contentsRect().width() >= buttons_px + title_px
        row, other = (self._among, self._own_row) if has_room else (self._own_row, self._among)
        if other.indexOf(self._title) >= 0:
            other.removeWidget(self._title)
            row.addWidget(self._title)

    def show_history(self, *, can_go_back: bool, can_go_forward: bool) -> None:
        """Enable the buttons for back and forward."""
        self._back.setEnabled(can_go_back)
        self._forward.setEnabled(can_go_forward)

    def show_loading(self, title: str) -> None:
        """Show that a document is being read."""
        self._title.set_full_text(title or tr("Loading…"))
        self._place.set_full_text(tr("Loading…") if title else "")
        self._ask.setEnabled(False)
        self._open.setEnabled(False)
        self._details.setEnabled(False)

    def show_document(
        self, title: str, document: Document | None, *, has_pages: bool, is_text: bool
    ) -> None:
        """Show what is open; None is a document the library does not have."""
        self._title.set_full_text(title or tr("Document"))
        self._place.set_full_text("")
        self._place.setToolTip("")
        self._ask.setEnabled(document is not None)
        self._open.setEnabled(document is not None and can_open(document))
        self._details.setEnabled(document is not None)
        self._text.setVisible(has_pages)
        self._place_title()
        self._text.setChecked(is_text)
        self._file = ""
        if document is None:
            return
        file = document.url or document.path.name
        if document.part:
            file = f"{file}{HEADING_SEPARATOR}{document.part}"
        self._file = "" if title == one_line(file) else one_line(file)
        name = tr("Open in the browser") if document.address else tr("Open in another program")
        self._open.show_as("open:muted", name)
        self.show_place("")

    @Slot(str)
    def show_place(self, place: str) -> None:
        """Show the position in the document."""
        pieces = [piece for piece in (self._file, one_line(place)) if piece]
        self._place.set_full_text(" · ".join(pieces))

    def show_tools(self, tools: Sequence[QWidget]) -> None:
        """Replace the controls of the content."""
        clear(self._tools)
        for tool in tools:
            self._tools.addWidget(tool)
            tool.show()
