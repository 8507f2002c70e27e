"""The limits of a new token, and how it is answered. Qt thread."""

from collections.abc import Mapping

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.ui.programs.ticked_list import TickedList
from desktop_rag.ui.widgets.controls import PlainLabel
from desktop_rag.ui.widgets.form_fields import note, number_field

_ORIGIN_LINES = 2
_USUAL_RATE = 120
_LISTS = tr("For programs that show no sources: otherwise they are beside the text only.")
_MOST_RATE, _MOST_DAYS = 100_000, 3_650


class TokenLimits(QWidget):
    """Fields that limit nothing but the rate as they are."""

    def __init__(self, collections: Mapping[str, str], parent: QWidget | None = None) -> None:
        """`collections` has their names by id."""
        super().__init__(parent)
        self._collections = TickedList(tr("Only in these collections"), collections)
        self._origins = QPlainTextEdit(self)
        self._origins.setAccessibleName(tr("Web origins"))
        self._origins.setPlaceholderText("https://wiki.example")
        self._origins.setTabChangesFocus(True)
        self._rate = number_field(0, _MOST_RATE, 10, "")
        self._rate.setSpecialValueText(tr("No limit"))
        self._rate.setValue(_USUAL_RATE)
        self._rate.setAccessibleName(tr("Requests in a minute"))
        self._days = number_field(0, _MOST_DAYS, 30, "")
        self._days.setSpecialValueText(tr("Never"))
        self._days.setAccessibleName(tr("Ends after days"))
        self._lists_sources = QCheckBox(tr("End answers with a list of their sources"))
        self._build()

    def _build(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        only = tr("Only in these collections (none ticked: all of them):")
        column.addWidget(PlainLabel(only, tone="muted", wrap=True))
        column.addWidget(self._collections)
        pages = tr("Web pages that may use it, by origin, one a line:")
        column.addWidget(PlainLabel(pages, tone="muted", wrap=True))
        column.addWidget(self._origins)
        numbers = ((tr("Requests in a minute"), self._rate), (tr("Ends after days"), self._days))
        for name, field in numbers:
            line = QHBoxLayout()
            line.addWidget(PlainLabel(name), 1)
            line.addWidget(field)
            column.addLayout(line)
        column.addWidget(self._lists_sources, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(note(_LISTS))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        # The size of the text is known once it is shown.
        line_px = self._origins.fontMetrics().lineSpacing()
        self._origins.setFixedHeight((_ORIGIN_LINES + 1) * line_px)

    @property
    def collection_ids(self) -> tuple[str, ...]:
        """The ticked collections."""
        return self._collections.ticked

    @property
    def origins(self) -> tuple[str, ...]:
        """The lines that are not empty."""
        lines = self._origins.toPlainText().splitlines()
        return tuple(line.strip() for line in lines if line.strip())

    @property
    def requests_per_minute(self) -> int:
        """0 for no limit."""
        return self._rate.value()

    @property
    def lists_sources(self) -> bool:
        """True for a program that shows no sources of its own."""
        return self._lists_sources.isChecked()

    @property
    def days(self) -> int:
        """0 for never."""
        return self._days.value()
