"""What changed today: files added, changed, moved, removed or failed. Qt thread."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    QTimer,
    Signal,
    Slot,
)
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QWidget

from desktop_rag.core.language.translation import number_in_words, told, tr
from desktop_rag.core.library_events import FileChange, FileChangeKind
from desktop_rag.ui.foundation.bridge import Bridge, Job
from desktop_rag.ui.foundation.days import clock_in_words
from desktop_rag.ui.foundation.shortcuts import FOCUSED, bind
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line, value_in_words
from desktop_rag.ui.widgets.controls import TextButton, plain_tooltip
from desktop_rag.ui.widgets.flow_row import FlowRow
from desktop_rag.ui.widgets.form_fields import DropDown
from desktop_rag.ui.widgets.item_list import RoleDelegate, RowTable
from desktop_rag.ui.widgets.layouts import horizontal, vertical

if TYPE_CHECKING:
    from desktop_rag.ingest.library import Library

CHANGE_ROLE = Qt.ItemDataRole.UserRole
_Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()


class ChangeColumn(IntEnum):
    """The columns from left to right."""

    WHEN = 0
    CHANGE = 1
    NAME = 2
    FOLDER = 3
    REASON = 4


_TITLES = (tr("When"), tr("Change"), tr("Name"), tr("Folder"), tr("Reason"))


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


def counts_of(rows: Sequence[ChangeRow]) -> Mapping[FileChangeKind, int]:
    """The number of files of each kind of change."""
    return Counter(row.change.kind for row in rows)


class ChangesModel(QAbstractTableModel):
    """The newest change first; `show_kind` limits it to one kind."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: Sequence[ChangeRow] = ()
        self._shown: Sequence[ChangeRow] = ()
        self._kind: FileChangeKind | None = None

    def set_rows(self, rows: Sequence[ChangeRow]) -> None:
        """Replace all rows."""
        self._rows = rows
        self.show_kind(self._kind)

    def show_kind(self, kind: FileChangeKind | None) -> None:
        """Show the changes of one kind, or all."""
        self.beginResetModel()
        self._kind = kind
        self._shown = [row for row in self._rows if kind in {None, row.change.kind}]
        self.endResetModel()

    def change_at(self, position: int) -> FileChange:
        """The change shown in this row."""
        return self._shown[position].change

    def rowCount(self, parent: _Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self._shown)

    def columnCount(self, parent: _Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(ChangeColumn)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation == Qt.Orientation.Vertical or not 0 <= section < len(_TITLES):
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter
        return _TITLES[section] if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row = self._shown[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return _text(row, index.column())
        if role == Qt.ItemDataRole.ToolTipRole:
            is_reason = index.column() == ChangeColumn.REASON
            return plain_tooltip(
                told(row.change.reason) if is_reason else one_line(row.change.name)
            )
        return row.change if role == CHANGE_ROLE else None


def _text(row: ChangeRow, column: int) -> str:
    match column:
        case ChangeColumn.WHEN:
            return row.when
        case ChangeColumn.CHANGE:
            return value_in_words(row.change.kind, begins=True)
        case ChangeColumn.NAME:
            return row.name
        case ChangeColumn.FOLDER:
            return row.folder
        case _:
            return one_line(told(row.change.reason))


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
_SAMPLES = {
    ChangeColumn.WHEN: tr("Wed 23:59"),
    ChangeColumn.NAME: "a name of a usual length.pdf",
    ChangeColumn.FOLDER: "a folder/of another",
    ChangeColumn.REASON: tr("Not read: it is protected."),
}
_SHARES = {ChangeColumn.NAME: 3, ChangeColumn.FOLDER: 3, ChangeColumn.REASON: 2}
_ROLES = {
    FileChangeKind.ADDED: "success",
    FileChangeKind.CHANGED: "accent",
    FileChangeKind.FAILED: "danger",
    FileChangeKind.REMOVED: "warning",
}


class ChangesTable(RowTable):
    """One row per file and kind of change."""

    def __init__(self, theme: Theme, model: ChangesModel, parent: QWidget | None = None) -> None:
        super().__init__(theme, model, parent)
        # Styled as the table of files.
        self.setObjectName("files")
        self.setAccessibleName(tr("Changed files"))
        self.setItemDelegateForColumn(
            ChangeColumn.CHANGE,
            RoleDelegate(
                theme, lambda index: _ROLES.get(index.data(CHANGE_ROLE).kind, "muted"), self
            ),
        )

    def _fit_columns(self) -> None:
        """Show the kinds of change whole; names and reasons share the rest, and give way."""
        text_px = self.fontMetrics().horizontalAdvance
        kinds = [value_in_words(kind, begins=True) for kind in FileChangeKind]
        samples = {**_SAMPLES, ChangeColumn.CHANGE: max(kinds, key=text_px)}
        needed = {column: text_px(samples[column]) + _PADDING_PX for column in ChangeColumn}
        room = self.viewport().width() - sum(needed.values())
        for column, its_px in needed.items():
            share = _SHARES.get(column, 0) * room // sum(_SHARES.values())
            self.setColumnWidth(column, max(_PADDING_PX, its_px + share))


class ChangesPanel(QWidget):
    """Reads the changes while it is shown. `read_requested` carries a document id."""

    read_requested = Signal(str)

    def __init__(
        self, bridge: Bridge, library: "Library", theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._library = library
        self._model = ChangesModel(self)
        self._job: Job | None = None
        self._chips: dict[FileChangeKind | None, TextButton] = {}
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
        group = QButtonGroup(self)
        for kind in (None, *FileChangeKind):
            chip = TextButton(_words(kind, 0), self, kind="chip")
            chip.setCheckable(True)
            group.addButton(chip)
            self._chips[kind] = chip
        self._chips[None].setChecked(True)
        self._period = DropDown(self)
        self._period.setAccessibleName(tr("Period"))
        for words, days in _DAYS.items():
            self._period.addItem(words, days)
        self._table = ChangesTable(theme, self._model, self)
        self._table.set_empty_text(tr("Reading…"))
        column = vertical(on=self, margins=0, spacing=10)
        chips = FlowRow()
        for chip in self._chips.values():
            chips.addWidget(chip)
        head = horizontal((chips, 1), (self._period, 0, Qt.AlignmentFlag.AlignTop), spacing=6)
        column.addLayout(head)
        column.addWidget(self._table, 1)
        group.buttonClicked.connect(self._on_kind_chosen)
        self._period.currentIndexChanged.connect(self._read)
        self._table.doubleClicked.connect(self._on_opened)
        bind(
            self._table, "Return Enter Space", tr("Read the changed file"), self._on_return_pressed,
            FOCUSED,
        )  # fmt: skip

    @Slot()
    def _read(self) -> None:
        if self._job:
            self._job.cancel()
        since = _beginning(self._period.currentData())
        documents = self._library.documents

        def read() -> list[ChangeRow]:
            return rows_of(documents.changes_since(since))

        self._job = self._bridge.run(self, read, self._show)

    def _show(self, rows: list[ChangeRow]) -> None:
        self._model.set_rows(rows)
        counts = counts_of(rows)
        for kind, chip in self._chips.items():
            chip.setText(_words(kind, len(rows) if kind is None else counts.get(kind, 0)))
        self._show_emptiness()

    @Slot(QAbstractButton)
    def _on_kind_chosen(self, chosen: QAbstractButton) -> None:
        self._model.show_kind(next(kind for kind, chip in self._chips.items() if chip is chosen))
        self._show_emptiness()

    def _show_emptiness(self) -> None:
        period = _PERIODS[self._period.currentData()]
        what = tr("No file changed") if self._chips[None].isChecked() else tr("No such change")
        self._table.set_empty_text(f"{what} {period}.")

    @Slot(QModelIndex)
    def _on_opened(self, index: QModelIndex) -> None:
        change = self._model.change_at(index.row())
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
