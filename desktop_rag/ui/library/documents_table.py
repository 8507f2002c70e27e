"""The table of documents with its shortcuts and context menu. Qt thread."""

from collections.abc import Collection, Sequence
from itertools import islice

from PySide6.QtCore import (
    QItemSelection,
    QItemSelectionModel,
    QItemSelectionRange,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QMenu,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from desktop_rag.core.domain import Document, DocumentState
from desktop_rag.core.language.translation import told, tr
from desktop_rag.ui.foundation.shortcuts import FOCUSED, bind
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.library.document_model import DOCUMENT_ROLE, DocumentModel
from desktop_rag.ui.library.document_rows import Column
from desktop_rag.ui.widgets.item_list import RoleDelegate, RowTable

# The padding of a cell, or of a header with its sort arrow.
_PADDING_PX = 34
# Texts as wide as their columns: the longest one if known, else one of typical length.
_SAMPLE_TEXTS = {
    Column.NAME: "a name of a usual length.pdf",
    Column.FOLDER: "a folder/of another",
    Column.STATE: tr("Searchable by words"),
    Column.REASON: tr("Not read: it is protected."),
    Column.PASSAGES: tr("Passages"),
    Column.SIZE: "1,023 bytes",
    Column.INDEXED: "59 min ago",
}
# Those that give way to the others where there is little room, one after the other.
_DISPENSABLE = (Column.INDEXED, Column.PASSAGES, Column.SIZE, Column.FOLDER, Column.REASON)
# The columns that share the remaining width, by weight.
_SHARES = {Column.NAME: 3, Column.FOLDER: 2, Column.REASON: 3}
_TAG_KEYS = "Ctrl+T"
_RETRY_KEYS = "Ctrl+R"
_ASK_KEYS = "Ctrl+Shift+Return"
# More selected rows than these are let go when rows change their places.
_MOST_FOLLOWED = 500
_ROLES = {
    DocumentState.SEARCHABLE: "success",
    DocumentState.SEARCHABLE_BY_WORDS: "accent",
    DocumentState.FAILED: "danger",
    DocumentState.OFFLINE: "warning",
}


class _NameDelegate(QStyledItemDelegate):
    """Cuts a long name in its middle: files of one folder often differ at the end."""

    def initStyleOption(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().initStyleOption(option, index)
        option.textElideMode = Qt.TextElideMode.ElideMiddle


def _role_of(index: QModelIndex | QPersistentModelIndex) -> str:
    document: Document = index.data(DOCUMENT_ROLE)
    return _ROLES.get(document.state, "muted")


class DocumentsTable(RowTable):
    """One row per document. Double-click, Return or the space bar reads it; the context menu has
    the rest.

    The signals carry the Document, those for any number of files a list of the selected ones.
    """

    open_requested = Signal(object)
    view_requested = Signal(object)
    exclude_requested = Signal(object)
    include_requested = Signal(object)
    retry_requested = Signal(object)
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
        # Of several selected rows, what is not about all of them is about the current one.
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setItemDelegateForColumn(Column.NAME, _NameDelegate(self))
        self.setItemDelegateForColumn(Column.STATE, RoleDelegate(theme, _role_of, self))
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
        """The documents of so many selected rows at most."""
        parts = sorted(self._selected_parts(), key=lambda part: part.top())
        rows = (row for part in parts for row in range(part.top(), part.bottom() + 1))
        return [self._documents.document_at(row) for row in islice(rows, most)]

    def _selected_parts(self) -> list[QItemSelectionRange]:
        """Rows without gaps each: fast, also for 50,000 of them."""
        selection = self.selectionModel().selection()
        return [selection.at(n) for n in range(selection.count())]

    def currentChanged(
        self,
        current: QModelIndex | QPersistentModelIndex,
        previous: QModelIndex | QPersistentModelIndex,
    ) -> None:
        super().currentChanged(current, previous)
        self.current_changed.emit()

    def selectionChanged(self, selected: QItemSelection, deselected: QItemSelection) -> None:
        super().selectionChanged(selected, deselected)
        self.selection_changed.emit()

    def set_hidden(self, columns: Collection[Column], kept: Collection[Column] = ()) -> None:
        """Hide these columns and show the others; those `kept` give way to none."""
        self._hidden, self._kept = frozenset(columns), frozenset(kept)
        self._fit_columns()

    def _set_up_columns(self) -> None:
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        columns = self.horizontalHeader()
        # It would ask the model about each selected row, which takes half a second for 50,000.
        columns.setSelectionModel(QItemSelectionModel(self._documents, self))
        columns.setSortIndicator(Column.NAME, Qt.SortOrder.AscendingOrder)
        self.setSortingEnabled(True)

    def _connect(self) -> None:
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._on_menu_requested)
        self.doubleClicked.connect(self._on_row_opened)
        self._documents.rearranging.connect(self._let_go_of_many)
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
        """Exclude the selected files; those that are excluded stay so."""
        if files := [d for d in self.selected if not d.is_excluded and not d.url]:
            self.exclude_requested.emit(files)

    @Slot()
    def include_selected(self) -> None:
        """Include those of the selected files again that are excluded."""
        if files := [d for d in self.selected if d.is_excluded]:
            self.include_requested.emit(files)

    @Slot()
    def retry_selected(self) -> None:
        """Read the selected files again."""
        if files := [d for d in self.selected if d.can_be_read_again]:
            self.retry_requested.emit(files)

    @Slot(QModelIndex)
    def _on_row_opened(self, index: QModelIndex) -> None:
        self.view_requested.emit(self._documents.document_at(index.row()))

    @Slot()
    def _on_open_pressed(self) -> None:
        if current := self.current:
            self.open_requested.emit(current)

    @Slot()
    def _let_go_of_many(self) -> None:
        # Each of them would be followed to its new place, which takes seconds.
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
        """The actions for any number of files."""
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
