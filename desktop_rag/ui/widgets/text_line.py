"""Draws one line of foreign text in a row of a list. Qt thread."""

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QPainter

from desktop_rag.ui.foundation.wording import isolated


def draw_line(painter: QPainter, area: QRect, text: str, *, at_end: bool = False) -> None:
    """Draw the text in the middle of the area with the font, colour and side of the painter.

    The text keeps its own direction. It stands at the beginning of the line, or at its end.
    """
    # QPainter.drawText with an area places and clips a line by its tallest font. Characters that
    # another font draws, even unseen ones, would push the others down and cut their descenders.
    metrics = painter.fontMetrics()
    line = isolated(text)
    is_mirrored = painter.layoutDirection() == Qt.LayoutDirection.RightToLeft
    is_right = is_mirrored != at_end
    left = area.right() + 1 - metrics.horizontalAdvance(line) if is_right else area.left()
    top = area.top() + (area.height() - metrics.height()) // 2
    painter.drawText(QPoint(left, top + metrics.ascent()), line)
