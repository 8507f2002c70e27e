"""Requests to the local server as a table. Qt thread."""

from collections.abc import Sequence
from datetime import datetime
from enum import IntEnum
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from desktop_rag.core.language.translation import decimal_in_words, number_in_words, tr
from desktop_rag.core.programs.request_record import RequestKind, RequestRecord
from desktop_rag.ui.foundation.wording import one_line

Index = QModelIndex | QPersistentModelIndex
NO_INDEX = QModelIndex()
KIND_ROLE = Qt.ItemDataRole.UserRole


class RequestColumn(IntEnum):
    """The columns in order."""

    TIME = 0
    TOKEN = 1
    REQUEST = 2
    RESULT = 3
    SECONDS = 4


_HEADERS = {
    RequestColumn.TIME: tr("Time"),
    RequestColumn.TOKEN: tr("Token"),
    RequestColumn.REQUEST: tr("Request"),
    RequestColumn.RESULT: tr("Result"),
    RequestColumn.SECONDS: tr("Seconds"),
}
RESULTS = {
    RequestKind.ANSWER: tr("Answered"),
    RequestKind.REFUSED: tr("Refused"),
    RequestKind.ERROR: tr("Error"),
    RequestKind.OTHER: tr("Done"),
}


class RequestModel(QAbstractTableModel):
    """One row per request, the newest first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._records: Sequence[RequestRecord] = ()

    def show(self, records: Sequence[RequestRecord]) -> None:
        """Replace all rows."""
        self.beginResetModel()
        self._records = records
        self.endResetModel()

    def record_at(self, row: int) -> RequestRecord:
        """The request of a row."""
        return self._records[row]

    def rowCount(self, parent: Index = NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self._records)

    def columnCount(self, parent: Index = NO_INDEX) -> int:
        return 0 if parent.isValid() else len(RequestColumn)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return _HEADERS[RequestColumn(section)]
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        record = self._records[index.row()]
        if role == KIND_ROLE:
            return record.kind
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        return _text(record, RequestColumn(index.column()))


def _text(record: RequestRecord, column: RequestColumn) -> str:
    match column:
        case RequestColumn.TIME:
            return f"{datetime.fromtimestamp(record.at):%d %b %H:%M:%S}"
        case RequestColumn.TOKEN:
            return one_line(record.token) or tr("none")
        case RequestColumn.REQUEST:
            return one_line(record.question or record.model or f"{record.method} {record.path}")
        case RequestColumn.RESULT:
            return RESULTS[record.kind]
        case RequestColumn.SECONDS:
            return decimal_in_words(record.ms / 1000, 2)


def facts_of(record: RequestRecord) -> str:
    """Everything about one request, in lines."""
    who = " · ".join(part for part in (record.token or tr("no valid token"), record.user) if part)
    lines = [
        f"{datetime.fromtimestamp(record.at):%Y-%m-%d %H:%M:%S} · {who}",
        " ".join((record.method, record.path, str(record.status or ""))),
        record.model,
        record.refusal,
    ]
    if record.asked_chars:
        lines.append(
            tr(
                "{asked} characters asked, {answered} answered",
                asked=number_in_words(record.asked_chars),
                answered=number_in_words(record.answer_chars),
            )
        )
    if record.question:
        lines.append(tr("Question: {text}", text=record.question))
    if record.answer:
        lines.append(tr("Answer: {text}", text=record.answer))
    return "\n".join(line for line in lines if line)
