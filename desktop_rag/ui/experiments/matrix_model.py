"""The matrix of questions and runs for a table view. Qt thread."""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from desktop_rag.core.experiments.answer_matrix import (
    AnswerFilter,
    AnswerMatrix,
    MatrixCell,
    MatrixRow,
)
from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.wording import one_line

Index = QModelIndex | QPersistentModelIndex
NO_INDEX = QModelIndex()
CELL_ROLE = Qt.ItemDataRole.UserRole
_EMPTY = AnswerMatrix((), ())


class MatrixModel(QAbstractTableModel):
    """A row for each question; the first column is the question, the others are runs."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._matrix = _EMPTY
        self._rows: list[MatrixRow] = []

    @property
    def matrix(self) -> AnswerMatrix:
        """All of it, whatever the filter."""
        return self._matrix

    @property
    def rows(self) -> Sequence[MatrixRow]:
        """The questions that pass the filter."""
        return self._rows

    def show(self, matrix: AnswerMatrix, chosen: AnswerFilter, tag: str) -> None:
        """Show what passes the filter; where only cells changed, the view stays where it is."""
        rows = matrix.shown(chosen, tag)
        is_same = matrix.runs and [run.run_id for run in matrix.runs] == [
            run.run_id for run in self._matrix.runs
        ]
        ids = [row.question.question_id for row in rows]
        if is_same and ids == [row.question.question_id for row in self._rows]:
            self._matrix, self._rows = matrix, rows
            last = self.index(max(0, len(rows) - 1), self.columnCount() - 1)
            self.dataChanged.emit(self.index(0, 0), last)
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, self.columnCount() - 1)
            return
        self.beginResetModel()
        self._matrix, self._rows = matrix, rows
        self.endResetModel()

    def row_at(self, row: int) -> MatrixRow | None:
        """The question in this row."""
        return self._rows[row] if 0 <= row < len(self._rows) else None

    def cell_at(self, index: Index) -> MatrixCell | None:
        """The answer in a cell; None for the question itself and where there is none."""
        row = self.row_at(index.row()) if index.isValid() else None
        at = index.column() - 1
        return row.cells[at] if row and 0 <= at < len(row.cells) else None

    def rowCount(self, parent: Index = NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self._matrix.runs) + 1

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal or role != Qt.ItemDataRole.DisplayRole:
            return None
        if section == 0:
            return tr("Question")
        return one_line(self._matrix.names[section - 1])

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row = self.row_at(index.row()) if index.isValid() else None
        if row is None:
            return None
        cell = self.cell_at(index)
        if role == CELL_ROLE:
            return cell
        if role == Qt.ItemDataRole.DisplayRole:
            return one_line(row.question.text) if index.column() == 0 else cell and cell.text
        if role == Qt.ItemDataRole.AccessibleTextRole and cell:
            return f"{cell.text} {cell.foot}"
        return None
