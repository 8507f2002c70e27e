"""The lasting caution below the question field of a chat. Qt thread."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.core.settings import Settings
from desktop_rag.ui.widgets.controls import PlainLabel, centred

_WIDTH_PX = 780
_CHECKED = tr(
    "Answers can be wrong. Press a number to read the source, or a mark to see the check."
)
_UNCHECKED = tr("Answers can be wrong. Press a number to read the source.")


class Caution(PlainLabel):
    """Says what can be pressed in answers as they are made now."""

    def __init__(self) -> None:
        super().__init__(_UNCHECKED, tone="muted", scale="small", wrap=True)
        self.setAlignment(Qt.AlignmentFlag.AlignHCenter)

    def apply(self, settings: Settings) -> None:
        """Only what a model writes is checked, where that is wanted."""
        is_checked = settings.endpoint.is_set and settings.answers.checks_claims
        self.setText(_CHECKED if is_checked else _UNCHECKED)

    def below(self, field: QWidget) -> QHBoxLayout:
        """A row with the field in its middle and the caution under it."""
        whole = QWidget()
        column = QVBoxLayout(whole)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(field)
        column.addWidget(self)
        row = centred(whole, _WIDTH_PX)
        row.setContentsMargins(16, 4, 16, 8)
        return row
