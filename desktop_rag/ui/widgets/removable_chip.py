"""A short text in a frame with a button that takes it away. Qt thread."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.widgets.controls import Card, ElidedLabel, IconButton

_MOST_PX = 260
_SLACK_PX, _PADDING_PX = 4, 18


class RemovableChip(Card):
    """As wide as its text, up to a limit; `removed` comes when the person takes it away."""

    removed = Signal()

    def __init__(
        self, theme: Theme, text: str, removal: str, parent: QWidget | None = None
    ) -> None:
        """`removal` names the button."""
        super().__init__(parent, kind="chip")
        self._label = ElidedLabel(text, mode=Qt.TextElideMode.ElideMiddle)
        self._close = IconButton(theme, "close:muted", removal)
        self._close.clicked.connect(self.removed)
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 1, 1, 1)
        row.setSpacing(4)
        row.addWidget(self._label, 1)
        row.addWidget(self._close)
        self.setAccessibleName(text)

    def sizeHint(self) -> QSize:
        size = super().sizeHint()  # without the label, which takes the room that it gets
        self._label.ensurePolished()
        metrics = self._label.fontMetrics()
        width = size.width() + metrics.horizontalAdvance(self._label.full_text) + _SLACK_PX
        return QSize(min(width, _MOST_PX), max(size.height(), metrics.height() + _PADDING_PX))
