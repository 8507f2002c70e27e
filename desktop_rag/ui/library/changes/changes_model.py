"""What happened to files, as rows of a table. The rows are made on a worker; Qt thread."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Any, NamedTuple

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from desktop_rag.core.language.translation import told, tr
from desktop_rag.core.library_events import FileChange, FileChangeKind
from desktop_rag.ui.foundation.days import clock_in_words
from desktop_rag.ui.foundation.wording import one_line, value_in_words
from desktop_rag.ui.widgets.controls import plain_tooltip

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
    """The rows, of several changes of a file that are alike only the last one."""
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
