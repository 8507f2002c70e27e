"""The table of documents: one model that holds, filters, sorts and counts them. Qt thread.

It sorts and filters plain lists itself. A proxy model would call back into Python a million times
to sort 50,000 rows, which freezes the window for seconds.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from operator import attrgetter
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal

from desktop_rag.core.domain import Document, DocumentState
from desktop_rag.core.library_events import DocumentCounts
from desktop_rag.ui.library.document_rows import (
    NUMBER_COLUMNS,
    STATES_OF_GROUP,
    TITLES,
    Column,
    DocumentRows,
    Row,
    StateCounts,
    StateGroup,
    cell_text,
    count,
    merged,
    sort_key,
    whole_text,
)
from desktop_rag.ui.library.row_list_model import NO_INDEX, Index, RowListModel
from desktop_rag.ui.widgets.controls import plain_tooltip

DOCUMENT_ROLE = Qt.ItemDataRole.UserRole
_MOST_ONE_BY_ONE = 200


class DocumentModel(RowListModel):
    """All known documents; shows those the filter lets through, in the chosen order.

    `counts_changed` comes after every change of any state, shown or not. More changes at a time
    than `most_one_by_one` go through the whole table once.
    """

    counts_changed = Signal()

    def __init__(
        self, parent: QObject | None = None, *, most_one_by_one: int = _MOST_ONE_BY_ONE
    ) -> None:
        super().__init__(parent)
        self._most_one_by_one = most_one_by_one
        self._by_id: dict[str, Row] = {}
        self._counts: StateCounts = {}
        self._roots: dict[str, str] = {}
        self._column: int = Column.NAME
        self._group = StateGroup.ALL
        self._source_id = ""
        self._words: tuple[str, ...] = ()

    # --- what it holds ---------------------------------------------------------------------------

    def set_table(self, table: DocumentRows) -> None:
        """Replace everything by what `make_table` prepared."""
        self._by_id, self._counts, self._roots = table.by_id, table.counts, table.roots
        self.reset_rows(table.rows if self._column == Column.NAME else self._keyed(table.rows))
        self.counts_changed.emit()

    def set_roots(self, roots: Mapping[str, str]) -> None:
        """The paths of the sources by id. Documents of sources that went are dropped."""
        gone = self._roots.keys() - roots.keys()
        new = {key for key, root in roots.items() if self._roots.get(key) != root}
        self._roots = dict(roots)
        dropped = [row for row in self._by_id.values() if row.document.source_id in gone]
        if dropped:
            self._forget(dropped)
            self.show_rows([r for r in self._ordered if r.document.source_id not in gone])
        renamed = [row.document for row in self._ordered if row.document.source_id in new]
        self._apply_many(renamed)
        if dropped or renamed:
            self.counts_changed.emit()

    def apply_changes(self, documents: Iterable[Document]) -> None:
        """Take over new states: rows change in place, come and go; nothing is reset."""
        latest = {document.document_id: document for document in documents}.values()
        if len(latest) > self._most_one_by_one:
            self._apply_many(latest)
        else:
            changed = [row for document in latest if (row := self._apply_one(document))]
            self.tell_changed(changed)
        self.counts_changed.emit()

    def counts(self, source_id: str = "") -> DocumentCounts:
        """How many are in each state, of one source or of all."""
        if source_id:
            return DocumentCounts(dict(self._counts.get(source_id, {})))
        return DocumentCounts(dict(sum(self._counts.values(), Counter[DocumentState]())))

    def document_at(self, position: int) -> Document:
        """The document shown in that row."""
        return self.row_at(position).document

    # --- what it shows ---------------------------------------------------------------------------

    def set_filter(self, group: StateGroup, text: str = "", source_id: str = "") -> None:
        """Show only a group of states, of one source, with all the words of `text` in them."""
        wanted = (group, tuple(text.casefold().split()), source_id)
        if wanted != (self._group, self._words, self._source_id):
            self._group, self._words, self._source_id = wanted
            self.show_rows(self._ordered)

    def fits(self, row: Row) -> bool:
        document = row.document
        return (
            document.state in STATES_OF_GROUP[self._group]
            and self._source_id in {"", document.source_id}
            and all(word in row.haystack for word in self._words)
        )

    def fitting(self, rows: list[Row]) -> list[Row]:
        # What `fits` says, several times as fast for 50,000 rows.
        rows = rows[:]
        if self._source_id:
            rows = [row for row in rows if row.document.source_id == self._source_id]
        if self._group is not StateGroup.ALL:
            states = STATES_OF_GROUP[self._group]
            rows = [row for row in rows if row.document.state in states]
        for word in self._words:
            rows = [row for row in rows if word in row.haystack]
        return rows

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        rows = self._ordered
        if column != self._column:
            self._column = column
            rows = self._keyed(rows)
        self.order_rows(rows, is_descending=order == Qt.SortOrder.DescendingOrder)

    def columnCount(self, parent: Index = NO_INDEX) -> int:
        return 0 if parent.isValid() else len(Column)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation == Qt.Orientation.Vertical or not 0 <= section < len(TITLES):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return TITLES[section]
        return _alignment(section) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return cell_text(self.row_at(index.row()), index.column())
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(index.column())
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tooltip(whole_text(self.row_at(index.row()), index.column())) or None
        return self.row_at(index.row()).document if role == DOCUMENT_ROLE else None

    # --- inside ----------------------------------------------------------------------------------

    def _apply_one(self, document: Document) -> Row | None:
        """Let one row change, come, go or move; the row, if it only has to be painted anew."""
        row = self._by_id.get(document.document_id)
        if document.is_forgotten:
            if row:
                self._forget([row])
                self.drop_row(row)
            return None
        if row is None:
            self.add_row(self._take_new(document))
            return None
        is_in_place = self.change_row(row, lambda: self._take(document, row))
        return row if is_in_place else None

    def _apply_many(self, documents: Collection[Document]) -> None:
        changed: list[Row] = []
        arriving: list[Row] = []
        leaving: set[Row] = set()
        gone: set[Row] = set()
        for document in documents:
            row = self._by_id.get(document.document_id)
            if document.is_forgotten:
                gone.update({row} if row else ())
            elif row is None:
                arriving.append(self._take_new(document))
            else:
                changed.append(row)
                if self._take(document, row):
                    leaving.add(row)
        self._forget(gone)
        ordered = self._ordered
        if gone or leaving:
            ordered = [row for row in ordered if row not in gone and row not in leaving]
        if arriving := [*arriving, *leaving]:
            ordered = merged(ordered, arriving)
        self.show_rows(ordered)
        self.tell_changed(changed)

    def _take_new(self, document: Document) -> Row:
        row = Row(document, self._roots.get(document.source_id, ""))
        row.key = sort_key(row, self._column)
        self._by_id[document.document_id] = row
        count(self._counts, document, 1)
        return row

    def _take(self, document: Document, row: Row) -> bool:
        """Put a known document's new state in; whether its row has to move."""
        count(self._counts, row.document, -1)
        count(self._counts, document, 1)
        former_key = row.key
        row.read(document, self._roots.get(document.source_id, ""))
        row.key = sort_key(row, self._column)
        return row.key != former_key

    def _forget(self, gone: Iterable[Row]) -> None:
        for row in gone:
            del self._by_id[row.document.document_id]
            count(self._counts, row.document, -1)

    def _keyed(self, rows: list[Row]) -> list[Row]:
        """The rows with the keys of the present column, in that order."""
        for row in rows:
            row.key = sort_key(row, self._column)
        return sorted(rows, key=attrgetter("key"))


def _alignment(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column in NUMBER_COLUMNS else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
