"""Reads and writes the rows that exist nowhere else as JSON: chats, feedback, assistants, sources.

Everything else is derived from the person's files. Runs inside a transaction of the caller.
"""

import base64
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, cast

from desktop_rag.store.contract.database import Connection, Entity, OwnConnection
from desktop_rag.store.contract.precious import Entry, Rows, kinds

IMAGE = "image"
_BLOB = "base64"
# The order of arrival: a pseudocolumn, or a column of its own.
_ROWID = "rowid"
# Rows per INSERT: eight times as fast as one row each.
_ROWS_TOGETHER = 200

# Takes a connection, a table, its columns, and the rows.
InsertRows = Callable[[OwnConnection, str, Sequence[str], Sequence[Sequence[Any]]], None]


def all_rows(connection: Connection, but: Collection[str] = ()) -> Iterator[tuple[Entity, Rows]]:
    """Every precious thing with its rows, except of the kinds in `but`; reads each table once."""
    for name in kinds():
        if name not in but:
            yield from _found(connection, name, "", []).items()


def has_rows(connection: Connection) -> bool:
    """True when there is anything precious; asked in one query, which saves reading each table."""
    tables = (table for kind in kinds().values() for table in kind.tables)
    queries = (f"(SELECT 1 FROM {table} LIMIT 1)" for table in tables)
    return bool(connection.execute(" UNION ALL ".join(queries)).fetchall())


def keys_of(connection: Connection, kind: str) -> list[str]:
    """The keys of all things of a kind."""
    [(table, key), *_] = kinds()[kind].tables.items()
    rows = connection.execute(f"SELECT {key} FROM {table} ORDER BY {_ROWID}").fetchall()
    return [value for (value,) in rows]


def entries_of(connection: Connection) -> Iterator[Entry]:
    """Every entry but images."""
    for entity, rows in all_rows(connection, but=[IMAGE]):
        yield Entry(entity.kind, entity.key, rows, entity.conversation_id)


def images_of(connection: Connection) -> Iterator[Entry]:
    """The images, which may be large, one at a time."""
    for key in keys_of(connection, IMAGE):
        for entity, rows in rows_of(connection, [Entity(IMAGE, key)]):
            yield Entry(entity.kind, entity.key, rows)


def has_documents(connection: Connection) -> bool:
    """True when there is a document."""
    return bool(connection.execute("SELECT 1 FROM documents LIMIT 1").fetchall())


def rows_of(connection: Connection, entities: Sequence[Entity]) -> list[tuple[Entity, Rows]]:
    """Each entity with its rows by table, as columns and values; no rows when it is gone."""
    found: dict[tuple[str, str], Rows] = {}
    for kind in {entity.kind for entity in entities}:
        keys = [entity.key for entity in entities if entity.kind == kind]
        which = (
            " WHERE {key} IN (SELECT unnest(?::VARCHAR[]))" if len(keys) > 1 else " WHERE {key} = ?"
        )
        values: list[Any] = [keys] if len(keys) > 1 else keys
        rows_by_entity = _found(connection, kind, which, values)
        found |= {(kind, entity.key): rows for entity, rows in rows_by_entity.items()}
    nothing = {name: {table: [] for table in kind.tables} for name, kind in kinds().items()}
    return [(e, found.get((e.kind, e.key), nothing[e.kind])) for e in entities]


def _found(
    connection: Connection, name: str, which: str, values: Sequence[Any]
) -> dict[Entity, Rows]:
    """The things of a kind that meet the condition, with their rows."""
    kind = kinds()[name]
    found: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for table, key in kind.tables.items():
        selected = f"{table}{which.format(key=key)} ORDER BY {_ROWID}"
        for row in _rows(connection, selected, values, kind.derived):
            tables = found.setdefault(row[key], {other: [] for other in kind.tables})
            tables[table].append(row)
    entities: dict[Entity, Rows] = {}
    for value, rows in found.items():
        first = next(iter(rows.get("messages", [])), {})
        entities[Entity(name, value, first.get("conversation_id", ""))] = rows
    return entities


def insert_rows(
    connection: Connection, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]
) -> None:
    """Insert rows as parameters; for engines without a faster way."""
    for at in range(0, len(rows), _ROWS_TOGETHER):
        part = rows[at : at + _ROWS_TOGETHER]
        holes = ", ".join([f"({', '.join('?' * len(columns))})"] * len(part))
        sql = f"INSERT INTO {table} ({', '.join(columns)}) VALUES {holes}"
        connection.execute(sql, [value for row in part for value in row])


def put_rows(
    connection: OwnConnection,
    changed: Sequence[tuple[Entity, Rows]],
    insert: InsertRows,
    refusals: tuple[type[Exception], ...],
) -> None:
    """Replace the rows of these entities; columns unknown to the schema are ignored.

    `refusals` are the engine's exceptions for a value that a column can't hold. ValueError when a
    row does not fit the schema; the caller must then roll back.
    """
    for name, kind in kinds().items():
        own = [(entity, rows) for entity, rows in changed if entity.kind == name]
        for table, key in kind.tables.items() if own else ():
            connection.execute(
                f"DELETE FROM {table} WHERE {key} IN (SELECT unnest(?::VARCHAR[]))",
                [[entity.key for entity, _ in own]],
            )
            try:
                rows = _new_rows(connection, table, own)
                for columns, alike in groupby(rows, key=tuple):
                    insert(connection, table, columns, [tuple(row.values()) for row in alike])
            except refusals as exc:
                raise ValueError(f"a value does not fit {table}") from exc


def put_entries(
    connection: OwnConnection,
    entries: Iterable[Entry],
    insert: InsertRows,
    refusals: tuple[type[Exception], ...],
    changes: list[Entity],
) -> None:
    """As `put_rows`, and add to `changes` what was put."""
    rows = [(Entity(e.kind, e.key, e.conversation_id), e.rows) for e in entries]
    put_rows(connection, rows, insert, refusals)
    changes.extend(entity for entity, _ in rows)


def _new_rows(
    connection: Connection, table: str, own: Sequence[tuple[Entity, Rows]]
) -> Iterator[dict[str, Any]]:
    """The rows for a table, reduced to its columns."""
    known = set(_columns(connection, table))
    for entity, rows in own:
        for row in rows.get(table, ()):
            if row.get(kinds()[entity.kind].tables[table]) != entity.key:
                raise ValueError(f"a row of {table} belongs to something else")
            yield {name: _decoded(value) for name, value in row.items() if name in known}


def _rows(
    connection: Connection, which: str, values: Sequence[str], derived: frozenset[str]
) -> list[dict[str, Any]]:
    result = connection.execute(f"SELECT * FROM {which}", list(values))
    names = [column[0] for column in result.description or ()]
    left_out = {*derived, _ROWID}
    return [
        {name: _encoded(v) for name, v in zip(names, row, strict=True) if name not in left_out}
        for row in result.fetchall()
    ]


def _columns(connection: Connection, table: str) -> list[str]:
    result = connection.execute(f"SELECT * FROM {table} LIMIT 0")
    return [column[0] for column in result.description or () if column[0] != _ROWID]


def _encoded(value: object) -> object:
    return {_BLOB: base64.b64encode(value).decode()} if isinstance(value, bytes) else value


def _decoded(value: object) -> object:
    if not isinstance(value, dict):
        return value
    fields = cast("dict[str, str]", value)
    try:
        return base64.b64decode(fields[_BLOB], validate=True)
    except (KeyError, TypeError, ValueError) as exc:
        raise ValueError("a value is no text, number or data") from exc
