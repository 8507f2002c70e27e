"""A tile of the picture: an area divided by the states of its files. Qt thread.

States differ by colour and by pattern. Each tile is a button, so that the keyboard and screen
readers reach it.
"""

from collections.abc import Mapping

from PySide6.QtCore import QEvent, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QEnterEvent, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QWidget

from desktop_rag.core.language.translation import number_in_words
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.library.facets.facet_values import StateGroup
from desktop_rag.ui.library.picture.picture_parts import Part
from desktop_rag.ui.widgets.controls import plain_tooltip, press_by_enter

# The background and the colour of the pattern, with the pattern; none where there is most of it.
_LOOKS: Mapping[StateGroup, tuple[str, str, Qt.BrushStyle]] = {
    StateGroup.SEARCHABLE: ("success_soft", "success", Qt.BrushStyle.NoBrush),
    StateGroup.IN_PROGRESS: ("accent_soft", "accent", Qt.BrushStyle.Dense6Pattern),
    StateGroup.FAILED: ("danger_soft", "danger", Qt.BrushStyle.DiagCrossPattern),
    StateGroup.SKIPPED: ("sunken", "muted", Qt.BrushStyle.BDiagPattern),
    StateGroup.EXCLUDED: ("hover", "muted", Qt.BrushStyle.HorPattern),
    StateGroup.OFFLINE: ("warning_soft", "warning", Qt.BrushStyle.VerPattern),
}
_PADDING_PX = 6
_ROUND_PX = 3
_FOCUS_PX = 2


def paint_state(painter: QPainter, theme: Theme, state: StateGroup, area: QRectF) -> None:
    """Fill an area with the colour and pattern of a state."""
    soft, strong, pattern = _LOOKS[state]
    painter.fillRect(area, theme.colour(soft))
    if pattern is not Qt.BrushStyle.NoBrush:
        painter.fillRect(area, QBrush(theme.colour(strong), pattern))


class PictureTile(QAbstractButton):
    """Some files of the library; a press shows them. Its name has the numbers."""

    def __init__(self, theme: Theme, part: Part, words: str, parent: QWidget) -> None:
        """`words` is the label on the tile, shorter than its name."""
        super().__init__(parent)
        self._theme = theme
        self._words = words
        self._is_hovered = False
        self.part = part
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.show_part(part)

    def show_part(self, part: Part) -> None:
        """Show other numbers of the same files."""
        self.part = part
        self.setAccessibleName(part.words)
        self.setToolTip(plain_tooltip(part.words))
        self.update()

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self._is_hovered = True
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._is_hovered = False
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not press_by_enter(self, event):
            super().keyPressEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        whole = QRectF(self.rect())
        self._paint_states(painter, whole)
        self._paint_words(painter)
        is_marked = self.hasFocus() or self._is_hovered
        colour = self._theme.colour("accent" if is_marked else "border_strong")
        width_px = _FOCUS_PX if is_marked else 1
        painter.setPen(QPen(colour, width_px))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        inset = width_px / 2
        painter.drawRect(whole.adjusted(inset, inset, -inset, -inset))
        painter.end()

    def _paint_states(self, painter: QPainter, whole: QRectF) -> None:
        """Bands from top to bottom, as high as the state's share; none is too thin to be seen."""
        total = max(1, self.part.count)
        states = [state for state in StateGroup if self.part.states[state.value]]
        top = whole.top()
        for position, state in enumerate(states):
            height = max(3.0, whole.height() * self.part.states[state.value] / total)
            if position == len(states) - 1:
                height = max(height, whole.bottom() - top)
            area = QRectF(whole.left(), min(top, whole.bottom() - 3), whole.width(), height)
            paint_state(painter, self._theme, state, area.intersected(whole))
            top += height

    def _paint_words(self, painter: QPainter) -> None:
        metrics = self.fontMetrics()
        room = self.width() - 4 * _PADDING_PX
        line = metrics.height()
        if room < 3 * metrics.averageCharWidth() or self.height() < line + _PADDING_PX:
            return
        lines = [metrics.elidedText(self._words, Qt.TextElideMode.ElideRight, room)]
        if self.height() >= 2 * line + 2 * _PADDING_PX:
            lines.append(
                metrics.elidedText(
                    number_in_words(self.part.count), Qt.TextElideMode.ElideRight, room
                )
            )
        width = max(metrics.horizontalAdvance(text) for text in lines) + 2 * _PADDING_PX
        is_mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        left = self.width() - width - _PADDING_PX if is_mirrored else _PADDING_PX
        box = QRectF(left, _PADDING_PX / 2, width, line * len(lines) + 2)
        # A pattern behind the words would make them hard to read.
        background = QColor(self._theme.colour("surface"))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(background)
        painter.drawRoundedRect(box, _ROUND_PX, _ROUND_PX)
        painter.setPen(self._theme.colour("text"))
        for position, text in enumerate(lines):
            place = box.adjusted(_PADDING_PX, position * line, -_PADDING_PX, 0)
            flags = Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeading
            painter.drawText(place, flags | Qt.TextFlag.TextSingleLine, text)
