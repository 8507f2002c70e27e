"""The documents table with its context menu, its filters, and the line below it. Qt thread."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import islice

from PySide6.QtCore import (
    QItemSelection,
    QItemSelectionModel,
    QItemSelectionRange,
    QPoint,
    Qt,
    QTimer,
    Signal,
    Slot,
)
from PySide6.QtGui import QGuiApplication, QKeySequence, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QSizePolicy,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from desktop_rag.core.domain import Collection, Document, DocumentState, Source
from desktop_rag.core.language.translation import count_of, told, tr
from desktop_rag.core.pictures import TO_HAVE_THEM_READ
from desktop_rag.ui.foundation.bridge import ClickWatch
from desktop_rag.ui.foundation.shortcuts import FOCUSED, bind
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.library.document_model import DOCUMENT_ROLE, DocumentModel, Index
from desktop_rag.ui.library.document_rows import Column, reason_in_short
from desktop_rag.ui.library.encoding_menu import add_encodings
from desktop_rag.ui.library.facets.facet_groups import Places, facet_groups
from desktop_rag.ui.library.facets.facet_list import ActiveFilter, ActiveFilters, FacetList
from desktop_rag.ui.library.facets.facet_values import (
    Facet,
    FileFilter,
    StateGroup,
    folder_value,
    inside_count,
)
from desktop_rag.ui.widgets.controls import (
    Card,
    ElidedLabel,
    PlainLabel,
    TextButton,
    add_clear_button,
    set_property,
)
from desktop_rag.ui.widgets.flow_row import WrappingRow
from desktop_rag.ui.widgets.item_list import RoleDelegate, RowTable
from desktop_rag.ui.widgets.layouts import horizontal, vertical

# The padding of a cell, or of a header with its sort arrow.
_PADDING_PX = 34
# Texts as wide as their columns: the longest one if known, otherwise a typical one.
_SAMPLE_TEXTS = {
    Column.NAME: "a name of a usual length.pdf",
    Column.FOLDER: "a folder/of another",
    Column.STATE: tr("Searchable by words"),
    Column.REASON: tr("Not read: it is protected."),
    Column.PASSAGES: tr("Passages"),
    Column.SIZE: "1,023 bytes",
    Column.INDEXED: "59 min ago",
}
# Hidden one after the other, in this order, where there is too little room.
_DISPENSABLE = (Column.INDEXED, Column.PASSAGES, Column.SIZE, Column.FOLDER, Column.REASON)
# The columns that share the remaining width, by weight.
_SHARES = {Column.NAME: 3, Column.FOLDER: 2, Column.REASON: 5}
_TAG_KEYS = "Ctrl+T"
_RETRY_KEYS = "Ctrl+R"
_ASK_KEYS = "Ctrl+Shift+Return"
# With more rows than this selected, a rearrangement clears the selection.
_MOST_FOLLOWED = 500
_ROLES = {
    DocumentState.SEARCHABLE: "success",
    DocumentState.SEARCHABLE_BY_WORDS: "accent",
    DocumentState.FAILED: "danger",
    DocumentState.OFFLINE: "warning",
}


class _NameDelegate(QStyledItemDelegate):
    """Cuts a long name in its middle: files of one folder often differ at the end."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        super().initStyleOption(option, index)
        option.textElideMode = Qt.TextElideMode.ElideMiddle


class DocumentsTable(RowTable):
    """One row per document. Double-click, Return or Space reads it; the context menu has the rest.

    Signals carry the Document, or a list of the selected ones where several are allowed.
    """

    open_requested = Signal(object)
    view_requested = Signal(object)
    exclude_requested = Signal(object)
    include_requested = Signal(object)
    retry_requested = Signal(object)
    encoding_chosen = Signal(object, str)
    selection_changed = Signal()
    folder_requested = Signal(object)
    summary_requested = Signal(object)
    password_requested = Signal(object)
    forgetting_requested = Signal(object)
    tags_requested = Signal(object)
    ask_requested = Signal(object)
    current_changed = Signal()

    def __init__(self, theme: Theme, model: DocumentModel, parent: QWidget | None = None) -> None:
        super().__init__(theme, model, parent)
        self._documents = model
        self._hidden: frozenset[Column] = frozenset()
        self._kept: frozenset[Column] = frozenset()
        self.setObjectName("files")
        self.setAccessibleName(tr("Files"))
        # With several rows selected, actions on a single file use the current row.
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setItemDelegateForColumn(Column.NAME, _NameDelegate(self))
        self.setItemDelegateForColumn(
            Column.STATE,
            RoleDelegate(
                theme, lambda index: _ROLES.get(index.data(DOCUMENT_ROLE).state, "muted"), self
            ),
        )
        self._set_up_columns()
        self._connect()

    @property
    def current(self) -> Document | None:
        """The document of the current row."""
        index = self.currentIndex()
        return self._documents.document_at(index.row()) if index.isValid() else None

    @property
    def selected_count(self) -> int:
        """The number of selected rows, counted fast."""
        return sum(part.height() for part in self._selected_parts())

    @property
    def selected(self) -> list[Document]:
        """The documents of the selected rows, from top to bottom."""
        return self.first_selected(self.selected_count)

    def first_selected(self, most: int) -> list[Document]:
        """The documents of the first selected rows, at most this many."""
        parts = sorted(self._selected_parts(), key=lambda part: part.top())
        rows = (row for part in parts for row in range(part.top(), part.bottom() + 1))
        return [self._documents.document_at(row) for row in islice(rows, most)]

    def _selected_parts(self) -> list[QItemSelectionRange]:
        """Runs of selected rows; fast even for 50,000 rows."""
        selection = self.selectionModel().selection()
        return [selection.at(n) for n in range(selection.count())]

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        self.current_changed.emit()

    def selectionChanged(self, selected: QItemSelection, deselected: QItemSelection) -> None:
        super().selectionChanged(selected, deselected)
        self.selection_changed.emit()

    def set_hidden(self, columns: Iterable[Column], kept: Iterable[Column] = ()) -> None:
        """Hide these columns and show the others; those in `kept` stay in narrow windows."""
        wanted = frozenset(columns), frozenset(kept)
        if wanted != (self._hidden, self._kept):
            self._hidden, self._kept = wanted
            self._fit_columns()

    def _set_up_columns(self) -> None:
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        columns = self.horizontalHeader()
        # The default model asks about each selected row: half a second for 50,000.
        columns.setSelectionModel(QItemSelectionModel(self._documents, self))
        columns.setSortIndicator(Column.NAME, Qt.SortOrder.AscendingOrder)
        self.setSortingEnabled(True)

    def _connect(self) -> None:
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._on_menu_requested)
        self.doubleClicked.connect(
            lambda index: self.view_requested.emit(self._documents.document_at(index.row()))
        )
        self._documents.rearranging.connect(self._deselect_many)
        for keys, words, act in (
            ("Return Enter Space", tr("Read the file"), self.read_current),
            ("Ctrl+Return", tr("Open in another program"), self._on_open_pressed),
            (_ASK_KEYS, tr("Ask about the selected files"), self.ask_about_selected),
            (_TAG_KEYS, tr("Tags of the selected files"), self._on_tags_asked_for),
            ("Delete", tr("Exclude the selected files"), self.exclude_selected),
            (_RETRY_KEYS, tr("Read the selected files again"), self.retry_selected),
            ("Menu Shift+F10", tr("Show what can be done"), self._on_menu_pressed),
        ):
            bind(self, keys, words, act, FOCUSED)

    def _fit_columns(self) -> None:
        """Give every column the width it needs, and share the rest among `_SHARES`."""
        text_px = self.fontMetrics().horizontalAdvance
        width_px = self.viewport().width()
        shown = [column for column in Column if column not in self._hidden]
        needed = {column: text_px(_SAMPLE_TEXTS[column]) + _PADDING_PX for column in shown}
        for column in _DISPENSABLE:
            if sum(needed.values()) > width_px and column not in self._kept:
                needed.pop(column, None)
        if (sum_px := sum(needed.values())) > width_px:
            needed = {column: its_px * width_px // sum_px for column, its_px in needed.items()}
        for column in Column:
            self.setColumnHidden(column, column not in needed)
        room = width_px - sum(needed.values())
        one_share = max(0, room) // sum(_SHARES.get(column, 0) for column in needed)
        for column, its_px in needed.items():
            self.setColumnWidth(column, its_px + one_share * _SHARES.get(column, 0))

    # --- actions ---------------------------------------------------------------------------------

    @Slot()
    def read_current(self) -> None:
        """Read the current document in the window."""
        if current := self.current:
            self.view_requested.emit(current)

    @Slot()
    def exclude_selected(self) -> None:
        """Exclude the selected files that are not excluded yet."""
        if files := [d for d in self.selected if not d.is_excluded and not d.url]:
            self.exclude_requested.emit(files)

    @Slot()
    def include_selected(self) -> None:
        """Include the excluded ones of the selected files again."""
        if files := [d for d in self.selected if d.is_excluded]:
            self.include_requested.emit(files)

    @Slot()
    def retry_selected(self) -> None:
        """Read the selected files again."""
        if files := [d for d in self.selected if d.can_be_read_again]:
            self.retry_requested.emit(files)

    @Slot()
    def _on_open_pressed(self) -> None:
        if current := self.current:
            self.open_requested.emit(current)

    @Slot()
    def _deselect_many(self) -> None:
        # Following each of them to its new place would take seconds.
        if self.selected_count > _MOST_FOLLOWED:
            self.clearSelection()

    @Slot()
    def ask_about_selected(self) -> None:
        """Ask about the selected files."""
        if selected := self.selected:
            self.ask_requested.emit(selected)

    @Slot()
    def _on_tags_asked_for(self) -> None:
        if selected := self.selected:
            self.tags_requested.emit(selected)

    # --- context menu ----------------------------------------------------------------------------

    @Slot(QPoint)
    def _on_menu_requested(self, place: QPoint) -> None:
        index = self.indexAt(place)
        if not index.isValid():
            return
        document = self._documents.document_at(index.row())
        selected = self.selected
        if document not in selected:
            selected = [document]
        self._make_menu(document, selected).popup(self.viewport().mapToGlobal(place))

    @Slot()
    def _on_menu_pressed(self) -> None:
        if self.currentIndex().isValid():
            self._on_menu_requested(self.visualRect(self.currentIndex()).center())

    def _make_menu(self, document: Document, selected: Sequence[Document]) -> QMenu:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(
            tr("Read"), QKeySequence("Return"), lambda: self.view_requested.emit(document)
        )
        menu.addAction(
            tr("Open in another program"), QKeySequence("Ctrl+Return"),
            lambda: self.open_requested.emit(document),
        )  # fmt: skip
        menu.addAction(tr("Show in folder"), lambda: self.folder_requested.emit(document))
        summary = menu.addAction(tr("Summarise"), lambda: self.summary_requested.emit(document))
        summary.setEnabled(document.state.is_searchable)
        menu.addSeparator()
        self._add_file_actions(menu, selected)
        if document.needs_password:
            menu.addAction(tr("Enter password…"), lambda: self.password_requested.emit(document))
        if document.is_unlocked:
            menu.addAction(tr("Forget password"), lambda: self.forgetting_requested.emit(document))
        menu.addSeparator()
        paths = "\n".join(str(d.path) for d in selected)
        menu.addAction(
            tr("Copy path") if len(selected) == 1 else tr("Copy paths"), lambda: _copy(paths)
        )
        reason = menu.addAction(tr("Copy reason"), lambda: _copy(told(document.reason)))
        reason.setEnabled(bool(document.reason))
        return menu

    def _add_file_actions(self, menu: QMenu, selected: Sequence[Document]) -> None:
        files, several = len(selected), len(selected) > 1
        ask = (
            tr("Ask about these {count:,} files", count=files) if several else tr("Ask about this")
        )
        menu.addAction(
            ask, QKeySequence(_ASK_KEYS), lambda: self.ask_requested.emit(list(selected))
        )
        tags = tr("Tags of {count:,} files…", count=files) if several else tr("Tags…")
        menu.addAction(
            tags, QKeySequence(_TAG_KEYS), lambda: self.tags_requested.emit(list(selected))
        )
        again = [d for d in selected if d.can_be_read_again]
        words = tr("Read again: {count:,} files", count=files) if several else tr("Read again")
        retry = menu.addAction(
            words, QKeySequence(_RETRY_KEYS), lambda: self.retry_requested.emit(again)
        )
        retry.setEnabled(bool(again))
        if texts := [d for d in again if d.may_lack_encoding]:
            add_encodings(menu, lambda name: self.encoding_chosen.emit(texts, name))
        excluded = [d for d in selected if d.is_excluded]
        others = [d for d in selected if not d.is_excluded and not d.url]
        if excluded:
            words = tr("Include again: {count:,} files", count=files)
            menu.addAction(
                words if several else tr("Include again"),
                lambda: self.include_requested.emit(excluded),
            )
        if others or not excluded:
            words = tr("Exclude {count:,} files", count=files) if several else tr("Exclude")
            exclude = menu.addAction(
                words, QKeySequence("Delete"), lambda: self.exclude_requested.emit(others)
            )
            exclude.setEnabled(bool(others))


def _copy(text: str) -> None:
    QGuiApplication.clipboard().setText(text)


class SelectionBar(QWidget):
    """The line below the table: what is shown and selected, and actions for the selection."""

    def __init__(self, table: DocumentsTable, parent: QWidget) -> None:
        super().__init__(parent)
        self._words = ElidedLabel("", self, tone="muted", scale="small")
        self._ask = _action(
            tr("Ask about this"),
            tr("Ask about the selected files only (Ctrl+Shift+Return)"),
            table.ask_about_selected,
        )
        self._read = _action(
            tr("Read"), tr("Read the selected file here (Return)"), table.read_current
        )
        self._retry = _action(
            tr("Read again"), tr("Index the selected files again (Ctrl+R)"), table.retry_selected
        )
        self._exclude = _action(
            tr("Exclude"),
            tr("Never read the selected files again (Delete)"),
            table.exclude_selected,
        )
        self._include = _action(
            tr("Include again"), tr("Read the selected files again"), table.include_selected
        )
        horizontal(
            (self._words, 1),
            self._ask,
            self._read,
            self._retry,
            self._exclude,
            self._include,
            on=self,
            margins=(2, 0, 0, 0),
            spacing=2,
        )
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.show_selection([])

    def show_numbers(self, shown: int, total: int, inside: int, selected: int) -> None:
        """Show the numbers of files shown, of all files, of documents inside them, and selected."""
        files = count_of(total, tr("file"), tr("files"))
        if shown != total:
            files = tr("{shown:,} of {files}", shown=shown, files=files)
        words = files
        if inside:
            words = tr("{words}, and {inside:,} inside them", words=files, inside=inside)
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


def _action(words: str, description: str, then: Callable[[], None]) -> TextButton:
    button = TextButton(words, kind="action", then=then)
    button.setAccessibleDescription(description)
    return button


_MOST_REASONS = 4
_LEAST_WORDS_PX = 300
_SCANS = tr(
    "Scans and pictures have no text until it is recognised: Settings › Documents says how."
)


class UnreadCard(Card):
    """Says how many files are not read and why, and what can be done; hidden while there is none.

    `wanted` asks to list them, `retried` to read the failed ones again.
    """

    wanted = Signal()
    retried = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, kind="notice", tone="warning")
        self._words = PlainLabel(wrap=True, selectable=True)
        set_property(self._words, "on", "warning")
        self._retry = TextButton(tr("Retry failed"), self, then=self.retried)
        show = TextButton(tr("Show them"), self, then=self.wanted)
        row = WrappingRow(
            [self._words], [self._retry, show], at=1, stretched=0, min_px=_LEAST_WORDS_PX, spacing=6
        )
        horizontal(row, on=self, margins=(12, 8, 12, 8))
        self.hide()

    def show_files(self, unread: Sequence[Document]) -> None:
        """Count these by their reasons."""
        reasons = Counter(reason_in_short(d.reason).rstrip(".") for d in unread)
        several = [f"{reason} ({n})" for reason, n in reasons.most_common(_MOST_REASONS)]
        more = ["…"] if len(reasons) > _MOST_REASONS else []
        files = count_of(len(unread), tr("file"), tr("files"))
        words = tr("{files} not read: {why}", files=files, why=", ".join([*several, *more]))
        is_scan = any(TO_HAVE_THEM_READ in d.reason for d in unread)
        self._words.setText(f"{words}. {_SCANS}" if is_scan else f"{words}.")
        self._retry.setVisible(any(d.state is DocumentState.FAILED for d in unread))
        self.setVisible(bool(unread))


_TYPING_MS = 150
# Counts are updated after the table in a turn of their own, and later after other changes.
_COUNTS_MS = 300
# The actions offered depend on this many selected rows.
_MOST_ASKED = 200
_NARROW_CHARACTERS = 95
_WITHOUT_REASON = frozenset({DocumentState.SEARCHABLE, DocumentState.SEARCHABLE_BY_WORDS})
_HIDDEN_IN = {
    StateGroup.SEARCHABLE: (Column.REASON,),
    StateGroup.IN_PROGRESS: (Column.REASON, Column.PASSAGES, Column.INDEXED),
    StateGroup.NOT_READ: (Column.STATE, Column.PASSAGES, Column.INDEXED),
    StateGroup.EXCLUDED: (Column.STATE, Column.PASSAGES, Column.INDEXED),
}


class DocumentsPanel(QWidget):
    """Filters and sorts the documents; `retry_failed_requested` is for all failed files.

    What is wanted with single ones, the `table` tells.
    """

    retry_failed_requested = Signal()

    def __init__(self, theme: Theme, model: DocumentModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._model = model
        self._places = Places()
        self.filter = FileFilter()
        # None until the person chooses; until then a narrow page hides them.
        self._are_facets_wanted: bool | None = None
        self._clicks = ClickWatch()
        self._typing = QTimer(self, singleShot=True, interval=_TYPING_MS)
        self._counting = QTimer(self, singleShot=True, interval=0)
        self._choosing = QTimer(self, singleShot=True, interval=0)
        self._build()
        self._connect()
        self._show_counts()

    def set_places(self, sources: Sequence[Source], collections: Sequence[Collection]) -> None:
        """Offer these folders and collections as filters; a removed one is no longer chosen."""
        self._places = places = Places(sources, collections)
        kept = {
            facet: frozenset(v for v in values if places.holds(facet, v))
            for facet, values in self.filter.chosen.items()
        }
        chosen = {facet: values for facet, values in kept.items() if values}
        by_source = places.collection_of_source
        self._apply(replace(self.filter, chosen=chosen, collections=by_source))

    def show_files(self, source_id: str = "", groups: Iterable[StateGroup] = ()) -> None:
        """Show the files of a source, or in some states, instead of the current filter."""
        wanted = FileFilter(collections=self.filter.collections)
        if source_id:
            wanted = wanted.with_values(Facet.FOLDER, [folder_value(source_id)])
        wanted = wanted.with_values(Facet.STATE, [group.value for group in groups])
        self.show_filter(wanted)

    def show_filter(self, wanted: FileFilter) -> None:
        """Show what passes this filter, and focus the table."""
        self._text.blockSignals(True)
        self._text.setText(wanted.text)
        self._text.blockSignals(False)
        self._apply(wanted)
        self.table.setFocus()

    # --- building --------------------------------------------------------------------------------

    def _build(self) -> None:
        # Created from top to bottom and left to right, which sets the Tab order.
        self._unread = UnreadCard(self)
        filters = self._build_filters()
        self._facets = FacetList(self._enter_password, self)
        self._active = ActiveFilters(self._theme, self)
        self.table = DocumentsTable(self._theme, self._model, self)
        self._bar = SelectionBar(self.table, self)
        # Otherwise the page would be as wide as all its controls in one line.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        below = horizontal(
            self._facets,
            (vertical(self._active, (self.table, 1), self._bar, spacing=8), 1),
            spacing=14,
        )
        vertical(self._unread, filters, (below, 1), on=self, margins=0, spacing=10)

    def _build_filters(self) -> QHBoxLayout:
        self._toggle = TextButton(tr("Filters"), self, kind="toggle", then=self._on_toggle_clicked)
        self._toggle.setCheckable(True)
        self._toggle.setAccessibleDescription(tr("Show or hide the filters beside the table"))
        self._text = QLineEdit(self, placeholderText=tr("Filter by name, folder, tag or reason"))
        self._text.setAccessibleName(tr("Filter files"))
        add_clear_button(self._text)
        self._enter_password = TextButton(tr("Enter password…"), self)
        self._enter_password.setAccessibleDescription(tr("Open the selected encrypted file"))
        return horizontal(self._toggle, (self._text, 1), self._enter_password, spacing=8)

    def _connect(self) -> None:
        self._unread.wanted.connect(lambda: self.show_files(groups=[StateGroup.NOT_READ]))
        self._unread.retried.connect(self.retry_failed_requested)
        self._text.textChanged.connect(lambda _text: self._typing.start())
        self._typing.timeout.connect(
            lambda: self._apply(replace(self.filter, text=self._text.text()))
        )
        self._counting.timeout.connect(self._show_counts)
        self._facets.toggled.connect(self._on_facet_toggled)
        self._active.removed.connect(self._on_facet_toggled)
        self._active.cleared.connect(
            lambda: self.show_filter(FileFilter(collections=self.filter.collections))
        )
        self._enter_password.clicked.connect(
            lambda: self.table.password_requested.emit(self.table.current)
        )
        self.table.current_changed.connect(self._show_password_button)
        self.table.selection_changed.connect(self._choosing.start)
        self._choosing.timeout.connect(self._show_selection)
        self._model.counts_changed.connect(self._on_counts_changed)

    # --- filters ---------------------------------------------------------------------------------

    @Slot(object, str)
    def _on_facet_toggled(self, facet: Facet, value: str) -> None:
        self._apply(replace(self.filter, text=self._text.text()).toggled(facet, value))

    def _apply(self, wanted: FileFilter) -> None:
        self._typing.stop()
        self.filter = wanted
        self._model.set_filter(wanted)
        self._show_columns()
        self._show_active()
        self._show_emptiness()
        self._counting.start(0)

    def _show_columns(self) -> None:
        """Hide what is the same in all rows, and the reasons where no file has one."""
        states = {StateGroup(value) for value in self.filter.values(Facet.STATE)}
        # What was not read is always shown with the reason.
        kept = (Column.REASON,) if states == {StateGroup.NOT_READ} else ()
        each = [set(_HIDDEN_IN.get(state, ())) for state in states]
        hidden = set[Column]().union(*each[:1]).intersection(*each)
        if len(states) > 1:
            hidden.discard(Column.STATE)
        counts = self._model.counts().by_state
        has_reasons = any(count and state not in _WITHOUT_REASON for state, count in counts.items())
        self.table.set_hidden(hidden if has_reasons else (*hidden, Column.REASON), kept)

    def _show_active(self) -> None:
        chosen = [
            ActiveFilter(facet, value, self._places.label(facet, value))
            for facet in Facet
            for value in sorted(self.filter.values(facet))
        ]
        self._active.show_filters(chosen, has_words=bool(self.filter.words))

    @Slot()
    def _on_counts_changed(self) -> None:
        self._show_columns()
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
        self._facets.show_groups(facet_groups(self.filter, counts, totals, self._places))
        self._show_selection()
        self._unread.show_files(self._model.unread())

    def _show_emptiness(self) -> None:
        has_files = bool(self._model.totals())
        self.table.set_empty_text(
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
        selected = self.table.selected_count
        totals, inside = self._model.totals(), self._model.shown_inside()
        files = totals.total() - inside_count(totals)
        self._bar.show_numbers(self._model.rowCount() - inside, files, inside, selected)
        self._bar.show_selection(self.table.first_selected(_MOST_ASKED))

    # --- actions ---------------------------------------------------------------------------------

    @Slot()
    def _show_password_button(self) -> None:
        current = self.table.current
        is_needed = current is not None and current.needs_password
        if self._enter_password.hasFocus() and not is_needed:
            self.table.setFocus()
        self._enter_password.setVisible(is_needed)
