"""A button over the messages that leads to the newest one. Qt thread."""

from PySide6.QtCore import QRect
from PySide6.QtWidgets import QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.widgets.controls import TextButton, plain_tooltip

_BOTTOM_PX = 12


class NewestButton(TextButton):
    """Shown while the person is far from the newest message, or it grows out of sight."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(tr("Newest messages"), parent, icon="chevron-down:text", theme=theme)
        self.setObjectName("newestButton")
        self.setToolTip(plain_tooltip("End"))
        self.hide()

    def offer(self, area: QRect, *, is_far: bool, has_news: bool) -> None:
        """Show the button at the bottom of an area, if there is a reason to."""
        self.setText(tr("New text below") if has_news else tr("Newest messages"))
        if is_far or has_news:
            self.adjustSize()
            centre = area.center().x() - self.width() // 2
            self.move(centre, area.bottom() - self.height() - _BOTTOM_PX)
            self.raise_()
        self.setVisible(is_far or has_news)
