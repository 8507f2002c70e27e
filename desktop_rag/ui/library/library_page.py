"""The library page: sources, indexing progress, and every file with its state. Qt thread.

Work of the library, and its events, go through the bridge.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QProgressBar, QScrollArea, QStackedWidget, QWidget

from desktop_rag.core.domain import Collection, Document, DocumentState, Source
from desktop_rag.core.language.translation import count_of, tr
from desktop_rag.core.library_events import (
    DocumentsChanged,
    IndexProgress,
    NothingUsed,
    Notice,
    Stage,
)
from desktop_rag.core.pictures import PictureHold
from desktop_rag.core.question_scope import QuestionScope, ScopeItem
from desktop_rag.core.settings import LongReading
from desktop_rag.ingest.library import Library
from desktop_rag.progress_words import (
    duration_left,
    headline,
    overall_percent,
    percent,
    pictures_left,
    pictures_question,
    pictures_wait,
    progress_line,
    steps_in_words,
)
from desktop_rag.ui.documents.document_beside import DocumentBeside
from desktop_rag.ui.documents.document_opener import DocumentOpener
from desktop_rag.ui.foundation.ask_request import MOST_ITEMS, AskAboutRequested, Done, UndoOffer
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import collection_name, cut_line, one_line
from desktop_rag.ui.library.changes.changes_panel import ChangesPanel
from desktop_rag.ui.library.document_model import DocumentModel
from desktop_rag.ui.library.documents_panel import DocumentsPanel
from desktop_rag.ui.library.facets.facet_values import StateGroup
from desktop_rag.ui.library.library_feed import LibraryFeed
from desktop_rag.ui.library.library_header import FirstRun, LibraryHeader, LibraryView
from desktop_rag.ui.library.source_actions import FurtherKind, SourceActions
from desktop_rag.ui.library.source_list import SourceList
from desktop_rag.ui.passwords.password_actions import PasswordActions
from desktop_rag.ui.tags.tag_actions import TagActions
from desktop_rag.ui.widgets.controls import Card, ElidedLabel, PlainLabel, TextButton
from desktop_rag.ui.widgets.file_drop import FileDrop
from desktop_rag.ui.widgets.layouts import horizontal, vertical
from desktop_rag.ui.widgets.scrolled_page import put_in_place

_REPAINT_MS = 200
_STEPS = 1000


class ProgressStrip(Card):
    """Live indexing progress, hidden at rest; it repaints at most five times a second."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._progress = IndexProgress(Stage.STARTING)
        self._hold = ""
        self._repaint = QTimer(self, singleShot=True, interval=_REPAINT_MS)
        self._repaint.timeout.connect(self._show)
        self._build()
        self._show()

    def set_progress(self, progress: IndexProgress) -> None:
        """Show newer progress: after a short delay, or immediately when the stage changes."""
        is_new_stage = progress.stage is not self._progress.stage
        self._progress = progress
        self._show_soon(is_new_stage)

    def set_hold(self, words: str) -> None:
        """Set why indexing was paused if the person did not pause it; "" for any other pause."""
        if words != self._hold:
            self._hold = words
            self._show_soon(True)

    def _show_soon(self, is_urgent: bool) -> None:
        if is_urgent:
            self._repaint.stop()
            self._show()
        elif not self._repaint.isActive():
            self._repaint.start()

    def _build(self) -> None:
        self._headline = ElidedLabel()
        self._headline.setObjectName("stripHeadline")
        self._percent = PlainLabel()
        self._percent.setObjectName("stripPercent")
        self._left = PlainLabel(tone="muted")
        self._bar = QProgressBar(self)
        self._bar.setRange(0, _STEPS)
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName(tr("Indexing progress"))
        self._steps = ElidedLabel(tone="muted", scale="small")
        self._file = ElidedLabel(tone="muted", scale="small", mode=Qt.TextElideMode.ElideMiddle)
        vertical(
            horizontal((self._headline, 1), self._left, self._percent, spacing=10),
            self._bar,
            horizontal((self._steps, 3), (self._file, 2), spacing=16),
            on=self,
            margins=(14, 8, 14, 8),
            spacing=5,
        )

    @Slot()
    def _show(self) -> None:
        now = self._progress
        is_running = bool(now.steps)
        is_held = bool(self._hold) and now.stage is Stage.PAUSED
        words = headline(now) if is_running else progress_line(now)
        self._headline.set_full_text(self._hold if is_held else words)
        is_timed = is_running and now.stage is not Stage.PAUSED
        self._left.setText(duration_left(now.seconds_left) if is_timed else "")
        self._percent.setText(overall_percent(now) if is_running else "")
        self._bar.setValue(int(now.fraction * _STEPS))
        self._bar.setAccessibleDescription(percent(now.fraction))
        self._steps.set_full_text(_steps_line(now))
        if now.current_file or now.stage is not Stage.READING:
            # The last name stays until the next file: an empty line would flicker.
            name = one_line(now.current_file)
            self._file.set_full_text(tr("Reading {name}", name=name) if name else "")
        for widget in (self._bar, self._percent, self._left, self._steps):
            widget.setVisible(is_running)
        self._file.setVisible(now.stage is Stage.READING or bool(now.current_file))
        self.setVisible(is_running or now.stage is Stage.PAUSED)


def _steps_line(progress: IndexProgress) -> str:
    marks = ["✓" if step.is_done else f"{n}." for n, step in enumerate(progress.steps, start=1)]
    words = steps_in_words(progress)
    return " · ".join(f"{mark} {step}" for mark, step in zip(marks, words, strict=True))


class PicturesBar(Card):
    """Says how many pictures and scanned pages wait, and offers to read, postpone, pause or resume
    them; hidden while none waits.
    """

    read_requested = Signal()
    later_requested = Signal()
    pause_requested = Signal()
    resume_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = PlainLabel()
        self._words.setWordWrap(True)
        self._read = TextButton(tr("Read"), kind="primary", then=self.read_requested)
        self._later = TextButton(tr("Not now"), then=self.later_requested)
        self._pause = TextButton(tr("Pause pictures"), then=self.pause_requested)
        self._resume = TextButton(tr("Resume pictures"), then=self.resume_requested)
        horizontal(
            (self._words, 1),
            self._read,
            self._later,
            self._pause,
            self._resume,
            on=self,
            margins=(14, 8, 14, 8),
            spacing=8,
        )
        self.show_progress(IndexProgress())

    def show_progress(self, progress: IndexProgress) -> None:
        """Show what is waiting."""
        waiting = progress.pictures
        hold = waiting.hold
        is_asked = hold is PictureHold.ASKED
        wait = pictures_question if is_asked else pictures_wait
        self._words.setText(wait(waiting) or pictures_left(waiting))
        self._read.setVisible(hold in {PictureHold.ASKED, PictureHold.LATER})
        self._later.setVisible(hold is PictureHold.ASKED)
        self._pause.setVisible(hold is PictureHold.NONE)
        self._resume.setVisible(hold is PictureHold.PAUSED)
        self.setVisible(waiting.count > 0)


_LONGEST_NAME = 60
_UNDER_WAY = (DocumentState.WAITING, DocumentState.READING)


class FileActions(QObject):
    """Excludes files, includes them again, and reads them again, also in another encoding."""

    def __init__(self, bridge: Bridge, library: Library, page: QObject) -> None:
        super().__init__(page)
        self._bridge = bridge
        self._library = library
        # The failed files that are read again (None until known), and their states.
        self._retried: list[str] | None = []
        self._states: dict[str, DocumentState] = {}
        bridge.hear(DocumentsChanged, self._on_documents_changed)

    @Slot(object)
    def exclude(self, documents: Sequence[Document]) -> None:
        """Stop reading these files, with an offer to undo."""
        ids, exclusions = _ids(documents), self._library.exclusions

        def offer(rows: Sequence[Document]) -> None:
            if rows:
                notice = Notice(
                    tr("{named} excluded.", named=_named(rows)),
                    tr("Answers no longer use it, and it isn't read until you include it again.")
                    if len(rows) == 1
                    else tr(
                        "Answers no longer use them, and they aren't read until you include them"
                        " again."
                    ),
                )
                self._bridge.post(UndoOffer(notice, lambda: self.include(rows)))

        self._bridge.run(self, lambda: exclusions.exclude(ids), offer)

    @Slot(object)
    def include(self, documents: Sequence[Document]) -> None:
        """Read these files again, and from now on."""
        ids = _ids(documents)
        self._bridge.run(self, lambda: self._library.exclusions.include(ids))

    @Slot(object)
    def read_again(self, documents: Sequence[Document]) -> None:
        """Read these files again, even if nothing changed."""
        ids, library = _ids(documents), self._library.documents

        def tell(count: int) -> None:
            if not count:
                hint = tr("A rule leaves these files out.")
                self._bridge.post(Done(Notice(tr("Nothing was read again."), hint)))

        self._bridge.run(self, lambda: library.read_again(ids), tell)

    @Slot(object, str)
    def choose_encoding(self, documents: Sequence[Document], encoding: str) -> None:
        """Read these files in this encoding from now on; "" has it found."""
        ids, exclusions = _ids(documents), self._library.exclusions
        self._bridge.run(self, lambda: exclusions.choose_encoding(ids, encoding))

    @Slot()
    def retry_failed(self) -> None:
        """Read all failed files again, and report the outcome."""
        library, self._retried = self._library, None
        self._states.clear()

        def tell(ids: list[str]) -> None:
            self._retried = ids
            if ids:
                self._bridge.post(Done(_retry_in_words(len(ids), library.indexing.is_paused)))
            self._tell_retried()

        self._bridge.run(self, library.documents.retry_failed, tell)

    def _on_documents_changed(self, event: DocumentsChanged) -> None:
        # One of them may be read before their ids are known.
        wanted = self._retried
        for document in event.documents:
            if wanted is None or document.document_id in wanted:
                self._states[document.document_id] = document.state
        self._tell_retried()

    def _tell_retried(self) -> None:
        states = [self._states.get(each) for each in self._retried or ()]
        if not states or any(state is None or state in _UNDER_WAY for state in states):
            return
        failed = states.count(DocumentState.FAILED)
        title = tr(
            "{read:,} of {files} could be read.",
            read=len(states) - failed,
            files=count_of(len(states), tr("file"), tr("files")),
        )
        hint = tr("The column Reason says what is wrong with the others.") if failed else ""
        self._bridge.post(Done(Notice(title, hint)))
        self._retried = []
        self._states.clear()


def _retry_in_words(count: int, is_paused: bool) -> Notice:
    title = tr("{count:,} files are read again.", count=count)
    hint = tr("Indexing is paused. They are read when it goes on.") if is_paused else ""
    return Notice(tr("1 file is read again.") if count == 1 else title, hint)


def _ids(documents: Sequence[Document]) -> list[str]:
    return [document.document_id for document in documents]


def _named(documents: Sequence[Document]) -> str:
    if len(documents) == 1:
        return tr("“{cut_line}” is", cut_line=cut_line(documents[0].path.name, _LONGEST_NAME))
    return tr("{count_of} are", count_of=count_of(len(documents), tr("file"), tr("files")))


class LibraryPage(QWidget):
    """Adds, shows and removes sources, and shows the state of their files.

    `summary_requested` carries the QuestionScope to sum up, `long_pictures_chosen` a LongReading.
    `demo_requested` comes from the page of an empty library.
    """

    demo_requested = Signal()
    summary_requested = Signal(object)
    long_pictures_chosen = Signal(object)

    def __init__(
        self,
        bridge: Bridge,
        library: Library,
        theme: Theme,
        kinds_read: Sequence[str],
        more_views: Mapping[str, Callable[[], QWidget]] | None = None,
        more_kinds: Sequence[Callable[[], FurtherKind]] = (),
    ) -> None:
        """`kinds_read` names the supported kinds of files, such as `PDF`.

        `more_views` build views beside those of the files, by their names, when first shown;
        `more_kinds` make further kinds of sources.
        """
        super().__init__()
        self._bridge = bridge
        self._library = library
        self._theme = theme
        self._opener = DocumentOpener(bridge, library, theme, self)
        self._model = DocumentModel(self)
        self._feed = LibraryFeed(bridge, library, self._model, self)
        kinds = [make() for make in more_kinds]
        self._actions = SourceActions(bridge, library, self, kinds)
        self._files = FileActions(bridge, library, self)
        self._passwords = PasswordActions(bridge, library, self)
        self._tags = TagActions(bridge, library, self)
        self._unbuilt = dict(more_views or {})
        self._build(kinds_read)
        self._connect()

    def load(self) -> None:
        """Read the library, unless that was done; the page says so until it is read."""
        if not self._feed.is_wanted:
            self._feed.load()

    def release(self) -> None:
        """Free the rows of the files, one or two kilobytes each, until `load`."""
        self._feed.release()
        if not self._feed.is_wanted:
            self._opening.show()
            self._empty.hide()
            self._content.hide()

    def _on_nothing_used(self, _event: NothingUsed) -> None:
        if not self.window().isVisible():
            self.release()

    @Slot()
    def choose_folder(self) -> None:
        """Let the person choose and add a folder."""
        self._actions.choose_folder()

    def close_document(self) -> None:
        """Show the files alone."""
        self._reading.close_document()

    def choose_first_folder(self) -> None:
        """As `choose_folder`, with no question about a small folder."""
        self._actions.choose_first_folder()

    def add_paths(self, paths: Iterable[Path]) -> None:
        """Add folders and files; for a single folder a dialog with a preview opens first."""
        self._actions.add(paths)

    # --- building --------------------------------------------------------------------------------

    def _build(self, kinds_read: Sequence[str]) -> None:
        FileDrop(self, self).dropped.connect(self.add_paths)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setProperty("kind", "page")
        # Created from top to bottom, which sets the Tab order.
        self.header = LibraryHeader(self._theme, list(self._unbuilt), self._actions, self)
        self.below_header = vertical()
        self._first_run = FirstRun(self._theme, kinds_read)
        self._empty = QScrollArea(self, widgetResizable=True)
        self._empty.setWidget(self._first_run)
        self._opening = PlainLabel(tr("Opening the library…"), tone="muted")
        self._opening.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._content = QWidget(self)
        self._strip = ProgressStrip(self._content)
        self._pictures = PicturesBar(self._content)
        self._reading = DocumentBeside(self._bridge, self._library, self._theme, self._opener)
        self._views = QStackedWidget(self._reading)
        self._panel = DocumentsPanel(self._theme, self._model, self._views)
        self._list = SourceList(self._theme, self._model, self.header.last_stop, self._views)
        self._changes = ChangesPanel(self._bridge, self._library, self._theme, self._views)
        self._widget_of_view: dict[str, QWidget] = {
            LibraryView.FILES: self._panel,
            LibraryView.FOLDERS: self._list,
            LibraryView.TODAY: self._changes,
            **{name: QWidget() for name in self._unbuilt},
        }
        for view in self._widget_of_view.values():
            self._views.addWidget(view)
        self._reading.addWidget(self._views)
        parts = self._strip, self._pictures, (self._reading, 1)
        vertical(*parts, on=self._content, margins=0, spacing=12)
        vertical(
            self.header,
            self.below_header,
            (self._opening, 1),
            (self._empty, 1),
            (self._content, 1),
            on=self,
            margins=(22, 18, 22, 18),
            spacing=12,
        )
        self._empty.hide()
        self._content.hide()

    def _connect(self) -> None:
        self._connect_folders()
        self._connect_files()
        self._bridge.hear(NothingUsed, self._on_nothing_used)
        self._feed.sources_changed.connect(self._show_sources)
        self._feed.progress_changed.connect(self._show_progress)
        self.header.view_chosen.connect(self.show_view)
        self.header.folder_requested.connect(self.choose_folder)
        self.header.files_requested.connect(self._actions.choose_files)
        self.header.collections_requested.connect(self._actions.edit_collections)
        self.header.pause_requested.connect(self._on_pause_clicked)
        self._model.counts_changed.connect(lambda: self.header.show_counts(self._model.counts()))
        self._actions.changed.connect(self._feed.reload_sources)
        self._feed.scanned.connect(self._list.show_changes)
        self._first_run.folder_requested.connect(self.choose_folder)
        self._first_run.demo_requested.connect(self.demo_requested)
        self._model.counts_changed.connect(self._changes.refresh_soon)
        self._actions.put_away.connect(self._feed.exclude_source)
        self._actions.brought_back.connect(self._feed.include_source)
        self._connect_pictures()

    def _connect_pictures(self) -> None:
        indexing, chosen = self._library.indexing, self.long_pictures_chosen
        self._pictures.pause_requested.connect(indexing.pause_pictures)
        self._pictures.resume_requested.connect(indexing.resume_pictures)
        self._pictures.read_requested.connect(lambda: chosen.emit(LongReading.READ))
        self._pictures.later_requested.connect(lambda: chosen.emit(LongReading.WAIT))

    def _connect_folders(self) -> None:
        asked, sources = self._list.asked, self._library.sources
        asked.options_requested.connect(self._actions.edit)
        asked.open_requested.connect(
            lambda source: self._opener.open(
                source.path, source.links.urls[0] if source.links else ""
            )
        )
        asked.rescan_requested.connect(
            lambda source: self._bridge.run(self, lambda: sources.rescan(source.source_id))
        )
        asked.remove_confirmed.connect(self._actions.remove)
        asked.files_requested.connect(self._on_files_requested)
        asked.locate_requested.connect(self._actions.locate)
        asked.summary_requested.connect(
            lambda source: self.summary_requested.emit(
                QuestionScope.of(ScopeItem.of_source(source))
            )
        )
        asked.ask_requested.connect(lambda source: self._ask_about(ScopeItem.of_source(source)))

    def _connect_files(self) -> None:
        table = self._panel.table
        table.open_requested.connect(self._on_document_open_requested)
        table.folder_requested.connect(lambda document: self._opener.show_in_folder(document.path))
        table.summary_requested.connect(
            lambda document: self.summary_requested.emit(
                QuestionScope.of(ScopeItem.of_document(document))
            )
        )
        table.view_requested.connect(
            lambda document: self._reading.read_document(document.document_id)
        )
        self._changes.read_requested.connect(self._reading.read_document)
        self._panel.retry_failed_requested.connect(self._files.retry_failed)
        table.retry_requested.connect(self._files.read_again)
        table.encoding_chosen.connect(self._files.choose_encoding)
        table.exclude_requested.connect(self._files.exclude)
        table.include_requested.connect(self._files.include)
        table.password_requested.connect(self._passwords.ask)
        table.forgetting_requested.connect(self._passwords.forget)
        table.tags_requested.connect(self._tags.edit)
        table.ask_requested.connect(
            lambda documents: self._ask_about(*map(ScopeItem.of_document, documents))
        )

    # --- library state ---------------------------------------------------------------------------

    @Slot(object, object)
    def _show_sources(self, sources: Sequence[Source], collections: Sequence[Collection]) -> None:
        names = {each.collection_id: collection_name(each) for each in collections}
        self._list.set_sources(sources, names)
        self._panel.set_places(sources, collections)
        self._opening.hide()
        self._content.setVisible(bool(sources))
        self._empty.setVisible(not sources)
        self._actions.set_places(sources, collections)
        for source_id, summary in self._library.sources.last_scans.items():
            self._list.show_changes(source_id, summary)
        self.header.show_actions(bool(sources))

    @Slot(object)
    def _show_progress(self, progress: IndexProgress) -> None:
        self._strip.set_hold(self._hold_in_words())
        self._strip.set_progress(progress)
        self._pictures.show_progress(progress)
        self.header.show_paused(self._library.indexing.is_paused)

    def _hold_in_words(self) -> str:
        indexing = self._library.indexing
        if indexing.is_retrying_later:
            return tr("Waiting to try again")
        return tr("Paused on battery power") if indexing.is_paused_for_battery else ""

    # --- actions of the person -------------------------------------------------------------------

    @Slot()
    def _on_pause_clicked(self) -> None:
        if self._library.indexing.is_paused:
            self._library.indexing.resume()
        else:
            self._library.indexing.pause()
        self._show_progress(self._library.indexing.progress())

    def make_removals(self) -> None:
        """Make all pending removals at once, because the app ends."""
        self._actions.make_removals()

    def show_unread(self) -> None:
        """List the files of all folders that could not be read or were left out."""
        self.show_view(LibraryView.FILES)
        self._panel.show_files(groups=[StateGroup.NOT_READ])

    @property
    def views(self) -> list[str]:
        """Each LibraryView, and the names of more views."""
        return list(self._widget_of_view)

    @Slot(object)
    def show_view(self, view: str) -> None:
        """Show the table of files, or another view of the library."""
        self.header.choose(view)
        if build := self._unbuilt.pop(view, None):
            self._widget_of_view[view] = build()
            put_in_place(self._views, self.views.index(view), self._widget_of_view[view])
        self._views.setCurrentWidget(self._widget_of_view[view])

    @Slot(object, bool)
    def _on_files_requested(self, source: Source, is_unread_only: bool) -> None:
        self.show_view(LibraryView.FILES)
        self._panel.show_files(source.source_id, [StateGroup.NOT_READ] if is_unread_only else [])

    @Slot(object)
    def _on_document_open_requested(self, document: Document) -> None:
        # A skipped file may be a program: show it in its folder, never start it.
        if document.state is DocumentState.SKIPPED:
            self._opener.show_in_folder(document.path)
        else:
            self._opener.open(document.path, document.address)

    def _ask_about(self, *items: ScopeItem) -> None:
        if len(items) > MOST_ITEMS:
            title = tr(
                "Up to {MOST_ITEMS:,} files can be asked about together.", MOST_ITEMS=MOST_ITEMS
            )
            self._bridge.post(Notice(title, tr("Select fewer, or ask about their folder.")))
        else:
            self._bridge.post(AskAboutRequested(QuestionScope.of(*items)))
