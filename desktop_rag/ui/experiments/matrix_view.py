"""The table of questions and runs: some lines of each answer, its badges, its score. Qt thread."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, Qt, Signal, Slot
from PySide6.QtGui import QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from desktop_rag.core.experiments.answer_matrix import MatrixCell
from desktop_rag.core.language.translation import tr
from desktop_rag.ui.experiments.matrix_model import CELL_ROLE, MatrixModel
from desktop_rag.ui.foundation.theme import Theme

_Index = QModelIndex | QPersistentModelIndex
_LINES = 3
_PADDING_PX = 8
_STRIPE_PX = 4
_LEAST_COLUMN_PX = 190
_GOOD, _POOR = 0.75, 0.4
_WRAPPED = Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap


class AnswerDelegate(QStyledItemDelegate):
    """Paints a question or an answer; a stripe in a colour stands beside its score in words."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        painter.save()
        painter.setClipRect(option.rect)
        is_chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.fillRect(option.rect, self._theme.colour("accent_wash" if is_chosen else "surface"))
        painter.setPen(self._theme.colour("border"))
        painter.drawLine(option.rect.bottomLeft(), option.rect.bottomRight())
        painter.drawLine(option.rect.topRight(), option.rect.bottomRight())
        area = option.rect.adjusted(_PADDING_PX, _PADDING_PX, -_PADDING_PX, -_PADDING_PX)
        cell: MatrixCell | None = index.data(CELL_ROLE)
        if cell:
            self._paint_cell(painter, option, area, cell)
        elif index.column() == 0:
            painter.setPen(self._theme.colour("text"))
            painter.drawText(area, _WRAPPED, index.data())
        painter.restore()

    def _paint_cell(
        self, painter: QPainter, option: QStyleOptionViewItem, area: QRect, cell: MatrixCell
    ) -> None:
        line = option.fontMetrics.height()
        tone = _tone(cell)
        stripe = QRect(option.rect.left(), option.rect.top(), _STRIPE_PX, option.rect.height() - 1)
        painter.fillRect(stripe, self._theme.colour(tone))
        text = QRect(area.left(), area.top(), area.width(), _LINES * line)
        painter.setPen(self._theme.colour("danger" if cell.answer.has_failed else "text"))
        painter.drawText(text, _WRAPPED, cell.text)
        foot = QRect(area.left(), area.bottom() - line, area.width(), line)
        painter.setPen(self._theme.colour("muted"))
        score = "" if cell.score is None else f"{100 * cell.score:.0f} %"
        room = area.width() - option.fontMetrics.horizontalAdvance(score) - _PADDING_PX
        elided = option.fontMetrics.elidedText(cell.foot, Qt.TextElideMode.ElideRight, room)
        painter.drawText(foot, Qt.AlignmentFlag.AlignLeft, elided)
        painter.setPen(self._theme.colour(tone if tone != "border" else "muted"))
        painter.drawText(foot, Qt.AlignmentFlag.AlignRight, score)


class MatrixView(QTableView):
    """`opened` carries the row of a question whose answers are to be shown whole."""

    opened = Signal(int)

    def __init__(self, theme: Theme, model: MatrixModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setModel(model)
        self.setItemDelegate(AnswerDelegate(theme, self))
        self.setAccessibleName(tr("Questions and answers"))
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        rows = self.verticalHeader()
        rows.hide()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        line = self.fontMetrics().height()
        rows.setDefaultSectionSize((_LINES + 1) * line + 3 * _PADDING_PX)
        model.modelReset.connect(self._fit)
        self.activated.connect(self._on_activated)
        theme.changed.connect(self.viewport().update)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    @Slot()
    def _fit(self) -> None:
        count = self.model().columnCount()
        share = self.viewport().width() // max(1, count)
        for column in range(count):
            self.setColumnWidth(column, max(_LEAST_COLUMN_PX, share))

    @Slot(QModelIndex)
    def _on_activated(self, index: QModelIndex) -> None:
        self.opened.emit(index.row())


def _tone(cell: MatrixCell) -> str:
    if cell.answer.has_failed:
        return "danger"
    if cell.score is None:
        return "border"
    if cell.score >= _GOOD:
        return "success"
    return "danger" if cell.score < _POOR else "warning"
