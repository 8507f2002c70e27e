"""The events of the activity page as a table, loaded as one scrolls. Qt thread."""

import time
from collections.abc import Mapping
from datetime import datetime
from enum import IntEnum
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QDate,
    QLocale,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
)

from desktop_rag.activity.activity_event import ActivityEvent
from desktop_rag.activity.event_search import FoundEvents
from desktop_rag.activity.event_wording import detail_of, kind_of, title_of
from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.widgets.controls import plain_tooltip

Index = QModelIndex | QPersistentModelIndex
NO_INDEX = QModelIndex()
EVENT_ROLE = Qt.ItemDataRole.UserRole
_BATCH = 200


class ActivityColumn(IntEnum):
    """The columns in order."""

    TIME = 0
    KIND = 1
    EVENT = 2
    DETAILS = 3


_HEADERS = {
    ActivityColumn.TIME: tr("Time"),
    ActivityColumn.KIND: tr("Kind"),
    ActivityColumn.EVENT: tr("Event"),
    ActivityColumn.DETAILS: tr("Details"),
}


class ActivityModel(QAbstractTableModel):
    """Shows found events; new ones are put on top without touching the others."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._events: list[ActivityEvent] = []
        self._chat_titles: Mapping[str, str] = {}
        self._loaded = 0

    @property
    def chat_titles(self) -> Mapping[str, str]:
        """The titles of the chats that exist, by id."""
        return self._chat_titles

    def show(self, found: FoundEvents) -> None:
        """Replace all events."""
        self.beginResetModel()
        self._events, self._chat_titles = list(found.events), found.chat_titles
        self._loaded = min(_BATCH, len(self._events))
        self.endResetModel()

    def prepend(self, event: ActivityEvent) -> None:
        """Put a new event on top."""
        self.beginInsertRows(NO_INDEX, 0, 0)
        self._events.insert(0, event)
        self._loaded += 1
        self.endInsertRows()

    def event_at(self, row: int) -> ActivityEvent:
        """The event in this row."""
        return self._events[row]

    def row_of(self, event: ActivityEvent) -> int | None:
        """The row of an event, loaded with all above it; None when it is not among them."""
        for row, other in enumerate(self._events):
            if other.at == event.at and other == event:
                self._load(row + 1)
                return row
        return None

    def chat_title(self, event: ActivityEvent) -> str:
        """The title of the event's chat, "" when that is gone."""
        return one_line(self._chat_titles.get(event.chat_id, ""))

    def rowCount(self, parent: Index = NO_INDEX) -> int:
        return 0 if parent.isValid() else self._loaded

    def columnCount(self, parent: Index = NO_INDEX) -> int:
        return 0 if parent.isValid() else len(ActivityColumn)

    def canFetchMore(self, parent: Index) -> bool:
        return not parent.isValid() and self._loaded < len(self._events)

    def fetchMore(self, parent: Index) -> None:
        if not parent.isValid():
            self._load(self._loaded + _BATCH)

    def headerData(
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> Any:
        is_header = orientation == Qt.Orientation.Horizontal
        if is_header and role == Qt.ItemDataRole.DisplayRole:
            return _HEADERS[ActivityColumn(section)]
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        event, column = self._events[index.row()], ActivityColumn(index.column())
        if role == EVENT_ROLE:
            return event
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(event, column)
        if role == Qt.ItemDataRole.ToolTipRole and column > ActivityColumn.KIND:
            return plain_tooltip(self._text(event, column))
        return None

    def _text(self, event: ActivityEvent, column: ActivityColumn) -> str:
        match column:
            case ActivityColumn.TIME:
                return time_of_day(event.at)
            case ActivityColumn.KIND:
                return kind_of(event)
            case ActivityColumn.EVENT:
                return one_line(title_of(event, self.chat_title(event)))
            case ActivityColumn.DETAILS:
                return one_line(detail_of(event))

    def _load(self, count: int) -> None:
        end = min(count, len(self._events))
        if end > self._loaded:
            self.beginInsertRows(NO_INDEX, self._loaded, end - 1)
            self._loaded = end
            self.endInsertRows()


def time_of_day(moment: float, now: float | None = None) -> str:
    """`14:05:12` today, else `3 Nov 14:05`, with the year when it is another."""
    then = datetime.fromtimestamp(moment).astimezone()
    today = datetime.fromtimestamp(time.time() if now is None else now).astimezone()
    if then.date() == today.date():
        return f"{then:%H:%M:%S}"
    form = tr("d MMM") if then.year == today.year else tr("d MMM yyyy")
    day = QLocale().toString(QDate(then.year, then.month, then.day), form)
    return f"{day} {then:%H:%M}"
