"""Base of the documents model: keeps rows sorted and filtered, and moves them. Qt thread.

A few changes touch only their own rows, found by bisection; many are applied in one pass. Either
way the model is not reset, so selection, current row and scroll position are kept.
"""

from collections.abc import Callable, Iterable, Sequence

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Signal,
)

from desktop_rag.ui.library.document_rows import Row, position_of

Index = QModelIndex | QPersistentModelIndex
NO_INDEX = QModelIndex()
_MAX_RANGES = 64


class RowListModel(QAbstractTableModel):
    """Keeps all rows sorted by key, and the visible ones in ascending or descending order.

    A subclass decides by `fits` which rows are visible. `rearranging` precedes a change of many
    places: whoever follows rows by persistent indexes can let go of them.
    """

    rearranging = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        # Both are ascending, even while the table is shown in descending order.
        self._ordered: list[Row] = []
        self._shown: list[Row] = []
        self._is_descending = False

    def fits(self, row: Row) -> bool:
        """True when the row passes the filter."""
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
        """Move the row at `former` to the position of its new key."""
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
        """Replace all rows with these, sorted by key."""
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
    """Set `is_shown` to True for the rows of `target`, and to False for others of `before`."""
    for row in before:
        row.is_shown = False
    for row in target:
        row.is_shown = True


def _ranges(places: Sequence[int]) -> list[tuple[int, int]]:
    """Sorted numbers as ranges without gaps: [1, 2, 3, 7] → [(1, 3), (7, 7)]."""
    runs: list[tuple[int, int]] = []
    for place in places:
        if runs and place <= runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], place)
        else:
            runs.append((place, place))
    return runs
