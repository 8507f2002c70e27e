"""The Qt model of the documents table: holds, filters, sorts and counts them. Qt thread.

It sorts and filters plain lists itself. A proxy model would call into Python a million times to
sort 50,000 rows and freeze the window for seconds.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from desktop_rag.core.domain import Document, DocumentState
from desktop_rag.core.library_events import DocumentCounts
from desktop_rag.ui.library.document_rows import (
    NUMBER_COLUMNS,
    TITLES,
    Column,
    DocumentRows,
    Row,
    StateCounts,
    cell_text,
    count,
    facet_counts,
    merged,
    position_of,
    sort_key,
    whole_text,
)
from desktop_rag.ui.library.facets.facet_values import (
    Facet,
    FacetKey,
    FileFilter,
    KeyCounts,
    StateGroup,
    ValueCounts,
    is_inside,
)
from desktop_rag.ui.widgets.controls import plain_tooltip

Index = QModelIndex | QPersistentModelIndex
NO_INDEX = QModelIndex()
_MAX_RANGES = 64


class RowListModel(QAbstractTableModel):
    """Keeps all rows sorted by key, and the visible ones in ascending or descending order.

    A few changes touch only their own rows, found by bisection; many are applied in one pass. The
    model is never reset for changes, which keeps selection, current row and scroll position. A
    subclass decides in `fits` which rows are visible. `rearranging` precedes a change of many
    positions, so that views can drop their persistent indexes.
    """

    rearranging = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        # Both are ascending, even while the table is shown in descending order.
        self._ordered: list[Row] = []
        self._shown: list[Row] = []
        self._is_descending = False

    def fits(self, row: Row) -> bool:
        """True if the row passes the filter."""
        raise NotImplementedError

    def fitting(self, rows: list[Row]) -> list[Row]:
        """The rows that pass the filter, in a new list."""
        return [row for row in rows if self.fits(row)]

    def rowCount(self, parent: Index = NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self._shown)

    def row_at(self, position: int) -> Row:
        """The visible row at this position, counted from the top."""
        return self._shown[self._mirrored(position)]

    def emit_changed(self, rows: Iterable[Row]) -> None:
        """Emit `dataChanged` for the visible ones among these rows."""
        shown = self._shown
        places = sorted(self._mirrored(position_of(row, shown)) for row in rows if row.is_shown)
        ranges = _ranges(places)
        if len(ranges) > _MAX_RANGES:
            ranges = [(places[0], places[-1])]
        for first, last in ranges:
            self.dataChanged.emit(self.index(first, 0), self.index(last, self.columnCount() - 1))

    # --- one row -----------------------------------------------------------------------------

    def add_row(self, row: Row) -> None:
        """Insert a new row at its sorted position."""
        self._ordered.insert(position_of(row, self._ordered), row)
        self._reveal(row)

    def drop_row(self, row: Row) -> None:
        """Remove a row."""
        self._hide(row)
        self._ordered.pop(position_of(row, self._ordered))

    def change_row(self, row: Row, change: Callable[[], bool]) -> bool:
        """Run `change`, which returns True if it changed the row's key, and reposition the row.

        Returns True if the row is still visible, so that it only needs repainting.
        """
        in_all, in_shown = position_of(row, self._ordered), position_of(row, self._shown)
        if change():
            self._ordered.pop(in_all)
            self._ordered.insert(position_of(row, self._ordered), row)
            if row.is_shown:
                self._move(row, in_shown)
        if not row.is_shown:
            self._reveal(row)
            return False
        if not self.fits(row):
            self._hide(row)
        return row.is_shown

    def _reveal(self, row: Row) -> None:
        if self.fits(row):
            place = position_of(row, self._shown)
            seen_at = len(self._shown) - place if self._is_descending else place
            self.beginInsertRows(NO_INDEX, seen_at, seen_at)
            self._shown.insert(place, row)
            row.is_shown = True
            self.endInsertRows()

    def _hide(self, row: Row) -> None:
        if row.is_shown:
            place = position_of(row, self._shown)
            self.beginRemoveRows(NO_INDEX, self._mirrored(place), self._mirrored(place))
            self._shown.pop(place)
            row.is_shown = False
            self.endRemoveRows()

    def _move(self, row: Row, former: int) -> None:
        del self._shown[former]
        place = position_of(row, self._shown)
        self._shown.insert(former, row)
        start, end = self._mirrored(former), self._mirrored(place)
        if start != end:
            # Qt expects the row to insert before, counted with the moved row at its old position.
            before = end + 1 if end > start else end
            self.beginMoveRows(NO_INDEX, start, start, NO_INDEX, before)
            self._shown.insert(place, self._shown.pop(former))
            self.endMoveRows()

    # --- all rows ----------------------------------------------------------------------------

    def reset_rows(self, ordered: list[Row]) -> None:
        """Replace all rows by these, which are sorted by key."""
        self.beginResetModel()
        self._ordered = ordered
        self._shown = self.fitting(ordered)
        _mark_shown(self._shown)
        self.endResetModel()

    def show_rows(self, ordered: list[Row]) -> None:
        """Switch to mostly the same rows, sorted by key; also after a change of the filter.

        New rows are appended, then all rows are rearranged with the removed ones last, then those
        are dropped: three steps however scattered the changes are.
        """
        self._ordered = ordered
        target = self.fitting(ordered)
        if self._shown == target:
            return
        first = len(self._shown)
        coming = [row for row in target if not row.is_shown]
        if coming:
            self.beginInsertRows(NO_INDEX, first, first + len(coming) - 1)
            self._shown = self._with_end(self._shown, coming)
            self.endInsertRows()
        _mark_shown(target, self._shown)
        going = [row for row in self._shown if not row.is_shown]
        self._rearrange(self._with_end(target, going), is_descending=self._is_descending)
        if going:
            self.beginRemoveRows(NO_INDEX, len(target), len(self._shown) - 1)
            self._shown = target
            self.endRemoveRows()

    def order_rows(self, ordered: list[Row], *, is_descending: bool) -> None:
        """Re-sort the same rows by new keys or in the other direction."""
        self._ordered = ordered
        shown = [row for row in ordered if row.is_shown]
        self._rearrange(shown, is_descending=is_descending)

    def _rearrange(self, shown: list[Row], *, is_descending: bool) -> None:
        """Change the order; persistent indexes follow their rows."""
        if (self._shown, self._is_descending) == (shown, is_descending):
            return
        self.rearranging.emit()
        self.layoutAboutToBeChanged.emit()
        before = self.persistentIndexList()
        rows = [self.row_at(index.row()) for index in before]
        followed = set(rows)
        self._shown, self._is_descending = shown, is_descending
        if followed:
            places = {row: place for place, row in enumerate(shown) if row in followed}
            after = [
                self.index(self._mirrored(places[row]), index.column())
                for row, index in zip(rows, before, strict=True)
            ]
            self.changePersistentIndexList(before, after)
        self.layoutChanged.emit()

    def _with_end(self, rows: list[Row], last: list[Row]) -> list[Row]:
        """Both lists joined so that `last` is shown below `rows`."""
        return [*last, *rows] if self._is_descending else [*rows, *last]

    def _mirrored(self, place: int) -> int:
        """The table row for an index into `_shown`, and vice versa."""
        return len(self._shown) - 1 - place if self._is_descending else place


def _mark_shown(target: Sequence[Row], before: Sequence[Row] = ()) -> None:
    for row in before:
        row.is_shown = False
    for row in target:
        row.is_shown = True


def _ranges(places: Sequence[int]) -> list[tuple[int, int]]:
    """Sorted numbers as runs: [1, 2, 3, 7] → [(1, 3), (7, 7)]."""
    runs: list[tuple[int, int]] = []
    for place in places:
        if runs and place <= runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], place)
        else:
            runs.append((place, place))
    return runs


DOCUMENT_ROLE = Qt.ItemDataRole.UserRole
_MAX_SINGLE_CHANGES = 200


class DocumentModel(RowListModel):
    """Holds all documents and shows those that pass the filter, in the chosen order.

    `counts_changed` follows every change of state, shown or not. A batch of more than
    `max_single_changes` is applied in one pass over the whole table.
    """

    counts_changed = Signal()

    def __init__(
        self, parent: QObject | None = None, *, max_single_changes: int = _MAX_SINGLE_CHANGES
    ) -> None:
        super().__init__(parent)
        self._max_single_changes = max_single_changes
        self._by_id: dict[str, Row] = {}
        self._counts: StateCounts = {}
        self._roots: dict[str, str] = {}
        self._column: int = Column.NAME
        self.filter = FileFilter()
        self._facets: KeyCounts = Counter()
        # The keys tested against the filter, and those that pass it.
        self._judged: set[FacetKey] = set()
        self._admitted: set[FacetKey] = set()

    # --- content ---------------------------------------------------------------------------------

    def set_table(self, table: DocumentRows) -> None:
        """Replace all rows with those prepared by `make_table`."""
        self._by_id, self._counts, self._roots = table.by_id, table.counts, table.roots
        self._facets = table.facets
        self.reset_rows(table.rows if self._column == Column.NAME else self._keyed(table.rows))
        self.counts_changed.emit()

    def set_roots(self, roots: Mapping[str, str]) -> None:
        """Set the path of each source by id. Documents of removed sources are dropped."""
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
        """Update, add and remove rows without resetting the model."""
        latest = {document.document_id: document for document in documents}.values()
        if len(latest) > self._max_single_changes:
            self._apply_many(latest)
        else:
            changed = [row for document in latest if (row := self._apply_one(document))]
            self.emit_changed(changed)
        self.counts_changed.emit()

    def counts(self, source_id: str = "") -> DocumentCounts:
        """Documents per state, of one source or of all."""
        if source_id:
            return DocumentCounts(dict(self._counts.get(source_id, {})))
        return DocumentCounts(dict(sum(self._counts.values(), Counter[DocumentState]())))

    def document_at(self, position: int) -> Document:
        """The document shown in this row."""
        return self.row_at(position).document

    # --- presentation ----------------------------------------------------------------------------

    def set_filter(self, wanted: FileFilter) -> None:
        """Show only the rows that have a chosen value of each facet and contain every word."""
        if wanted != self.filter:
            self.filter = wanted
            self._judged.clear()
            self._admitted.clear()
            self.show_rows(self._ordered)

    def facet_counts(self) -> ValueCounts:
        """The number of files of each value of each facet.

        Counted among those that the rest of the filter admits: what choosing the value would show.
        """
        found = self._facets
        if self.filter.words:
            found = facet_counts(self._containing(self._ordered))
        return {facet: self.filter.counts(facet, found) for facet in Facet}

    def unread(self) -> list[Document]:
        """The files that failed or were skipped."""
        rows = self._ordered if any(key[0] == StateGroup.NOT_READ for key in self._facets) else ()
        return [
            row.document
            for row in rows
            if row.facets[0] == StateGroup.NOT_READ and not is_inside(row.facets)
        ]

    def shown_inside(self) -> int:
        """How many of the shown rows are documents inside files."""
        has_inside = any(map(is_inside, self._facets))
        return sum(is_inside(row.facets) for row in self._shown) if has_inside else 0

    def totals(self) -> KeyCounts:
        """The number of all rows by their values of the facets."""
        return self._facets

    def fits(self, row: Row) -> bool:
        self._judge((row.facets,))
        return row.facets in self._admitted and all(
            word in row.haystack for word in self.filter.words
        )

    def fitting(self, rows: list[Row]) -> list[Row]:
        # The same test as `fits`, several times faster for 50,000 rows.
        rows = rows[:]
        if self.filter.chosen:
            self._judge(self._facets)
            admitted = self._admitted
            rows = [row for row in rows if row.facets in admitted]
        return self._containing(rows)

    def _containing(self, rows: list[Row]) -> list[Row]:
        for word in self.filter.words:
            rows = [row for row in rows if word in row.haystack]
        return rows

    def _judge(self, keys: Iterable[FacetKey]) -> None:
        """Test new keys against the filter, each once."""
        fresh = set(keys) - self._judged
        self._admitted |= self.filter.admitted(fresh)
        self._judged |= fresh

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

    # --- updates ---------------------------------------------------------------------------------

    def _apply_one(self, document: Document) -> Row | None:
        """Apply one change; returns the row if it stayed in place and only needs repainting."""
        row = self._by_id.get(document.document_id)
        if document.is_forgotten:
            if row:
                self._forget([row])
                self.drop_row(row)
            return None
        if row is None:
            self.add_row(self._new_row(document))
            return None
        is_in_place = self.change_row(row, lambda: self._update_row(document, row))
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
                arriving.append(self._new_row(document))
            else:
                changed.append(row)
                if self._update_row(document, row):
                    leaving.add(row)
        self._forget(gone)
        ordered = self._ordered
        if gone or leaving:
            ordered = [row for row in ordered if row not in gone and row not in leaving]
        if arriving := [*arriving, *leaving]:
            ordered = merged(ordered, arriving)
        self.show_rows(ordered)
        self.emit_changed(changed)

    def _new_row(self, document: Document) -> Row:
        row = Row(document, self._roots.get(document.source_id, ""))
        row.key = sort_key(row, self._column)
        self._by_id[document.document_id] = row
        self._count(row, 1)
        return row

    def _update_row(self, document: Document, row: Row) -> bool:
        """Store a document's new state in its row; True if the row has to move."""
        self._count(row, -1)
        former_key = row.key
        row.read(document, self._roots.get(document.source_id, ""))
        self._count(row, 1)
        row.key = sort_key(row, self._column)
        return row.key != former_key

    def _forget(self, gone: Iterable[Row]) -> None:
        for row in gone:
            del self._by_id[row.document.document_id]
            self._count(row, -1)

    def _count(self, row: Row, by: int) -> None:
        count(self._counts, row.document, by)
        self._facets[row.facets] += by
        if not self._facets[row.facets]:
            del self._facets[row.facets]

    def _keyed(self, rows: list[Row]) -> list[Row]:
        for row in rows:
            row.key = sort_key(row, self._column)
        return sorted(rows, key=attrgetter("key"))


def _alignment(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column in NUMBER_COLUMNS else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
