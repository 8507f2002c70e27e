"""The legend of the picture: each state with its colour and pattern, and its number. Qt thread."""

from collections import Counter

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QIcon, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QHBoxLayout, QWidget

from desktop_rag.core.language.translation import count_of, number_in_words, tr
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import value_in_words
from desktop_rag.ui.library.facets.facet_values import StateGroup
from desktop_rag.ui.library.picture.picture_tile import paint_state
from desktop_rag.ui.widgets.elided_button import ElidedButton

_SWATCH = QSize(18, 14)


class _StateButton(ElidedButton):
    # With the swatch.
    _PADDING_PX = 42


class StateLegend(QWidget):
    """A press on a state shows its files; `chosen` carries it."""

    chosen = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._buttons: dict[StateGroup, _StateButton] = {}
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        for state in StateGroup:
            button = _StateButton(value_in_words(state, begins=True), "action", self)
            button.setIconSize(_SWATCH)
            button.clicked.connect(lambda _=False, state=state: self.chosen.emit(state))
            self._buttons[state] = button
            row.addWidget(button)
        theme.changed.connect(self._paint_swatches)
        self._paint_swatches()
        self.show_counts(Counter())

    def show_counts(self, states: Counter[str]) -> None:
        """Show the states that some file is in, with their numbers."""
        for state, button in self._buttons.items():
            number = states[state.value]
            words = value_in_words(state, begins=True)
            button.set_full_text(f"{words} {number_in_words(number)}")
            files = count_of(number, tr("file"), tr("files"))
            button.setAccessibleName(f"{files}: {words}")
            button.setVisible(number > 0)

    def _paint_swatches(self) -> None:
        for state, button in self._buttons.items():
            ratio = self.devicePixelRatio()
            swatch = QPixmap(_SWATCH * ratio)
            swatch.setDevicePixelRatio(ratio)
            swatch.fill(Qt.GlobalColor.transparent)
            painter = QPainter(swatch)
            area = QRectF(0, 0, _SWATCH.width(), _SWATCH.height())
            paint_state(painter, self._theme, state, area)
            painter.setPen(QPen(self._theme.colour("border_strong")))
            painter.drawRect(area.adjusted(0.5, 0.5, -0.5, -0.5))
            painter.end()
            button.setIcon(QIcon(swatch))
