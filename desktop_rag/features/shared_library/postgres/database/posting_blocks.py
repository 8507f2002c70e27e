"""Postings in blocks: a row for up to 240 chunks of a term, each posting a number of eight bytes.

A question reads a few rows per word, and storing a document writes a row per term. The number has
the distance from the first chunk of the block, the frequency, and the length of the chunk. A block
has chunks of one collection. Documents that move into a collection keep their chunk numbers, so
that the blocks of a term may overlap.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from desktop_rag.features.shared_library.postgres.database.binary_rows import copy_arrays
from desktop_rag.features.shared_library.postgres.database.server_connection import ServerConnection
from desktop_rag.store.contract.search import PostingList

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
