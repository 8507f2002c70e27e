"""Rewrites the vectors of a model in their packed form. Used by a migration, on its thread."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from desktop_rag.store.duckdb.database.connections import Connection
from desktop_rag.store.sql.packed_vectors import (
    COLUMN,
    packed,
    packed_windows,
    sign_bits,
    unpacked,
    words_of,
)

_FLOATS_PER_BATCH = 4_000_000


def repack(connection: Connection, table: str, windows: str | None, dimensions: int) -> None:
    """Rewrite a model's table in batches that fit into memory."""
    words = [f"b{k}" for k in range(words_of(dimensions))]
    kinds = {"content_hash": "UUID", "vector": COLUMN} | dict.fromkeys(words, "BIGINT")
    columns = ", ".join(f"{name} {kind}" for name, kind in (kinds | {"windows": COLUMN}).items())
    connection.execute(f"CREATE TABLE packed_{table} ({columns})")
    [(last,)] = connection.execute(f"SELECT coalesce(max(rowid), -1) FROM {table}").fetchall()
    found = f"SELECT v.*, w.vectors AS windows FROM {table} v LEFT JOIN {windows} w"
    found = (
        f"{found} USING (content_hash)" if windows else f"SELECT *, NULL AS windows FROM {table} v"
    )
    batch = max(1, _FLOATS_PER_BATCH // dimensions)
    for first in range(0, last + 1, batch):
        rows = connection.execute(
            f"{found} WHERE v.rowid BETWEEN {first} AND {first + batch - 1}"
        ).fetchall()
        if rows:
            _insert_packed(connection, f"packed_{table}", rows, dimensions)
    connection.execute(f"DROP TABLE {table}")
    connection.execute(f"ALTER TABLE packed_{table} RENAME TO {table}")
    if windows:
        connection.execute(f"DROP TABLE {windows}")


def _insert_packed(
    connection: Connection, table: str, rows: Sequence[tuple[Any, ...]], dimensions: int
) -> None:
    hashes, vectors = [row[0] for row in rows], np.array([row[1] for row in rows], np.float32)
    given = {"content_hash": hashes, "vector": packed(vectors)}
    given["windows"] = [
        None if row[-1] is None else packed_windows(unpacked([row[-1]], dimensions)) for row in rows
    ]
    columns: dict[str, Any] = {name: np.array([*v, None], object)[:-1] for name, v in given.items()}
    columns |= {f"b{k}": bits for k, bits in enumerate(np.ascontiguousarray(sign_bits(vectors).T))}
    connection.register("repacked", columns)
    names = ", ".join(columns)
    connection.execute(f"INSERT INTO {table} ({names}) SELECT {names} FROM repacked")
    connection.unregister("repacked")
