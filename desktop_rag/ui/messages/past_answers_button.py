"""The button that counts the earlier answers used as examples. Qt thread."""

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from desktop_rag.core.conversation import PastAnswer
from desktop_rag.core.language.translation import count_of, tr
from desktop_rag.ui.widgets.controls import TextButton


class PastAnswersButton(TextButton):
    """Opens the list of earlier answers; hidden while there are none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("", parent, kind="quiet")
        self.setObjectName("remembered")
        self.setAccessibleDescription(tr("Press to see and delete them."))
        self.hide()

    def show_past(self, past: Sequence[PastAnswer]) -> None:
        """Show the number of these answers."""
        self.setText(
            tr(
                "Guided by {count_of}",
                count_of=count_of(len(past), tr("earlier answer"), tr("earlier answers")),
            )
        )
        self.setVisible(bool(past))
