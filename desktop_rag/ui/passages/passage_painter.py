"""Paints passages in a list: heading, file, and a piece with the words marked. Qt thread."""

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QPointF, QRect, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QTextCharFormat, QTextLayout, QTextOption
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from desktop_rag.core.domain import Passage
from desktop_rag.core.markup.plain_markdown import shown_text
from desktop_rag.core.markup.snippet import snippet
from desktop_rag.ui.foundation.document_kinds import with_head_in_words
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import is_right_to_left, one_line, place_in_words
from desktop_rag.ui.widgets.form_fields import draw_line
from desktop_rag.ui.widgets.item_list import RowsModel


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A row: the passage, its file and place, and a piece with the words marked. Any thread."""

    passage: Passage
    heading: str
    file: str
    piece: str
    spans: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, passage: Passage, query: str) -> "FoundPassage":
        """The row for a passage found with this query."""
        text = shown_text(passage.text, passage.path, passage.url)
        text = with_head_in_words(text, passage.path, passage.part)
        piece, spans = snippet(text, query)
        place, title = place_in_words(passage.anchor), passage.title or passage.path
        # The path of headings often begins with the title.
        parts = [place] if place.startswith(title) else [title, place]
        heading = " · ".join(one_line(part) for part in parts if part)
        file = one_line(passage.url or Path(passage.path).name)
        return cls(passage, heading, file, one_line(piece), tuple(spans))


def copied(passage: Passage) -> str:
    """The text for the clipboard: a passage with its source."""
    place = place_in_words(passage.anchor)
    where = passage.url or passage.path
    named = " · ".join(part for part in (passage.title, place) if part)
    return f"“{passage.text.strip()}”\n{named}\n{where}"


_Index = QModelIndex | QPersistentModelIndex
_PADDING_PX = 8
_GAP_PX = 2
_RADIUS_PX = 8
_LINES = 2


class PassagePainter(QStyledItemDelegate):
    """Paints rows as plain text: document text is never read as HTML."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme

    def found_at(self, index: _Index) -> FoundPassage | None:
        """The passage at a place of the model."""
        return index.data(RowsModel.RowRole)

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        row = self.found_at(index)
        has_heading = row is None or bool(row.heading or row.file)
        heading = _line_px(_bold(option.font)) if has_heading else 0
        height = heading + _LINES * _line_px(option.font) + _GAP_PX + 2 * _PADDING_PX
        return QSize(0, height)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        row = self.found_at(index)
        if row is None:
            return
        painter.save()
        self._paint_background(painter, option)
        area = option.rect.adjusted(_PADDING_PX, _PADDING_PX, -_PADDING_PX, -_PADDING_PX)
        font = option.font
        below = area
        if row.heading or row.file:
            self._paint_heading(painter, row, area, option)
            below = area.adjusted(0, _line_px(_bold(font)) + _GAP_PX, 0, 0)
        painter.setFont(font)
        self._paint_piece(painter, row, below)
        painter.restore()

    def _paint_heading(
        self, painter: QPainter, row: FoundPassage, area: QRect, option: QStyleOptionViewItem
    ) -> None:
        """The place in bold, and the file at the other end of the line."""
        font = option.font
        line = QRect(area.x(), area.y(), area.width(), _line_px(_bold(font)))
        painter.setLayoutDirection(option.direction)
        painter.setFont(font)
        painter.setPen(self._theme.colour("muted"))
        metrics = painter.fontMetrics()
        file = metrics.elidedText(row.file, Qt.TextElideMode.ElideMiddle, int(line.width() * 0.4))
        draw_line(painter, line, file, at_end=True)
        painter.setFont(_bold(font))
        painter.setPen(self._theme.colour("text"))
        width = line.width() - metrics.horizontalAdvance(file) - 2 * _PADDING_PX
        rest = QRect(line.x(), line.y(), width, line.height())
        line = QStyle.visualRect(option.direction, line, rest)
        # The end of a path of headings is its most specific part.
        heading = painter.fontMetrics().elidedText(
            row.heading, Qt.TextElideMode.ElideLeft, line.width()
        )
        draw_line(painter, line, heading)

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
        metrics, top = painter.fontMetrics(), 0.0
        for _ in range(_LINES):
            line = layout.createLine()
            if not line.isValid():
                break
            line.setLineWidth(area.width())
            # A character of a taller font moves neither its line nor the next one.
            line.setPosition(QPointF(0, top + metrics.ascent() - line.ascent()))
            top += metrics.lineSpacing()
        layout.endLayout()
        painter.setPen(self._theme.colour("muted"))
        painter.setClipRect(area)
        layout.draw(painter, QPointF(area.topLeft()))


def _bold(font: QFont) -> QFont:
    bold = QFont(font)
    bold.setBold(True)
    return bold


def _line_px(font: QFont) -> int:
    return QFontMetrics(font).lineSpacing()


def _range(start: int, end: int, mark: QTextCharFormat) -> QTextLayout.FormatRange:
    piece = QTextLayout.FormatRange()
    piece.start = start
    piece.length = end - start
    piece.format = mark
    return piece
