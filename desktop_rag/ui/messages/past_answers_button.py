"""The button that counts the earlier answers used as examples. Qt thread."""

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from desktop_rag.core.conversation import PastAnswer
from desktop_rag.ui.foundation.wording import count_of
from desktop_rag.ui.widgets.controls import TextButton


class PastAnswersButton(TextButton):
    """Opens the list of earlier answers; hidden while there are none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("", parent, kind="quiet")
        self.setObjectName("remembered")
        self.setAccessibleDescription("Press to see and delete them.")
        self.hide()

    def show_past(self, past: Sequence[PastAnswer]) -> None:
        """Show the number of these answers."""
        self.setText(f"Guided by {count_of(len(past), 'earlier answer')}")
        self.setVisible(bool(past))
