"""Rows in order, some of them shown: the part of a table model that moves rows about. Qt thread.

Few changes touch only their own rows, found by bisection; many go through the whole lists once.
Either way nothing is reset, so selection, current row and scroll position stay.
"""

from collections.abc import Callable, Iterable, Sequence

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
)

from desktop_rag.ui.library.document_rows import Row, place_of

Index = QModelIndex | QPersistentModelIndex
NO_INDEX = QModelIndex()
_MOST_RANGES = 64


class RowListModel(QAbstractTableModel):
    """Keeps all rows rising by key, and of them those shown, rising or falling.

    A subclass says by `fits` which are shown.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        # Both rise by key, also when they are shown the other way round.
        self._ordered: list[Row] = []
        self._shown: list[Row] = []
        self._is_descending = False

    def fits(self, row: Row) -> bool:
        """Whether the row is to be shown."""
        raise NotImplementedError

    def fitting(self, rows: list[Row]) -> list[Row]:
        """Those of the rows that are to be shown, in a new list."""
        return [row for row in rows if self.fits(row)]

    def rowCount(self, parent: Index = NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self._shown)

    def row_at(self, position: int) -> Row:
        """The row shown there, counted from the top."""
        return self._shown[self._turned(position)]

    def tell_changed(self, rows: Iterable[Row]) -> None:
        """These rows have to be painted anew, if they are shown."""
        shown = self._shown
        places = sorted(self._turned(place_of(row, shown)) for row in rows if row.is_shown)
        ranges = _ranges(places)
        if len(ranges) > _MOST_RANGES:
            ranges = [(places[0], places[-1])]
        for first, last in ranges:
            self.dataChanged.emit(self.index(first, 0), self.index(last, self.columnCount() - 1))

    # --- one row -----------------------------------------------------------------------------

    def add_row(self, row: Row) -> None:
        """A new row, at its place."""
        self._ordered.insert(place_of(row, self._ordered), row)
        self._reveal(row)

    def drop_row(self, row: Row) -> None:
        """The row is gone."""
        self._hide(row)
        self._ordered.pop(place_of(row, self._ordered))

    def change_row(self, row: Row, change: Callable[[], bool]) -> bool:
        """Run `change`, which says whether it gave the row another key, and put the row right.

        True if the row is still shown at its place, so that it only has to be painted anew.
        """
        in_all, in_shown = place_of(row, self._ordered), place_of(row, self._shown)
        if change():
            self._ordered.pop(in_all)
            self._ordered.insert(place_of(row, self._ordered), row)
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
            place = place_of(row, self._shown)
            seen_at = len(self._shown) - place if self._is_descending else place
            self.beginInsertRows(NO_INDEX, seen_at, seen_at)
            self._shown.insert(place, row)
            row.is_shown = True
            self.endInsertRows()

    def _hide(self, row: Row) -> None:
        if row.is_shown:
            place = place_of(row, self._shown)
            self.beginRemoveRows(NO_INDEX, self._turned(place), self._turned(place))
            self._shown.pop(place)
            row.is_shown = False
            self.endRemoveRows()

    def _move(self, row: Row, former: int) -> None:
        """The row at place `former` has another key now."""
        del self._shown[former]
        place = place_of(row, self._shown)
        self._shown.insert(former, row)
        start, end = self._turned(former), self._turned(place)
        if start != end:
            # Qt wants the row before which it goes, counted as if it were still at its old place.
            before = end + 1 if end > start else end
            self.beginMoveRows(NO_INDEX, start, start, NO_INDEX, before)
            self._shown.insert(place, self._shown.pop(former))
            self.endMoveRows()

    # --- all rows ----------------------------------------------------------------------------

    def reset_rows(self, ordered: list[Row]) -> None:
        """Other rows altogether, rising by key."""
        self.beginResetModel()
        self._ordered = ordered
        self._shown = self.fitting(ordered)
        _mark_shown(self._shown)
        self.endResetModel()

    def show_rows(self, ordered: list[Row]) -> None:
        """Mostly the same rows, rising by key; also after the filter changed.

        New rows come at the end, then all move to their places with those that go at the end:
        three steps however scattered the changes are.
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
        """The same rows with other keys, or the other way round."""
        self._ordered = ordered
        shown = [row for row in ordered if row.is_shown]
        self._rearrange(shown, is_descending=is_descending)

    def _rearrange(self, shown: list[Row], *, is_descending: bool) -> None:
        """Persistent indexes follow their rows."""
        if (self._shown, self._is_descending) == (shown, is_descending):
            return
        self.layoutAboutToBeChanged.emit()
        before = self.persistentIndexList()
        rows = [self.row_at(index.row()) for index in before]
        followed = set(rows)
        self._shown, self._is_descending = shown, is_descending
        if followed:
            places = {row: place for place, row in enumerate(shown) if row in followed}
            after = [
                self.index(self._turned(places[row]), index.column())
                for row, index in zip(rows, before, strict=True)
            ]
            self.changePersistentIndexList(before, after)
        self.layoutChanged.emit()

    def _with_end(self, rows: list[Row], last: list[Row]) -> list[Row]:
        """Both together, `last` shown below `rows`."""
        return [*last, *rows] if self._is_descending else [*rows, *last]

    def _turned(self, place: int) -> int:
        """The row of the table for a place in `_shown`, and the other way round."""
        return len(self._shown) - 1 - place if self._is_descending else place


def _mark_shown(target: Sequence[Row], before: Sequence[Row] = ()) -> None:
    """Write into the rows of `before` and `target` whether they are in `target`."""
    for row in before:
        row.is_shown = False
    for row in target:
        row.is_shown = True


def _ranges(places: Sequence[int]) -> list[tuple[int, int]]:
    """Rising numbers as runs without gaps: [1, 2, 3, 7] → [(1, 3), (7, 7)]."""
    runs: list[tuple[int, int]] = []
    for place in places:
        if runs and place <= runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], place)
        else:
            runs.append((place, place))
    return runs
