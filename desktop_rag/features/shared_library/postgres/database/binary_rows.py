"""Rows in the binary format of PostgreSQL's COPY, made of NumPy arrays, and sent.

The format, see COPY in PostgreSQL's manual, is big-endian: a signature, rows with the number of
their fields, each field with its length, and a trailer.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from desktop_rag.features.shared_library.postgres.database.server_connection import ServerConnection

_SIGNATURE = b"PGCOPY\n\xff\r\n\x00" + bytes(8)
_END = b"\xff\xff"
_UUID_BYTES = 16
_BIGINT = 20
# Dimensions, flags, the type, and the length and first index of the only dimension.
_ARRAY_HEAD_BYTES = 20
_ELEMENT = np.dtype([("size", ">i4"), ("value", ">i8")])


def copy_arrays(
    con: ServerConnection,
    table: str,
    columns: Mapping[str, tuple[NDArray[Any], int]],
    same: tuple[str, str],
    array: tuple[str, NDArray[np.int64], NDArray[np.int64]],
) -> None:
    """Insert rows of integers, the `same` text (name, value), and a bigint array.

    The array is (name, sizes, elements of all rows).
    """
    name, sizes, elements = array
    if not len(sizes):
        return
    text = same[1].encode()
    kinds: list[tuple[str, str]] = [("fields", ">i2")]
    for n, (_, size) in enumerate(columns.values()):
        kinds += [(f"size{n}", ">i4"), (f"value{n}", f">i{size}")]
    kinds += _text_kinds(text)
    kinds += [(part, ">i4") for part in ("bytes", "dimensions", "flags", "type", "length", "from")]
    heads = np.zeros(len(sizes), kinds)
    heads["fields"] = len(columns) + 2
    _put_text(heads, text)
    for n, (column, size) in enumerate(columns.values()):
        heads[f"size{n}"], heads[f"value{n}"] = size, column
    heads["bytes"], heads["dimensions"] = _ARRAY_HEAD_BYTES + sizes * _ELEMENT.itemsize, 1
    heads["type"], heads["length"], heads["from"] = _BIGINT, sizes, 1
    values = np.empty(len(elements), _ELEMENT)
    values["size"], values["value"] = 8, elements
    _send(con, table, [*columns, same[0], name], _in_turns(heads, sizes, values).tobytes())


def _in_turns(
    heads: NDArray[Any], sizes: NDArray[np.int64], values: NDArray[Any]
) -> NDArray[np.unsignedinteger]:
    """Each head followed by its share of the values."""
    # Bytes are placed in pairs where all sizes are even.
    unit = np.uint8 if heads.itemsize % 2 else np.uint16
    head_units = heads.view(unit).reshape(len(sizes), -1)
    value_units = values.view(unit).reshape(len(values), -1)
    head_size, value_size = head_units.shape[1], value_units.shape[1]
    row_sizes = head_size + value_size * sizes
    starts = np.cumsum(row_sizes) - row_sizes
    before = np.cumsum(sizes) - sizes
    placed = np.empty(int(row_sizes.sum()), unit)
    placed[starts[:, None] + np.arange(head_size)] = head_units
    at = np.repeat(starts + head_size - value_size * before, sizes)
    at += value_size * np.arange(len(values))
    placed[at[:, None] + np.arange(value_size)] = value_units
    return placed


def copy_vectors(
    con: ServerConnection,
    table: str,
    hashes: Sequence[str],
    vectors: NDArray[np.float32],
    collection_id: str,
) -> None:
    """Insert the vectors of contents in a collection, rounded to half precision."""
    count, dimensions = vectors.shape
    size = 4 + 2 * dimensions
    text = collection_id.encode()
    rows = np.zeros(
        count,
        [
            ("fields", ">i2"), ("hash_size", ">i4"), ("hash", f"V{_UUID_BYTES}"),
            *_text_kinds(text), ("size", ">i4"), ("dimensions", ">i2"), ("unused", ">i2"),
            ("vector", ">f2", (dimensions,)),
        ],
    )  # fmt: skip
    rows["fields"], rows["hash_size"], rows["size"] = 3, _UUID_BYTES, size
    _put_text(rows, text)
    rows["hash"] = np.frombuffer(bytes.fromhex("".join(hashes)), f"V{_UUID_BYTES}")
    rows["dimensions"], rows["vector"] = dimensions, vectors
    _send(con, table, ["content_hash", "collection_id", "vector"], rows.tobytes())


def half_vectors(rows: Sequence[bytes], dimensions: int) -> NDArray[np.float32]:
    """The vectors of values that `halfvec_send` returned, shape (len(rows), dimensions)."""
    whole = np.frombuffer(b"".join(rows), np.dtype([("head", ">i4"), ("v", ">f2", (dimensions,))]))
    return whole["v"].astype(np.float32)


def _text_kinds(text: bytes) -> list[tuple[str, str]]:
    return [("text_size", ">i4"), *([("text", f"S{len(text)}")] if text else [])]


def _put_text(rows: NDArray[Any], text: bytes) -> None:
    rows["text_size"] = len(text)
    if text:
        rows["text"] = text


def _send(con: ServerConnection, table: str, names: Sequence[str], rows: bytes) -> None:
    statement = f"COPY {table} ({', '.join(names)}) FROM STDIN (FORMAT binary)"
    with con.own.cursor() as cursor, cursor.copy(statement.encode()) as copy:
        copy.write(_SIGNATURE + rows + _END)
