"""Paints the rows of a search: names of files, passages below them, "3 more". Qt thread."""

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyleOptionViewItem

from desktop_rag.ui.passages.passage_painter import PassagePainter
from desktop_rag.ui.search.result_model import ROW_ROLE, FileRow, Index, MoreRow, PassageRow
from desktop_rag.ui.widgets.text_line import draw_line

_PADDING_PX = 8
_INDENT_PX = 26
_ICON_PX = 16
_GAP_PX = 8
# Of the line of a file; the name gets the rest.
_DETAILS_PART = 0.4


class ResultPainter(PassagePainter):
    """Names in bold with their folder; what belongs to a file is indented."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        if isinstance(index.data(ROW_ROLE), PassageRow):
            return super().sizeHint(option, index)
        height = QFontMetrics(option.font).lineSpacing() + 2 * _PADDING_PX
        return QSize(0, height)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row = index.data(ROW_ROLE)
        painter.save()
        match row:
            case FileRow():
                self._paint_background(painter, option)
                self._paint_file(painter, row, option, index)
            case MoreRow():
                self._paint_background(painter, option)
                area = _indented(option.rect, option).adjusted(_PADDING_PX, 0, -_PADDING_PX, 0)
                painter.setLayoutDirection(option.direction)
                painter.setFont(option.font)
                painter.setPen(self._theme.colour("link"))
                draw_line(painter, area, row.words)
            case PassageRow(is_below_file=True):
                below = QStyleOptionViewItem(option)
                below.rect = _indented(option.rect, option)
                super().paint(painter, below, index)
            case _:
                super().paint(painter, option, index)
        painter.restore()

    def _paint_file(
        self, painter: QPainter, row: FileRow, option: QStyleOptionViewItem, index: Index
    ) -> None:
        if index.row():
            painter.setPen(self._theme.colour("border"))
            painter.drawLine(option.rect.topLeft(), option.rect.topRight())
        area = option.rect.adjusted(_PADDING_PX, 0, -_PADDING_PX, 0)
        direction = option.direction
        painter.setLayoutDirection(direction)
        top = area.y() + (area.height() - _ICON_PX) // 2
        icon = QRect(area.x(), top, _ICON_PX, _ICON_PX)
        name = "link" if row.file.document.url else "file-text"
        shown = QStyle.visualRect(direction, area, icon)
        self._theme.icon(f"{name}:muted").paint(painter, shown)
        line = area.adjusted(_ICON_PX + _GAP_PX, 0, 0, 0)
        line = QStyle.visualRect(direction, area, line)
        painter.setFont(option.font)
        painter.setPen(self._theme.colour("muted"))
        middle = Qt.TextElideMode.ElideMiddle
        details = painter.fontMetrics().elidedText(
            row.file.details, Qt.TextElideMode.ElideRight, int(line.width() * _DETAILS_PART)
        )
        draw_line(painter, line, details, at_end=True)
        room = line.width() - painter.fontMetrics().horizontalAdvance(details) - _GAP_PX
        bold = QFont(option.font)
        bold.setBold(True)
        painter.setFont(bold)
        painter.setPen(self._theme.colour("text"))
        name = painter.fontMetrics().elidedText(row.file.name, middle, room)
        width = painter.fontMetrics().horizontalAdvance(name)
        place = QRect(line.x(), line.y(), room, line.height())
        draw_line(painter, QStyle.visualRect(direction, line, place), name)
        rest = QRect(line.x() + width + _GAP_PX, line.y(), room - width - _GAP_PX, line.height())
        if rest.width() > 3 * _GAP_PX:
            painter.setFont(option.font)
            painter.setPen(self._theme.colour("faint"))
            folder = painter.fontMetrics().elidedText(
                row.file.folder, Qt.TextElideMode.ElideLeft, rest.width()
            )
            draw_line(painter, QStyle.visualRect(direction, line, rest), folder)


def _indented(area: QRect, option: QStyleOptionViewItem) -> QRect:
    """The area without the indent on the side on which reading begins."""
    return QStyle.visualRect(option.direction, area, area.adjusted(_INDENT_PX, 0, 0, 0))
