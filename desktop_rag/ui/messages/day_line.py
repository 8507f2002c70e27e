"""The day above the first message of each day. Qt thread."""

from collections.abc import Callable
from datetime import date

from PySide6.QtCore import Qt

from desktop_rag.ui.foundation.days import day_in_words, day_of
from desktop_rag.ui.widgets.controls import PlainLabel


def day_line(row: int, moment_of: Callable[[int], float], today: date) -> PlainLabel | None:
    """The line above a message, unless it is of the same day as the one before, or of today."""
    if not moment_of(row):
        return None
    day = day_of(moment_of(row))
    before = day_of(moment_of(row - 1)) if row else today
    if day == before:
        return None
    line = PlainLabel(day_in_words(day, today), tone="muted", scale="small")
    line.setObjectName("dayLine")
    line.setAlignment(Qt.AlignmentFlag.AlignCenter)
    line.setContentsMargins(0, 12, 0, 4)
    return line
