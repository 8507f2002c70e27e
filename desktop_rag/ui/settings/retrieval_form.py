"""Settings for finding the passages of an answer. Qt thread."""

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QSlider, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.core.settings import LaterSources, RetrievalSettings
from desktop_rag.ui.settings.edited_settings import LATER_SOURCES
from desktop_rag.ui.widgets.controls import PlainLabel
from desktop_rag.ui.widgets.form_fields import (
    SettingsSection,
    WheelGuard,
    note,
    number_field,
    radio_group,
    selected_value,
    show_number,
)

_HUNDRED = 100
_LENGTH_NOTE = tr("More passages need a model with a larger context. A page has about 600 tokens.")
_LATER_NOTE = tr(
    "Where the sources of a follow-up question come from. If you use a model, it first rewrites the"
    " question so that it makes sense on its own."
)


class RetrievalForm(SettingsSection):
    """Edits RetrievalSettings; `changed` carries the new value."""

    changed = Signal(object)

    def __init__(self, guard: WheelGuard, parent: QWidget | None = None) -> None:
        """`guard` keeps the mouse wheel from changing unfocused fields."""
        super().__init__(tr("Search"), parent=parent)
        self._passages = number_field(1, 50, 1, tr(" passages"))
        self._source_tokens = number_field(200, 100_000, 200, tr(" tokens"))
        self._balance = QSlider(Qt.Orientation.Horizontal)
        self._balance.setRange(0, _HUNDRED)
        self._balance.setSingleStep(5)
        self._balance.setPageStep(10)
        self._balance.setTracking(False)
        self._balance.setMinimumSize(160, 26)
        self._balance.setAccessibleName(tr("Balance between words and meaning"))
        self._balance_note = note()
        self._later = radio_group(self, tr("Follow-up questions"), LATER_SOURCES)
        for field in (self._passages, self._source_tokens, self._balance):
            guard.guard(field)
            field.valueChanged.connect(self._on_edited)
        for button in self._later.values():
            # Not `toggled`, which fires for the deselected button too.
            button.clicked.connect(self._on_edited)
        self._balance.sliderMoved.connect(self._show_balance)
        self._build()

    def _build(self) -> None:
        self.add_row(tr("Passages per answer"), self._passages)
        self.add_row(tr("Total length"), self._source_tokens)
        self.add_note(note(_LENGTH_NOTE))
        # Both ends of the slider stay beside it.
        ends = QWidget()
        line = QHBoxLayout(ends)
        line.setContentsMargins(0, 0, 0, 0)
        line.addWidget(PlainLabel(tr("Words"), tone="muted"))
        line.addWidget(self._balance)
        line.addWidget(PlainLabel(tr("Meaning"), tone="muted"))
        self.add_row(tr("Search by"), ends)
        self.add_note(self._balance_note)
        self.add_row(tr("Follow-up questions"), *self._later.values(), spacing_px=20)
        self.add_note(note(_LATER_NOTE))

    @property
    def retrieval(self) -> RetrievalSettings:
        """The settings as chosen."""
        return RetrievalSettings(
            passages=self._passages.value(),
            source_tokens=self._source_tokens.value(),
            lexical_weight=(_HUNDRED - self._balance.value()) / _HUNDRED,
            later_sources=LaterSources(selected_value(self._later)),
        )

    def show_retrieval(self, retrieval: RetrievalSettings) -> None:
        """Show these settings without emitting `changed`."""
        show_number(self._passages, retrieval.passages)
        show_number(self._source_tokens, retrieval.source_tokens)
        with QSignalBlocker(self._balance):
            self._balance.setValue(_HUNDRED - round(retrieval.lexical_weight * _HUNDRED))
        self._show_balance(self._balance.value())
        self._later[retrieval.later_sources].setChecked(True)

    @Slot()
    def _on_edited(self) -> None:
        self._show_balance(self._balance.value())
        self.changed.emit(self.retrieval)

    @Slot(int)
    def _show_balance(self, meaning: int) -> None:
        self._balance_note.setText(
            tr("{value}% words, {meaning}% meaning", value=_HUNDRED - meaning, meaning=meaning)
        )
