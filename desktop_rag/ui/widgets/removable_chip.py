"""A short text in a frame with a button that removes it. Qt thread."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QWidget

from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.widgets.controls import Card, ElidedLabel, IconButton, IconLabel
from desktop_rag.ui.widgets.layouts import horizontal

_MOST_PX = 260
_SLACK_PX, _PADDING_PX = 4, 18
_ICON_PX = 14
# So narrow that a few letters are left beside the button.
_LEAST_BUTTONS = 3


class RemovableChip(Card):
    """As wide as its text, up to a limit; `removed` follows a click on the button."""

    removed = Signal()

    def __init__(
        self,
        theme: Theme,
        text: str,
        removal: str,
        parent: QWidget | None = None,
        *,
        icon: str = "",
    ) -> None:
        """`removal` names the button; an `icon`, such as `folder:muted`, precedes the text."""
        super().__init__(parent, kind="chip")
        text = one_line(text)
        self._label = ElidedLabel(text, mode=Qt.TextElideMode.ElideMiddle)
        self.button = IconButton(theme, "close:muted", removal, then=self.removed)
        row = horizontal(on=self, margins=(8 if icon else 10, 1, 1, 1), spacing=5)
        if icon:
            row.addWidget(IconLabel(theme, icon, self, size_px=_ICON_PX))
        row.addWidget(self._label, 1)
        row.addWidget(self.button)
        self.setAccessibleName(text)

    def minimumSizeHint(self) -> QSize:
        width = _LEAST_BUTTONS * self.button.sizeHint().width()
        return QSize(width, super().minimumSizeHint().height())

    def sizeHint(self) -> QSize:
        size = super().sizeHint()  # without the label, which takes the room that it gets
        self._label.ensurePolished()
        metrics = self._label.fontMetrics()
        width = size.width() + metrics.horizontalAdvance(self._label.full_text) + _SLACK_PX
        return QSize(min(width, _MOST_PX), max(size.height(), metrics.height() + _PADDING_PX))
