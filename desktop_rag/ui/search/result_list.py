"""The list of what a search found, with its keys and its menu. Qt thread."""

from PySide6.QtCore import (
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QWidget

from desktop_rag.core.domain import Document
from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.passages.found_passage import FoundPassage
from desktop_rag.ui.search.found_files import SearchResults, by_id
from desktop_rag.ui.search.result_model import MoreRow, PassageRow, ResultModel, Row
from desktop_rag.ui.search.result_painter import ResultPainter

_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class ResultList(QListView):
    """Rows can be chosen together, as files in a file manager.

    `chosen` carries the FoundPassage of the current row, or None; `read_requested` wants it to be
    read, `ask_requested` to ask about the selected files. `left` comes when the person goes up
    from the first row. `menu_requested` carries a point on the screen.
    """

    chosen = Signal(object)
    selection_changed = Signal()
    read_requested = Signal()
    ask_requested = Signal()
    left = Signal()
    menu_requested = Signal(QPoint)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._results = SearchResults()
        self._rows = ResultModel(self)
        self.setModel(self._rows)
        self.setItemDelegate(ResultPainter(theme, self))
        self.setObjectName("searchResults")
        self.setAccessibleName(tr("Results"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setMouseTracking(True)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(
            lambda place: self.menu_requested.emit(self.viewport().mapToGlobal(place))
        )
        self.clicked.connect(self._on_clicked)
        self.doubleClicked.connect(lambda _index: self.read_requested.emit())
        self.selectionModel().selectionChanged.connect(lambda *_: self.selection_changed.emit())
        theme.changed.connect(self.viewport().update)

    # --- what is shown and chosen ----------------------------------------------------------------

    @property
    def results(self) -> SearchResults:
        """What is shown."""
        return self._results

    @property
    def current(self) -> FoundPassage | None:
        """The passage of the current row."""
        row = self._rows.row_at(self.currentIndex())
        return row.passage if row else None

    @property
    def selected(self) -> list[Document]:
        """The documents of the selected rows, each once, in the order of the list."""
        rows = sorted(index.row() for index in self.selectionModel().selectedIndexes())
        ids = dict.fromkeys(self._rows.rows()[row].document_id for row in rows)
        known = by_id(self._results)
        return [known[document_id] for document_id in ids]

    def show_results(self, results: SearchResults, *, is_by_file: bool) -> None:
        """Replace the rows; what was chosen stays chosen where it is still there."""
        before, place = self._rows.row_at(self.currentIndex()), self.verticalScrollBar().value()
        is_same = results.text == self._results.text
        self._results = results
        self._rows.show(results, is_by_file=is_by_file)
        self._choose_again(before)
        if is_same:
            self.verticalScrollBar().setValue(place)

    def _choose_again(self, before: Row | None) -> None:
        rows = self._rows.rows()
        same = (n for n, row in enumerate(rows) if before and _is_same(row, before))
        if (at := next(same, None)) is not None:
            self._choose(at)
        else:
            self.chosen.emit(None)
        self.selection_changed.emit()

    def choose_first(self) -> None:
        """Go to the first row, unless one is chosen, with the keyboard."""
        if not self.currentIndex().isValid() and self._rows.rowCount():
            self._choose(0)
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def _choose(self, row: int) -> None:
        flags = QItemSelectionModel.SelectionFlag.ClearAndSelect
        self.selectionModel().setCurrentIndex(self._rows.index(row), flags)

    def currentChanged(
        self,
        current: QModelIndex | QPersistentModelIndex,
        previous: QModelIndex | QPersistentModelIndex,
    ) -> None:
        super().currentChanged(current, previous)
        row = self._rows.row_at(current)
        self.chosen.emit(row.passage if row else None)

    # --- keys and clicks -------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        row = self._rows.row_at(self.currentIndex())
        if event.key() == Qt.Key.Key_Up and self.currentIndex().row() <= 0:
            self.left.emit()
        elif isinstance(row, MoreRow) and event.key() in {*_ENTER, Qt.Key.Key_Space}:
            self._open(row)
        elif event.key() in _ENTER:
            self.ask_requested.emit()
        elif event.key() == Qt.Key.Key_Space:
            self.read_requested.emit()
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        # The right button asks about what is selected, if it is pressed on that.
        is_right = event.button() == Qt.MouseButton.RightButton
        if not (
            is_right and self.selectionModel().isSelected(self.indexAt(event.position().toPoint()))
        ):
            super().mousePressEvent(event)

    @Slot(QModelIndex)
    def _on_clicked(self, index: QModelIndex) -> None:
        row = self._rows.row_at(index)
        if isinstance(row, MoreRow):
            self._open(row)

    def _open(self, row: MoreRow) -> None:
        at, place = self.currentIndex().row(), self.verticalScrollBar().value()
        self._rows.open_file(row.document_id)
        self._choose(max(0, at))
        self.verticalScrollBar().setValue(place)


def _is_same(row: Row, other: Row) -> bool:
    if isinstance(row, PassageRow) and isinstance(other, PassageRow):
        return row.passage.passage.chunk_id == other.passage.passage.chunk_id
    return type(row) is type(other) and row.document_id == other.document_id
