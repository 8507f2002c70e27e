"""The table that holds the vectors of one model: its name, its columns, how it is made.

Each model has a table of its own, so that vectors of two models never mix. A row is a content, its
vector and windows, and the sign bits of the vector in columns of 64.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from desktop_rag.store.duckdb.database.connections import Connection
from desktop_rag.store.duckdb.search.chunk_cache import ContentKeys, content_key
from desktop_rag.store.sql.packed_vectors import COLUMN, words_of


def table_name(model_id: int) -> str:
    """The name of a model's table."""
    return f"vectors_{model_id:d}"


@dataclass(frozen=True, slots=True)
class VectorTable:
    """The table of one model."""

    model_id: int
    dimensions: int

    @property
    def name(self) -> str:
        """Its name in SQL."""
        return table_name(self.model_id)

    @property
    def sign_columns(self) -> list[str]:
        """The columns of the sign bits."""
        return [f"b{k}" for k in range(words_of(self.dimensions))]

    @property
    def keys_and_signs(self) -> str:
        """SQL that selects the key of the content and its sign bits."""
        return f"{content_key('content_hash')} AS content, {', '.join(self.sign_columns)}"

    def read_signs(self, con: Connection) -> tuple[ContentKeys, NDArray[np.int64]]:
        """The contents of all vectors and their sign bits, shape (words, vectors)."""
        rows = con.execute(f"SELECT {self.keys_and_signs} FROM {self.name}").fetchnumpy()
        return rows["content"], np.stack([rows[name] for name in self.sign_columns])


def find(con: Connection, model: str, dimensions: int) -> VectorTable | None:
    """The table of a model; None for one without vectors."""
    known = con.execute(
        "SELECT model_id FROM models WHERE name = ? AND dimensions = ?", [model, dimensions]
    ).fetchall()
    return VectorTable(known[0][0], dimensions) if known else None


def find_or_create(con: Connection, model: str, dimensions: int) -> VectorTable:
    """The table of a model, inside a transaction."""
    if known := find(con, model, dimensions):
        return known
    [(number,)] = con.execute("SELECT coalesce(max(model_id), 0) + 1 FROM models").fetchall()
    table = VectorTable(number, dimensions)
    con.execute(
        "INSERT INTO models (model_id, name, dimensions) VALUES (?, ?, ?)",
        [number, model, dimensions],
    )
    create(con, table)
    return table


def create(con: Connection, table: VectorTable) -> None:
    """Create the table of a model, inside a transaction."""
    bits = ", ".join(f"{name} BIGINT" for name in table.sign_columns)
    con.execute(
        f"CREATE TABLE {table.name} (content_hash UUID, vector {COLUMN}, {bits}, windows {COLUMN})"
    )
