"""How passages are found for an answer, as settings. Qt thread."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QSlider, QWidget

from desktop_rag.core.settings import LaterSources, RetrievalSettings
from desktop_rag.ui.settings.settings_fields import (
    SettingsSection,
    WheelGuard,
    choice,
    chosen,
    note,
    show_number,
    whole_number,
)
from desktop_rag.ui.widgets.controls import PlainLabel

_HUNDRED = 100
_LATER_SOURCES = {
    LaterSources.FRESH.value: "search anew",
    LaterSources.SAME.value: "keep the sources",
    LaterSources.BOTH.value: "both",
}
_LATER_NOTE = (
    "Where the sources come from when a question goes on from the one before. What it leaves out"
    " is filled in first: by your model, if there is one."
)


class RetrievalForm(SettingsSection):
    """`changed` carries the RetrievalSettings as they are now."""

    changed = Signal(object)

    def __init__(self, guard: WheelGuard, parent: QWidget | None = None) -> None:
        """`guard` keeps the wheel from changing fields that scroll by."""
        super().__init__("Finding passages", parent=parent)
        self._passages = whole_number(1, 50, 1, " passages")
        self._source_tokens = whole_number(200, 100_000, 200, " tokens")
        self._balance = QSlider(Qt.Orientation.Horizontal)
        self._balance.setRange(0, _HUNDRED)
        self._balance.setSingleStep(5)
        self._balance.setPageStep(10)
        self._balance.setTracking(False)
        self._balance.setMinimumSize(160, 26)
        self._balance.setAccessibleName("Balance of words and meaning")
        self._balance_note = note()
        self._later = choice(self, "Sources of later questions", _LATER_SOURCES)
        for field in (self._passages, self._source_tokens, self._balance):
            guard.guard(field)
            field.valueChanged.connect(self._on_edited)
        for button in self._later.values():
            # The one that is left toggles too: one change is enough.
            button.clicked.connect(self._on_edited)
        self._balance.sliderMoved.connect(self._show_balance)
        self._build()

    def _build(self) -> None:
        self.add_row("For each answer", self._passages)
        self.add_row("Together up to", self._source_tokens)
        self.add_note(
            note("More need a model with room for them. A page of text has about 600 tokens.")
        )
        words, meaning = PlainLabel("words", tone="muted"), PlainLabel("meaning", tone="muted")
        self.add_row("What counts", words, self._balance, meaning)
        self.add_note(self._balance_note)
        self.add_row("Later questions", *self._later.values(), spacing_px=20)
        self.add_note(note(_LATER_NOTE))

    @property
    def retrieval(self) -> RetrievalSettings:
        """What is chosen now."""
        return RetrievalSettings(
            passages=self._passages.value(),
            source_tokens=self._source_tokens.value(),
            lexical_weight=(_HUNDRED - self._balance.value()) / _HUNDRED,
            later_sources=LaterSources(chosen(self._later)),
        )

    def show_retrieval(self, retrieval: RetrievalSettings) -> None:
        """Show settings; nothing is told."""
        show_number(self._passages, retrieval.passages)
        show_number(self._source_tokens, retrieval.source_tokens)
        self._balance.blockSignals(True)
        self._balance.setValue(_HUNDRED - round(retrieval.lexical_weight * _HUNDRED))
        self._balance.blockSignals(False)
        self._show_balance(self._balance.value())
        self._later[retrieval.later_sources].setChecked(True)

    @Slot()
    def _on_edited(self) -> None:
        self._show_balance(self._balance.value())
        self.changed.emit(self.retrieval)

    @Slot(int)
    def _show_balance(self, meaning: int) -> None:
        self._balance_note.setText(f"{_HUNDRED - meaning} % words, {meaning} % meaning")
