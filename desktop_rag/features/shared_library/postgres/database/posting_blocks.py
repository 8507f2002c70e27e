"""Postings in blocks: a row for up to 240 chunks of a term, each posting a number of eight bytes.

A question reads a few rows per word, and storing a document writes a row per term. The number has
the distance from the first chunk of the block, the frequency, and the length of the chunk. A block
has chunks of one collection. Documents that move into a collection keep their chunk numbers, so
that the blocks of a term may overlap. They are sent in the binary format of COPY, see PostgreSQL's
manual: big-endian, with a signature, rows that begin with their number of fields, and a trailer.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from desktop_rag.features.shared_library.postgres.database.server_connection import ServerConnection
from desktop_rag.store.contract.search import PostingList

_SIGNATURE = b"PGCOPY\n\xff\r\n\x00" + bytes(8)
_END = b"\xff\xff"
_UUID_BYTES = 16
_BIGINT = 20
# Dimensions, flags, the type, and the length and first index of the only dimension.
_ARRAY_HEAD_BYTES = 20


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


# The most that fit into an undivided row; four rows fill a page.
BLOCK = 240
# The maximum of a frequency and of a length, which have two bytes each.
MAX_COUNT = 65_535
_DISTANCE_BITS = 31
_SIGN = 1 << 63
_ELEMENT = np.dtype([("size", ">i4"), ("value", ">i8")])

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocks as columns; `packed` are the postings of all of them."""

    keys: Numbers
    firsts: Numbers
    lasts: Numbers
    sizes: Numbers
    packed: Numbers


NO_BLOCKS = Blocks(*(np.empty(0, np.int64) for _ in range(5)))


def signed(key: int) -> int:
    """The key of a term as a bigint."""
    return key - 2 * _SIGN if key >= _SIGN else key


def unsigned(key: int) -> int:
    """The key of a term from a bigint."""
    return key + 2 * _SIGN if key < 0 else key


def packed_blocks(keys: Numbers, chunk_ids: Numbers, tf: Numbers, lengths: Numbers) -> Blocks:
    """Postings, ordered by key and chunk, as blocks."""
    count = len(keys)
    if not count:
        return NO_BLOCKS
    is_first = np.ones(count, np.bool_)
    is_first[1:] = keys[1:] != keys[:-1]
    begins = np.flatnonzero(is_first)
    place = np.arange(count) - np.repeat(begins, np.diff(np.append(begins, count)))
    distant = np.zeros(count, np.bool_)
    distant[1:] = np.diff(chunk_ids >> _DISTANCE_BITS) != 0
    starts = np.flatnonzero((place % BLOCK == 0) | distant)
    sizes = np.diff(np.append(starts, count))
    firsts = chunk_ids[starts]
    distance = chunk_ids - np.repeat(firsts, sizes)
    packed = distance << 32 | np.minimum(tf, MAX_COUNT) << 16 | np.minimum(lengths, MAX_COUNT)
    return Blocks(keys[starts], firsts, chunk_ids[starts + sizes - 1], sizes, packed)


def divided(
    rows: Sequence[tuple[int, int, bytes]], group_of: Callable[[Numbers], Numbers]
) -> dict[int, Blocks]:
    """Divides ordered blocks (key, first chunk, packed) into new blocks per group of chunks.

    `group_of` gives the group of each chunk; groups below zero are left out.
    """
    parts = [packed for _, _, packed in rows]
    numbers, sizes = numbers_of(parts), sizes_of(parts)
    keys = np.repeat(np.array([row[0] for row in rows], np.int64), sizes)
    chunk_ids = np.repeat(np.array([row[1] for row in rows], np.int64), sizes) + (numbers >> 32)
    if np.any((keys[1:] == keys[:-1]) & (chunk_ids[1:] < chunk_ids[:-1])):
        order = np.lexsort((chunk_ids, keys))
        keys, chunk_ids, numbers = keys[order], chunk_ids[order], numbers[order]
    groups = group_of(chunk_ids)
    found: dict[int, Blocks] = {}
    for group in np.unique(groups[groups >= 0]).tolist():
        own = groups == group
        tf, lengths = numbers[own] >> 16 & MAX_COUNT, numbers[own] & MAX_COUNT
        found[group] = packed_blocks(keys[own], chunk_ids[own], tf, lengths)
    return found


def place_in(chunk_ids: Numbers, firsts: Numbers, lasts: Numbers) -> Numbers:
    """The index of the range of each chunk, -1 for none; ranges are ordered and disjoint."""
    if not len(firsts):
        return np.full(len(chunk_ids), -1, np.int64)
    place = np.searchsorted(firsts, chunk_ids, "right") - 1
    return np.where((place >= 0) & (chunk_ids <= lasts[place]), place, -1)


def insert_blocks(con: ServerConnection, blocks: Blocks, collection_id: str) -> None:
    """Store the blocks of a collection, in the order of their index."""
    copy_arrays(
        con,
        "posting_blocks",
        {
            "key": (blocks.keys, 8),
            "first_chunk": (blocks.firsts, 8),
            "last_chunk": (blocks.lasts, 8),
            "postings": (blocks.sizes, 4),
        },
        ("collection_id", collection_id),
        ("packed", blocks.sizes, blocks.packed),
    )


def numbers_of(parts: Iterable[bytes]) -> Numbers:
    """The elements of all arrays."""
    return np.frombuffer(b"".join(parts), _ELEMENT)["value"].astype(np.int64)


def sizes_of(parts: Sequence[bytes]) -> Numbers:
    """The number of elements of each array."""
    return np.array([len(each) // _ELEMENT.itemsize for each in parts], np.int64)


def unpacked(firsts: Sequence[int], parts: Sequence[bytes]) -> PostingList:
    """The postings of a term's blocks."""
    numbers = numbers_of(parts)
    chunk_ids = np.repeat(np.array(firsts, np.int64), sizes_of(parts)) + (numbers >> 32)
    return PostingList(
        chunk_ids,
        (numbers >> 16 & MAX_COUNT).astype(np.uint16),
        (numbers & MAX_COUNT).astype(np.uint16),
    )
