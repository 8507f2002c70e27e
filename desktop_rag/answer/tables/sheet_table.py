"""A table of a document that a query can read: rows under one header, typed columns. Pure.

Tables of one document with the same header form one table: a sheet for each month, or blocks of
rows with empty ones between. Rows of totals are left out, so that nothing is counted twice.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from desktop_rag.answer.tables.cell_values import ColumnValues, column_values, notation_of
from desktop_rag.answer.tables.sheet_rows import RowBlock, SheetRow, column_letters
from desktop_rag.answer.tables.table_words import table_words
from desktop_rag.core.anchors import Anchor
from desktop_rag.store.contract.tables import QueryTable, TableColumn

MOST_CELLS = 1_000_000
_MOST_COLUMNS = 80
_LEAST_ROWS = 2
_LONGEST_NAME_CHARS = 60
_LONGEST_TABLE_NAME_CHARS = 40
# The share of rows whose cells may be impossible to separate.
_MOST_UNCLEAR_SHARE = 0.02
_MOST_HEADER_ROWS = 3
_DIGIT = re.compile(r"\d")
_YEAR = re.compile(r"(?:19|20)\d\d")
# The name of the row number in SQL.
_TAKEN = frozenset({"rowid"})


@dataclass(frozen=True, slots=True)
class SheetColumn:
    """A column of a table: name, position (from 0; -1 for the name of the sheet), values."""

    name: str
    column: int
    values: ColumnValues


@dataclass(frozen=True, slots=True)
class PlacedRow:
    """A row of a table and its sheet."""

    sheet: str | None
    row: SheetRow


@dataclass(frozen=True, slots=True)
class SheetTable:
    """A table that can be queried. `totals` holds the numbers of the rows of totals, left out;
    `unclear` counts the rows left out because their cells could not be separated.
    """

    name: str
    columns: tuple[SheetColumn, ...]
    rows: tuple[PlacedRow, ...]
    totals: tuple[int, ...] = ()
    unclear: int = 0

    @property
    def sheets(self) -> tuple[str | None, ...]:
        """The sheets of the table, in order."""
        return tuple(dict.fromkeys(placed.sheet for placed in self.rows))

    def query_table(self) -> QueryTable:
        """The table in the form that queries read."""
        return QueryTable(
            self.name,
            tuple(TableColumn(c.name, c.values.kind, c.values.values) for c in self.columns),
        )

    def places(
        self, rows: Sequence[int] | None, columns_used: frozenset[str] | None
    ) -> tuple[Anchor, ...]:
        """The smallest range on each sheet with these rows and columns; None for all.

        Rows are given by index, columns by name in lower case.
        """
        placed = self.rows if not rows else [self.rows[n] for n in rows]
        own = [c for c in self.columns if c.column >= 0]
        used = [c for c in own if columns_used is None or c.name.casefold() in columns_used] or own
        first, last = (column_letters(pick(c.column for c in used)) for pick in (min, max))
        found: list[Anchor] = []
        for sheet in dict.fromkeys(row.sheet for row in placed):
            numbers = [row.row.number for row in placed if row.sheet == sheet]
            start, end = f"{first}{min(numbers)}", f"{last}{max(numbers)}"
            found.append(Anchor(sheet=sheet, cells=start if start == end else f"{start}:{end}"))
        return tuple(found)

    def span(self, rows: Sequence[int] | None) -> tuple[int, int]:
        """The span of these rows in the text of the document, on the sheet of the first row."""
        placed = self.rows if not rows else [self.rows[n] for n in sorted(rows)]
        here = [row.row for row in placed if row.sheet == placed[0].sheet]
        return min(row.start for row in here), max(row.end for row in here)


def table_at(
    blocks: Sequence[RowBlock], start: int, end: int, title: str, taken: Iterable[str] = ()
) -> SheetTable | None:
    """The table at the text [start, end), joined with those of the same header.

    None when there is none, it is too small or too large, or its cells cannot be separated. `title`
    is that of the document; `taken` are the names of other tables.
    """
    hits = [b for b in blocks if any(r.start < end and start < r.end for r in b.rows)]
    if not hits:
        return None
    hit = max(hits, key=lambda b: sum(r.start < end and start < r.end for r in b.rows))
    same = [_with_header(b) for b in blocks if b is hit or (b.header and _is_alike(b, hit))]
    width = max(len(row.cells) for block in same for row in block.rows)
    count = sum(len(block.rows) for block in same)
    unclear = sum(block.unclear for block in same)
    if not _LEAST_ROWS <= count <= MOST_CELLS // width or unclear > _MOST_UNCLEAR_SHARE * count:
        return None
    every = [PlacedRow(block.sheet, row) for block in same for row in block.rows]
    rows = [placed for placed in every if not _is_total(placed.row)]
    totals = tuple(placed.row.number for placed in every if _is_total(placed.row))
    if not rows:
        rows, totals = every, ()
    header = next(block.header for block in same if block.header or block is same[-1])
    columns = _columns(header, rows, width, same[0].first_column)
    sheets = dict.fromkeys(placed.sheet for placed in rows)
    if len(sheets) > 1:
        sheet = ColumnValues("VARCHAR", tuple(placed.sheet for placed in rows))
        name = _free_name("sheet", {column.name.casefold() for column in columns})
        columns.insert(0, SheetColumn(name, -1, sheet))
    only = next(iter(sheets)) if len(sheets) == 1 else None
    named = _table_name(only or title, {name.casefold() for name in taken})
    return SheetTable(named, tuple(columns), tuple(rows), totals, unclear) if columns else None


def _is_alike(one: RowBlock, other: RowBlock) -> bool:
    def plain(block: RowBlock) -> tuple[int, tuple[str, ...]]:
        return block.first_column, tuple(name.casefold() for name in block.header)

    return plain(one) == plain(other)


def _is_total(row: SheetRow) -> bool:
    first = next((cell for cell in row.cells if cell), "")
    return first.casefold().rstrip(" :") in table_words().totals


def _columns(
    header: Sequence[str], rows: Sequence[PlacedRow], width: int, first_column: int
) -> list[SheetColumn]:
    width = max(width, len(header))
    cells = [
        [placed.row.cells[n] if n < len(placed.row.cells) else "" for placed in rows]
        for n in range(min(width, _MOST_COLUMNS))
    ]
    notation = notation_of(cells)
    columns: list[SheetColumn] = []
    taken: set[str] = set(_TAKEN)
    for n, column in enumerate(cells):
        given = header[n] if n < len(header) else ""
        if not given and not any(column):
            continue
        name = _free_name(_column_name(given) or column_letters(first_column + n), taken)
        taken.add(name.casefold())
        columns.append(SheetColumn(name, first_column + n, column_values(column, notation)))
    return columns


def _column_name(header: str) -> str:
    return " ".join(header.replace('"', "'").split())[:_LONGEST_NAME_CHARS].strip()


def _table_name(title: str, taken: set[str]) -> str:
    name = re.sub(r"\W+", "_", title.casefold()).strip("_")[:_LONGEST_TABLE_NAME_CHARS]
    name = f"table_{name}" if not name or name[0].isdecimal() else name
    return _free_name(name.rstrip("_"), taken, "{}_{}")


def _free_name(name: str, taken: set[str], form: str = "{} ({})") -> str:
    free, number = name, 1
    while free.casefold() in taken:
        number += 1
        free = form.format(name, number)
    return free


# --- headers of several rows ----------------------------------------------------------------------


def _with_header(block: RowBlock) -> RowBlock:
    """The block with a header made of its first rows, where the readers found no certain one.

    Repeated names, say of quarters, are distinguished by the names above them, say of years.
    """
    if block.header:
        return block
    for count in range(2, _MOST_HEADER_ROWS + 1):
        above, below = block.rows[:count], block.rows[count:]
        names = _joined_names([row.cells for row in above])
        columns = _filled_columns([row.cells for row in below])
        if len(below) < _LEAST_ROWS or not columns:
            return block
        are_distinct = len({names.get(n) or None for n in columns} - {None}) == len(columns)
        if are_distinct and _are_names(above) and _has_values(below):
            header = tuple(names.get(n, "") for n in range(max(columns) + 1))
            return RowBlock(block.sheet, block.first_column, header, below, block.unclear)
    return block


def _joined_names(rows: Sequence[Sequence[str]]) -> dict[int, str]:
    width = max(map(len, rows), default=0)
    parts = (dict.fromkeys(row[n] for row in rows if n < len(row) and row[n]) for n in range(width))
    return {n: " ".join(part) for n, part in enumerate(parts)}


def _filled_columns(rows: Iterable[Sequence[str]]) -> list[int]:
    return sorted({n for row in rows for n, cell in enumerate(row) if cell})


def _are_names(rows: Iterable[SheetRow]) -> bool:
    cells = [cell for row in rows for cell in row.cells if cell]
    return all(_YEAR.fullmatch(cell) or not _is_number(cell) for cell in cells)


def _has_values(rows: Iterable[SheetRow]) -> bool:
    cells = [cell for row in rows for cell in row.cells if cell]
    return any(map(_is_number, cells))


def _is_number(cell: str) -> bool:
    return not any(map(str.isalpha, cell)) and _DIGIT.search(cell) is not None
