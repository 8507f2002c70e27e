"""The page that lists what the app did, with filters, totals, details and export. Qt thread."""

import time
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

from PySide6.QtCore import (
    QDate,
    QLocale,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSize,
    Qt,
    QTimer,
    Signal,
    Slot,
)
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from desktop_rag.activity.activity import (
    Activity,
    EventFilter,
    FoundEvents,
    Totals,
    as_csv,
    as_json_lines,
)
from desktop_rag.activity.activity_event import ActivityEvent, EventKind, Outcome
from desktop_rag.activity.event_wording import (
    KIND_NAMES,
    counts_in_words,
    detail_of,
    kind_of,
    outcome_in_words,
    settings_in_words,
    title_of,
    tokens_in_words,
)
from desktop_rag.core.errors import AppError, os_error_as
from desktop_rag.core.files.own_files import persons_mask
from desktop_rag.core.language.translation import count_of, decimal_in_words, told, tr, translated
from desktop_rag.core.library_events import Notice
from desktop_rag.ui.foundation.bridge import Bridge, Job
from desktop_rag.ui.foundation.days import written_day
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import cut_line, one_line
from desktop_rag.ui.widgets.controls import (
    Card,
    ElidedLabel,
    PlainLabel,
    TextButton,
    add_clear_button,
)
from desktop_rag.ui.widgets.flow_row import FlowRow
from desktop_rag.ui.widgets.form_fields import chips, selected_value
from desktop_rag.ui.widgets.forms import ask_first, save_as
from desktop_rag.ui.widgets.item_list import Column, ColumnTable, RowsModel
from desktop_rag.ui.widgets.layouts import horizontal, vertical
from desktop_rag.ui.widgets.scrolled_page import ScrolledPage

_Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
_BATCH = 200


class ActivityModel(RowsModel[ActivityEvent]):
    """The found events, loaded while scrolling; new ones go on top without touching the others."""

    def __init__(self, parent: QObject | None = None) -> None:
        columns = (
            Column[ActivityEvent](
                tr("Time"), lambda event: time_of_day(event.at), ["30 Nov 23:59"]
            ),
            Column(tr("Kind"), kind_of, [tr("Endpoint call")], colour_of=_colour_of),
            Column(tr("Event"), self._event_text, share=52, tip=self._event_text),
            Column(tr("Details"), _detail_text, share=48, tip=_detail_text),
        )
        super().__init__(columns, parent)
        self._events: list[ActivityEvent] = []
        self._chat_titles: Mapping[str, str] = {}
        self._loaded = 0

    def show_found(self, found: FoundEvents) -> None:
        """Replace all events."""
        self._events, self._chat_titles = list(found.events), found.chat_titles
        self._loaded = min(_BATCH, len(self._events))
        self.show(self._events)

    def prepend(self, event: ActivityEvent) -> None:
        """Put a new event on top."""
        self.beginInsertRows(_ROOT, 0, 0)
        self._events.insert(0, event)
        self._loaded += 1
        self.endInsertRows()

    def row_of(self, event: ActivityEvent) -> int | None:
        """The row of an event, after loading it and all above; None if it is not listed."""
        for row, other in enumerate(self._events):
            if other.at == event.at and other == event:
                self._load(row + 1)
                return row
        return None

    def chat_title(self, event: ActivityEvent) -> str:
        """The title of the event's chat, "" when that is gone."""
        return one_line(self._chat_titles.get(event.chat_id, ""))

    def rowCount(self, parent: _Index = _ROOT) -> int:
        return 0 if parent.isValid() else self._loaded

    def canFetchMore(self, parent: _Index) -> bool:
        return not parent.isValid() and self._loaded < len(self._events)

    def fetchMore(self, parent: _Index) -> None:
        if not parent.isValid():
            self._load(self._loaded + _BATCH)

    def _event_text(self, event: ActivityEvent) -> str:
        return one_line(title_of(event, self.chat_title(event)))

    def _load(self, count: int) -> None:
        end = min(count, len(self._events))
        if end > self._loaded:
            self.beginInsertRows(_ROOT, self._loaded, end - 1)
            self._loaded = end
            self.endInsertRows()


def _detail_text(event: ActivityEvent) -> str:
    return one_line(detail_of(event))


def _colour_of(event: ActivityEvent) -> str:
    """The colour role of an event; errors and refusals stand out."""
    if event.outcome is Outcome.FAILED:
        return "danger"
    return "warning" if event.kind is EventKind.REFUSED else "muted"


def time_of_day(moment: float, now: float | None = None) -> str:
    """`14:05:12` today, else `3 Nov 14:05`, with the year if it is another."""
    then = datetime.fromtimestamp(moment).astimezone()
    today = datetime.fromtimestamp(time.time() if now is None else now).astimezone()
    if then.date() == today.date():
        return f"{then:%H:%M:%S}"
    form = tr("d MMM") if then.year == today.year else tr("d MMM yyyy")
    day = QLocale().toString(QDate(then.year, then.month, then.day), form)
    return f"{day} {then:%H:%M}"


_LEAST_HEIGHT_PX = 180
_DETAILS_HEIGHT_PX = 116
_MOST_QUESTION_CHARS = 100
_NOTHING_CHOSEN = tr("Choose an event to see its details.")


class ActivityTable(ColumnTable):
    """One row per event, the newest first."""

    def __init__(self, theme: Theme, model: ActivityModel, parent: QWidget) -> None:
        super().__init__(theme, model, tr("Events"), parent)
        self._events = model

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


class ActivityDetails(Card):
    """Everything about one event. `chat_requested` carries the id of its chat."""

    chat_requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._chat_id = ""
        self._lines: list[str] = []
        self._title = ElidedLabel(scale="heading")
        self._facts = PlainLabel(tone="muted", wrap=True, selectable=True)
        self._facts.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._open_chat = TextButton(tr("Open chat"))
        self._open_chat.clicked.connect(lambda: self.chat_requested.emit(self._chat_id))
        vertical(
            horizontal((self._title, 1), self._open_chat),
            (self._facts, 1),
            on=self,
            margins=(16, 12, 16, 12),
            spacing=6,
        )
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
        self._lines = _facts_of(event) if event else [_NOTHING_CHOSEN]
        self._facts.setText("\n".join(self._lines))

    def show_question(self, question: str) -> None:
        """Name the question of the event on show."""
        said = tr("Question: {question}", question=cut_line(question, _MOST_QUESTION_CHARS))
        # In place of the kind, which the title tells, so that the table is not moved.
        lines = [self._lines[0], said, *self._lines[2:]] if question else self._lines
        self._facts.setText("\n".join(lines))


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


_TYPING_MS = 150


class ActivityFilters(QWidget):
    """Filters events by kind and text; `changed` follows when `wanted` changes."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._typing = QTimer(self, singleShot=True, interval=_TYPING_MS)
        self._text = QLineEdit(self, placeholderText=tr("Filter by chat, model, host or message"))
        self._text.setAccessibleName(tr("Filter events"))
        add_clear_button(self._text)
        vertical(self._build_chips(), self._text, on=self, margins=0, spacing=8)
        self._text.textChanged.connect(self._typing.start)
        self._typing.timeout.connect(self.changed)

    @property
    def wanted(self) -> EventFilter:
        """The filter as chosen."""
        return EventFilter(selected_value(self._chips), self._text.text())

    @property
    def is_open(self) -> bool:
        """True when nothing is filtered."""
        return self.wanted == EventFilter()

    def _build_chips(self) -> FlowRow:
        each = {frozenset({kind}): translated(name) for kind, name in KIND_NAMES.items()}
        self._chips = chips(self, {frozenset[EventKind](): tr("All"), **each})
        row = FlowRow()
        for chip in self._chips.values():
            row.addWidget(chip)
            chip.clicked.connect(self.changed)
        return row


_FORMS = {"Table (*.csv)": "csv", "JSON lines (*.jsonl)": "jsonl"}
_OFF = tr("Recording is off. Turn it on in Settings, under Privacy.")
_NOTHING = tr("Nothing is recorded yet. Questions, requests to endpoints and changes appear here.")
_NO_MATCH = tr("No events match the filter.")
_NO_CALLS = tr("No request was sent to an endpoint.")
_DELETE = tr(
    "Delete all recorded activity?\n\nYour chats and the feedback in them stay. This can't be"
    " undone."
)


class ActivityPage(ScrolledPage):
    """Lists events while it is shown, and adds new ones.

    `chat_requested` carries the id of a chat, `notified` a Notice about a finished action.
    """

    chat_requested = Signal(str)
    notified = Signal(object)

    def __init__(
        self, bridge: Bridge, activity: Activity, theme: Theme, is_recording: Callable[[], bool]
    ) -> None:
        super().__init__(tr("Activity"), fills_height=True)
        self._bridge = bridge
        self._activity = activity
        self._is_recording = is_recording
        self._totals = Totals()
        self._job: Job | None = None
        self._is_stale = False
        self._build(theme)
        self._connect()

    def _build(self, theme: Theme) -> None:
        self._export = TextButton(tr("Export…"), self, then=self._on_export_clicked)
        self._delete = TextButton(tr("Delete all…"), self, then=self._on_delete_clicked)
        self.header.addWidget(self._export)
        self.header.addWidget(self._delete)
        self._filters = ActivityFilters(self)
        self._model = ActivityModel(self)
        self._table = ActivityTable(theme, self._model, self)
        self._summary = PlainLabel(tone="muted", wrap=True)
        self._off = PlainLabel(_OFF, self, tone="warning", wrap=True)
        self._details = ActivityDetails(self)
        self.column.setSpacing(8)
        self.column.addWidget(self._filters)
        self.column.addWidget(self._table, 1)
        self.column.addWidget(self._summary)
        self.column.addWidget(self._off)
        self.column.addWidget(self._details)
        self._show_summary()

    def _connect(self) -> None:
        self._bridge.hear(ActivityEvent, self._on_recorded)
        self._filters.changed.connect(self._refresh)
        self._table.chosen.connect(self._on_event_chosen)
        self._details.chat_requested.connect(self.chat_requested)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._refresh()

    # --- events ----------------------------------------------------------------------------------

    @Slot()
    def _refresh(self) -> None:
        """Read the events that match; a reading under way is for another filter."""
        if self._job:
            self._job.cancel()
        self._is_stale = False
        wanted = self._filters.wanted
        self._job = self._bridge.run(
            self, lambda: self._activity.find(wanted), self._on_found, self._on_not_found
        )

    def _on_found(self, found: FoundEvents) -> None:
        self._job = None
        chosen, place = self._table.current, self._table.verticalScrollBar().value()
        self._model.show_found(found)
        self._totals = found.totals
        self._table.choose(chosen)
        self._table.verticalScrollBar().setValue(place)
        self._show_summary()
        if self._is_stale:
            self._refresh()

    def _on_not_found(self, error: AppError) -> None:
        self._job = None
        self._bridge.post(error)

    def _on_recorded(self, event: ActivityEvent) -> None:
        if not self.isVisible():
            return
        is_new_chat = event.kind is EventKind.QUESTION and not self._model.chat_title(event)
        if self._job:
            self._is_stale = True
        elif is_new_chat:
            self._refresh()
        elif self._filters.wanted.fits(event, self._model.chat_title(event)):
            self._model.prepend(event)
            self._totals = self._totals.plus(event)
            self._show_summary()

    def _show_summary(self) -> None:
        self._summary.setText(self._totals.in_words())
        self._table.set_empty_text(self._emptiness())
        self._off.setVisible(not self._is_recording())
        self._export.setEnabled(self._totals.events > 0)

    def _emptiness(self) -> str:
        if self._filters.is_open:
            return _NOTHING
        is_of_calls = self._filters.wanted == EventFilter(frozenset({EventKind.CALL}))
        return _NO_CALLS if is_of_calls else _NO_MATCH

    @Slot(object)
    def _on_event_chosen(self, event: ActivityEvent | None) -> None:
        title = self._model.chat_title(event) if event else ""
        self._details.show_event(event, title)
        if event and title:

            def show(question: str) -> None:
                if self._table.current == event:
                    self._details.show_question(question)

            self._bridge.run(self, lambda: self._activity.question_of(event), show)

    # --- actions ---------------------------------------------------------------------------------

    @Slot()
    def _on_export_clicked(self) -> None:
        save_as(
            self,
            tr("Export activity"),
            "activity.csv",
            _FORMS,
            lambda path: self.export(Path(path)),
            name="exportDialog",
        )

    def export(self, path: Path) -> None:
        """Write the matching events in the format of the file's extension."""
        wanted = self._filters.wanted

        def write() -> int:
            found = self._activity.find(wanted)
            text = as_json_lines(found) if path.suffix == ".jsonl" else as_csv(found)
            title = tr("The activity could not be exported.")
            with os_error_as(title, path, tr("Choose another location.")), persons_mask():
                path.write_text(text, encoding="utf-8", errors="replace", newline="")
            return len(found.events)

        def tell(count: int) -> None:
            events = count_of(count, tr("event"), tr("events"))
            said = tr("{count_of} exported to {path}.", count_of=events, path=path)
            self.notified.emit(Notice(said))

        self._bridge.run(self, write, tell)

    @Slot()
    def _on_delete_clicked(self) -> None:
        ask_first(self, tr("Delete activity"), _DELETE, tr("Delete all"), self._delete_all)

    def _delete_all(self) -> None:
        self._bridge.run(self, self._activity.delete_all, lambda _nothing: self._refresh())
