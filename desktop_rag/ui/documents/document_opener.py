"""Opens documents and links: in the app, in another program, or with all details. Qt thread."""

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QModelIndex, QObject, QStringListModel, Qt, QUrl, Slot
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QListView,
    QMessageBox,
    QSplitter,
    QWidget,
)

from desktop_rag.core.domain import Document
from desktop_rag.core.errors import AppError
from desktop_rag.core.files.own_files import persons_mask
from desktop_rag.core.language.translation import count_of, told, tr
from desktop_rag.core.library_events import Notice
from desktop_rag.core.markup.inert_markdown import safe_address
from desktop_rag.core.parsed import HEADING_SEPARATOR, Anchor, Chunk
from desktop_rag.core.question_scope import QuestionScope, ScopeItem
from desktop_rag.ingest.library import Library
from desktop_rag.ui.documents.external_viewer import FileOpener, Refused, open_in_viewer
from desktop_rag.ui.foundation.ask_request import AskAboutRequested
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.shortcuts import bind
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line, place_in_words, value_in_words
from desktop_rag.ui.passwords.password_actions import PasswordActions
from desktop_rag.ui.reading.reading_pane import ReadingPane, ReadingWindow
from desktop_rag.ui.viewers.viewer import DocumentSpan
from desktop_rag.ui.widgets.controls import (
    ElidedLabel,
    IconButton,
    PlainLabel,
    TextButton,
    plain_question,
)
from desktop_rag.ui.widgets.layouts import horizontal, vertical

_MAX_SHOWN = 300


def actual_host(address: str) -> str:
    """The host in ASCII form (`xn--…` for look-alike letters), or the email address."""
    url = QUrl(address, QUrl.ParsingMode.StrictMode)
    if url.scheme().lower() == "mailto":
        return url.path()
    return url.host(QUrl.ComponentFormattingOption.FullyEncoded)


def confirm_and_open(address: str, parent: QWidget) -> QMessageBox | None:
    """Ask whether to open a link, showing its actual host. None for a disallowed address."""
    host = actual_host(address)
    if safe_address(address) is None or not host:
        return None
    shown = address if len(address) <= _MAX_SHOWN else f"{address[:_MAX_SHOWN]}…"
    # All in the main text: Qt would guess whether an informative text is HTML.
    text = tr("Open {host}?\n\nThe full address is:\n{shown}", host=host, shown=shown)
    box = plain_question(parent, tr("Open link"), text)
    box.setStandardButtons(QMessageBox.StandardButton.Open | QMessageBox.StandardButton.Cancel)
    box.setDefaultButton(QMessageBox.StandardButton.Cancel)
    url = QUrl(address, QUrl.ParsingMode.StrictMode)
    box.accepted.connect(lambda: _open(url))
    box.open()
    return box


def _open(url: QUrl) -> None:
    with persons_mask():
        QDesktopServices.openUrl(url)


_WIDTH_PX = 1040
_HEIGHT_PX = 720
_LIST_PX = 360
_FIRST_WORDS = 70


@dataclass(frozen=True, slots=True)
class _Read:
    """A document with its passages, read on a worker thread."""

    document: Document | None
    chunks: list[Chunk]


class DocumentDetails(QWidget):
    """A window with a document's state and passages, and its text as stored in the library."""

    def __init__(
        self, bridge: Bridge, library: Library, theme: Theme, place: DocumentSpan,
        parent: QWidget,
    ) -> None:  # fmt: skip
        super().__init__(parent, Qt.WindowType.Window)
        self._bridge = bridge
        self._library = library
        self._theme = theme
        self._place = place
        self._read = _Read(None, [])
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setProperty("kind", "page")
        self.setWindowTitle(tr("Details"))
        self._build()
        self._connect()
        bridge.run(self, self._load, self._on_loaded)

    # --- building --------------------------------------------------------------------------------

    def _build(self) -> None:
        self._title = ElidedLabel(scale="heading")
        self._details = ElidedLabel(tone="muted", scale="small", mode=Qt.TextElideMode.ElideMiddle)
        self._reason = PlainLabel(tone="warning", wrap=True)
        self._list = QListView()
        self._list.setAccessibleName(tr("Passages"))
        self._list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self._list.setUniformItemSizes(True)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._passages = QStringListModel(self)
        self._list.setModel(self._passages)
        self.pane = ReadingPane(self._bridge, self._library, self._theme, in_details=True)
        left = QWidget()
        vertical((self._list, 1), self._build_buttons(), on=left, margins=0, spacing=8)
        sides = QSplitter(Qt.Orientation.Horizontal)
        sides.addWidget(left)
        sides.addWidget(self.pane)
        sides.setStretchFactor(1, 1)
        sides.setSizes([_LIST_PX, _WIDTH_PX - _LIST_PX])
        vertical(
            self._title,
            self._details,
            self._reason,
            (sides, 1),
            on=self,
            margins=(18, 14, 18, 14),
            spacing=8,
        )
        self._reason.hide()
        self._title.set_full_text(tr("Loading…"))
        self._enable(has_passages=False)
        self.resize(_WIDTH_PX, _HEIGHT_PX)

    def _build_buttons(self) -> QHBoxLayout:
        self._previous = IconButton(self._theme, "chevron-up:text", tr("Previous passage"))
        self._next = IconButton(self._theme, "chevron-down:text", tr("Next passage"))
        self._number = PlainLabel(tone="muted")
        self._copy = TextButton(
            tr("Copy passage"), icon="copy:text", theme=self._theme, then=self._on_copy
        )
        return horizontal(self._previous, self._next, (self._number, 1), self._copy, spacing=8)

    def _connect(self) -> None:
        self._list.selectionModel().currentChanged.connect(self._on_passage_chosen)
        self._previous.clicked.connect(lambda: self._step(-1))
        self._next.clicked.connect(lambda: self._step(1))
        self.pane.close_requested.connect(self.close)
        for keys, words, slot in (
            ("Esc", tr("Close the details"), self.close),
            ("Alt+Up", tr("Previous passage"), lambda: self._step(-1)),
            ("Alt+Down", tr("Next passage"), lambda: self._step(1)),
        ):
            bind(self, keys, words, slot)

    # --- content ---------------------------------------------------------------------------------

    def _load(self) -> _Read:
        library, document_id = self._library, self._place.document_id
        return _Read(library.documents.get(document_id), library.documents.chunks(document_id))

    def _on_loaded(self, read: _Read) -> None:
        self._read = read
        document = read.document
        if document is None:
            self.setWindowTitle(tr("Details"))
            self._title.set_full_text(tr("This document is no longer in your library"))
            self._enable(has_passages=False)
            return
        title = one_line(document.title or document.name)
        self.setWindowTitle(tr("Details of {one_line}", one_line=title))
        self._title.set_full_text(title)
        self._details.set_full_text(one_line(_details(document)))
        self._reason.setText(one_line(told(document.reason)))
        self._reason.setVisible(bool(document.reason))
        self._passages.setStringList([_entry(chunk) for chunk in read.chunks])
        self._enable(has_passages=bool(read.chunks))
        self._show(None)
        self._choose(_chunk_at(read.chunks, self._place.start))

    def _enable(self, *, has_passages: bool) -> None:
        for button in (self._previous, self._next, self._copy):
            button.setEnabled(has_passages)

    def _choose(self, number: int) -> None:
        if 0 <= number < len(self._read.chunks):
            self._list.setCurrentIndex(self._passages.index(number))

    @property
    def _chunk(self) -> Chunk | None:
        row = self._list.currentIndex().row()
        return self._read.chunks[row] if 0 <= row < len(self._read.chunks) else None

    def _show(self, chunk: Chunk | None) -> None:
        """Show a passage; where it has the requested words, those."""
        wanted, span = self._place, (0, 0)
        if chunk:
            is_inside = wanted.end > 0 and chunk.start <= wanted.start < chunk.end
            span = wanted.span if is_inside else (chunk.start, chunk.end)
        self.pane.preview(DocumentSpan(wanted.document_id, *span), as_text=True)

    @Slot(QModelIndex, QModelIndex)
    def _on_passage_chosen(self, index: QModelIndex, _before: QModelIndex) -> None:
        chunk = self._chunk
        if chunk is None:
            return
        place = one_line(place_in_words(chunk.anchor))
        total = len(self._read.chunks)
        self._number.setText(
            tr("{value:,} of {total:,}", value=index.row() + 1, total=total)
            + (f" · {place}" if place else "")
        )
        self._show(chunk)

    # --- actions of the person -----------------------------------------------------------------

    def _step(self, by: int) -> None:
        self._choose(self._list.currentIndex().row() + by)

    @Slot()
    def _on_copy(self) -> None:
        if chunk := self._chunk:
            QGuiApplication.clipboard().setText(chunk.text)


def _details(document: Document) -> str:
    """`Markdown · en · searchable · 2024-05-01 · #roof, #idea · 12 passages · /home/…`."""
    location = document.url or str(document.path)
    if document.part:
        location = f"{location}{HEADING_SEPARATOR}{document.part}"
    pieces = [
        document.format, document.language, value_in_words(document.state),
        document.dated, ", ".join(f"#{tag}" for tag in document.all_tags),
        count_of(document.chunk_count, tr("passage"), tr("passages")), location,
        document.site_url,
    ]  # fmt: skip
    return " · ".join(piece for piece in pieces if piece)


def _entry(chunk: Chunk) -> str:
    place = place_in_words(chunk.anchor).rpartition(HEADING_SEPARATOR)[2]
    words = " ".join(chunk.text[: 2 * _FIRST_WORDS].split())[:_FIRST_WORDS]
    return one_line(f"{chunk.position + 1} · {place} · {words}" if place else words)


def _chunk_at(chunks: list[Chunk], offset: int) -> int:
    """The index of the last passage at an offset, 0 for none."""
    holding = [n for n, chunk in enumerate(chunks) if chunk.start <= offset < chunk.end]
    return holding[-1] if holding else 0


class DocumentOpener(QObject):
    """Opens files, web pages and documents for any page."""

    def __init__(self, bridge: Bridge, library: Library, theme: Theme, page: QWidget) -> None:
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

        `refused` gets the error when that fails; without it the window shows it.
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
        """Handle the requests of a pane that shows documents."""

        def open_elsewhere(document: Document, anchor: Anchor) -> None:
            self.open(document.path, document.address, anchor, pane.show_failure)

        def say(error: AppError) -> None:
            self._bridge.post(Notice(error.title, error.hint))

        pane.open_requested.connect(open_elsewhere)
        pane.ask_requested.connect(self.ask_about)
        pane.folder_requested.connect(lambda document: self.show_in_folder(document.path, say))
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
        """Show a document's state and passages."""
        details = DocumentDetails(self._bridge, self._library, self._theme, place, self._page)
        self.serve(details.pane)
        details.show()
        return details
