"""The quiet line under an answer that says how many earlier ones were examples. Qt thread."""

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from desktop_rag.core.conversation import PastAnswer
from desktop_rag.ui.foundation.wording import count_of
from desktop_rag.ui.widgets.controls import TextButton


class RememberedButton(TextButton):
    """Pressed to see which; not there while there are none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("", parent, kind="quiet")
        self.setObjectName("remembered")
        self.setAccessibleDescription("Press to see which, and to forget them.")
        self.hide()

    def show_past(self, past: Sequence[PastAnswer]) -> None:
        """Tell of these."""
        self.setText(f"Remembered: {count_of(len(past), 'earlier answer')}")
        self.setVisible(bool(past))
