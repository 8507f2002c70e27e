"""The table of documents and what can be done with one of them. Qt thread."""

from collections.abc import Collection

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication, QKeySequence, QPalette, QResizeEvent, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QMenu,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from desktop_rag.core.domain import Document, DocumentState
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.library.document_model import DOCUMENT_ROLE, DocumentModel
from desktop_rag.ui.library.document_rows import Column
from desktop_rag.ui.widgets.controls import PlainLabel

_ROW_PADDING_PX = 12
# What is around the words of a cell, and of a header with its arrow.
_AROUND_PX = 34
# As wide as these words: the usual length, or where it is known the longest.
_WIDTHS = {
    Column.NAME: "a name of a usual length.pdf",
    Column.FOLDER: "a folder/of another",
    Column.STATE: "Searchable by words",
    Column.REASON: "Not read: it is protected.",
    Column.PASSAGES: "Passages",
    Column.SIZE: "1,023 bytes",
    Column.INDEXED: "59 min ago",
}
# Who gets how much of what is left over.
_SHARES = {Column.NAME: 3, Column.FOLDER: 2, Column.REASON: 3}
_ROLES = {
    DocumentState.SEARCHABLE: "success",
    DocumentState.SEARCHABLE_BY_WORDS: "accent",
    DocumentState.FAILED: "danger",
    DocumentState.OFFLINE: "warning",
}


class StateDelegate(QStyledItemDelegate):
    """Colours the word of a state by what it means; the word alone says it too."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def initStyleOption(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().initStyleOption(option, index)
        document: Document = index.data(DOCUMENT_ROLE)
        palette = QPalette(option.palette)
        colour = self._theme.colour(_ROLES.get(document.state, "muted"))
        palette.setColor(QPalette.ColorRole.Text, colour)
        palette.setColor(QPalette.ColorRole.HighlightedText, colour)
        option.palette = palette


class DocumentsTable(QTableView):
    """One row a document. Double click or Return opens it, the menu does the rest.

    `open_asked`, `view_asked` (also the space bar), `folder_asked` and `summary_asked` carry the
    Document.
    """

    open_asked = Signal(object)
    view_asked = Signal(object)
    folder_asked = Signal(object)
    summary_asked = Signal(object)

    def __init__(self, theme: Theme, model: DocumentModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._documents = model
        self.setObjectName("files")
        self.setAccessibleName("Files")
        self.setModel(model)
        self.setItemDelegateForColumn(Column.STATE, StateDelegate(theme, self))
        self._nothing = PlainLabel("", self.viewport(), tone="muted", wrap=True)
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._nothing.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._set_up_rows()
        self._set_up_columns()
        self._connect()
        theme.changed.connect(self.viewport().update)

    def set_hidden(self, columns: Collection[Column]) -> None:
        """Hide these columns and show all others."""
        for column in Column:
            self.setColumnHidden(column, column in columns)
        self._fit_columns()

    def set_empty_text(self, text: str) -> None:
        """What stands in place of rows while there are none."""
        self._nothing.setText(text)
        self._nothing.setVisible(self._documents.rowCount() == 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._nothing.setGeometry(self.viewport().rect())
        self._fit_columns()

    def _set_up_rows(self) -> None:
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        # One row: a selection of thousands would have to follow each row that moves.
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        rows = self.verticalHeader()
        rows.hide()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setDefaultSectionSize(self.fontMetrics().height() + _ROW_PADDING_PX)

    def _set_up_columns(self) -> None:
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        columns = self.horizontalHeader()
        columns.setHighlightSections(False)
        columns.setSortIndicator(Column.NAME, Qt.SortOrder.AscendingOrder)
        self.setSortingEnabled(True)

    def _connect(self) -> None:
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._on_menu_asked)
        self.doubleClicked.connect(self._on_row_opened)
        for key in ("Return", "Enter"):
            shortcut = QShortcut(QKeySequence(key), self)
            shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
            shortcut.activated.connect(self._on_return_pressed)
        space = QShortcut(QKeySequence("Space"), self)
        space.setContext(Qt.ShortcutContext.WidgetShortcut)
        space.activated.connect(self._on_space_pressed)

    def _fit_columns(self) -> None:
        """Every column as wide as it needs; room that is left goes to names and reasons."""
        words_px = self.fontMetrics().horizontalAdvance
        shown = [column for column in Column if not self.isColumnHidden(column)]
        needed = {column: words_px(_WIDTHS[column]) + _AROUND_PX for column in shown}
        room = self.viewport().width() - sum(needed.values())
        one_share = max(0, room) // sum(_SHARES.get(column, 0) for column in shown)
        for column in shown:
            self.setColumnWidth(column, needed[column] + one_share * _SHARES.get(column, 0))

    @Slot(QModelIndex)
    def _on_row_opened(self, index: QModelIndex) -> None:
        self.open_asked.emit(self._documents.document_at(index.row()))

    @Slot()
    def _on_return_pressed(self) -> None:
        if self.currentIndex().isValid():
            self._on_row_opened(self.currentIndex())

    @Slot()
    def _on_space_pressed(self) -> None:
        if self.currentIndex().isValid():
            self.view_asked.emit(self._documents.document_at(self.currentIndex().row()))

    @Slot(QPoint)
    def _on_menu_asked(self, place: QPoint) -> None:
        index = self.indexAt(place)
        if index.isValid():
            document = self._documents.document_at(index.row())
            self._make_menu(document).popup(self.viewport().mapToGlobal(place))

    def _make_menu(self, document: Document) -> QMenu:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("Open", lambda: self.open_asked.emit(document))
        menu.addAction("Show text and passages", lambda: self.view_asked.emit(document))
        menu.addAction("Show in folder", lambda: self.folder_asked.emit(document))
        summary = menu.addAction("Summarise", lambda: self.summary_asked.emit(document))
        summary.setEnabled(document.state.is_searchable)
        menu.addSeparator()
        menu.addAction("Copy path", lambda: _copy(str(document.path)))
        reason = menu.addAction("Copy reason", lambda: _copy(document.reason))
        reason.setEnabled(bool(document.reason))
        return menu


def _copy(text: str) -> None:
    QGuiApplication.clipboard().setText(text)
