"""Rows in the binary form of COPY, made of NumPy arrays. Pure, but for sending them.

The form is described in PostgreSQL's documentation of COPY: a signature, rows of a count of fields,
each with its length, a final mark; numbers are big-endian.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from desktop_rag.store.postgres.database.server_connection import ServerConnection

_SIGNATURE = b"PGCOPY\n\xff\r\n\x00" + bytes(8)
_END = b"\xff\xff"
_UUID_BYTES = 16
_BIGINT = 20
# Dimensions, flags, the type, and the length and first index of the only dimension.
_ARRAY_HEAD_BYTES = 20
_ELEMENT = np.dtype([("size", ">i4"), ("value", ">i8")])


def copy_numbers(
    con: ServerConnection, table: str, columns: Mapping[str, tuple[NDArray[Any], int]]
) -> None:
    """Insert rows of integers, given as columns with the bytes that each takes."""
    values = list(columns.values())
    count = len(values[0][0]) if values else 0
    kinds: list[tuple[str, str]] = [("fields", ">i2")]
    for n, (_, size) in enumerate(values):
        kinds += [(f"size{n}", ">i4"), (f"value{n}", f">i{size}")]
    rows = np.zeros(count, kinds)
    rows["fields"] = len(values)
    for n, (column, size) in enumerate(values):
        rows[f"size{n}"], rows[f"value{n}"] = size, column
    _send(con, table, list(columns), rows.tobytes())


def copy_arrays(
    con: ServerConnection,
    table: str,
    columns: Mapping[str, tuple[NDArray[Any], int]],
    array: tuple[str, NDArray[np.int64], NDArray[np.int64]],
) -> None:
    """Insert rows of integers that end with an array of bigint: (name, sizes, elements of all)."""
    name, sizes, elements = array
    if not len(sizes):
        return
    kinds: list[tuple[str, str]] = [("fields", ">i2")]
    for n, (_, size) in enumerate(columns.values()):
        kinds += [(f"size{n}", ">i4"), (f"value{n}", f">i{size}")]
    kinds += [(part, ">i4") for part in ("bytes", "dimensions", "flags", "type", "length", "from")]
    heads = np.zeros(len(sizes), kinds)
    heads["fields"] = len(columns) + 1
    for n, (column, size) in enumerate(columns.values()):
        heads[f"size{n}"], heads[f"value{n}"] = size, column
    heads["bytes"], heads["dimensions"] = _ARRAY_HEAD_BYTES + sizes * _ELEMENT.itemsize, 1
    heads["type"], heads["length"], heads["from"] = _BIGINT, sizes, 1
    values = np.empty(len(elements), _ELEMENT)
    values["size"], values["value"] = 8, elements
    # Heads and elements take turns; all their sizes are even, so bytes are placed in pairs.
    head_pairs = heads.view(np.uint16).reshape(len(sizes), -1)
    value_pairs = values.view(np.uint16).reshape(len(elements), -1)
    head_size, value_size = head_pairs.shape[1], value_pairs.shape[1]
    row_sizes = head_size + value_size * sizes
    starts = np.cumsum(row_sizes) - row_sizes
    before = np.cumsum(sizes) - sizes
    placed = np.empty(int(row_sizes.sum()), np.uint16)
    placed[starts[:, None] + np.arange(head_size)] = head_pairs
    at = np.repeat(starts + head_size - value_size * before, sizes)
    at += value_size * np.arange(len(elements))
    placed[at[:, None] + np.arange(value_size)] = value_pairs
    _send(con, table, [*columns, name], placed.tobytes())


def copy_vectors(
    con: ServerConnection, table: str, hashes: Sequence[str], vectors: NDArray[np.float32]
) -> None:
    """Insert vectors by their content hashes, rounded to half precision."""
    count, dimensions = vectors.shape
    size = 4 + 2 * dimensions
    rows = np.zeros(
        count,
        [
            ("fields", ">i2"), ("hash_size", ">i4"), ("hash", f"V{_UUID_BYTES}"),
            ("size", ">i4"), ("dimensions", ">i2"), ("unused", ">i2"),
            ("vector", ">f2", (dimensions,)),
        ],
    )  # fmt: skip
    rows["fields"], rows["hash_size"], rows["size"] = 2, _UUID_BYTES, size
    rows["hash"] = np.frombuffer(bytes.fromhex("".join(hashes)), f"V{_UUID_BYTES}")
    rows["dimensions"], rows["vector"] = dimensions, vectors
    _send(con, table, ["content_hash", "vector"], rows.tobytes())


def half_vectors(rows: Sequence[bytes], dimensions: int) -> NDArray[np.float32]:
    """The vectors of values that `halfvec_send` returned, shape (len(rows), dimensions)."""
    whole = np.frombuffer(b"".join(rows), np.dtype([("head", ">i4"), ("v", ">f2", (dimensions,))]))
    return whole["v"].astype(np.float32)


def _send(con: ServerConnection, table: str, names: Sequence[str], rows: bytes) -> None:
    statement = f"COPY {table} ({', '.join(names)}) FROM STDIN (FORMAT binary)"
    with con.own.cursor() as cursor, cursor.copy(statement.encode()) as copy:
        copy.write(_SIGNATURE + rows + _END)
