"""The table of documents with its shortcuts and context menu. Qt thread."""

from collections.abc import Collection

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QMenu,
    QWidget,
)

from desktop_rag.core.domain import Document, DocumentState
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.library.document_model import DOCUMENT_ROLE, DocumentModel
from desktop_rag.ui.library.document_rows import Column
from desktop_rag.ui.widgets.row_table import RoleDelegate, RowTable

# The padding of a cell, or of a header with its sort arrow.
_PADDING_PX = 34
# Texts as wide as their columns: the longest one if known, else one of typical length.
_SAMPLE_TEXTS = {
    Column.NAME: "a name of a usual length.pdf",
    Column.FOLDER: "a folder/of another",
    Column.STATE: "Searchable by words",
    Column.REASON: "Not read: it is protected.",
    Column.PASSAGES: "Passages",
    Column.SIZE: "1,023 bytes",
    Column.INDEXED: "59 min ago",
}
# Those that give way to the others where there is little room, one after the other.
_DISPENSABLE = (Column.INDEXED, Column.PASSAGES, Column.SIZE, Column.FOLDER)
# The columns that share the remaining width, by weight.
_SHARES = {Column.NAME: 3, Column.FOLDER: 2, Column.REASON: 3}
_TAG_KEYS = "Ctrl+T"
_ROLES = {
    DocumentState.SEARCHABLE: "success",
    DocumentState.SEARCHABLE_BY_WORDS: "accent",
    DocumentState.FAILED: "danger",
    DocumentState.OFFLINE: "warning",
}


def _role_of(index: QModelIndex | QPersistentModelIndex) -> str:
    document: Document = index.data(DOCUMENT_ROLE)
    return _ROLES.get(document.state, "muted")


class DocumentsTable(RowTable):
    """One row per document. Double-click or Return opens it; the context menu has the rest.

    All signals carry the Document, `tags_requested` a list of the selected ones; the space bar
    emits `view_requested`.
    """

    open_requested = Signal(object)
    view_requested = Signal(object)
    folder_requested = Signal(object)
    summary_requested = Signal(object)
    password_requested = Signal(object)
    forgetting_requested = Signal(object)
    tags_requested = Signal(object)
    current_changed = Signal()

    def __init__(self, theme: Theme, model: DocumentModel, parent: QWidget | None = None) -> None:
        super().__init__(theme, model, parent)
        self._documents = model
        self._hidden: frozenset[Column] = frozenset()
        self.setObjectName("files")
        self.setAccessibleName("Files")
        # Of several selected rows, what is not about all of them is about the current one.
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setItemDelegateForColumn(Column.STATE, RoleDelegate(theme, _role_of, self))
        self._set_up_columns()
        self._connect()

    @property
    def current(self) -> Document | None:
        """The document of the current row."""
        index = self.currentIndex()
        return self._documents.document_at(index.row()) if index.isValid() else None

    @property
    def selected(self) -> list[Document]:
        """The documents of the selected rows, from top to bottom."""
        rows = sorted(index.row() for index in self.selectionModel().selectedRows())
        return [self._documents.document_at(row) for row in rows]

    def currentChanged(
        self,
        current: QModelIndex | QPersistentModelIndex,
        previous: QModelIndex | QPersistentModelIndex,
    ) -> None:
        super().currentChanged(current, previous)
        self.current_changed.emit()

    def set_hidden(self, columns: Collection[Column]) -> None:
        """Hide these columns and show the others."""
        self._hidden = frozenset(columns)
        self._fit_columns()

    def _set_up_columns(self) -> None:
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        columns = self.horizontalHeader()
        columns.setSortIndicator(Column.NAME, Qt.SortOrder.AscendingOrder)
        self.setSortingEnabled(True)

    def _connect(self) -> None:
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._on_menu_requested)
        self.doubleClicked.connect(self._on_row_opened)
        for key in ("Return", "Enter"):
            shortcut = QShortcut(QKeySequence(key), self)
            shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
            shortcut.activated.connect(self._on_return_pressed)
        tags = QShortcut(QKeySequence(_TAG_KEYS), self)
        tags.setContext(Qt.ShortcutContext.WidgetShortcut)
        tags.activated.connect(self._on_tags_asked_for)
        space = QShortcut(QKeySequence("Space"), self)
        space.setContext(Qt.ShortcutContext.WidgetShortcut)
        space.activated.connect(self._on_space_pressed)

    def _fit_columns(self) -> None:
        """Give every column the width it needs, and share the rest among `_SHARES`."""
        text_px = self.fontMetrics().horizontalAdvance
        width_px = self.viewport().width()
        shown = [column for column in Column if column not in self._hidden]
        needed = {column: text_px(_SAMPLE_TEXTS[column]) + _PADDING_PX for column in shown}
        for column in _DISPENSABLE:
            if sum(needed.values()) > width_px:
                needed.pop(column, None)
        for column in Column:
            self.setColumnHidden(column, column not in needed)
        room = width_px - sum(needed.values())
        one_share = max(0, room) // sum(_SHARES.get(column, 0) for column in needed)
        for column, its_px in needed.items():
            self.setColumnWidth(column, its_px + one_share * _SHARES.get(column, 0))

    @Slot(QModelIndex)
    def _on_row_opened(self, index: QModelIndex) -> None:
        self.open_requested.emit(self._documents.document_at(index.row()))

    @Slot()
    def _on_return_pressed(self) -> None:
        if self.currentIndex().isValid():
            self._on_row_opened(self.currentIndex())

    @Slot()
    def _on_space_pressed(self) -> None:
        if self.currentIndex().isValid():
            self.view_requested.emit(self._documents.document_at(self.currentIndex().row()))

    @Slot()
    def _on_tags_asked_for(self) -> None:
        if selected := self.selected:
            self.tags_requested.emit(selected)

    @Slot(QPoint)
    def _on_menu_requested(self, place: QPoint) -> None:
        index = self.indexAt(place)
        if index.isValid():
            document = self._documents.document_at(index.row())
            self._make_menu(document).popup(self.viewport().mapToGlobal(place))

    def _make_menu(self, document: Document) -> QMenu:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("Open", lambda: self.open_requested.emit(document))
        menu.addAction("Show text", lambda: self.view_requested.emit(document))
        menu.addAction("Show in folder", lambda: self.folder_requested.emit(document))
        summary = menu.addAction("Summarise", lambda: self.summary_requested.emit(document))
        summary.setEnabled(document.state.is_searchable)
        if document.needs_password:
            menu.addAction("Enter password…", lambda: self.password_requested.emit(document))
        if document.is_unlocked:
            menu.addAction("Forget password", lambda: self.forgetting_requested.emit(document))
        menu.addSeparator()
        menu.addAction("Tags…", QKeySequence(_TAG_KEYS), self._on_tags_asked_for)
        menu.addAction("Copy path", lambda: _copy(str(document.path)))
        reason = menu.addAction("Copy reason", lambda: _copy(document.reason))
        reason.setEnabled(bool(document.reason))
        return menu


def _copy(text: str) -> None:
    QGuiApplication.clipboard().setText(text)
