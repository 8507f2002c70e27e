"""The passages found while typing: file, place and a piece with the words marked. Qt thread."""

from collections.abc import Sequence

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtWidgets import (
    QFrame,
    QListView,
    QWidget,
)

from desktop_rag.core.domain import Passage
from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.passages.found_passage import FoundPassage
from desktop_rag.ui.passages.passage_painter import FOUND_ROLE, PassagePainter

_Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()


class PassageModel(QAbstractListModel):
    """The passages in order, best first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[FoundPassage] = []

    def show(self, rows: Sequence[FoundPassage]) -> None:
        """Replace all rows."""
        self.beginResetModel()
        self._rows = list(rows)
        self.endResetModel()

    def rowCount(self, parent: _Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row = self._rows[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return row.heading
            case Qt.ItemDataRole.AccessibleTextRole:
                return f"{row.heading}, {row.file}: {row.piece}"
            case _ if role == FOUND_ROLE:
                return row
            case _:
                return None


class PassageList(QListView):
    """Shows passages; the field above keeps the focus. `opened` carries a Passage."""

    opened = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = PassageModel(self)
        self.setModel(self._model)
        self.setItemDelegate(PassagePainter(theme, self))
        self.setObjectName("passageList")
        self.setAccessibleName(tr("Passages"))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setMouseTracking(True)
        self.setUniformItemSizes(True)
        self.clicked.connect(self._on_clicked)
        theme.changed.connect(self.viewport().update)

    @property
    def chosen(self) -> Passage | None:
        """The passage chosen with the arrow keys."""
        row = self.currentIndex().data(FOUND_ROLE) if self.currentIndex().isValid() else None
        return row.passage if isinstance(row, FoundPassage) else None

    @property
    def rows(self) -> int:
        """The number of passages."""
        return self._model.rowCount()

    def show_passages(self, query: str, passages: Sequence[Passage]) -> None:
        """Replace the passages; the chosen one stays chosen where it is still there."""
        chosen = self.chosen
        self._model.show([FoundPassage.of(passage, query) for passage in passages])
        for number, passage in enumerate(passages):
            if chosen and passage.chunk_id == chosen.chunk_id:
                self.setCurrentIndex(self._model.index(number))
        heights = sum(self.sizeHintForRow(row) for row in range(self.rows))
        self.setFixedHeight(heights + 2 * self.frameWidth())

    def step(self, by: int) -> None:
        """Choose the next or the previous passage; before the first, none."""
        row = min(self.currentIndex().row() + by, self.rows - 1)
        self.setCurrentIndex(self._model.index(row) if row >= 0 else QModelIndex())

    @Slot(QModelIndex)
    def _on_clicked(self, index: QModelIndex) -> None:
        row = index.data(FOUND_ROLE)
        if isinstance(row, FoundPassage):
            self.opened.emit(row.passage)
