"""The log of requests to the local server. Qt thread."""

from collections.abc import Sequence
from datetime import datetime

from PySide6.QtCore import QSize, Qt, QTimer, Slot
from PySide6.QtWidgets import QComboBox, QDialog, QLineEdit, QPlainTextEdit, QWidget

from desktop_rag.core.language.translation import decimal_in_words, number_in_words, tr
from desktop_rag.features.server.services import ServerRecords, TokenFacts
from desktop_rag.features.server.values.access_values import (
    RequestKind,
    RequestRecord,
    RequestSearch,
)
from desktop_rag.ui.foundation.bridge import Bridge, Job
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.widgets.controls import TextButton, add_clear_button
from desktop_rag.ui.widgets.form_fields import DropDown
from desktop_rag.ui.widgets.forms import ask_first
from desktop_rag.ui.widgets.item_list import Column, ColumnTable, RowsModel
from desktop_rag.ui.widgets.layouts import Stretch, horizontal, vertical

RESULTS = {
    RequestKind.ANSWER: tr("Answered"),
    RequestKind.REFUSED: tr("Refused"),
    RequestKind.ERROR: tr("Error"),
    RequestKind.OTHER: tr("Done"),
}


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


_SIZE = QSize(840, 540)
_MOST = 1_000
_TYPING_MS = 200
_DETAIL_LINES = 7
_ROLES = {RequestKind.REFUSED: "warning", RequestKind.ERROR: "danger"}
_USUAL_NAME = tr("A usual name")
_COLUMNS = (
    Column[RequestRecord](
        tr("Time"),
        lambda record: f"{datetime.fromtimestamp(record.at):%d %b %H:%M:%S}",
        ["30 Nov 23:59:59"],
    ),
    Column[RequestRecord](
        tr("Token"), lambda record: one_line(record.token) or tr("none"), [_USUAL_NAME]
    ),
    Column[RequestRecord](
        tr("Request"),
        lambda record: one_line(
            record.question or record.model or f"{record.method} {record.path}"
        ),
        share=1,
        least=_USUAL_NAME,
    ),
    Column[RequestRecord](
        tr("Result"),
        lambda record: RESULTS[record.kind],
        [tr("Answered")],
        colour_of=lambda record: _ROLES.get(record.kind, "muted"),
    ),
    Column[RequestRecord](
        tr("Seconds"), lambda record: decimal_in_words(record.ms / 1000, 2), [tr("Seconds")]
    ),
)
_DELETE = tr("Delete the log of all requests?\n\nUsage is counted anew. This can't be undone.")


class RequestsDialog(QDialog):
    """Shows the newest requests that fit the filters; reads them again with each change."""

    def __init__(
        self,
        bridge: Bridge,
        records: ServerRecords,
        theme: Theme,
        tokens: Sequence[TokenFacts],
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Requests to the local server"))
        self.resize(_SIZE)
        self._bridge = bridge
        self._records = records
        self._job: Job | None = None
        self._kind, self._token, self._words = self._filters(tokens)
        self._model = RowsModel(_COLUMNS, self)
        self._table = ColumnTable(theme, self._model, tr("Requests"), self)
        self._details = QPlainTextEdit(self, readOnly=True)
        self._details.setAccessibleName(tr("Details of the request"))
        self._details.setFixedHeight(_DETAIL_LINES * self.fontMetrics().lineSpacing())
        self._delete = TextButton(tr("Delete all…"), kind="quiet", then=self._on_delete_clicked)
        self._close = TextButton(tr("Close"), kind="primary", then=self.accept)
        self._build()
        self._connect()
        self._refresh()

    def _filters(self, tokens: Sequence[TokenFacts]) -> tuple[QComboBox, QComboBox, QLineEdit]:
        kind, token, words = DropDown(self), DropDown(self), QLineEdit(self)
        kind.setAccessibleName(tr("Result"))
        kind.addItem(tr("All requests"), "")
        for each in (RequestKind.ANSWER, RequestKind.ERROR, RequestKind.REFUSED):
            kind.addItem(RESULTS[each], each)
        token.setAccessibleName(tr("Token"))
        token.addItem(tr("All tokens"), "")
        token.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        token.setMinimumContentsLength(12)
        for known in (facts.token for facts in tokens):
            token.addItem(one_line(known.name), known.token_id)
        words.setPlaceholderText(tr("Filter by model, path or words"))
        words.setAccessibleName(tr("Filter requests"))
        add_clear_button(words)
        return kind, token, words

    def _build(self) -> None:
        vertical(
            horizontal(self._kind, self._token, (self._words, 1), spacing=8),
            (self._table, 1),
            self._details,
            horizontal(self._delete, Stretch(), self._close),
            on=self,
            margins=(16, 16, 16, 14),
            spacing=8,
        )

    def _connect(self) -> None:
        self._typing = QTimer(self, singleShot=True, interval=_TYPING_MS)
        self._typing.timeout.connect(self._refresh)
        self._words.textChanged.connect(self._typing.start)
        self._kind.currentIndexChanged.connect(self._refresh)
        self._token.currentIndexChanged.connect(self._refresh)
        self._table.chosen.connect(self._on_chosen)

    @Slot()
    def _refresh(self) -> None:
        if self._job:
            self._job.cancel()
        wanted = RequestSearch(
            self._kind.currentData(), self._token.currentData(), self._words.text()
        )
        self._job = self._bridge.run(
            self, lambda: self._records.requests(wanted, _MOST), self._on_found
        )

    def _on_found(self, records: Sequence[RequestRecord]) -> None:
        self._job = None
        self._model.show(records)
        self._details.setPlainText("")
        self._table.set_empty_text(tr("No request matches."))
        self._delete.setEnabled(bool(records))

    @Slot(object)
    def _on_chosen(self, record: RequestRecord | None) -> None:
        self._details.setPlainText(facts_of(record) if record else "")

    @Slot()
    def _on_delete_clicked(self) -> None:
        ask_first(self, tr("Delete the log"), _DELETE, tr("Delete"), self._forget)

    def _forget(self) -> None:
        self._bridge.run(self, self._records.log.delete_all, lambda _nothing: self._refresh())
