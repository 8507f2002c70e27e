"""The question field at the foot of a chat, with a lasting caution below it. Qt thread."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.ui.widgets.controls import PlainLabel, centred

_WIDTH_PX = 780
_CAUTION = tr(
    "Answers can be wrong. Press a number to read the source, or a mark to see the check."
)


def with_caution(field: QWidget) -> QHBoxLayout:
    """A row with the field in its middle and the caution under it."""
    caution = PlainLabel(_CAUTION, tone="muted", scale="small", wrap=True)
    caution.setAlignment(Qt.AlignmentFlag.AlignHCenter)
    whole = QWidget()
    column = QVBoxLayout(whole)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(4)
    column.addWidget(field)
    column.addWidget(caution)
    row = centred(whole, _WIDTH_PX)
    row.setContentsMargins(16, 4, 16, 8)
    return row
