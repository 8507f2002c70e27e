"""Passes many rows or numbers to DuckDB in the fastest way. Inside a transaction."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from desktop_rag.store.contract.database import sql_plain_name
from desktop_rag.store.duckdb.database.connections import Connection

Columns = dict[str, Sequence[Any] | NDArray[Any]]

# At most this many rows are passed as parameters.
_FEW_ROWS = 4
# Rows whose values are in memory as parameters at a time.
_ROWS_TOGETHER = 1000
# At most this many numbers are written into the statement.
_FEW_NUMBERS = 32
# Derived columns by table: the column each is made of, and the SQL.
DERIVED: Mapping[str, Mapping[str, tuple[str, Callable[[str], str]]]] = {
    "documents": {
        "plain_name": ("path", sql_plain_name),
        "key": ("document_id", lambda column: f"md5_number_lower({column})"),
    }
}


def sql_in_numbers(con: Connection, column: str, numbers: Iterable[int]) -> str:
    """SQL that is true when a column equals one of the numbers; valid until the next call.

    A table of numbers is twice as fast as unnest() of a list.
    """
    numbers = list(numbers)
    if not numbers:
        return "false"
    if len(numbers) <= _FEW_NUMBERS:
        return f"{column} IN (VALUES {', '.join(f'({number}::BIGINT)' for number in numbers)})"
    con.register("wanted", {"number": np.array(numbers, np.int64)})
    return f"{column} IN (SELECT number FROM wanted)"


def insert(
    connection: Connection,
    table: str,
    columns: Columns,
    computed: Mapping[str, tuple[str, Callable[[str], str]]] | None = None,
) -> None:
    """Insert rows given as columns of equal length by name, possibly none.

    `computed` are further columns: the given column each is made of, and a function from its name
    to SQL. Except for a few rows, whole columns are five times faster than `executemany`.
    """
    count = len(next(iter(columns.values())))
    if not count:
        return
    given = list(columns)
    made = dict(computed or {})
    target = f"INSERT INTO {table} ({', '.join([*given, *made])})"
    if count <= _FEW_ROWS and all(isinstance(values, list) for values in columns.values()):
        row = f"({', '.join([*'?' * len(given), *(sql('?') for _, sql in made.values())])})"
        values = [*columns.values(), *(columns[name] for name, _ in made.values())]
        parameters = [value for row in zip(*values, strict=True) for value in row]
        connection.execute(f"{target} VALUES {', '.join([row] * count)}", parameters)
        return
    # Not unregistered: that takes time, and the next insert replaces it.
    connection.register("incoming", {n: _as_array(values) for n, values in columns.items()})
    values = [*given, *(sql(name) for name, sql in made.values())]
    connection.execute(f"{target} SELECT {', '.join(values)} FROM incoming")


def insert_rows(
    con: Connection, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]
) -> None:
    """Insert rows of Python values, each converted to the type of its column.

    A list for each column is twelve times faster than a parameter for each value, and unlike whole
    columns it doesn't guess types from the first values.
    """
    described = con.execute(
        "SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = ?", [table]
    )
    types = dict(described.fetchall())
    lists = ", ".join(f"unnest(?::{types[name]}[], max_depth := 1)" for name in columns)
    sql = f"INSERT INTO {table} ({', '.join(columns)}) SELECT {lists}"
    for at in range(0, len(rows), _ROWS_TOGETHER):
        part = rows[at : at + _ROWS_TOGETHER]
        con.execute(sql, [list(values) for values in zip(*part, strict=True)])


def _as_array(values: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    if isinstance(values, np.ndarray) and values.ndim == 1:
        return values
    if len(values) and isinstance(values[0], int | float | bool):
        array = np.asarray(values)
        # NumPy turns integers on both sides of 2^63 into floats, which lose the last bits.
        is_rounded = array.dtype.kind == "f" and all(isinstance(v, int) for v in values)
        return np.array(values, np.uint64) if is_rounded else array
    # NumPy would turn texts into a fixed-width array and vectors into a matrix.
    objects = np.empty(len(values), dtype=object)
    if len(values) and isinstance(values[0], str):
        objects[:] = values
        return objects
    for index, value in enumerate(values):
        objects[index] = value
    return objects
