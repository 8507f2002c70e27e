"""A connection to PostgreSQL that takes the SQL of `store/contract`, with `?` and `$name`."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import psycopg
from psycopg import sql
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.pq import Format

# Quoted text, which stays as it is, or a parameter.
_PARTS = re.compile(r"'(?:[^']|'')*'|\?|\$([a-z]\w*)|%")
# Rows of one INSERT; above that, COPY is faster.
_FEW_ROWS = 8

_BIGINT_ARRAY = 1016
# Dimensions, a flag, the type, and the length and first index of the only dimension.
_ARRAY_HEAD_BYTES = 20

Own = psycopg.Connection[tuple[Any, ...]]


class ArrayBytes(Loader):
    """Leaves the elements of a bigint[] as bytes: NumPy decodes those of many rows at once."""

    format = Format.BINARY

    def load(self, data: Buffer) -> bytes:
        """The bytes after the head."""
        return bytes(data)[_ARRAY_HEAD_BYTES:]


class ServerConnection:
    """One connection, for one thread, inside a transaction."""

    def __init__(self, own: Own) -> None:
        self.own = own
        # Called after a commit, but not after a rollback.
        self.after_commit: list[Callable[[], object]] = []

    def execute(self, query: str, parameters: object = None) -> psycopg.Cursor[tuple[Any, ...]]:
        """Run a statement; parameters are a list for `?` and a mapping for `$name`."""
        values: Any = parameters
        if isinstance(values, Mapping):
            values = {name: _sent(value) for name, value in values.items()}  # type: ignore[misc]
        elif values is not None:
            values = [_sent(value) for value in values]
        return self.own.execute(_translated(query).encode(), values or None)

    def rows_with_arrays(
        self, query: str, values: Sequence[Any] | Mapping[str, Any]
    ) -> list[tuple[Any, ...]]:
        """The rows of a statement, with arrays of bigint as the bytes of their elements."""
        with self.own.cursor(binary=True) as cursor:
            cursor.adapters.register_loader(_BIGINT_ARRAY, ArrayBytes)
            return cursor.execute(_translated(query).encode(), values).fetchall()

    def insert(self, table: str, columns: Mapping[str, Sequence[Any]]) -> None:
        """Insert rows, possibly none, given as columns of equal length."""
        rows = zip(*columns.values(), strict=True)
        names = ", ".join(columns)
        if len(next(iter(columns.values()))) <= _FEW_ROWS:
            holes = ", ".join(["%s"] * len(columns))
            with self.own.cursor() as cursor:
                cursor.executemany(f"INSERT INTO {table} ({names}) VALUES ({holes})".encode(), rows)
            return
        self.copy(table, names, rows)

    def copy(self, table: str, names: str, rows: Any) -> None:  # noqa: ANN401
        """Send many rows by COPY."""
        statement = sql.SQL("COPY {}").format(sql.SQL(f"{table} ({names}) FROM STDIN"))  # type: ignore[arg-type]
        with self.own.cursor() as cursor, cursor.copy(statement) as copy:
            for row in rows:
                copy.write_row(row)


@lru_cache(maxsize=2_000)
def _translated(query: str) -> str:
    """The statement with the placeholders of psycopg and doubled percent signs."""
    if "?" not in query and "$" not in query:
        return query

    def placed(match: re.Match[str]) -> str:
        whole = match.group()
        if whole.startswith("'"):
            return whole.replace("%", "%%")
        if whole == "?":
            return "%s"
        return f"%({match[1]})s" if match[1] else "%%"

    return _PARTS.sub(placed, query)


def _sent(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else value
