"""The documents table with its filters: words, facets, and what is chosen of them. Qt thread."""

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QSizePolicy, QVBoxLayout, QWidget

from desktop_rag.core.domain import Collection, Document, DocumentState, Source
from desktop_rag.core.language.translation import count_of, tr
from desktop_rag.ui.foundation.bridge import ClickWatch
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import with_inside
from desktop_rag.ui.library.document_model import DocumentModel
from desktop_rag.ui.library.document_rows import Column
from desktop_rag.ui.library.documents_table import DocumentsTable
from desktop_rag.ui.library.facets.facet_groups import Places, facet_groups
from desktop_rag.ui.library.facets.facet_list import ActiveFilter, ActiveFilters, FacetList
from desktop_rag.ui.library.facets.facet_values import (
    Facet,
    FileFilter,
    StateGroup,
    folder_value,
    inside_count,
)
from desktop_rag.ui.widgets.controls import ElidedLabel, TextButton, add_clear_button

# The line below the table: how many files it shows, and what can be done with the chosen ones.
#
# Qt thread.


class SelectionBar(QWidget):
    """Says what is shown and selected; the actions are those of the context menu, in words."""

    ask_requested = Signal()
    read_requested = Signal()
    exclude_requested = Signal()
    include_requested = Signal()
    retry_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = ElidedLabel("", self, tone="muted", scale="small")
        self._ask = _action(
            tr("Ask about this"), tr("Ask about the selected files only (Ctrl+Shift+Return)"), self
        )
        self._read = _action(tr("Read"), tr("Read the selected file here (Return)"), self)
        self._retry = _action(tr("Read again"), tr("Index the selected files again (Ctrl+R)"), self)
        self._exclude = _action(
            tr("Exclude"), tr("Never read the selected files again (Delete)"), self
        )
        self._include = _action(tr("Include again"), tr("Read the selected files again"), self)
        row = QHBoxLayout(self)
        row.setContentsMargins(2, 0, 0, 0)
        row.setSpacing(2)
        row.addWidget(self._words, 1)
        self._ask.clicked.connect(self.ask_requested)
        self._read.clicked.connect(self.read_requested)
        self._retry.clicked.connect(self.retry_requested)
        self._exclude.clicked.connect(self.exclude_requested)
        self._include.clicked.connect(self.include_requested)
        for button in (self._ask, self._read, self._retry, self._exclude, self._include):
            row.addWidget(button)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.show_selection([])

    def show_numbers(self, shown: int, total: int, inside: int, selected: int) -> None:
        """Say how many files are shown of all, with how many inside them, and are selected."""
        files = count_of(total, tr("file"), tr("files"))
        if shown != total:
            files = tr("{shown:,} of {files}", shown=shown, files=files)
        words = with_inside(files, inside)
        self._words.set_full_text(
            tr("{words} · {selected:,} selected", words=words, selected=selected)
            if selected
            else words
        )

    def show_selection(self, selected: Sequence[Document]) -> None:
        """Offer what can be done with these documents."""
        self._ask.setEnabled(bool(selected))
        self._read.setEnabled(len(selected) == 1)
        self._retry.setEnabled(any(d.can_be_read_again for d in selected))
        excluded = [d for d in selected if d.is_excluded]
        self._exclude.setEnabled(any(not d.is_excluded and not d.url for d in selected))
        self._exclude.setVisible(not excluded or len(excluded) < len(selected))
        self._include.setVisible(bool(excluded))


def _action(words: str, description: str, parent: QWidget) -> TextButton:
    button = TextButton(words, parent, kind="action")
    button.setAccessibleDescription(description)
    return button


_TYPING_MS = 150
# Counts follow the table in a turn of the event loop of their own, and changes a while later.
_COUNTS_MS = 300
# Of more selected rows, the first ones say what is offered.
_MOST_ASKED = 200
_NARROW_CHARACTERS = 95
# Files in these states are looked at for why they are in them.
_WITH_REASONS = (StateGroup.FAILED, StateGroup.SKIPPED)
_HIDDEN_IN = {
    StateGroup.SEARCHABLE: (Column.REASON,),
    StateGroup.IN_PROGRESS: (Column.REASON, Column.PASSAGES, Column.INDEXED),
    StateGroup.FAILED: (Column.STATE, Column.PASSAGES, Column.INDEXED),
    StateGroup.SKIPPED: (Column.STATE, Column.PASSAGES, Column.INDEXED),
    StateGroup.EXCLUDED: (Column.STATE, Column.PASSAGES, Column.INDEXED),
}


class DocumentsPanel(QWidget):
    """Filters and sorts the documents; the signals carry what the person wants for some of them.

    They are those of DocumentsTable, and `retry_failed_requested` for all that failed.
    """

    open_requested = Signal(object)
    folder_requested = Signal(object)
    view_requested = Signal(object)
    summary_requested = Signal(object)
    retry_failed_requested = Signal()
    retry_requested = Signal(object)
    exclude_requested = Signal(object)
    include_requested = Signal(object)
    password_requested = Signal(object)
    forgetting_requested = Signal(object)
    tags_requested = Signal(object)
    ask_requested = Signal(object)

    def __init__(self, theme: Theme, model: DocumentModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._model = model
        self._places = Places()
        self._filter = FileFilter()
        # None until the person says so: then a narrow page hides them.
        self._are_facets_wanted: bool | None = None
        self._clicks = ClickWatch()
        self._typing = self._timer(_TYPING_MS)
        self._counting = self._timer(0)
        self._choosing = self._timer(0)
        self._build()
        self._connect()
        self._show_counts()

    @property
    def table(self) -> DocumentsTable:
        """The table of the documents that pass the filter."""
        return self._table

    @property
    def filter(self) -> FileFilter:
        """What the table shows."""
        return self._filter

    def set_places(self, sources: Sequence[Source], collections: Sequence[Collection]) -> None:
        """Offer these folders and collections as filters; a removed one is no longer chosen."""
        self._places = places = Places(sources, collections)
        kept = {
            facet: frozenset(v for v in values if places.holds(facet, v))
            for facet, values in self._filter.chosen.items()
        }
        chosen = {facet: values for facet, values in kept.items() if values}
        by_source = places.collection_of_source
        self._apply(replace(self._filter, chosen=chosen, collections=by_source))

    def show_files(self, source_id: str = "", group: StateGroup | None = None) -> None:
        """Show the files of a source, or in a state, instead of the current filter."""
        wanted = FileFilter(collections=self._filter.collections)
        if source_id:
            wanted = wanted.with_values(Facet.FOLDER, [folder_value(source_id)])
        if group is not None:
            wanted = wanted.with_values(Facet.STATE, [group.value])
        self.show_filter(wanted)

    def show_filter(self, wanted: FileFilter) -> None:
        """Show what passes this filter, and put the keyboard into the table."""
        self._text.blockSignals(True)
        self._text.setText(wanted.text)
        self._text.blockSignals(False)
        self._apply(wanted)
        self._table.setFocus()

    # --- building --------------------------------------------------------------------------------

    def _timer(self, interval_ms: int) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(interval_ms)
        return timer

    def _build(self) -> None:
        # Created from top to bottom and left to right, which sets the Tab order.
        filters = self._build_filters()
        self._facets = FacetList(self._enter_password, self)
        self._active = ActiveFilters(self._theme, self)
        self._table = DocumentsTable(self._theme, self._model, self)
        self._bar = SelectionBar(self)
        # Else the page would be as wide as all its controls in one line.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        below = QHBoxLayout()
        below.setSpacing(14)
        below.addWidget(self._facets)
        files = QVBoxLayout()
        files.setSpacing(8)
        files.addWidget(self._active)
        files.addWidget(self._table, 1)
        files.addWidget(self._bar)
        below.addLayout(files, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        column.addLayout(filters)
        column.addLayout(below, 1)

    def _build_filters(self) -> QHBoxLayout:
        self._toggle = TextButton(tr("Filters"), self, kind="toggle")
        self._toggle.setCheckable(True)
        self._toggle.setAccessibleDescription(tr("Show or hide the filters beside the table"))
        self._text = QLineEdit(self)
        self._text.setPlaceholderText(tr("Filter by name, folder, tag or reason"))
        self._text.setAccessibleName(tr("Filter files"))
        add_clear_button(self._text)
        self._retry = TextButton(tr("Retry failed"), self, icon="retry:text", theme=self._theme)
        self._enter_password = TextButton(tr("Enter password…"), self)
        self._enter_password.setAccessibleDescription(tr("Open the selected encrypted file"))
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self._toggle)
        row.addWidget(self._text, 1)
        row.addWidget(self._retry)
        row.addWidget(self._enter_password)
        return row

    def _connect(self) -> None:
        self._toggle.clicked.connect(self._on_toggle_clicked)
        self._text.textChanged.connect(self._on_text_changed)
        self._typing.timeout.connect(self._on_typed)
        self._counting.timeout.connect(self._show_counts)
        self._facets.toggled.connect(self._on_facet_toggled)
        self._active.removed.connect(self._on_facet_toggled)
        self._active.cleared.connect(self._on_cleared)
        self._retry.clicked.connect(self._on_retry_clicked)
        self._enter_password.clicked.connect(self._on_password_clicked)
        self._table.current_changed.connect(self._show_password_button)
        self._table.password_requested.connect(self.password_requested)
        self._table.forgetting_requested.connect(self.forgetting_requested)
        self._table.tags_requested.connect(self.tags_requested)
        self._table.ask_requested.connect(self.ask_requested)
        self._bar.ask_requested.connect(self._table.ask_about_selected)
        self._table.open_requested.connect(self.open_requested)
        self._table.folder_requested.connect(self.folder_requested)
        self._table.view_requested.connect(self.view_requested)
        self._table.retry_requested.connect(self.retry_requested)
        self._table.exclude_requested.connect(self.exclude_requested)
        self._table.include_requested.connect(self.include_requested)
        self._table.summary_requested.connect(self.summary_requested)
        self._table.selection_changed.connect(self._choosing.start)
        self._choosing.timeout.connect(self._show_selection)
        self._bar.read_requested.connect(self._table.read_current)
        self._bar.exclude_requested.connect(self._table.exclude_selected)
        self._bar.include_requested.connect(self._table.include_selected)
        self._bar.retry_requested.connect(self._table.retry_selected)
        self._model.counts_changed.connect(self._on_counts_changed)

    # --- filters ---------------------------------------------------------------------------------

    @Slot()
    def _on_text_changed(self) -> None:
        self._typing.start()

    @Slot()
    def _on_typed(self) -> None:
        self._apply(replace(self._filter, text=self._text.text()))

    @Slot(object, str)
    def _on_facet_toggled(self, facet: Facet, value: str) -> None:
        self._apply(replace(self._filter, text=self._text.text()).toggled(facet, value))

    @Slot()
    def _on_cleared(self) -> None:
        self.show_filter(FileFilter(collections=self._filter.collections))

    def _apply(self, wanted: FileFilter) -> None:
        self._typing.stop()
        self._filter = wanted
        self._model.set_filter(wanted)
        states = [StateGroup(value) for value in wanted.values(Facet.STATE)]
        only = states[0] if len(states) == 1 else None
        kept = (Column.REASON,) if only in _WITH_REASONS else ()
        self._table.set_hidden(_HIDDEN_IN.get(only, ()) if only else (), kept)
        self._show_active()
        self._show_emptiness()
        self._counting.start(0)

    def _show_active(self) -> None:
        chosen = [
            ActiveFilter(facet, value, self._places.label(facet, value))
            for facet in Facet
            for value in sorted(self._filter.values(facet))
        ]
        self._active.show_filters(chosen, has_words=bool(self._filter.words))

    @Slot()
    def _on_counts_changed(self) -> None:
        self._show_emptiness()
        self._show_password_button()
        if not self._counting.isActive():
            self._counting.start(_COUNTS_MS)

    @Slot()
    def _show_counts(self) -> None:
        if self._clicks.is_clicking():
            # Boxes that come and go would move the one that is pressed.
            self._counting.start(_COUNTS_MS)
            return
        counts = self._model.facet_counts()
        totals = self._model.totals()
        self._facets.show_groups(facet_groups(self._filter, counts, totals, self._places))
        self._show_selection()
        self._retry.setVisible(self._model.counts().of(DocumentState.FAILED) > 0)

    def _show_emptiness(self) -> None:
        has_files = bool(self._model.totals())
        self._table.set_empty_text(
            tr("No files match the filter. Clear it to see all.")
            if has_files
            else tr("No files yet.")
        )

    @Slot()
    def _on_toggle_clicked(self) -> None:
        self._are_facets_wanted = self._toggle.isChecked()
        self._fit_facets()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_facets()

    def _fit_facets(self) -> None:
        has_room = self.width() >= _NARROW_CHARACTERS * self.fontMetrics().averageCharWidth()
        is_shown = has_room if self._are_facets_wanted is None else self._are_facets_wanted
        self._facets.setVisible(is_shown)
        self._toggle.setChecked(is_shown)

    @Slot()
    def _show_selection(self) -> None:
        selected = self._table.selected_count
        totals, inside = self._model.totals(), self._model.shown_inside()
        files = totals.total() - inside_count(totals)
        self._bar.show_numbers(self._model.rowCount() - inside, files, inside, selected)
        self._bar.show_selection(self._table.first_selected(_MOST_ASKED))

    # --- actions ---------------------------------------------------------------------------------

    @Slot()
    def _show_password_button(self) -> None:
        current = self._table.current
        is_needed = current is not None and current.needs_password
        if self._enter_password.hasFocus() and not is_needed:
            self._table.setFocus()
        self._enter_password.setVisible(is_needed)

    @Slot()
    def _on_password_clicked(self) -> None:
        self.password_requested.emit(self._table.current)

    @Slot()
    def _on_retry_clicked(self) -> None:
        self.retry_failed_requested.emit()
