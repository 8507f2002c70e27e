"""The rows that exist nowhere else, as JSON and back: chats, feedback, assistants, folders chosen.

Everything else in the library is derived from the person's files and can be built again. Runs
inside a transaction of the caller.
"""

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import duckdb

from desktop_rag.store.duckdb.database.connections import Connection

Rows = Mapping[str, Sequence[Mapping[str, Any]]]
_BLOB = "base64"


@dataclass(frozen=True, slots=True)
class Entity:
    """One precious thing by its kind and key; a message also names its conversation."""

    kind: str
    key: str
    conversation_id: str = ""


@dataclass(frozen=True, slots=True)
class Kind:
    """The tables of a kind with the column that holds the key; the first has a row for each.

    `derived` columns are left out: the app fills them again.
    """

    tables: Mapping[str, str]
    derived: frozenset[str] = field(default_factory=frozenset[str])


KINDS: Mapping[str, Kind] = {
    "collection": Kind({"collections": "collection_id"}, frozenset({"answering"})),
    "source": Kind({"sources": "source_id"}),
    "assistant": Kind({"assistants": "assistant_id"}),
    "conversation": Kind({"conversations": "conversation_id"}),
    "message": Kind({"messages": "message_id", "citations": "message_id"}),
    "feedback": Kind({"feedback": "message_id"}),
    "answer": Kind({"interactions": "interaction_id"}, frozenset({"embedder", "vector"})),
    "image": Kind({"attached_images": "attachment_id"}),
    "evaluation": Kind({"evaluations": "evaluation_id"}),
}
PRECIOUS_TABLES = tuple(table for kind in KINDS.values() for table in kind.tables)


def all_rows(connection: Connection) -> Iterator[tuple[Entity, Rows]]:
    """Every precious thing in the library with its rows; each table is read once."""
    for name, kind in KINDS.items():
        found: dict[str, dict[str, list[dict[str, Any]]]] = {}
        for table, key in kind.tables.items():
            for row in _rows(connection, f"{table} ORDER BY rowid", [], kind.derived):
                tables = found.setdefault(row[key], {other: [] for other in kind.tables})
                tables[table].append(row)
        for value, rows in found.items():
            first = next(iter(rows.get("messages", [])), {})
            yield Entity(name, value, first.get("conversation_id", "")), rows


def rows_of(connection: Connection, entity: Entity) -> Rows:
    """Its rows by table, each as column and value; no rows when it is gone."""
    kind = KINDS[entity.kind]
    return {
        table: _rows(
            connection, f"{table} WHERE {key} = ? ORDER BY rowid", [entity.key], kind.derived
        )
        for table, key in kind.tables.items()
    }


def put_rows(connection: Connection, changed: Sequence[tuple[Entity, Rows]]) -> None:
    """Replace the rows of these entities. A column that the schema does not have is left out.

    ValueError when a row does not fit the schema; then nothing may be committed.
    """
    for name, kind in KINDS.items():
        own = [(entity, rows) for entity, rows in changed if entity.kind == name]
        for table, key in kind.tables.items() if own else ():
            connection.execute(
                f"DELETE FROM {table} WHERE {key} IN (SELECT unnest(?::VARCHAR[]))",
                [[entity.key for entity, _ in own]],
            )
            known = set(_columns(connection, table))
            for entity, rows in own:
                for row in rows.get(table, ()):
                    if row.get(key) != entity.key:
                        raise ValueError(f"a row of {table} belongs to something else")
                    values = {n: _decoded(value) for n, value in row.items() if n in known}
                    _insert(connection, table, values)


def _insert(connection: Connection, table: str, values: Mapping[str, object]) -> None:
    holes = ", ".join("?" * len(values))
    sql = f"INSERT INTO {table} ({', '.join(values)}) VALUES ({holes})"
    try:
        connection.execute(sql, list(values.values()))
    except duckdb.ConversionException as exc:
        raise ValueError(f"a value does not fit {table}") from exc


def _rows(
    connection: Connection, which: str, values: Sequence[str], derived: frozenset[str]
) -> list[dict[str, Any]]:
    result = connection.execute(f"SELECT * FROM {which}", list(values))
    names = [column[0] for column in result.description or ()]
    return [
        {name: _encoded(v) for name, v in zip(names, row, strict=True) if name not in derived}
        for row in result.fetchall()
    ]


def _columns(connection: Connection, table: str) -> list[str]:
    result = connection.execute(f"SELECT * FROM {table} LIMIT 0")
    return [column[0] for column in result.description or ()]


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
