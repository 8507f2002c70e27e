"""Tables of spreadsheets and CSV files: rows, typed columns, and texts for a model. Pure.

The readers write each row as one line, with bars between the cells, and mark its range of cells.
Passages are cut from that text, so citations can point at it, and the file itself is not needed.
Texts about tables and results quote untrusted cells: the caller fences them.
"""

import datetime
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import islice, pairwise

from desktop_rag.answer.tables.cell_values import (
    RESULT,
    ColumnValues,
    column_values,
    is_currency,
    notation_of,
    table_words,
)
from desktop_rag.core.parsed import Anchor, Mark, TableHeader
from desktop_rag.core.places import column_letters, column_number, places_from_json
from desktop_rag.store.contract.engine import QueryResult, QueryTable, TableColumn

_BORDER = " | "
# The readers shorten a longer run of empty cells to this many.
_GAP_CELLS = 8
_RANGE = re.compile(r"([A-Z]{1,3})(\d{1,7})(?::([A-Z]{1,3})(\d{1,7}))?")


@dataclass(frozen=True, slots=True)
class SheetRow:
    """A row of a sheet by its number, from 1, at [start, end) of the text of the document."""

    sheet: str | None
    number: int
    cells: tuple[str, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class RowBlock:
    """Adjacent rows of a sheet, whose first cells are in `first_column` (from 0).

    `header` holds the column names, none when the readers were not sure; `unclear` counts rows
    whose cells cannot be separated.
    """

    sheet: str | None
    first_column: int
    header: tuple[str, ...]
    rows: tuple[SheetRow, ...]
    unclear: int = 0


def row_blocks(text: str, places: str) -> list[RowBlock]:
    """The blocks of rows of a document in order, with their headers."""
    marks, _, headers = places_from_json(places)
    sheets = _sheets(text, marks)
    return [block for sheet, lines in sheets for block in _blocks(sheet, lines, headers)]


@dataclass(slots=True)
class _Line:
    """A row as written, with the range of cells marked for it."""

    number: int
    first: int
    last: int
    is_exact: bool
    start: int
    text: str
    cells: list[str] = field(default_factory=list[str])

    @property
    def base(self) -> int:
        """The column where the line begins, derived from its first filled cell."""
        return self.first - next((n for n, cell in enumerate(self.cells) if cell), 0)


def _sheets(text: str, marks: Sequence[Mark]) -> Iterator[tuple[str | None, list[_Line]]]:
    ends = [*(mark.offset for mark in marks[1:]), len(text)][: len(marks)]
    lines: list[_Line] = []
    is_over = False
    for n, (mark, end) in enumerate(zip(marks, ends, strict=True)):
        if n and mark.anchor.sheet != marks[n - 1].anchor.sheet:
            if lines:
                yield marks[n - 1].anchor.sheet, lines
            lines, is_over = [], False
        after = lines[-1].number if lines else 0
        written = [] if is_over else _lines(mark.anchor, text[mark.offset : end], mark.offset)
        if written and written[0].number > after:
            lines += written
        elif lines:
            # Comments follow the rows, and have cells too.
            is_over = True
    if lines:
        yield marks[-1].anchor.sheet, lines


def _lines(anchor: Anchor, text: str, start: int) -> list[_Line]:
    found = _RANGE.fullmatch(anchor.cells or "")
    if not found or text.startswith(f"Comment on {anchor.cells}"):
        return []
    first, top = column_number(found[1]), int(found[2])
    last = column_number(found[3]) if found[3] else first
    bottom = int(found[4]) if found[4] else top
    lines: list[_Line] = []
    for n, line in enumerate(text.rstrip("\n").split("\n")):
        # A mark for many rows may cover empty ones: then the number is a guess.
        number, cells = min(top + n, bottom), line.split(_BORDER)
        lines.append(_Line(number, first, last, top == bottom, start, line, cells))
        start += len(line) + 1
    return lines


def _blocks(
    sheet: str | None, lines: list[_Line], headers: Sequence[TableHeader]
) -> Iterator[RowBlock]:
    bases = Counter(line.base for line in lines if line.is_exact) or Counter([lines[0].first])
    base = bases.most_common(1)[0][0]
    own = {header.start: header.text for header in headers}
    names: tuple[str, ...] = ()
    for block in _parted(lines, headers):
        rows = [_row(sheet, line, base) for line in block]
        at = next((n for n, line in enumerate(block) if line.start + len(line.text) in own), None)
        if at is not None and (header_row := rows[at]):
            names = header_row.cells
            text = own[block[at].start + len(block[at].text)]
            if at and not " ".join(block[at].text.strip(_BORDER).split()).startswith(text):
                # The names above them are a part of the header.
                joined = _joined_names([row.cells for row in rows[at - 1 : at + 1] if row])
                names = tuple(joined.values())
            rows = rows[at + 1 :]
        elif block[0].start not in own:
            names = ()
        kept = tuple(row for row in rows if row is not None)
        if kept:
            yield RowBlock(sheet, base, names, kept, len(rows) - len(kept))


def _parted(lines: list[_Line], headers: Sequence[TableHeader]) -> Iterator[list[_Line]]:
    """The lines, split at empty rows, but not at hidden ones inside a table."""
    block = lines[:1]
    for before, line in pairwise(lines):
        is_parted = line.number > before.number + 1
        if is_parted and not any(h.start < line.start < h.end for h in headers):
            yield block
            block = []
        block.append(line)
    yield block


def _row(sheet: str | None, line: _Line, base: int) -> SheetRow | None:
    """The row with its cells; None when a cell contains the separator."""
    cells = line.cells
    missing = line.last - base + 1 - len(cells)
    if line.is_exact and missing > 0:
        cells = _widened(cells, missing)
        missing = line.last - base + 1 - len(cells)
    first = base + next((n for n, cell in enumerate(cells) if cell), 0)
    if missing < 0 or (line.is_exact and (missing or first != line.first)):
        return None
    return SheetRow(sheet, line.number, tuple(cells), line.start, line.start + len(line.text))


def _widened(cells: list[str], missing: int) -> list[str]:
    """The cells with a shortened run of empty cells restored, if there is one."""
    starts = [
        n
        for n in range(len(cells) - _GAP_CELLS + 1)
        if not any(cells[n : n + _GAP_CELLS]) and (n == 0 or cells[n - 1])
    ]
    if len(starts) != 1:
        return cells
    return [*cells[: starts[0]], *[""] * missing, *cells[starts[0] :]]


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
class SheetTable:
    """A table that can be queried. `totals` holds the numbers of the rows of totals, left out;
    `unclear` counts the rows left out because their cells could not be separated.
    """

    name: str
    columns: tuple[SheetColumn, ...]
    rows: tuple[SheetRow, ...]
    totals: tuple[int, ...] = ()
    unclear: int = 0

    @property
    def sheets(self) -> tuple[str | None, ...]:
        """The sheets of the table, in order."""
        return tuple(dict.fromkeys(row.sheet for row in self.rows))

    def short_texts(self, most: int) -> list[str]:
        """The names of its columns, and up to `most` of the different cells of a word or two."""
        cells = (v for c in self.columns if c.values.kind == "VARCHAR" for v in c.values.values)
        short = dict.fromkeys(cell for cell in cells if cell and cell.count(" ") <= 1)
        return [*(column.name for column in self.columns), *islice(short, most)]

    def query_table(self) -> QueryTable:
        """The table in the form that queries read."""
        return QueryTable(
            self.name,
            tuple(TableColumn(c.name, c.values.kind, c.values.values) for c in self.columns),
        )

    def places(
        self, rows: Sequence[int] | None, columns_used: frozenset[str] | None
    ) -> tuple[Anchor, ...]:
        """The range of these rows (indices) and columns (lower case) on each sheet; None: all."""
        placed = self.rows if not rows else [self.rows[n] for n in rows]
        own = [c for c in self.columns if c.column >= 0]
        used = [c for c in own if columns_used is None or c.name.casefold() in columns_used] or own
        first, last = (column_letters(pick(c.column for c in used)) for pick in (min, max))
        found: list[Anchor] = []
        for sheet in dict.fromkeys(row.sheet for row in placed):
            numbers = [row.number for row in placed if row.sheet == sheet]
            start, end = f"{first}{min(numbers)}", f"{last}{max(numbers)}"
            found.append(Anchor(sheet=sheet, cells=start if start == end else f"{start}:{end}"))
        return tuple(found)

    def span(self, rows: Sequence[int] | None) -> tuple[int, int]:
        """The span of these rows in the text of the document, on the sheet of the first row."""
        placed = self.rows if not rows else [self.rows[n] for n in sorted(rows)]
        here = [row for row in placed if row.sheet == placed[0].sheet]
        return min(row.start for row in here), max(row.end for row in here)


def table_at(
    blocks: Sequence[RowBlock], start: int, end: int, title: str, taken: Iterable[str] = ()
) -> SheetTable | None:
    """The table at the text [start, end), joined with those of the same header.

    Those are sheets for each month, or blocks of rows with empty ones between. Rows of totals are
    left out, so that nothing is counted twice. None when there is no table, it is too small or too
    large, or its cells cannot be separated. `title` is that of the document; `taken` are the names
    of other tables.
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
    every = [row for block in same for row in block.rows]
    rows = [row for row in every if not _is_total(row)]
    totals = tuple(row.number for row in every if _is_total(row))
    if not rows:
        rows, totals = every, ()
    header = next(block.header for block in same if block.header or block is same[-1])
    columns = _columns(header, rows, width, same[0].first_column)
    sheets = dict.fromkeys(row.sheet for row in rows)
    if len(sheets) > 1:
        sheet = ColumnValues("VARCHAR", tuple(row.sheet for row in rows))
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
    header: Sequence[str], rows: Sequence[SheetRow], width: int, first_column: int
) -> list[SheetColumn]:
    width = max(width, len(header))
    cells = [
        [row.cells[n] if n < len(row.cells) else "" for row in rows]
        for n in range(min(width, _MOST_COLUMNS))
    ]
    notation = notation_of(cells)
    columns: list[SheetColumn] = []
    taken: set[str] = set(_TAKEN)
    for n, column in enumerate(cells):
        given = header[n] if n < len(header) else ""
        if not given and not any(column):
            continue
        plain = " ".join(given.replace('"', "'").split())[:_LONGEST_NAME_CHARS].strip()
        name = _free_name(plain or column_letters(first_column + n), taken)
        taken.add(name.casefold())
        columns.append(SheetColumn(name, first_column + n, column_values(column, notation)))
    return columns


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
        columns = sorted({n for row in below for n, cell in enumerate(row.cells) if cell})
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


def _are_names(rows: Iterable[SheetRow]) -> bool:
    cells = [cell for row in rows for cell in row.cells if cell]
    return all(_YEAR.fullmatch(cell) or not _is_number(cell) for cell in cells)


def _has_values(rows: Iterable[SheetRow]) -> bool:
    cells = [cell for row in rows for cell in row.cells if cell]
    return any(map(_is_number, cells))


def _is_number(cell: str) -> bool:
    return not any(map(str.isalpha, cell)) and _DIGIT.search(cell) is not None


# --- texts ----------------------------------------------------------------------------------------

_ALL_VALUES = 12
_SOME_VALUES = 3
_LONGEST_VALUE_CHARS = 40
_LONGEST_CELL_CHARS = 300
_LONGEST_RESULT_CHARS = 4_000
_DIGITS = 15
# How the columns of sums and means are called.
AGGREGATED = {"sum": "sum of {}", "avg": "avg of {}"}
_MOST_SHEETS = 12


def describe_table(table: SheetTable, title: str) -> str:
    """The name of a table, its number of rows, and its columns with some of their values."""
    sheets = [sheet for sheet in table.sheets if sheet]
    where = f", {'sheet' if len(sheets) == 1 else 'sheets'} {', '.join(sheets[:_MOST_SHEETS])}"
    head = f'Table "{table.name}": {title}{where if sheets else ""}, {len(table.rows):,} rows'
    return "\n".join([head, *map(_column_line, table.columns)])


def _column_line(column: SheetColumn) -> str:
    values = column.values
    kinds = Counter(value for value in values.values if value is not None)
    parts = [f'- "{column.name}" {values.kind}']
    parts += [f"in {values.unit}"] if values.unit else []
    if not kinds:
        parts.append("always empty")
    elif values.kind == "VARCHAR" and len(kinds) <= _ALL_VALUES:
        parts.append(f"one of {_listed(list(kinds))}")
    elif values.kind in ("VARCHAR", "BOOLEAN"):
        parts.append(f"such as {_listed([value for value, _ in kinds.most_common(_SOME_VALUES)])}")
    else:
        low, high = _range(values.kind, list(kinds))
        parts.append(f"from {low} to {high}")
    if values.odd_count:
        parts.append(f"NULL where it holds something else: {_listed(values.odd)}")
    return ", ".join(parts)


def _listed(values: Sequence[str]) -> str:
    return ", ".join("'" + _short(value, _LONGEST_VALUE_CHARS) + "'" for value in values)


def _range(kind: str, values: Sequence[str]) -> tuple[str, str]:
    key = float if kind in ("BIGINT", "DOUBLE") else str
    return min(values, key=key), max(values, key=key)


def _short(text: str, most: int) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= most else plain[: most - 1].rstrip() + "…"


def result_text(result: QueryResult, tables: Sequence[SheetTable]) -> str:
    """The result as the text of a source: the tables it covers, then a line for each row."""
    lines = [
        _where(result, tables),
        " | ".join(_short(c, _LONGEST_CELL_CHARS) for c in result.columns),
    ]
    length, shown = 0, 0
    for row in result_cells(result, tables):
        line = " | ".join(_short(cell, _LONGEST_CELL_CHARS) for cell in row)
        length += len(line)
        if shown and length > _LONGEST_RESULT_CHARS:
            break
        lines.append(line)
        shown += 1
    if result.is_cut or shown < len(result.rows):
        lines.append(f"Only the first {shown:,} rows of the result are shown.")
    elif not result.rows:
        lines.append("No rows match.")
    return "\n".join([*lines, *_left_out(result, tables)])


def result_cells(result: QueryResult, tables: Sequence[SheetTable]) -> list[list[str]]:
    """The cells of a result as texts, numbers with the units of their columns."""
    forms = {
        named.format(column.name): column.values.form
        for table in tables
        for column in table.columns
        for named in ("{}", *AGGREGATED.values())
    }
    own = [forms.get(name, "{}") for name in result.columns]
    return [
        [_cell_text(cell, form) for cell, form in zip(row, own, strict=True)] for row in result.rows
    ]


def _cell_text(value: object, form: str) -> str:
    """A value of a result, written as in a spreadsheet."""
    match value:
        case None:
            return ""
        case bool():
            return "TRUE" if value else "FALSE"
        case int() | float() | Decimal() if form != "{}":
            sign, size = "-" if value < 0 else "", abs(value)
            has_cents = is_currency(form.format("").strip()) and size % 1
            return sign + form.format(f"{size:.2f}" if has_cents else f"{size:.{_DIGITS}g}")
        case float():
            return f"{value:.{_DIGITS}g}"
        case datetime.datetime():
            return value.isoformat(" ", "seconds").removesuffix(" 00:00:00")
        case _:
            return str(value)


def _where(result: QueryResult, tables: Sequence[SheetTable]) -> str:
    asked = [table for table in tables if table.name in result.used]
    places = [
        place.label() or "all of it"
        for table in asked
        for place in table.places(None, None)[:_MOST_SHEETS]
    ]
    rows = sum(len(table.rows) for table in asked)
    return f"{RESULT} over {rows:,} rows, {', '.join(places)}:"


def _left_out(result: QueryResult, tables: Sequence[SheetTable]) -> list[str]:
    """The rows and cells that the result leaves out, so that it is not taken for complete."""
    said: list[str] = []
    for table in tables:
        if table.name not in result.used:
            continue
        if table.totals:
            rows = ", ".join(map(str, table.totals[:_MOST_SHEETS]))
            said.append(f"Left out as totals: row {rows}.")
        if table.unclear:
            said.append(f"Left out: {table.unclear:,} rows whose cells could not be separated.")
        used = result.columns_used
        said += [
            f"{column.values.odd_count:,} cells of {column.name} count as empty:"
            f" {_listed(column.values.odd)}."
            for column in table.columns
            if column.values.odd_count and (used is None or column.name.casefold() in used)
        ]
    return said
