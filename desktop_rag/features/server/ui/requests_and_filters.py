"""The log of requests to the local server, and the filters of installed packages. Qt thread."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from PySide6.QtCore import QSize, Qt, QTimer, Slot
from PySide6.QtWidgets import QCheckBox, QComboBox, QDialog, QLineEdit, QPlainTextEdit, QWidget

from desktop_rag.core.language.translation import decimal_in_words, number_in_words, tr
from desktop_rag.core.settings import Settings
from desktop_rag.features.server.services import ServerRecords, TokenFacts
from desktop_rag.features.server.values.access_values import (
    RequestKind,
    RequestRecord,
    RequestSearch,
)
from desktop_rag.ui.foundation.bridge import Bridge, Job
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.settings.edited_settings import EditedSettings
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton, add_clear_button
from desktop_rag.ui.widgets.form_fields import DropDown, SettingsSection, note
from desktop_rag.ui.widgets.forms import RowList, ask_first
from desktop_rag.ui.widgets.item_list import Column, ColumnTable, RowsModel
from desktop_rag.ui.widgets.layouts import Stretch, fill, horizontal, vertical

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


_INTRO = tr(
    "Installed Python packages may have filters that every request passes. They run inside the app"
    " and may do anything: tick only those that you trust."
)
_NONE = tr("No installed package has one. The guide to the local server says how one is written.")
_ORDER = tr(
    "Requests pass them from top to bottom. One for some models sees questions to these only;"
    " collection:* is every collection. When one can't be loaded, nothing is served."
)
_LONGEST_PATTERN = 200
_EVERY = "*"


class FiltersSection(SettingsSection):
    """The filters in use in their order, then the others that are installed."""

    def __init__(self, bridge: Bridge, records: ServerRecords, settings: EditedSettings) -> None:
        super().__init__(tr("Filters of your own"), _INTRO)
        self._bridge = bridge
        self._records = records
        self._settings = settings
        self._installed: Sequence[str] = ()
        self._rows = RowList(6)
        self._none = PlainLabel(_NONE, tone="muted", wrap=True)
        self._order = note(_ORDER)
        for below in (self._rows, self._none, self._order):
            self.add_note(below)
        settings.replaced.connect(self._on_replaced)
        self._show()

    @Slot()
    def refresh(self) -> None:
        """Look again which are installed."""
        self._bridge.run(self, self._records.filters, self._show_installed)

    def _show_installed(self, installed: Sequence[str]) -> None:
        self._installed = installed
        self._show()

    @Slot(object)
    def _on_replaced(self, _settings: Settings) -> None:
        self._show()

    # --- the rows ----------------------------------------------------------------------------

    def _show(self) -> None:
        chosen = [_parts(each) for each in self._settings.value.server.filters]
        known = {name for name, _ in chosen}
        others = [name for name in self._installed if name not in known]
        rows = [self._row_of(*each, place) for place, each in enumerate(chosen)]
        self._rows.show_rows([*rows, *(self._row_of(name, "", None) for name in others)])
        self._none.setVisible(not (chosen or others))
        self._order.setVisible(bool(chosen or others))

    def _row_of(self, name: str, pattern: str, place: int | None) -> QWidget:
        """A filter; `place` is that in the order, None for one that is not used."""
        shown = one_line(name)
        row = QWidget(self)
        line = horizontal(on=row, margins=0, spacing=10)
        is_there = name in self._installed
        words = shown if is_there else tr("{name} (not installed)", name=shown)
        box = QCheckBox(words.replace("&", "&&"))
        box.setAccessibleName(words)
        box.setChecked(place is not None)
        models = QLineEdit("" if pattern == _EVERY else pattern)
        models.setMaxLength(_LONGEST_PATTERN)
        models.setPlaceholderText(tr("All models"))
        models.setAccessibleName(tr("Models that {name} is for", name=shown))
        models.setEnabled(place is not None)
        earlier = TextButton(tr("Earlier"), kind="quiet", then=lambda: self._move(place))
        earlier.setAccessibleName(tr("Let requests pass {name} earlier", name=shown))
        earlier.setEnabled(bool(place))
        fill(line, (box, 1, Qt.AlignmentFlag.AlignLeft), (models, 1), earlier)
        box.toggled.connect(lambda is_on: self._use(name, place, is_on=is_on))
        models.editingFinished.connect(lambda: self._limit(place, name, models.text().strip()))
        return row

    # --- what the person changes -------------------------------------------------------------

    def _use(self, name: str, place: int | None, *, is_on: bool) -> None:
        filters = list(self._settings.value.server.filters)
        if is_on:
            filters.append(name)
        elif place is not None:
            del filters[place]
        self._edit(filters)
        self._show()

    def _limit(self, place: int | None, name: str, pattern: str) -> None:
        filters = list(self._settings.value.server.filters)
        # A row that was replaced loses the focus once more.
        if place is None or [_parts(f)[0] for f in filters[place : place + 1]] != [name]:
            return
        filters[place] = f"{name}={pattern}" if pattern not in ("", _EVERY) else name
        self._edit(filters)

    def _move(self, place: int | None) -> None:
        if not place:
            return
        filters = list(self._settings.value.server.filters)
        filters.insert(place - 1, filters.pop(place))
        self._edit(filters)
        self._show()

    def _edit(self, filters: Sequence[str]) -> None:
        value = self._settings.value
        server = replace(value.server, filters=tuple(filters))
        self._settings.edit(replace(value, server=server))


def _parts(stored: str) -> tuple[str, str]:
    """The name of a filter and the pattern of its models."""
    name, _, pattern = stored.partition("=")
    return name.strip(), pattern.strip() or _EVERY
