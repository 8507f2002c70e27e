"""Describes tables to a model, and results to the model and the person. Pure.

Names and cells are untrusted text: the caller fences them in a prompt.
"""

import datetime
from collections import Counter
from collections.abc import Sequence

from desktop_rag.answer.tables.sheet_table import SheetColumn, SheetTable
from desktop_rag.store.contract.tables import QueryResult

_ALL_VALUES = 12
_SOME_VALUES = 3
_LONGEST_VALUE_CHARS = 40
_LONGEST_CELL_CHARS = 300
_LONGEST_RESULT_CHARS = 4_000
_DIGITS = 15
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
    for row in result.rows:
        line = " | ".join(_short(cell_text(cell), _LONGEST_CELL_CHARS) for cell in row)
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


def cell_text(value: object) -> str:
    """A value of a result, written as in a spreadsheet."""
    match value:
        case None:
            return ""
        case bool():
            return "TRUE" if value else "FALSE"
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
    return f"Result of a query over {rows:,} rows, {', '.join(places)}:"


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
