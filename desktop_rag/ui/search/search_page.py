"""The search page: results while typing, filters, and the chosen document. Qt thread.

Searching happens on worker threads; a newer search replaces the previous one.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QEvent, QObject, QPoint, QStringListModel, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QGuiApplication, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QCompleter,
    QLineEdit,
    QListView,
    QMenu,
    QSplitter,
    QStackedWidget,
    QWidget,
)

from desktop_rag.answer.chat import Chat
from desktop_rag.core.domain import Collection, Document, Passage
from desktop_rag.core.language.translation import count_of, tr
from desktop_rag.core.library_events import DocumentsChanged, IndexProgress, ProgressChanged
from desktop_rag.core.markup.plain_markdown import shown_text
from desktop_rag.core.query import without_filters, written_filters
from desktop_rag.core.question_scope import QuestionScope, ScopeItem
from desktop_rag.core.search_syntax import quoted_value
from desktop_rag.core.shared_library import SharedLibraryChanged
from desktop_rag.ingest.library import Library
from desktop_rag.ui.documents.document_opener import DocumentOpener
from desktop_rag.ui.foundation.ask_request import Wanted
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.library_state import LibraryFacts
from desktop_rag.ui.foundation.shortcuts import INSIDE, bind
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import failure_in_words
from desktop_rag.ui.passages.library_hint import hint_of
from desktop_rag.ui.passages.passage_painter import FoundPassage, copied
from desktop_rag.ui.passages.passage_search import PassageSearch
from desktop_rag.ui.reading.reading_pane import ReadingPane
from desktop_rag.ui.search.filter_bar import FilterBar
from desktop_rag.ui.search.filter_choices import (
    Choices,
    FilterKind,
    Found,
    choices_of,
    folder_filter,
    reach_of,
)
from desktop_rag.ui.search.found_files import (
    SearchResults,
    are_there,
    in_words,
    results_of,
    words_of,
)
from desktop_rag.ui.search.result_list import ResultList, SearchNotice
from desktop_rag.ui.tags.tag_actions import TagActions
from desktop_rag.ui.viewers.viewer import DocumentSpan
from desktop_rag.ui.widgets.controls import ElidedLabel, PlainLabel, TextButton, add_clear_button
from desktop_rag.ui.widgets.flow_row import WrappingRow
from desktop_rag.ui.widgets.form_fields import chips, selected_value
from desktop_rag.ui.widgets.layouts import horizontal, vertical

_BEGUN = re.compile(r"(?:^|(?<=\s))-?tag:(\"?)([^\"\s]*(?:(?<=\")[^\"]*)?)$", re.IGNORECASE)
_SHOWN_ROWS = 8


class TagCompletion(QObject):
    """Completes tags behind `tag:` in a field: those that contain what is written there."""

    def __init__(self, field: QLineEdit) -> None:
        super().__init__(field)
        self._field = field
        self._names = QStringListModel(self)
        self._completer = QCompleter(self._names, self)
        self._completer.setWidget(field)
        self._completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self._completer.setFilterMode(Qt.MatchFlag.MatchContains)
        self._completer.setMaxVisibleItems(_SHOWN_ROWS)
        self._list = QListView()
        self._list.setAccessibleName(tr("Tags"))
        self._completer.setPopup(self._list)
        self._completer.activated.connect(self._on_chosen)
        field.textEdited.connect(self._on_edited)

    def set_tags(self, names: Sequence[str]) -> None:
        """Offer these tags from now on."""
        if list(names) != self._names.stringList():
            self._names.setStringList(list(names))

    @property
    def offered(self) -> list[str]:
        """The tags that are offered now."""
        if not self._list.isVisible():
            return []
        model = self._completer.completionModel()
        return [str(model.index(row, 0).data()) for row in range(model.rowCount())]

    @Slot(str)
    def _on_edited(self, _text: str) -> None:
        begun = self._begun()
        if begun is None:
            self._list.hide()
            return
        self._completer.setCompletionPrefix(begun[2])
        is_written = self._completer.currentCompletion() == begun[2]
        if self._completer.completionCount() == 0 or (
            is_written and self._completer.completionCount() == 1
        ):
            self._list.hide()
        else:
            self._completer.complete()

    def _begun(self) -> re.Match[str] | None:
        return _BEGUN.search(self._field.text()[: self._field.cursorPosition()])

    @Slot(str)
    def _on_chosen(self, name: str) -> None:
        begun = self._begun()
        if begun is None:
            return
        value = quoted_value(name) if " " in name else name
        before = self._field.text()[: begun.start(1)]
        after = self._field.text()[self._field.cursorPosition() :].lstrip()
        self._field.setText(f"{before}{value} {after}")
        self._field.setCursorPosition(len(before) + len(value) + 1)


# A scope of more files is better expressed by a filter.
MOST_ASKED = 100


class ResultActions(QObject):
    """Acts on the selection: ask, tag, open, narrow down. `filter_added` carries a SearchFilter."""

    ask_requested = Signal(object)
    filter_added = Signal(object)
    read_requested = Signal()
    tags_changed = Signal()

    def __init__(
        self,
        bridge: Bridge,
        library: Library,
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
        """The documents to ask about: the selected ones, or else all if they are not many."""
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


_NARROW_PX = 760
_LEAST_PX = 280
# Holding an arrow key down must not load every document.
_SETTLE_MS = 120
_CHOOSE = tr("Choose a result to read it here.")


class PreviewSide(QSplitter):
    """The chosen document beside `results`; only one of both where there is little room.

    `left` follows when the person returns from the document to the results.
    """

    left = Signal()

    def __init__(
        self,
        bridge: Bridge,
        library: Library,
        theme: Theme,
        opener: DocumentOpener,
        results: QWidget,
    ) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._results = results
        self._wanted: tuple[FoundPassage, str] | None = None
        self._is_closed = self._is_reading = False
        self._has_results = False
        self.pane = ReadingPane(bridge, library, theme)
        opener.serve(self.pane)
        self._empty = PlainLabel(_CHOOSE, tone="muted", wrap=True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setMargin(24)
        self._side = QStackedWidget()
        self._side.addWidget(self._empty)
        self._side.addWidget(self.pane)
        self.setHandleWidth(1)
        for position, widget in enumerate((results, self._side)):
            widget.setMinimumWidth(_LEAST_PX)
            self.addWidget(widget)
            self.setStretchFactor(position, 1)
            self.setCollapsible(position, False)
        self._settling = QTimer(self, singleShot=True, interval=_SETTLE_MS)
        self._settling.timeout.connect(self._preview)
        self.pane.close_requested.connect(self.close_document)

    @property
    def has_room(self) -> bool:
        """True if both fit side by side."""
        return self.width() >= _NARROW_PX

    def set_has_results(self, *, has_results: bool) -> None:
        """Hide the document while there are no results."""
        if has_results != self._has_results:
            self._has_results = has_results
            self._arrange()

    def show_passage(self, found: FoundPassage | None, words: str) -> None:
        """Show a passage in its document soon, with these words marked; None shows none."""
        self._wanted = (found, words) if found else None
        self._settling.start()

    @Slot()
    def read(self) -> None:
        """Focus the document."""
        self._is_closed, self._is_reading = False, True
        self._settling.stop()
        self._arrange()
        self._preview()
        self.pane.setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot()
    def close_document(self) -> None:
        """Give all room to the results, until one is read again."""
        self._is_closed = not self._is_reading or self.has_room
        self._is_reading = False
        self._arrange()
        self.left.emit()

    @Slot()
    def _preview(self) -> None:
        wanted = self._wanted
        self._side.setCurrentWidget(self.pane if wanted else self._empty)
        if wanted and self._side.isVisible():
            passage, words = wanted[0].passage, wanted[1]
            text = shown_text(passage.text, passage.path, passage.url)
            self.pane.preview(
                DocumentSpan(
                    passage.document_id, passage.start, passage.end,
                    title=passage.title, passage=text,
                ),
                words,
            )  # fmt: skip

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        """Without room for both, the document replaces the results while it is read."""
        is_wanted = not self._is_closed if self.has_room else self._is_reading
        is_side_shown = is_wanted and self._has_results
        self._side.setVisible(is_side_shown)
        self._results.setVisible(self.has_room or not is_side_shown)


_MOST_PASSAGES = 100
_RELOAD_MS = 2_000
# With less room beside the ways of listing, the count moves to its own line.
_COUNT_PX = 320
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_KEYS = tr("↑ ↓ through the results · Space reads · Enter asks about the selected files")


class SearchPage(QWidget):
    """`ask_requested` carries the QuestionScope of the selected files, `question_requested` the
    typed text, to be asked instead.
    """

    ask_requested = Signal(object)
    question_requested = Signal(str)

    def __init__(self, bridge: Bridge, library: Library, chat: Chat, theme: Theme) -> None:
        super().__init__()
        self._bridge = bridge
        self._library = library
        self._theme = theme
        self._facts = LibraryFacts()
        self._files = 0
        self._is_stale = False
        # As found, best first.
        self._ranked = SearchResults()
        opener = DocumentOpener(bridge, library, theme, self)

        def prepare(text: str, passages: Sequence[Passage]) -> SearchResults:
            ids = list({passage.document_id for passage in passages})
            return results_of(text, passages, library.documents.of_ids(ids), _MOST_PASSAGES)

        self._search = PassageSearch(bridge, chat, _MOST_PASSAGES, self, prepare)
        self._reload = QTimer(self, singleShot=True, interval=_RELOAD_MS)
        self._build(opener)
        self.actions_of_results = ResultActions(bridge, library, opener, self.results, self)
        self._connect()
        self._show_state()

    # --- building --------------------------------------------------------------------------------

    def _build(self, opener: DocumentOpener) -> None:
        self.setProperty("kind", "page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._above = QWidget()
        self.field = self._build_field()
        self.completion = TagCompletion(self.field)
        self.filters = FilterBar(self._theme)
        self._count = PlainLabel(tone="muted", wrap=True)
        # By True for files.
        self._ways = chips(self, {True: tr("By file"), False: tr("By passage")})
        self._newest_first = TextButton(tr("Newest first"), kind="chip")
        self._newest_first.setAccessibleDescription(
            tr("By the day of the file instead of the best passage")
        )
        self._newest_first.setCheckable(True)
        status = WrappingRow(
            [self._count], [*self._ways.values(), self._newest_first],
            at=1, stretched=0, min_px=_COUNT_PX, spacing=6,
        )  # fmt: skip
        vertical(
            self.field, self.filters, status, on=self._above, margins=(18, 16, 18, 8), spacing=8
        )
        self.results = ResultList(self._theme)
        self._notice = SearchNotice()
        self._stack = QStackedWidget()
        self._stack.addWidget(self._notice)
        self._stack.addWidget(self.results)
        self.side = PreviewSide(self._bridge, self._library, self._theme, opener, self._stack)
        vertical(self._above, (self.side, 1), self._build_foot(), on=self, margins=0, spacing=0)
        self.setFocusProxy(self.field)

    def _build_field(self) -> QLineEdit:
        field = QLineEdit(placeholderText=tr("Search your files"))
        field.setObjectName("searchField")
        field.setAccessibleName(tr("Search your files"))
        add_clear_button(field)
        return field

    def _build_foot(self) -> QWidget:
        self._foot = QWidget()
        self._tags = TextButton(tr("Tags…"))
        self._open = TextButton(tr("Open"))
        self._open.setAccessibleDescription(tr("Open the chosen file in another program"))
        self._ask = TextButton(tr("Ask about the selection"), kind="primary")
        horizontal(
            (ElidedLabel(_KEYS, tone="muted", scale="small"), 1),
            self._tags,
            self._open,
            self._ask,
            on=self._foot,
            margins=(18, 8, 18, 10),
            spacing=8,
        )
        return self._foot

    def _connect(self) -> None:
        self.field.installEventFilter(self)
        self.field.textChanged.connect(lambda _: self._search_now())
        self.filters.changed.connect(self._search_now)
        for button in (*self._ways.values(), self._newest_first):
            button.clicked.connect(lambda: self._show_results(self._ranked))
        self._search.found.connect(self._on_found)
        # A filter is half typed or wrong: the previous results stay.
        self._search.failed.connect(lambda error: self._count.setText(failure_in_words(error)))
        self._notice.folder_requested.connect(lambda: self._bridge.post(Wanted.FOLDER))
        self._notice.filters_dropped.connect(self._on_filters_dropped)
        self._notice.question_requested.connect(
            lambda: self.question_requested.emit(self.field.text().strip())
        )
        self.results.chosen.connect(self._on_chosen)
        self.results.selection_changed.connect(self._show_actions)
        self.results.read_requested.connect(self.side.read)
        self.results.ask_requested.connect(self.actions_of_results.ask)
        self.results.left.connect(self.focus_field)
        self.side.left.connect(self._on_reading_left)
        self.actions_of_results.ask_requested.connect(self.ask_requested)
        self.actions_of_results.filter_added.connect(self.filters.add)
        self.actions_of_results.read_requested.connect(self.side.read)
        self.actions_of_results.tags_changed.connect(self._on_tags_changed)
        self._bridge.hear(ProgressChanged, self._on_progress)
        self._bridge.hear((DocumentsChanged, SharedLibraryChanged), self._on_library_changed)
        self._tags.clicked.connect(self.actions_of_results.edit_tags)
        self._open.clicked.connect(self.actions_of_results.open)
        self._ask.clicked.connect(self.actions_of_results.ask)
        self._reload.timeout.connect(self._on_reload)
        # Not over the document, where both keys have other meanings.
        for widget in (self._above, self._stack, self._foot):
            bind(widget, "Ctrl+F", tr("Write what to search for"), self.focus_field, INSIDE)
            bind(
                widget, "Esc", tr("Close the document, or empty the field"), self._on_escape, INSIDE
            )

    # --- called by the window --------------------------------------------------------------------

    @Slot()
    def focus_field(self) -> None:
        """Focus the field and select its text."""
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    @Slot(object, int, int)
    def show_library(self, _collections: Sequence[Collection], sources: int, files: int) -> None:
        """Take the numbers of folders and searchable files."""
        self._facts, self._files = replace(self._facts, sources=sources), files
        self._show_state()
        self._on_library_changed()

    def show_progress(self, progress: IndexProgress) -> None:
        """Take the progress of indexing."""
        is_paused = self._library.indexing.is_paused
        facts = replace(self._facts, progress=progress, is_paused=is_paused)
        if facts != self._facts:
            self._facts = facts
            self._show_state()

    def _on_progress(self, event: ProgressChanged) -> None:
        self.show_progress(event.progress)

    def _on_library_changed(self, _event: object = None) -> None:
        """Search and count the choices again soon, or once the page is visible."""
        self._is_stale = True
        if self.isVisible() and not self._reload.isActive():
            self._reload.start()

    @property
    def is_settled(self) -> bool:
        """True if no more results are to come for the typed text."""
        return self._search.is_settled

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._is_stale:
            self._on_reload()
        else:
            self._load_choices()

    @Slot()
    def _on_reload(self) -> None:
        self._load_choices()
        if not self._search.is_settled:
            self._reload.start()
            return
        self._is_stale = False
        if self.results.current is None:
            self._search_again()
        else:
            # While a result is chosen, the list changes only if a document is gone.
            library, shown = self._library, [f.document for f in self._ranked.files]
            self._bridge.run(self, lambda: are_there(library, shown), self._on_looked_for)

    def _on_looked_for(self, are_all_there: bool) -> None:
        if not are_all_there:
            self._search_again()

    @Slot()
    def _load_choices(self) -> None:
        library = self._library
        self._bridge.run(self, lambda: choices_of(library), self._show_choices)

    def _show_choices(self, choices: Choices) -> None:
        self.filters.show_choices(choices)
        tags = choices.get(FilterKind.TAG, ())
        self.completion.set_tags([choice.filter.label for choice in tags])

    # --- searching -------------------------------------------------------------------------------

    @Slot()
    def _search_now(self) -> None:
        self._search.search(self.field.text(), reach_of(self.filters.filters))
        if not self._search.is_settled and not self.results.results.passages:
            self._count.setText(tr("Searching…"))

    def _search_again(self) -> None:
        self._search.clear()
        self._search_now()

    def _on_found(self, _text: str, found: object) -> None:
        results = found if isinstance(found, SearchResults) else SearchResults()
        # Results by meaning follow; until then nothing is reported missing.
        if results.passages or self._search.is_settled:
            self._show_results(results)

    def _show_results(self, results: SearchResults) -> None:
        self._ranked = results
        shown = results.newest_first() if self._newest_first.isChecked() else results
        self.results.show_results(shown, is_by_file=selected_value(self._ways))
        self._show_state()

    def _show_state(self) -> None:
        results = self.results.results
        self._stack.setCurrentWidget(self.results if results.passages else self._notice)
        self.side.set_has_results(has_results=bool(results.passages))
        has_filters = bool(self.filters.filters)
        is_asked = bool(self.field.text().strip()) or has_filters
        is_complete = self._search.is_settled and not results.are_best
        found = Found(tuple(file.document for file in results.files), is_complete)
        self.filters.show_found(found if is_asked else None)
        hint = hint_of(self._facts) if self._facts.sources else ""
        count = in_words(results) if results.passages else ""
        self._count.setText(" · ".join(filter(None, (count, hint))))
        if self._facts.sources == 0:
            self._notice.show_no_folder()
        elif not is_asked:
            self._notice.show_start(self._files)
        elif self._search.is_settled:
            typed = self.field.text()
            self._notice.show_nothing(
                has_filters=has_filters, typed=written_filters(typed),
                has_words=bool(words_of(typed).strip()), is_complete=not hint,
            )  # fmt: skip
        self._show_actions()

    @Slot()
    def _show_actions(self) -> None:
        has_results = bool(self.results.results.passages)
        selected = self.results.selected
        self._foot.setVisible(has_results)
        for button in (*self._ways.values(), self._newest_first):
            button.setVisible(has_results)
        self._tags.setEnabled(bool(selected))
        self._open.setEnabled(self.results.current is not None)
        self._ask.setText(self.actions_of_results.ask_in_words())
        self._ask.setEnabled(bool(self.actions_of_results.asked))

    # --- actions of the person -------------------------------------------------------------------

    @Slot(object)
    def _on_chosen(self, found: FoundPassage | None) -> None:
        self.side.show_passage(found, words_of(self.results.results.text))
        self._show_actions()

    @Slot()
    def _on_filters_dropped(self) -> None:
        self.filters.clear()
        self.field.setText(without_filters(self.field.text()))

    @Slot()
    def _on_reading_left(self) -> None:
        if self.results.isVisible():
            self.results.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self.focus_field()

    @Slot()
    def _on_tags_changed(self) -> None:
        self._load_choices()
        self._search_again()

    @Slot()
    def _on_escape(self) -> None:
        """Go from the results to the field; in the field, clear it."""
        if not self.field.hasFocus():
            self.focus_field()
        elif self.field.text():
            self.field.clear()
        else:
            self._bridge.post(Wanted.DISMISSAL)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.field and isinstance(event, QKeyEvent):
            is_press = event.type() == QEvent.Type.KeyPress
            goes_down = event.key() in {*_ENTER, Qt.Key.Key_Down}
            if is_press and goes_down and self.results.results.passages:
                self.results.choose_first()
                return True
        return super().eventFilter(watched, event)
