"""Tables that questions are asked of by a query, kept nowhere. Protocols and values; any thread."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from threading import Event
from typing import Literal, Protocol

ColumnKind = Literal["VARCHAR", "BIGINT", "DOUBLE", "DATE", "TIMESTAMP", "TIME", "BOOLEAN"]


class QueryRefusedError(Exception):
    """A query is not allowed, is wrong, or took too much; its text says so to whoever wrote it."""


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column by name and kind. `values` are as SQL writes them: `-12.5`, `2026-01-31`, `true`."""

    name: str
    kind: ColumnKind
    values: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class QueryTable:
    """A table; names of tables, and of columns in one, differ in more than their case."""

    name: str
    columns: tuple[TableColumn, ...]


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The first rows of a result; `is_cut` says that there were more.

    `used` has the rows, from 0, of each table that was asked that the result rests on: None stands
    for all of them. `columns_used` are names of columns in small letters; None stands for all.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    is_cut: bool
    used: Mapping[str, tuple[int, ...] | None]
    columns_used: frozenset[str] | None


class OpenTables(Protocol):
    """Tables that can be asked; for one thread at a time."""

    def run(self, sql: str, cancel: Event) -> QueryResult:
        """The result of one SELECT over the tables, and nothing but them.

        QueryRefusedError for whatever else it is, for a mistake in it, and when it takes too long
        or too much memory. Nothing is read or written outside of the tables, whatever it says.
        """
        ...


class TableQueries(Protocol):
    """Opens tables for queries."""

    def open(self, tables: tuple[QueryTable, ...]) -> AbstractContextManager[OpenTables]:
        """The tables in a room of their own, which is gone when the context ends."""
        ...
