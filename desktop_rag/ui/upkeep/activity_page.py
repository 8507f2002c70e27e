"""The page that lists what the app did, with filters, totals, details and export. Qt thread."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from desktop_rag.activity.activity_event import ActivityEvent, EventKind
from desktop_rag.activity.event_export import as_csv, as_json_lines
from desktop_rag.activity.event_search import FoundEvents, Totals
from desktop_rag.core.errors import AppError
from desktop_rag.core.files.private_files import persons_mask
from desktop_rag.core.language.translation import count_of, tr
from desktop_rag.core.library_events import Notice
from desktop_rag.ui.foundation.bridge import Bridge, Job
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.upkeep.activity_filters import ActivityFilters
from desktop_rag.ui.upkeep.activity_model import ActivityModel
from desktop_rag.ui.upkeep.activity_table import ActivityDetails, ActivityTable
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton
from desktop_rag.ui.widgets.scrolled_page import ScrolledPage

if TYPE_CHECKING:
    from desktop_rag.activity.activity import Activity

_FORMS = {"Table (*.csv)": "csv", "JSON lines (*.jsonl)": "jsonl"}
_OFF = tr("Recording is off. Turn it on under About.")
_NOTHING = tr("Nothing is recorded yet. Questions, requests to endpoints and changes appear here.")
_NO_MATCH = tr("No events match the filter.")
_DELETE = tr(
    "Delete all recorded activity?\n\nYour chats and the feedback in them stay. This can't be"
    " undone."
)


class ActivityPage(ScrolledPage):
    """`chat_requested` carries the id of a chat, `notified` a Notice about a finished action.

    It reads the events whenever it is shown, and adds new ones while it is.
    """

    chat_requested = Signal(str)
    notified = Signal(object)

    def __init__(
        self,
        bridge: Bridge,
        activity: "Activity",
        theme: Theme,
        is_recording: Callable[[], bool],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(tr("Activity"), parent, fills_height=True)
        self._bridge = bridge
        self._activity = activity
        self._is_recording = is_recording
        self._totals = Totals()
        self._job: Job | None = None
        self._is_stale = False
        self._build(theme)
        self._connect()

    def _build(self, theme: Theme) -> None:
        self._export = TextButton(tr("Export…"), self)
        self._delete = TextButton(tr("Delete all…"), self)
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
        self._bridge.posted.connect(self._on_posted)
        self._filters.changed.connect(self._refresh)
        self._table.chosen.connect(self._on_event_chosen)
        self._details.chat_requested.connect(self.chat_requested)
        self._export.clicked.connect(self._on_export_clicked)
        self._delete.clicked.connect(self._on_delete_clicked)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._refresh()

    # --- events ----------------------------------------------------------------------------------

    @Slot()
    def _refresh(self) -> None:
        """Read the events that fit; a reading under way is for another filter."""
        if self._job:
            self._job.cancel()
        self._is_stale = False
        wanted = self._filters.wanted
        self._job = self._bridge.run(
            self, lambda: self._activity.find(wanted), self._on_found, self._on_not_found
        )

    def _on_found(self, found: FoundEvents) -> None:
        self._job = None
        chosen, place = self._table.chosen_event, self._table.verticalScrollBar().value()
        self._model.show(found)
        self._totals = found.totals
        self._table.choose(chosen)
        self._table.verticalScrollBar().setValue(place)
        self._show_summary()
        if self._is_stale:
            self._refresh()

    def _on_not_found(self, error: AppError) -> None:
        self._job = None
        self._bridge.post(error)

    @Slot(object)
    def _on_posted(self, event: object) -> None:
        if not isinstance(event, ActivityEvent) or not self.isVisible():
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
        self._table.set_empty_text(_NOTHING if self._filters.is_open else _NO_MATCH)
        self._off.setVisible(not self._is_recording())
        self._export.setEnabled(self._totals.events > 0)

    @Slot(object)
    def _on_event_chosen(self, event: ActivityEvent | None) -> None:
        self._details.show_event(event, self._model.chat_title(event) if event else "")

    # --- actions ---------------------------------------------------------------------------------

    @Slot()
    def _on_export_clicked(self) -> None:
        dialog = QFileDialog(self, tr("Export activity"))
        dialog.setObjectName("exportDialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters(list(_FORMS))
        dialog.selectFile("activity.csv")
        dialog.filterSelected.connect(lambda chosen: dialog.setDefaultSuffix(_FORMS[chosen]))
        dialog.setDefaultSuffix("csv")
        dialog.fileSelected.connect(lambda path: self.export(Path(path)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def export(self, path: Path) -> None:
        """Write the events that fit the filter, in the format of the file's extension."""
        wanted = self._filters.wanted

        def write() -> int:
            found = self._activity.find(wanted)
            text = as_json_lines(found) if path.suffix == ".jsonl" else as_csv(found)
            try:
                with persons_mask():
                    path.write_text(text, encoding="utf-8", errors="replace", newline="")
            except OSError as exc:
                title = tr("The activity could not be exported.")
                raise AppError(
                    title,
                    tr(
                        "{path}: {strerror}. Choose another location.",
                        path=path,
                        strerror=exc.strerror,
                    ),
                ) from exc
            return len(found.events)

        def tell(count: int) -> None:
            self.notified.emit(
                Notice(
                    tr(
                        "{count_of} exported to {path}.",
                        count_of=count_of(count, tr("event"), tr("events")),
                        path=path,
                    )
                )
            )

        self._bridge.run(self, write, tell)

    @Slot()
    def _on_delete_clicked(self) -> None:
        box = QMessageBox(self)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setWindowTitle(tr("Delete activity"))
        box.setText(_DELETE)
        confirm = box.addButton(tr("Delete all"), QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(box.addButton(QMessageBox.StandardButton.Cancel))
        confirm.clicked.connect(self._on_delete_confirmed)
        box.open()

    @Slot()
    def _on_delete_confirmed(self) -> None:
        self._bridge.run(self, self._activity.delete_all, lambda _nothing: self._refresh())
