"""Queries over tables in a DuckDB of their own: in memory, without files, network or settings.

sql_allowlist.py decides what may run. In addition the engine is locked down: no external access, no
extensions, no spilling to disk, one core, little memory and a time limit. Constant folding is off:
texts created while a query is planned don't count towards the memory limit. Any thread.
"""

import json
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from threading import Event

import duckdb

from desktop_rag.store.contract.tables import OpenTables, QueryRefusedError, QueryResult, QueryTable
from desktop_rag.store.duckdb.database.bulk_rows import Columns, insert
from desktop_rag.store.duckdb.database.connections import OPTIONS, Connection
from desktop_rag.store.duckdb.tables.sql_allowlist import (
    CheckedSelect,
    checked_select,
    rows_statement,
)

MOST_ROWS = 200
_TIME_S = 5.0
_MEMORY_MB = 256
_LOOK_EVERY_S = 0.02
_LONGEST_ERROR_CHARS = 500
_CLOSED = (
    "SET python_enable_replacements = false",
    "SET disabled_optimizers = 'expression_rewriter'",
    "SET lock_configuration = true",
)


class TableQueries:
    """Opens tables for queries, each time in a database of their own."""

    def __init__(self, *, time_s: float = _TIME_S, memory_mb: int = _MEMORY_MB) -> None:
        """The limits hold for one query."""
        self._time_s = time_s
        self._memory_mb = memory_mb

    @contextmanager
    def open(self, tables: tuple[QueryTable, ...]) -> Generator[OpenTables]:
        """The tables in a database of their own, which is dropped at the end of the context.

        QueryRefusedError when they don't fit into memory.
        """
        options: dict[str, str | bool | int | float | list[str]] = {
            **OPTIONS,
            "enable_external_access": "false",
            "temp_directory": "",
            "threads": "1",
            "memory_limit": f"{self._memory_mb}MB",
        }
        connection = duckdb.connect(":memory:", config=options)
        try:
            with _refusing():
                for table in tables:
                    _load(connection, table)
            for statement in _CLOSED:
                connection.execute(statement)
            yield _TableDatabase(connection, tables, self._time_s)
        finally:
            connection.close()


class _TableDatabase:
    """Implements OpenTables."""

    dialect = "DuckDB"

    def __init__(
        self, connection: Connection, tables: tuple[QueryTable, ...], time_s: float
    ) -> None:
        self._connection = connection
        self._names = {table.name.casefold(): table.name for table in tables}
        self._time_s = time_s

    def run(self, sql: str, cancel: Event) -> QueryResult:
        """The result of one SELECT; see OpenTables."""
        with _refusing():
            checked = checked_select(self._connection, sql, tuple(self._names))
            with _clock(self._connection, self._time_s, cancel):
                return self._result(sql, checked)

    def _result(self, sql: str, checked: CheckedSelect) -> QueryResult:
        used: dict[str, tuple[int, ...] | None] = {self._names[n]: None for n in checked.tables}
        by_rows = rows_statement(checked)
        if by_rows is None:
            columns, rows, is_cut = self._first(sql)
            return QueryResult(columns, rows, is_cut, used, checked.columns)
        statement, has_all = by_rows
        table = self._names[statement["node"]["from_table"]["table_name"].casefold()]
        if has_all:
            columns, rows, is_cut = self._first(self._to_sql(statement))
            used[table] = tuple(row[-1] for row in rows)  # type: ignore[misc]
            return QueryResult(
                columns[:-1], tuple(row[:-1] for row in rows), is_cut, used, checked.columns
            )
        columns, rows, is_cut = self._first(sql)
        found = self._connection.execute(self._to_sql(statement)).fetchall()
        used[table] = tuple(row[0] for row in found)
        return QueryResult(columns, rows, is_cut, used, checked.columns)

    def _to_sql(self, statement: object) -> str:
        parsed = json.dumps({"error": False, "statements": [statement]})
        [(sql,)] = self._connection.execute("SELECT json_deserialize_sql(?)", [parsed]).fetchall()
        return str(sql)

    def _first(self, sql: str) -> tuple[tuple[str, ...], tuple[tuple[object, ...], ...], bool]:
        """Column names, the first rows, and True when there are more."""
        result = self._connection.execute(sql)
        names = tuple(str(column[0]) for column in result.description or ())
        rows = result.fetchmany(MOST_ROWS + 1)
        return names, tuple(map(tuple, rows[:MOST_ROWS])), len(rows) > MOST_ROWS


@contextmanager
def _refusing() -> Generator[None]:
    """Turn DuckDB's errors into a refusal for the author of the query."""
    try:
        yield
    except duckdb.InterruptException as exc:
        raise QueryRefusedError("It took too long.") from exc
    except duckdb.OutOfMemoryException as exc:
        raise QueryRefusedError("It took too much memory.") from exc
    except RecursionError as exc:
        raise QueryRefusedError("The statement is nested too deeply.") from exc
    except duckdb.Error as exc:
        # Cut off the statement that follows: it may be our extended one.
        message = str(exc).partition("\n\nLINE ")[0]
        raise QueryRefusedError(message[:_LONGEST_ERROR_CHARS]) from exc


@contextmanager
def _clock(connection: Connection, time_s: float, cancel: Event) -> Generator[None]:
    """Interrupts what runs inside when its time is up or it is cancelled."""
    is_over = Event()
    until = time.monotonic() + time_s

    def watch() -> None:
        while not is_over.wait(_LOOK_EVERY_S):
            if cancel.is_set() or time.monotonic() > until:
                # Repeatedly: an interrupt between two statements is lost.
                connection.interrupt()

    thread = threading.Thread(target=watch, name="table-query-clock", daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _load(connection: Connection, table: QueryTable) -> None:
    name = _quoted(table.name)
    columns = ", ".join(f"{_quoted(c.name)} {c.kind}" for c in table.columns)
    connection.execute(f"CREATE TABLE {name} ({columns})")
    given: Columns = {f"c{n}": list(column.values) for n, column in enumerate(table.columns)}
    connection.execute(f"CREATE TEMP TABLE given ({', '.join(f'{key} VARCHAR' for key in given)})")
    insert(connection, "given", given)
    casts = ", ".join(
        f"CAST({key} AS {column.kind})" for key, column in zip(given, table.columns, strict=True)
    )
    connection.execute(f"INSERT INTO {name} SELECT {casts} FROM given ORDER BY rowid")
    connection.execute("DROP TABLE given")
    connection.execute("DROP VIEW IF EXISTS incoming")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
