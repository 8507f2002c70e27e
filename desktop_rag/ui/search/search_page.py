"""The search page: results while typing, filters, and the chosen document beside them. Qt thread.

Searching happens on worker threads; a newer search takes the place of the one before.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QHBoxLayout,
    QLineEdit,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from desktop_rag.core.domain import Collection, Passage
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.core.library_events import IndexProgress
from desktop_rag.core.query import without_filters, written_filters
from desktop_rag.ui.documents.document_opener import DocumentOpener
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.error_words import failure_in_words
from desktop_rag.ui.foundation.library_state import LibraryFacts
from desktop_rag.ui.foundation.shortcuts import INSIDE, bind
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.passages.found_passage import FoundPassage
from desktop_rag.ui.passages.library_hint import hint_of
from desktop_rag.ui.passages.passage_search import PassageSearch
from desktop_rag.ui.search.filter_bar import FilterBar
from desktop_rag.ui.search.filter_choices import Choices, Found, choices_of
from desktop_rag.ui.search.found_files import (
    SearchResults,
    are_there,
    in_words,
    results_of,
    words_of,
)
from desktop_rag.ui.search.preview_side import PreviewSide
from desktop_rag.ui.search.result_actions import ResultActions
from desktop_rag.ui.search.result_list import ResultList
from desktop_rag.ui.search.search_filters import FilterKind, reach_of
from desktop_rag.ui.search.search_notice import SearchNotice
from desktop_rag.ui.search.tag_completion import TagCompletion
from desktop_rag.ui.widgets.controls import ElidedLabel, PlainLabel, TextButton, add_clear_button
from desktop_rag.ui.widgets.wrapping_row import WrappingRow

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat
    from desktop_rag.ingest.library import Library

_MOST_PASSAGES = 100
_RELOAD_MS = 2_000
# With less beside the ways of listing, what was found stands on a line of its own.
_COUNT_PX = 320
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_KEYS = tr("↑ ↓ through the results · Space reads · Enter asks about the selected files")


class SearchPage(QWidget):
    """`ask_requested` carries the QuestionScope of the selected files, `question_requested` what
    was typed, to be asked instead.
    """

    ask_requested = Signal(object)
    question_requested = Signal(str)
    folder_requested = Signal()
    library_requested = Signal()

    def __init__(self, bridge: Bridge, library: "Library", chat: "Chat", theme: Theme) -> None:
        super().__init__()
        self._bridge = bridge
        self._library = library
        self._theme = theme
        self._facts = LibraryFacts()
        self._files = 0
        self._is_stale = False
        # As they were found, the best first.
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
        self._by_file = TextButton(tr("By file"), kind="chip")
        self._by_passage = TextButton(tr("By passage"), kind="chip")
        self._newest_first = TextButton(tr("Newest first"), kind="chip")
        self._newest_first.setAccessibleDescription(
            tr("By the day of the file instead of the best passage")
        )
        self._newest_first.setCheckable(True)
        self._ways = QButtonGroup(self)
        for button in (self._by_file, self._by_passage):
            button.setCheckable(True)
            self._ways.addButton(button)
        status = WrappingRow(
            [self._count], [self._by_file, self._by_passage, self._newest_first],
            at=1, stretched=0, min_px=_COUNT_PX, spacing=6,
        )  # fmt: skip
        self._by_file.setChecked(True)
        above = QVBoxLayout(self._above)
        above.setContentsMargins(18, 16, 18, 8)
        above.setSpacing(8)
        above.addWidget(self.field)
        above.addWidget(self.filters)
        above.addWidget(status)
        self.results = ResultList(self._theme)
        self._notice = SearchNotice()
        self._stack = QStackedWidget()
        self._stack.addWidget(self._notice)
        self._stack.addWidget(self.results)
        self.side = PreviewSide(self._bridge, self._library, self._theme, opener, self._stack)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._above)
        column.addWidget(self.side, 1)
        column.addWidget(self._build_foot())
        self.setFocusProxy(self.field)

    def _build_field(self) -> QLineEdit:
        field = QLineEdit()
        field.setObjectName("searchField")
        field.setPlaceholderText(tr("Search your files"))
        field.setAccessibleName(tr("Search your files"))
        add_clear_button(field)
        return field

    def _build_foot(self) -> QWidget:
        self._foot = QWidget()
        self._tags = TextButton(tr("Tags…"))
        self._open = TextButton(tr("Open"))
        self._open.setAccessibleDescription(tr("Open the chosen file in another program"))
        self._ask = TextButton(tr("Ask about the selection"), kind="primary")
        row = QHBoxLayout(self._foot)
        row.setContentsMargins(18, 8, 18, 10)
        row.setSpacing(8)
        row.addWidget(ElidedLabel(_KEYS, tone="muted", scale="small"), 1)
        for button in (self._tags, self._open, self._ask):
            row.addWidget(button)
        return self._foot

    def _connect(self) -> None:
        self.field.installEventFilter(self)
        self.field.textChanged.connect(lambda _: self._search_now())
        self.filters.changed.connect(self._search_now)
        self._ways.buttonClicked.connect(lambda _: self._show_results(self._ranked))
        self._newest_first.toggled.connect(lambda _: self._show_results(self._ranked))
        self._search.found.connect(self._on_found)
        self._search.failed.connect(self._on_failed)
        self._notice.folder_requested.connect(self.folder_requested)
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
        self.side.library_requested.connect(self.library_requested)
        self.actions_of_results.ask_requested.connect(self.ask_requested)
        self.actions_of_results.filter_added.connect(self.filters.add)
        self.actions_of_results.read_requested.connect(self.side.read)
        self.actions_of_results.tags_changed.connect(self._on_tags_changed)
        self._tags.clicked.connect(self.actions_of_results.edit_tags)
        self._open.clicked.connect(self.actions_of_results.open)
        self._ask.clicked.connect(self.actions_of_results.ask)
        self._reload.timeout.connect(self._on_reload)
        # Not over the document, where both keys have a meaning of their own.
        for widget in (self._above, self._stack, self._foot):
            bind(widget, "Ctrl+F", tr("Write what to search for"), self.focus_field, INSIDE)
            bind(
                widget, "Esc", tr("Close the document, or empty the field"), self._on_escape, INSIDE
            )

    # --- called by the window --------------------------------------------------------------------

    @Slot()
    def focus_field(self) -> None:
        """Let the person type; what is there is selected."""
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    @Slot(object, int, int)
    def show_library(self, _collections: Sequence[Collection], sources: int, files: int) -> None:
        """Know the library by its numbers of folders and searchable files."""
        self._facts, self._files = replace(self._facts, sources=sources), files
        self._show_state()
        self.on_library_changed()

    def show_progress(self, progress: IndexProgress) -> None:
        """Know what is still being read."""
        is_paused = self._library.indexing.is_paused
        facts = replace(self._facts, progress=progress, is_paused=is_paused)
        if facts != self._facts:
            self._facts = facts
            self._show_state()

    def on_library_changed(self) -> None:
        """Search and count the choices of the filters again soon, or once they can be seen."""
        self._is_stale = True
        if self.isVisible() and not self._reload.isActive():
            self._reload.start()

    @property
    def is_settled(self) -> bool:
        """True when nothing more is to come for what is typed."""
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
            # Nothing else changes under the hand of somebody who has chosen a result.
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
        """Search the same once more: the library has changed."""
        self._search.clear()
        self._search_now()

    def _on_found(self, _text: str, found: object) -> None:
        results = found if isinstance(found, SearchResults) else SearchResults()
        # What is found by meaning follows; until then nothing is said to be missing.
        if results.passages or self._search.is_settled:
            self._show_results(results)

    def _on_failed(self, error: AppError) -> None:
        """A filter is half typed, or wrong: what was found before stays meanwhile."""
        self._count.setText(failure_in_words(error))

    def _show_results(self, results: SearchResults) -> None:
        self._ranked = results
        shown = results.newest_first() if self._newest_first.isChecked() else results
        self.results.show_results(shown, is_by_file=self._by_file.isChecked())
        self._show_state()

    def _show_state(self) -> None:
        results = self.results.results
        self._stack.setCurrentWidget(self.results if results.passages else self._notice)
        self.side.set_has_results(has_results=bool(results.passages))
        has_filters = bool(self.filters.filters)
        is_asked = bool(self.field.text().strip()) or has_filters
        self.filters.show_found(self._found(results) if is_asked else None)
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

    def _found(self, results: SearchResults) -> Found:
        is_complete = self._search.is_settled and not results.are_best
        return Found(tuple(file.document for file in results.files), is_complete)

    @Slot()
    def _show_actions(self) -> None:
        has_results = bool(self.results.results.passages)
        selected = self.results.selected
        self._foot.setVisible(has_results)
        for button in (self._by_file, self._by_passage, self._newest_first):
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
        """From the results to the field; there it takes away what is typed."""
        if self.field.hasFocus():
            self.field.clear()
        else:
            self.focus_field()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.field and isinstance(event, QKeyEvent):
            is_press = event.type() == QEvent.Type.KeyPress
            goes_down = event.key() in {*_ENTER, Qt.Key.Key_Down}
            if is_press and goes_down and self.results.results.passages:
                self.results.choose_first()
                return True
        return super().eventFilter(watched, event)
