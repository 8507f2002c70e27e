"""The results of a search as rows: passages, or files with their passages below. Qt thread."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from desktop_rag.core.language.translation import count_of, tr
from desktop_rag.ui.passages.found_passage import FoundPassage
from desktop_rag.ui.passages.passage_painter import FOUND_ROLE
from desktop_rag.ui.search.found_files import FoundFile, SearchResults

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
ROW_ROLE = Qt.ItemDataRole.UserRole + 2
# Below a file at first; the others follow on request.
_PASSAGES_SHOWN = 3


@dataclass(frozen=True, slots=True)
class FileRow:
    """The name of a file above its passages."""

    file: FoundFile

    @property
    def document_id(self) -> str:
        """The document that the row belongs to."""
        return self.file.document.document_id

    @property
    def passage(self) -> FoundPassage:
        """The passage that opening the row shows."""
        return self.file.passages[0]

    @property
    def words(self) -> str:
        """The row as it is read out."""
        return ", ".join(filter(None, (self.file.name, self.file.folder, self.file.details)))


@dataclass(frozen=True, slots=True)
class PassageRow:
    """A passage, below its file or by itself."""

    passage: FoundPassage
    is_below_file: bool

    @property
    def document_id(self) -> str:
        """The document that the row belongs to."""
        return self.passage.passage.document_id

    @property
    def words(self) -> str:
        """The row as it is read out."""
        shown = self.passage
        return ": ".join(
            filter(None, (", ".join(filter(None, (shown.heading, shown.file))), shown.piece))
        )


@dataclass(frozen=True, slots=True)
class MoreRow:
    """Stands for the passages of a file that are not shown yet."""

    file: FoundFile
    hidden: int

    @property
    def document_id(self) -> str:
        """The document that the row belongs to."""
        return self.file.document.document_id

    @property
    def passage(self) -> FoundPassage:
        """The first passage that is not shown."""
        return self.file.passages[-self.hidden]

    @property
    def words(self) -> str:
        """The row as it is shown and read out."""
        return tr(
            "Show {count_of}",
            count_of=count_of(self.hidden, tr("more passage"), tr("more passages")),
        )


Row = FileRow | PassageRow | MoreRow


class ResultModel(QAbstractListModel):
    """Shows results by file, or by passage."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._results = SearchResults()
        self._is_by_file = True
        self._opened: set[str] = set()
        self._rows: list[Row] = []

    def show(self, results: SearchResults, *, is_by_file: bool) -> None:
        """Replace all rows; for the same text, files stay opened."""
        if results.text != self._results.text:
            self._opened.clear()
        self._results, self._is_by_file = results, is_by_file
        self._reset()

    def open_file(self, document_id: str) -> None:
        """Show all passages of this file."""
        self._opened.add(document_id)
        self._reset()

    def row_at(self, index: Index) -> Row | None:
        """The row at an index."""
        return self._rows[index.row()] if index.isValid() else None

    def rows(self) -> Sequence[Row]:
        """All rows from top to bottom."""
        return self._rows

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row = self._rows[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return _title(row)
            case Qt.ItemDataRole.AccessibleTextRole:
                return row.words
            case _ if role == FOUND_ROLE:
                return row.passage if isinstance(row, PassageRow) else None
            case _ if role == ROW_ROLE:
                return row
            case _:
                return None

    def _reset(self) -> None:
        self.beginResetModel()
        self._rows = list(self._by_file() if self._is_by_file else self._by_passage())
        self.endResetModel()

    def _by_passage(self) -> Iterator[Row]:
        for found in self._results.passages:
            yield PassageRow(found, is_below_file=False)

    def _by_file(self) -> Iterator[Row]:
        for file in self._results.files:
            yield FileRow(file)
            is_open = file.document.document_id in self._opened
            shown = len(file.passages) if is_open else _PASSAGES_SHOWN
            # A row that says "1 more" takes as much room as the passage.
            shown += len(file.passages) == shown + 1
            for found in file.passages[:shown]:
                yield PassageRow(found, is_below_file=True)
            if (hidden := len(file.passages) - shown) > 0:
                yield MoreRow(file, hidden)


def _title(row: Row) -> str:
    if isinstance(row, FileRow):
        return row.file.name
    return row.words if isinstance(row, MoreRow) else row.passage.heading or row.passage.piece
