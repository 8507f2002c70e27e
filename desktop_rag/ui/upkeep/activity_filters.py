"""The filters of the activity page: kind, text and time. Qt thread."""

import time
from datetime import datetime

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtWidgets import QButtonGroup, QComboBox, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from desktop_rag.activity.activity_event import EventKind
from desktop_rag.activity.event_search import EventFilter
from desktop_rag.activity.event_wording import KIND_NAMES
from desktop_rag.core.language.translation import tr
from desktop_rag.ui.widgets.controls import TextButton, add_clear_button
from desktop_rag.ui.widgets.flow_row import FlowRow

_TYPING_MS = 150
_DAYS_S = 7 * 86_400.0
_TODAY, _WEEK, _ALL = tr("Today"), tr("Last 7 days"), tr("All")


class ActivityFilters(QWidget):
    """`changed` says that `wanted` is another."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._typing = QTimer(self)
        self._typing.setSingleShot(True)
        self._typing.setInterval(_TYPING_MS)
        self._kinds: dict[int, frozenset[EventKind]] = {}
        self._chips = QButtonGroup(self)
        self._text = QLineEdit(self)
        self._text.setPlaceholderText(tr("Filter by chat, model, host or message"))
        self._text.setAccessibleName(tr("Filter events"))
        add_clear_button(self._text)
        self._range = QComboBox(self)
        self._range.setAccessibleName(tr("Time range"))
        self._range.addItems([_ALL, _WEEK, _TODAY])
        fields = QHBoxLayout()
        fields.setSpacing(8)
        fields.addWidget(self._text, 1)
        fields.addWidget(self._range)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addLayout(self._build_chips())
        column.addLayout(fields)
        self._chips.idClicked.connect(self.changed)
        self._text.textChanged.connect(self._typing.start)
        self._typing.timeout.connect(self.changed)
        self._range.currentIndexChanged.connect(self._on_range_changed)

    @property
    def wanted(self) -> EventFilter:
        """The filter as chosen; days begin at midnight."""
        since = 0.0
        if self._range.currentText() == _WEEK:
            since = time.time() - _DAYS_S
        elif self._range.currentText() == _TODAY:
            since = datetime.combine(datetime.now(), datetime.min.time()).timestamp()
        return EventFilter(self._kinds[self._chips.checkedId()], self._text.text(), since)

    @property
    def is_open(self) -> bool:
        """True when nothing is filtered."""
        return self.wanted == EventFilter()

    def _build_chips(self) -> FlowRow:
        choices = [(tr("All"), frozenset[EventKind]())]
        choices += [(name, frozenset({kind})) for kind, name in KIND_NAMES.items()]
        row = FlowRow()
        for number, (name, kinds) in enumerate(choices):
            chip = TextButton(name, self, kind="chip")
            chip.setCheckable(True)
            chip.setChecked(number == 0)
            self._chips.addButton(chip, number)
            self._kinds[number] = kinds
            row.addWidget(chip)
        return row

    @Slot()
    def _on_range_changed(self) -> None:
        self.changed.emit()
