"""Tables for SQL queries, kept in memory only. Protocols and values; any thread."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from threading import Event
from typing import Literal, Protocol

ColumnKind = Literal["VARCHAR", "BIGINT", "DOUBLE", "DATE", "TIMESTAMP", "TIME", "BOOLEAN"]


class QueryRefusedError(Exception):
    """A query is forbidden, wrong, or exceeds a limit; the message is for the query's author."""


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column. `values` are written as in SQL: `-12.5`, `2026-01-31`, `true`."""

    name: str
    kind: ColumnKind
    values: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class QueryTable:
    """A table; the names of tables, and of the columns of one, differ in more than their case."""

    name: str
    columns: tuple[TableColumn, ...]


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The first rows of a result; `is_cut` is True when there were more.

    `used` maps each table of the query to the numbers, from 0, of the rows that the result is based
    on; None means all of them. `columns_used` are column names in lower case; None means all.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    is_cut: bool
    used: Mapping[str, tuple[int, ...] | None]
    columns_used: frozenset[str] | None


class OpenTables(Protocol):
    """Tables open for queries; for one thread at a time."""

    @property
    def dialect(self) -> str:
        """The name of the SQL dialect, as a model knows it."""
        ...

    def run(self, sql: str, cancel: Event) -> QueryResult:
        """The result of one SELECT over these tables and nothing else.

        QueryRefusedError for any other statement, for an error in it, and when it takes too long or
        too much memory. No statement can read or write anything outside of the tables.
        """
        ...


class TableQueries(Protocol):
    """Opens tables for queries."""

    def open(self, tables: tuple[QueryTable, ...]) -> AbstractContextManager[OpenTables]:
        """The tables in a database of their own, which is dropped at the end of the context."""
        ...
