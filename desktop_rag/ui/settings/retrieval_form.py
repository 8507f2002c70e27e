"""Settings for finding the passages of an answer. Qt thread."""

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QSlider, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.core.settings import LaterSources, RetrievalSettings, Room
from desktop_rag.ui.settings.edited_settings import LATER_SOURCES, ROOMS
from desktop_rag.ui.widgets.controls import PlainLabel
from desktop_rag.ui.widgets.form_fields import (
    SettingsSection,
    note,
    radio_group,
    selected_value,
    turn_if_focused,
)
from desktop_rag.ui.widgets.layouts import horizontal

_HUNDRED = 100
_ROOM_NOTE = tr(
    "How much of your documents is sent with a question. Fast: about four pages. Balanced: up to a"
    " quarter of what the model can read, less for a slow one. Thorough: up to half of it; answers"
    " take longer and cost more."
)
_LATER_NOTE = tr(
    "Where the sources of a follow-up question come from. If you use a model, it first rewrites the"
    " question so that it makes sense on its own."
)


class _Balance(QSlider):
    def wheelEvent(self, event: QWheelEvent) -> None:
        turn_if_focused(self, event, super().wheelEvent)


class RetrievalForm(SettingsSection):
    """Edits RetrievalSettings; `changed` carries the new value."""

    changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(tr("Search"), parent=parent)
        self._room = radio_group(self, tr("What a model reads"), ROOMS)
        self._balance = _Balance(Qt.Orientation.Horizontal)
        self._balance.setRange(0, _HUNDRED)
        self._balance.setSingleStep(5)
        self._balance.setPageStep(10)
        self._balance.setTracking(False)
        self._balance.setMinimumSize(160, 26)
        self._balance.setAccessibleName(tr("Balance between words and meaning"))
        self._balance_note = note()
        self._later = radio_group(self, tr("Follow-up questions"), LATER_SOURCES)
        self._balance.valueChanged.connect(self._on_edited)
        for button in (*self._room.values(), *self._later.values()):
            # Not `toggled`, which fires for the deselected button too.
            button.clicked.connect(self._on_edited)
        self._balance.sliderMoved.connect(self._show_balance)
        self._build()

    def _build(self) -> None:
        self.add_row(
            tr("What a model reads"),
            *self._room.values(),
            spacing_px=20,
            words=tr("how many passages, context, number of sources, cost, speed, top k, tokens"),
        )
        self.add_note(note(_ROOM_NOTE))
        # Both ends of the slider stay beside it.
        ends = QWidget()
        horizontal(
            PlainLabel(tr("Words"), tone="muted"),
            self._balance,
            PlainLabel(tr("Meaning"), tone="muted"),
            on=ends,
            margins=0,
        )
        self.add_row(
            tr("Search by"),
            ends,
            words=tr("keywords, exact words, semantic, vector, hybrid, weight, ranking"),
        )
        self.add_note(self._balance_note)
        self.add_row(
            tr("Follow-up questions"),
            *self._later.values(),
            spacing_px=20,
            words=tr("next question, conversation, same sources, search again"),
        )
        self.add_note(note(_LATER_NOTE))

    @property
    def retrieval(self) -> RetrievalSettings:
        """The settings as chosen."""
        return RetrievalSettings(
            room=Room(selected_value(self._room)),
            lexical_weight=(_HUNDRED - self._balance.value()) / _HUNDRED,
            later_sources=LaterSources(selected_value(self._later)),
        )

    def show_retrieval(self, retrieval: RetrievalSettings) -> None:
        """Show these settings without emitting `changed`."""
        self._room[retrieval.room].setChecked(True)
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
