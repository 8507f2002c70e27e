"""What changed today: files added, changed, moved, removed or failed. Qt thread."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from PySide6.QtCore import QModelIndex, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from desktop_rag.core.language.translation import number_in_words, told, tr
from desktop_rag.core.library_events import FileChange, FileChangeKind
from desktop_rag.ingest.library import Library
from desktop_rag.ui.foundation.bridge import Bridge, Job
from desktop_rag.ui.foundation.days import clock_in_words
from desktop_rag.ui.foundation.shortcuts import FOCUSED, bind
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line, value_in_words
from desktop_rag.ui.widgets.flow_row import FlowRow
from desktop_rag.ui.widgets.form_fields import DropDown, chips, selected_value
from desktop_rag.ui.widgets.item_list import Column, ColumnTable, RowsModel
from desktop_rag.ui.widgets.layouts import horizontal, vertical


class ChangeRow(NamedTuple):
    """A change with its texts."""

    change: FileChange
    when: str
    name: str
    folder: str


def rows_of(changes: Iterable[FileChange]) -> list[ChangeRow]:
    """The rows; of several like changes of a file, only the last one. Any thread."""
    latest: dict[tuple[str, FileChangeKind], FileChange] = {}
    for change in changes:
        latest.setdefault((change.document_id, change.kind), change)
    return [_row(change) for change in latest.values()]


def _row(change: FileChange) -> ChangeRow:
    at = clock_in_words(change.at)
    if "://" in change.name:
        _, _, rest = change.name.partition("://")
        host, _, path = rest.partition("/")
        return ChangeRow(change, at, one_line(f"/{path}"), one_line(host))
    separator = "\\" if "\\" in change.name and "/" not in change.name else "/"
    folder, _, name = change.name.rpartition(separator)
    return ChangeRow(change, at, one_line(name), one_line(folder))


# While files change, they are read at most this often.
_REFRESH_MS = 1000
_PADDING_PX = 34
_DAYS = {tr("Today"): 0, tr("Since yesterday"): 1, tr("Last 7 days"): 6}
_PERIODS = {0: tr("today"), 1: tr("since yesterday"), 6: tr("in the last 7 days")}
_ROLES = {
    FileChangeKind.ADDED: "success",
    FileChangeKind.CHANGED: "accent",
    FileChangeKind.FAILED: "danger",
    FileChangeKind.REMOVED: "warning",
}


def _name_tip(row: ChangeRow) -> str:
    return one_line(row.change.name)


# The kinds of change are shown whole; names and reasons share the rest, and give way.
_COLUMNS = (
    Column[ChangeRow](tr("When"), lambda row: row.when, [tr("Wed 23:59")], tip=_name_tip),
    Column[ChangeRow](
        tr("Change"),
        lambda row: value_in_words(row.change.kind, begins=True),
        [value_in_words(kind, begins=True) for kind in FileChangeKind],
        tip=_name_tip,
        colour_of=lambda row: _ROLES.get(row.change.kind, "muted"),
    ),
    Column[ChangeRow](
        tr("Name"), lambda row: row.name, ["a name of a usual length.pdf"], 3, tip=_name_tip
    ),
    Column[ChangeRow](
        tr("Folder"), lambda row: row.folder, ["a folder/of another"], 3, tip=_name_tip
    ),
    Column[ChangeRow](
        tr("Reason"),
        lambda row: one_line(told(row.change.reason)),
        [tr("Not read: it is protected.")],
        2,
        tip=lambda row: told(row.change.reason),
    ),
)


class ChangesTable(ColumnTable):
    """One row per file and kind of change, the newest first."""

    def __init__(self, theme: Theme, model: RowsModel[ChangeRow], parent: QWidget) -> None:
        super().__init__(theme, model, tr("Changed files"), parent, padding_px=_PADDING_PX)
        # Styled as the table of files.
        self.setObjectName("files")
        sides = Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter
        self.horizontalHeader().setDefaultAlignment(sides)


class ChangesPanel(QWidget):
    """Reads the changes while it is shown. `read_requested` carries a document id."""

    read_requested = Signal(str)

    def __init__(
        self, bridge: Bridge, library: Library, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._library = library
        self._model = RowsModel(_COLUMNS, self)
        self._rows: Sequence[ChangeRow] = ()
        self._job = Job()
        self._refresh = QTimer(self, singleShot=True, interval=_REFRESH_MS)
        self._refresh.timeout.connect(self._read)
        self._build(theme)

    def refresh_soon(self) -> None:
        """Read the changes again, if the panel is visible."""
        if self.isVisible() and not self._refresh.isActive():
            self._refresh.start()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._read()

    def _build(self, theme: Theme) -> None:
        self._chips = chips(self, {kind: _words(kind, 0) for kind in (None, *FileChangeKind)})
        self._period = DropDown(self)
        self._period.setAccessibleName(tr("Period"))
        for words, days in _DAYS.items():
            self._period.addItem(words, days)
        self._table = ChangesTable(theme, self._model, self)
        self._table.set_empty_text(tr("Reading…"))
        row = FlowRow()
        for chip in self._chips.values():
            row.addWidget(chip)
            chip.clicked.connect(self._show_chosen)
        head = horizontal((row, 1), (self._period, 0, Qt.AlignmentFlag.AlignTop), spacing=6)
        vertical(head, (self._table, 1), on=self, margins=0, spacing=10)
        self._period.currentIndexChanged.connect(self._read)
        self._table.doubleClicked.connect(self._on_opened)
        bind(
            self._table, "Return Enter Space", tr("Read the changed file"), self._on_return_pressed,
            FOCUSED,
        )  # fmt: skip

    @Slot()
    def _read(self) -> None:
        self._job.cancel()
        since = _beginning(self._period.currentData())
        documents = self._library.documents

        def read() -> list[ChangeRow]:
            return rows_of(documents.changes_since(since))

        self._job = self._bridge.run(self, read, self._show)

    def _show(self, rows: list[ChangeRow]) -> None:
        self._rows = rows
        counts = Counter(row.change.kind for row in rows)
        for kind, chip in self._chips.items():
            chip.setText(_words(kind, len(rows) if kind is None else counts[kind]))
        self._show_chosen()

    @Slot()
    def _show_chosen(self) -> None:
        chosen = selected_value(self._chips)
        self._model.show([row for row in self._rows if chosen in {None, row.change.kind}])
        self._show_emptiness()

    def _show_emptiness(self) -> None:
        period = _PERIODS[self._period.currentData()]
        what = tr("No file changed") if self._chips[None].isChecked() else tr("No such change")
        self._table.set_empty_text(f"{what} {period}.")

    @Slot(QModelIndex)
    def _on_opened(self, index: QModelIndex) -> None:
        change = self._model.row_at(index.row()).change
        if change.kind is not FileChangeKind.REMOVED:
            self.read_requested.emit(change.document_id)

    @Slot()
    def _on_return_pressed(self) -> None:
        if self._table.currentIndex().isValid():
            self._on_opened(self._table.currentIndex())


def _words(kind: FileChangeKind | None, count: int) -> str:
    words = value_in_words(kind, begins=True) if kind else tr("All changes")
    return f"{words} {number_in_words(count)}"


def _beginning(days: int) -> float:
    """The midnight before today, or this many days earlier."""
    midnight = datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    return (midnight - timedelta(days=days)).timestamp()
