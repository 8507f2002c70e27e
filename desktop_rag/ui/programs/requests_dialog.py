"""The log of requests to the local server, with filters and details. Qt thread."""

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSize, Qt, QTimer, Slot
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QHBoxLayout,
    QLineEdit,
    QMessageBox,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from desktop_rag.core.language.translation import tr
from desktop_rag.core.programs.request_record import RequestKind, RequestRecord, RequestSearch
from desktop_rag.core.programs.token_facts import TokenFacts
from desktop_rag.ui.foundation.bridge import Bridge, Job
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.programs.program_access import ProgramRecords
from desktop_rag.ui.programs.request_model import (
    KIND_ROLE,
    RESULTS,
    RequestColumn,
    RequestModel,
    facts_of,
)
from desktop_rag.ui.widgets.controls import TextButton, add_clear_button
from desktop_rag.ui.widgets.row_table import RoleDelegate, RowTable

_SIZE = QSize(840, 540)
_MOST = 1_000
_TYPING_MS = 200
_PADDING_PX = 26
_DETAIL_LINES = 7
_ROLES = {RequestKind.REFUSED: "warning", RequestKind.ERROR: "danger"}
_SAMPLES = {
    RequestColumn.TIME: "30 Nov 23:59:59",
    RequestColumn.TOKEN: tr("A usual name"),
    RequestColumn.RESULT: tr("Answered"),
    RequestColumn.SECONDS: tr("Seconds"),
}
_DELETE = tr("Delete the log of all requests?\n\nUsage is counted anew. This can't be undone.")


class RequestTable(RowTable):
    """One row per request."""

    def __init__(self, theme: Theme, model: RequestModel, parent: QWidget) -> None:
        super().__init__(theme, model, parent)
        self.setAccessibleName(tr("Requests"))
        delegate = RoleDelegate(theme, _role_of, self)
        self.setItemDelegateForColumn(RequestColumn.RESULT, delegate)

    def _fit_columns(self) -> None:
        room = self.viewport().width()
        for column, sample in _SAMPLES.items():
            width = self.fontMetrics().horizontalAdvance(sample) + _PADDING_PX
            self.setColumnWidth(column, width)
            room -= width
        least = self.fontMetrics().horizontalAdvance(_SAMPLES[RequestColumn.TOKEN])
        self.setColumnWidth(RequestColumn.REQUEST, max(least, room))


class RequestsDialog(QDialog):
    """Shows the newest requests that fit the filters; reads them again with each change."""

    def __init__(
        self,
        bridge: Bridge,
        records: ProgramRecords,
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
        self._model = RequestModel(self)
        self._table = RequestTable(theme, self._model, self)
        self._details = QPlainTextEdit(self)
        self._details.setReadOnly(True)
        self._details.setAccessibleName(tr("Details of the request"))
        self._details.setFixedHeight(_DETAIL_LINES * self.fontMetrics().lineSpacing())
        self._delete = TextButton(tr("Delete all…"), kind="quiet")
        self._close = TextButton(tr("Close"), kind="primary")
        self._build()
        self._connect()
        self._refresh()

    def _filters(self, tokens: Sequence[TokenFacts]) -> tuple[QComboBox, QComboBox, QLineEdit]:
        kind, token, words = QComboBox(self), QComboBox(self), QLineEdit(self)
        kind.setAccessibleName(tr("Result"))
        kind.addItem(tr("All requests"), "")
        for each in (RequestKind.ANSWER, RequestKind.ERROR, RequestKind.REFUSED):
            kind.addItem(RESULTS[each], each)
        token.setAccessibleName(tr("Token"))
        token.addItem(tr("All tokens"), "")
        token.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        token.setMinimumContentsLength(12)
        for known in tokens:
            token.addItem(one_line(known.name), known.token_id)
        words.setPlaceholderText(tr("Filter by model, path or words"))
        words.setAccessibleName(tr("Filter requests"))
        add_clear_button(words)
        return kind, token, words

    def _build(self) -> None:
        filters = QHBoxLayout()
        filters.setSpacing(8)
        filters.addWidget(self._kind)
        filters.addWidget(self._token)
        filters.addWidget(self._words, 1)
        buttons = QHBoxLayout()
        buttons.addWidget(self._delete)
        buttons.addStretch(1)
        buttons.addWidget(self._close)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 14)
        column.setSpacing(8)
        column.addLayout(filters)
        column.addWidget(self._table, 1)
        column.addWidget(self._details)
        column.addLayout(buttons)

    def _connect(self) -> None:
        self._typing = QTimer(self)
        self._typing.setSingleShot(True)
        self._typing.setInterval(_TYPING_MS)
        self._typing.timeout.connect(self._refresh)
        self._words.textChanged.connect(self._typing.start)
        self._kind.currentIndexChanged.connect(self._refresh)
        self._token.currentIndexChanged.connect(self._refresh)
        self._table.selectionModel().currentRowChanged.connect(self._on_current_changed)
        self._delete.clicked.connect(self._on_delete_clicked)
        self._close.clicked.connect(self.accept)

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

    @Slot(QModelIndex, QModelIndex)
    def _on_current_changed(self, current: QModelIndex, _before: QModelIndex) -> None:
        shown = facts_of(self._model.record_at(current.row())) if current.isValid() else ""
        self._details.setPlainText(shown)

    @Slot()
    def _on_delete_clicked(self) -> None:
        box = QMessageBox(self)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setWindowTitle(tr("Delete the log"))
        box.setText(_DELETE)
        button = box.addButton(tr("Delete"), QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(box.addButton(QMessageBox.StandardButton.Cancel))
        button.clicked.connect(self._forget)
        box.open()

    @Slot()
    def _forget(self) -> None:
        self._bridge.run(self, self._records.delete_requests, lambda _nothing: self._refresh())


def _role_of(index: QModelIndex | QPersistentModelIndex) -> str:
    return _ROLES.get(index.data(KIND_ROLE), "muted")
