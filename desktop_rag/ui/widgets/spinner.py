"""A small turning arc: something goes on. Qt thread."""

from PySide6.QtCore import QRectF, Qt, QTimer, Slot
from PySide6.QtGui import QHideEvent, QPainter, QPaintEvent, QPen, QShowEvent
from PySide6.QtWidgets import QStyle, QWidget

from desktop_rag.ui.foundation.theme import Theme

_SIZE_PX = 14
_STEP_MS = 90
_STEP_DEGREES = 30
_ARC_DEGREES = 270
_TURN_DEGREES = 360


class Spinner(QWidget):
    """Turns while it is on show, and stands still where the desktop asks for less motion."""

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        """`name` says what goes on."""
        super().__init__(parent)
        self._theme = theme
        self._angle = 0
        self.setFixedSize(_SIZE_PX, _SIZE_PX)
        self.setAccessibleName(name)
        self._timer = QTimer(self)
        self._timer.setInterval(_STEP_MS)
        self._timer.timeout.connect(self._on_step)
        theme.changed.connect(self.update)

    @property
    def is_turning(self) -> bool:
        """True while it moves."""
        return self._timer.isActive()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        duration = QStyle.StyleHint.SH_Widget_Animation_Duration
        if self.style().styleHint(duration, None, self) > 0:
            self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = QPen(self._theme.colour("accent"), 2)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        # Qt counts sixteenths of a degree, against the clock.
        painter.drawArc(
            QRectF(self.rect()).adjusted(2, 2, -2, -2), -16 * self._angle, 16 * _ARC_DEGREES
        )

    @Slot()
    def _on_step(self) -> None:
        self._angle = (self._angle + _STEP_DEGREES) % _TURN_DEGREES
        self.update()
