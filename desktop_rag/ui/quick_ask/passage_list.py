"""The passages found while typing: file, place and a piece with the words marked. Qt thread."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPointF,
    QRect,
    QSize,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import (
    QFont,
    QFontMetrics,
    QPainter,
    QTextCharFormat,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import (
    QFrame,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from desktop_rag.core.domain import Passage
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import is_right_to_left, one_line
from desktop_rag.ui.quick_ask.snippet import snippet

_Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
_PADDING_PX = 8
_GAP_PX = 2
_RADIUS_PX = 8
_LINES = 2
_MIDDLE = Qt.AlignmentFlag.AlignVCenter
FoundRole = Qt.ItemDataRole.UserRole + 1


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage as a row shows it."""

    passage: Passage
    heading: str
    file: str
    piece: str
    spans: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, passage: Passage, query: str) -> "FoundPassage":
        """The row for a passage found with this query."""
        piece, spans = snippet(passage.text, query)
        place, title = passage.anchor.label(), passage.title or passage.path
        # The path of headings often begins with the title.
        parts = [place] if place.startswith(title) else [title, place]
        heading = " · ".join(one_line(part) for part in parts if part)
        file = one_line(passage.url or Path(passage.path).name)
        return cls(passage, heading, file, one_line(piece), tuple(spans))


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
            case _ if role == FoundRole:
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
        self.setItemDelegate(_PassagePainter(theme, self))
        self.setObjectName("passageList")
        self.setAccessibleName("Passages")
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
        row = self.currentIndex().data(FoundRole) if self.currentIndex().isValid() else None
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
        row = index.data(FoundRole)
        if isinstance(row, FoundPassage):
            self.opened.emit(row.passage)


class _PassagePainter(QStyledItemDelegate):
    """Paints a row as plain text: foreign text is never read as HTML."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        metrics = QFontMetrics(option.font)
        height = (1 + _LINES) * metrics.lineSpacing() + _GAP_PX + 2 * _PADDING_PX
        return QSize(0, height)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        row = index.data(FoundRole)
        if not isinstance(row, FoundPassage):
            return
        painter.save()
        self._paint_background(painter, option)
        area = option.rect.adjusted(_PADDING_PX, _PADDING_PX, -_PADDING_PX, -_PADDING_PX)
        font = option.font
        self._paint_heading(painter, row, area, option)
        below = area.adjusted(0, QFontMetrics(font).lineSpacing() + _GAP_PX, 0, 0)
        painter.setFont(font)
        self._paint_piece(painter, row, below)
        painter.restore()

    def _paint_heading(
        self, painter: QPainter, row: FoundPassage, area: QRect, option: QStyleOptionViewItem
    ) -> None:
        """The place in bold, and the file at the other end of the line."""
        font = option.font
        line = QRect(area.x(), area.y(), area.width(), QFontMetrics(font).lineSpacing())
        painter.setLayoutDirection(option.direction)
        painter.setFont(font)
        painter.setPen(self._theme.colour("muted"))
        metrics = painter.fontMetrics()
        file = metrics.elidedText(row.file, Qt.TextElideMode.ElideMiddle, int(line.width() * 0.4))
        painter.drawText(line, int(_MIDDLE | Qt.AlignmentFlag.AlignTrailing), file)
        bold = QFont(font)
        bold.setBold(True)
        painter.setFont(bold)
        painter.setPen(self._theme.colour("text"))
        width = line.width() - metrics.horizontalAdvance(file) - 2 * _PADDING_PX
        rest = QRect(line.x(), line.y(), width, line.height())
        line = QStyle.visualRect(option.direction, line, rest)
        # The end of a path of headings is its most specific part.
        heading = painter.fontMetrics().elidedText(
            row.heading, Qt.TextElideMode.ElideLeft, line.width()
        )
        painter.drawText(line, int(_MIDDLE | Qt.AlignmentFlag.AlignLeading), heading)

    def _paint_background(self, painter: QPainter, option: QStyleOptionViewItem) -> None:
        is_chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        is_hovered = bool(option.state & QStyle.StateFlag.State_MouseOver)
        if not (is_chosen or is_hovered):
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.colour("accent_soft" if is_chosen else "hover"))
        painter.drawRoundedRect(option.rect, _RADIUS_PX, _RADIUS_PX)

    def _paint_piece(self, painter: QPainter, row: FoundPassage, area: QRect) -> None:
        layout = QTextLayout(row.piece, painter.font())
        wrapping = QTextOption()
        wrapping.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        if is_right_to_left(row.piece):
            wrapping.setAlignment(Qt.AlignmentFlag.AlignRight)
        layout.setTextOption(wrapping)
        mark = QTextCharFormat()
        mark.setForeground(self._theme.colour("highlight_text"))
        mark.setBackground(self._theme.colour("highlight"))
        layout.setFormats([_range(start, end, mark) for start, end in row.spans])
        layout.beginLayout()
        top = 0.0
        for _ in range(_LINES):
            line = layout.createLine()
            if not line.isValid():
                break
            line.setLineWidth(area.width())
            line.setPosition(QPointF(0, top))
            top += line.height()
        layout.endLayout()
        painter.setPen(self._theme.colour("muted"))
        painter.setClipRect(area)
        layout.draw(painter, QPointF(area.topLeft()))


def _range(start: int, end: int, mark: QTextCharFormat) -> QTextLayout.FormatRange:
    piece = QTextLayout.FormatRange()
    piece.start = start
    piece.length = end - start
    piece.format = mark
    return piece


def copied(passage: Passage) -> str:
    """A passage with its source, as it is copied."""
    place = passage.anchor.label()
    where = passage.url or passage.path
    named = " · ".join(part for part in (passage.title, place) if part)
    return f"“{passage.text.strip()}”\n{named}\n{where}"
