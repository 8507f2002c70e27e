"""The table of events, and the details of the chosen one. Qt thread."""

from datetime import datetime

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSize, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QHBoxLayout,
    QVBoxLayout,
    QWidget,
)

from desktop_rag.activity.activity_event import ActivityEvent, EventKind, Outcome
from desktop_rag.activity.event_wording import (
    counts_in_words,
    kind_of,
    outcome_in_words,
    settings_in_words,
    title_of,
    tokens_in_words,
)
from desktop_rag.core.language.translation import decimal_in_words, told, tr
from desktop_rag.ui.foundation.days import written_day
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.upkeep.activity_model import EVENT_ROLE, ActivityColumn, ActivityModel
from desktop_rag.ui.widgets.controls import Card, ElidedLabel, PlainLabel, TextButton
from desktop_rag.ui.widgets.row_table import RoleDelegate, RowTable

_PADDING_PX = 26
_SAMPLE_TEXTS = {ActivityColumn.TIME: "30 Nov 23:59", ActivityColumn.KIND: tr("Endpoint call")}
_EVENT_SHARE = 0.52
_LEAST_HEIGHT_PX = 180
_DETAILS_HEIGHT_PX = 116
_NOTHING_CHOSEN = tr("Choose an event to see its details.")


def _role_of(index: QModelIndex | QPersistentModelIndex) -> str:
    """Errors and refusals stand out."""
    event: ActivityEvent = index.data(EVENT_ROLE)
    if event.outcome is Outcome.FAILED:
        return "danger"
    return "warning" if event.kind is EventKind.REFUSED else "muted"


class ActivityTable(RowTable):
    """One row per event, the newest first. `chosen` carries the current event, or None."""

    chosen = Signal(object)

    def __init__(self, theme: Theme, model: ActivityModel, parent: QWidget | None = None) -> None:
        super().__init__(theme, model, parent)
        self._events = model
        self.setAccessibleName(tr("Events"))
        self.setItemDelegateForColumn(ActivityColumn.KIND, RoleDelegate(theme, _role_of, self))
        self.selectionModel().currentRowChanged.connect(self._on_current_changed)

    @property
    def chosen_event(self) -> ActivityEvent | None:
        """The event of the current row."""
        index = self.currentIndex()
        return self._events.event_at(index.row()) if index.isValid() else None

    def choose(self, event: ActivityEvent | None) -> None:
        """Make this event's row the current one, without scrolling to it."""
        row = None if event is None else self._events.row_of(event)
        if row is None:
            self.chosen.emit(None)
            return
        place = self.verticalScrollBar().value()
        self.selectRow(row)
        self.verticalScrollBar().setValue(place)

    def minimumSizeHint(self) -> QSize:
        return QSize(super().minimumSizeHint().width(), _LEAST_HEIGHT_PX)

    def _fit_columns(self) -> None:
        room = self.viewport().width()
        for column, sample in _SAMPLE_TEXTS.items():
            width = self.fontMetrics().horizontalAdvance(sample) + _PADDING_PX
            self.setColumnWidth(column, width)
            room -= width
        event_px = max(0, int(room * _EVENT_SHARE))
        self.setColumnWidth(ActivityColumn.EVENT, event_px)
        self.setColumnWidth(ActivityColumn.DETAILS, max(0, room - event_px))

    @Slot(QModelIndex, QModelIndex)
    def _on_current_changed(self, current: QModelIndex, _before: QModelIndex) -> None:
        self.chosen.emit(self._events.event_at(current.row()) if current.isValid() else None)


class ActivityDetails(Card):
    """Everything about one event. `chat_requested` carries the id of its chat."""

    chat_requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._chat_id = ""
        self._title = ElidedLabel(scale="heading")
        self._facts = PlainLabel(tone="muted", wrap=True, selectable=True)
        self._facts.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._open_chat = TextButton(tr("Open chat"))
        self._open_chat.clicked.connect(self._on_open_chat_clicked)
        top = QHBoxLayout()
        top.addWidget(self._title, 1)
        top.addWidget(self._open_chat)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(6)
        column.addLayout(top)
        column.addWidget(self._facts, 1)
        # Of one height, so that choosing an event does not move the table.
        self.setMinimumHeight(_DETAILS_HEIGHT_PX)
        policy = self._open_chat.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self._open_chat.setSizePolicy(policy)
        self.show_event(None)

    def show_event(self, event: ActivityEvent | None, chat_title: str = "") -> None:
        """Show an event; its chat can be opened if it has a title."""
        self._chat_id = event.chat_id if event and chat_title else ""
        self._open_chat.setVisible(bool(self._chat_id))
        self._title.set_full_text(one_line(title_of(event, chat_title)) if event else "")
        self._facts.setText("\n".join(_facts_of(event)) if event else _NOTHING_CHOSEN)

    @Slot()
    def _on_open_chat_clicked(self) -> None:
        self.chat_requested.emit(self._chat_id)


def _facts_of(event: ActivityEvent) -> list[str]:
    """Lines such as `Model: llama`."""
    moment = datetime.fromtimestamp(event.at).astimezone()
    at_time = f"{written_day(moment.date())}, {moment:%H:%M:%S}"
    outcome = outcome_in_words(event)
    ending = f" · {outcome}" if outcome else ""
    detail = settings_in_words(event) if event.kind is EventKind.SETTINGS else told(event.detail)
    at = tr(" at {host}", host=event.host) if event.host else ""
    facts = {
        tr("Time"): at_time,
        tr("Kind"): kind_of(event) + (ending if event.kind is not EventKind.NOTICE else ""),
        tr("Model"): f"{event.model}{at}" if event.model else "",
        tr("Host"): "" if event.model else event.host,
        tr("Tokens"): tokens_in_words(event),
        tr("Duration"): f"{decimal_in_words(event.seconds, 2)} s" if event.seconds else "",
        tr("Numbers"): counts_in_words(event),
        tr("Details"): "" if event.kind is EventKind.INDEX else detail,
    }
    return [f"{name}: {one_line(fact)}" for name, fact in facts.items() if fact]
