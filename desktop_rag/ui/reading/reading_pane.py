"""A document at the cited words: a pane beside the chat, or a window. Qt thread.

The document is read through the bridge; its file is looked at afterwards, since that may take long.
"""

import os
import re
from bisect import bisect_left
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from desktop_rag.core.domain import Document, FileCondition, StoredText
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import told, tr
from desktop_rag.core.markup.snippet import marked_words
from desktop_rag.core.places import Places
from desktop_rag.core.shared_library import is_shared
from desktop_rag.ingest.library import Library
from desktop_rag.ui.foundation.ask_request import Wanted
from desktop_rag.ui.foundation.bridge import Bridge, Job
from desktop_rag.ui.foundation.shortcuts import INSIDE, PLACE, bind
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.word_search import found_spans
from desktop_rag.ui.foundation.wording import hint_of, one_line, place_in_words, title_of
from desktop_rag.ui.reading.document_loading import (
    Loaded,
    ReadingHeader,
    StateNotice,
    WayOut,
    load,
    notice_of_file,
    notice_of_pages,
    notice_of_text,
)
from desktop_rag.ui.viewers.code_viewer import CodeViewer
from desktop_rag.ui.viewers.content_kind import ContentKind, kind_of
from desktop_rag.ui.viewers.mail_viewer import MailViewer
from desktop_rag.ui.viewers.page_viewer import PageViewer, SlidesViewer
from desktop_rag.ui.viewers.pages_viewer import PagesViewer
from desktop_rag.ui.viewers.sheet_viewer import SheetViewer
from desktop_rag.ui.viewers.viewer import DocumentSpan, Hits, Span, Viewer
from desktop_rag.ui.widgets.controls import Card, IconLabel, PlainLabel, TextButton
from desktop_rag.ui.widgets.find_bar import FindBar
from desktop_rag.ui.widgets.layouts import horizontal, vertical

# Words of a query are marked this near to a passage.
_NEAR_CHARS = 50_000


def spans_around(text: str, query: str, passage: Span) -> tuple[Span, ...]:
    """The spans of a query's words near a passage, marked as where the passage is listed."""
    start = max(0, passage[0] - _NEAR_CHARS)
    piece = text[start : passage[1] + _NEAR_CHARS]
    return tuple((start + a, start + b) for a, b in marked_words(piece, query))


def hits_from(words: str, spans: tuple[Span, ...], near: tuple[int, int]) -> Hits:
    """These hits; the first one from `near` on is the current one."""
    at = bisect_left(spans, near)
    return Hits(words, spans, (at if at < len(spans) else 0) if spans else -1)


class WordFinding(QObject):
    """The words that are searched for in the open document, and a walk through the hits."""

    changed = Signal()

    def __init__(self, bridge: Bridge, parent: QObject) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._text = ""
        self._job = Job()
        self.hits = Hits()

    def set_text(self, text: str) -> None:
        """Search in another text from now on."""
        self._text, self.hits = text, Hits()

    def find(self, words: str, near: int = 0) -> None:
        """Find words; the first hit from `near` on becomes the current one."""
        text = self._text
        self.look(lambda: hits_from(words, found_spans(text, words), (near, 0)))

    def mark(self, query: str, passage: Span) -> None:
        """Mark the words of a query around a passage; the first in it becomes the current one."""
        text = self._text

        def hits(spans: tuple[Span, ...]) -> Hits:
            at = bisect_left(spans, (passage[0], 0))
            is_inside = at < len(spans) and spans[at][0] < passage[1]
            words = dict.fromkeys(text[start:end].casefold() for start, end in spans)
            lines = "".join(f"{word}\n" for word in words)
            return Hits(lines, spans, at if is_inside else -1)

        self.look(lambda: hits(spans_around(text, query, passage)))

    def look(self, look: Callable[[], Hits]) -> None:
        """Look on another thread, instead of any look before."""
        self._job.cancel()
        self._job = self._bridge.run(self, look, self._show)

    def end(self) -> None:
        """Have no hits any more, at once."""
        self._job.cancel()
        self._show(Hits())

    @Slot(int)
    def step(self, by: int) -> None:
        """Go to the next hit (1) or the previous one (-1), wrapping around."""
        if self.hits.spans:
            current = (self.hits.current + by) % len(self.hits.spans)
            self._show(Hits(self.hits.words, self.hits.spans, current))

    def _show(self, hits: Hits) -> None:
        self.hits = hits
        self.changed.emit()


class ViewerStack(QStackedWidget):
    """Builds a new view for each document, so that nothing of the previous one remains."""

    place_changed = Signal(str)
    address_clicked = Signal(str)
    part_opened = Signal(str)
    path_clicked = Signal(str, str)
    pages_failed = Signal(object)

    def __init__(self, bridge: Bridge, library: Library, theme: Theme) -> None:
        super().__init__()
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
        """Show a document in place of the previous one."""
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


class StateCard(Card):
    """A quiet card about a problem with a document, with a way out; hidden without a notice."""

    way_out_chosen = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__(kind="notice")
        self._notice: StateNotice | None = None
        self._title = PlainLabel("", wrap=True, selectable=True)
        self._title.setObjectName("noticeTitle")
        self._hint = PlainLabel("", wrap=True, selectable=True)
        self._action = TextButton(tr("Show its folder"), kind="quiet", then=self._on_action)
        horizontal(
            (IconLabel(theme, "info:accent_soft_text"), 0, Qt.AlignmentFlag.AlignTop),
            (vertical(self._title, self._hint, spacing=2), 1),
            (self._action, 0, Qt.AlignmentFlag.AlignTop),
            on=self,
            margins=(12, 8, 8, 8),
            spacing=10,
        )
        self.hide()

    @property
    def is_free(self) -> bool:
        """True while it shows no notice."""
        return self._notice is None

    def show_notice(self, notice: StateNotice | None) -> None:
        """Show this notice; None hides the card."""
        self._notice = notice
        if notice is not None:
            self._title.setText(notice.title)
            self._hint.say(notice.hint)
            self._action.setText(told(notice.way_out.value))
            self._action.setVisible(notice.way_out is not WayOut.NONE)
        self.setVisible(notice is not None)

    @Slot()
    def _on_action(self) -> None:
        if self._notice is not None:
            self.way_out_chosen.emit(self._notice.way_out)


_MAX_PLACES = 200


class ReadingHistory:
    """The opened places with a current one, as in a browser."""

    def __init__(self) -> None:
        self._places: list[DocumentSpan] = []
        self._at = -1

    @property
    def current(self) -> DocumentSpan | None:
        """The place that is open."""
        return self._places[self._at] if self._at >= 0 else None

    @property
    def can_go_back(self) -> bool:
        """True if there is an earlier place."""
        return self._at > 0

    @property
    def can_go_forward(self) -> bool:
        """True if the person went back."""
        return self._at + 1 < len(self._places)

    def visit(self, place: DocumentSpan) -> None:
        """Open a place; what was ahead is forgotten."""
        if place == self.current:
            return
        self._places[self._at + 1 :] = [place]
        del self._places[:-_MAX_PLACES]
        self._at = len(self._places) - 1

    def replace(self, place: DocumentSpan) -> None:
        """Open a place instead of the current one, for a mere glance."""
        del self._places[max(0, self._at) :]
        self._at = len(self._places) - 1
        self.visit(place)

    def go(self, by: int) -> DocumentSpan | None:
        """Go back (-1) or forward (1); None at the end."""
        if not 0 <= self._at + by < len(self._places):
            return None
        self._at += by
        return self._places[self._at]


_ESCAPED = re.compile(r"\\(.)")
_NUMBER = re.compile(r"\[(\d{1,4})\]")


def linked_document(
    library: Library, page: StoredText, target: str, words: str
) -> DocumentSpan | None:
    """The document that a relative link with these words leads to; None if not in the library.

    It runs on a worker thread and reads only the library. A note's number leads to the place the
    note names.
    """
    path = _path_of(page.document, target)
    if path is None:
        return None
    found = next((d for d in library.documents.below(path) if d.path == path and not d.part), None)
    if found is None:
        return None
    number = _NUMBER.fullmatch(words.strip())
    label = listed_place(page.text, int(number[1]), target) if number else ""
    stored = library.documents.stored_text(found.document_id) if label else None
    start, end = _span_of(stored, label) if stored else (0, 0)
    return DocumentSpan(found.document_id, start, end)


def listed_place(text: str, number: int, target: str) -> str:
    """The place that a list of sources names for a number and its file: `page 4`; "" for none."""
    line = re.compile(rf"{number}\. \[.*\]\({re.escape(target)}\), (.*)")
    found = [match[1] for match in map(line.fullmatch, text.splitlines()) if match]
    return _ESCAPED.sub(r"\1", found[-1]) if found else ""


def _path_of(document: Document, target: str) -> Path | None:
    """The file that a link in one of the person's own documents names."""
    is_file = not (document.url or document.part or is_shared(document.document_id))
    name = unquote(urlsplit(target).path)
    return Path(os.path.normpath(document.path.parent / name)) if is_file and name else None


def _span_of(stored: StoredText, label: str) -> tuple[int, int]:
    """The first line of the place with this label, such as `page 4`; (0, 0) for none."""
    places = Places(stored.marks, stored.headings)
    offsets = sorted({m.offset for m in stored.marks} | {h.offset for h in stored.headings})
    for start in offsets:
        if places.anchor(start, start + 1).label() == label:
            end = stored.text.find("\n", start)
            return start, end if end >= 0 else len(stored.text)
    return 0, 0


class ReadingPane(QWidget):
    """Shows one document after another.

    `open_requested` carries a Document and an Anchor to open in another program, `ask_requested`
    and `folder_requested` a Document, `window_requested` and `details_requested` the open
    DocumentSpan.
    """

    open_requested = Signal(object, object)
    ask_requested = Signal(object)
    folder_requested = Signal(object)
    password_requested = Signal(object)
    window_requested = Signal(object)
    details_requested = Signal(object)
    address_clicked = Signal(str)
    close_requested = Signal()
    title_changed = Signal(str)

    def __init__(
        self, bridge: Bridge, library: Library, theme: Theme, parent: QWidget | None = None,
        *, is_window: bool = False, in_details: bool = False,
    ) -> None:  # fmt: skip
        """`is_window` is True in a window of its own, `in_details` in that of the details."""
        super().__init__(parent)
        self._bridge = bridge
        self._library = library
        self._theme = theme
        self._history = ReadingHistory()
        self._loaded: Loaded | None = None
        self._job: Job | None = None
        self._takes_focus = False
        self._marked = ""
        self._header = ReadingHeader(
            theme, is_window=is_window or in_details, has_details=not in_details
        )
        self._build()
        self._connect()

    def _build(self) -> None:
        self.setProperty("kind", "page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName(tr("Document"))
        self._state = StateCard(self._theme)
        self.viewers = ViewerStack(self._bridge, self._library, self._theme)
        self._find = FindBar(self._theme, tr("Find in the document"))
        self._find.hide()
        self._finding = WordFinding(self._bridge, self)
        vertical(
            self._header,
            self._find,
            horizontal(self._state, margins=(10, 0, 10, 0)),
            (self.viewers, 1),
            on=self,
            margins=0,
            spacing=0,
        )

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
        self.viewers.place_changed.connect(header.show_place)
        self.viewers.address_clicked.connect(self.address_clicked)
        self.viewers.part_opened.connect(lambda part: self.read(DocumentSpan(part)))
        self.viewers.path_clicked.connect(self._on_path_clicked)
        self.viewers.pages_failed.connect(self._on_pages_failed)
        self._state.way_out_chosen.connect(self._on_way_out)
        self._find.words_changed.connect(self._on_words_changed)
        self._find.stepped.connect(self._finding.step)
        self._find.closed.connect(self._close_find)
        self._finding.changed.connect(self._on_hits_changed)
        self.setProperty(PLACE, tr("Document"))
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
        """The open place."""
        return self._history.current

    def read(self, place: DocumentSpan) -> None:
        """Open a document at its words and focus it."""
        self._history.visit(place)
        self._takes_focus = True
        self._marked = ""
        self._show(place)

    def preview(self, place: DocumentSpan, words: str = "", *, as_text: bool = False) -> None:
        """Show a document at a passage, with a query's words marked; the focus stays."""
        self._history.replace(place)
        self._takes_focus = False
        self._marked = words
        self._show(place, as_text=as_text)

    def show_failure(self, error: AppError) -> None:
        """Show that another program did not open the document."""
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
        viewer = self.viewers.show_loaded(loaded)
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
        if self.viewers.viewer is not None:
            self.viewers.viewer.show_hits(hits)

    @Slot()
    def _close_find(self) -> None:
        self._find.hide()
        self._finding.find("")
        if self.viewers.viewer is not None:
            self.viewers.viewer.setFocus(Qt.FocusReason.OtherFocusReason)

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
            self._bridge.post(Wanted.LIBRARY)
        elif document is not None and way_out is WayOut.PASSWORD:
            self.password_requested.emit(document)
        elif document is not None and way_out is WayOut.FOLDER:
            self.folder_requested.emit(document)


def _has_pages(document: Document) -> bool:
    return kind_of(document) is ContentKind.PAGES and not is_shared(document.document_id)


_WIDTH_PX, _HEIGHT_PX = 900, 780


class ReadingWindow(QWidget):
    """A ReadingPane in a window of its own; Esc closes it."""

    def __init__(
        self, bridge: Bridge, library: Library, theme: Theme, place: DocumentSpan,
        parent: QWidget,
    ) -> None:  # fmt: skip
        super().__init__(parent, Qt.WindowType.Window)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Document"))
        self.pane = ReadingPane(bridge, library, theme, is_window=True)
        vertical(self.pane, on=self, margins=0)
        room = parent.screen().availableSize()
        self.resize(min(_WIDTH_PX, room.width()), min(_HEIGHT_PX, room.height()))
        self.pane.close_requested.connect(self.close)
        self.pane.title_changed.connect(self._on_title)
        self.pane.read(place)

    @Slot(str)
    def _on_title(self, title: str) -> None:
        self.setWindowTitle(title or tr("Document"))
