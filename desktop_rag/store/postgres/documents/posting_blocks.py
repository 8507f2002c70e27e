"""Postings in blocks: a row for up to 240 chunks of a term, each posting a number of eight bytes.

A question then reads a few rows a word, and storing a document writes a row a term. The number
holds the distance from the first chunk of the block, the frequency, and the length of the chunk.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from desktop_rag.store.postgres.database.binary_rows import copy_arrays
from desktop_rag.store.postgres.database.server_connection import ServerConnection
from desktop_rag.store.sql.posting_lists import PostingList

# As many fit into a row that is not split; four rows fill a page.
BLOCK = 240
# The maximum of a frequency and of a length, which have two bytes each.
MAX_COUNT = 65_535
_DISTANCE_BITS = 31
_SIGN = 1 << 63
_ELEMENT = np.dtype([("size", ">i4"), ("value", ">i8")])

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocks as columns; `packed` are the postings of all of them, one after the other."""

    keys: Numbers
    firsts: Numbers
    lasts: Numbers
    sizes: Numbers
    packed: Numbers


def signed(key: int) -> int:
    """The key of a term as a bigint holds it."""
    return key - 2 * _SIGN if key >= _SIGN else key


def unsigned(key: int) -> int:
    """The key of a term that a bigint holds."""
    return key + 2 * _SIGN if key < 0 else key


def packed_blocks(keys: Numbers, chunk_ids: Numbers, tf: Numbers, lengths: Numbers) -> Blocks:
    """Postings, ordered by key and chunk, as blocks."""
    count = len(keys)
    if not count:
        return Blocks(*(np.empty(0, np.int64) for _ in range(5)))
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


def insert_blocks(con: ServerConnection, blocks: Blocks) -> None:
    """Store blocks, in the order of their index."""
    copy_arrays(
        con,
        "posting_blocks",
        {
            "key": (blocks.keys, 8),
            "first_chunk": (blocks.firsts, 8),
            "last_chunk": (blocks.lasts, 8),
            "postings": (blocks.sizes, 4),
        },
        ("packed", blocks.sizes, blocks.packed),
    )


def numbers_of(parts: Iterable[bytes]) -> Numbers:
    """The elements of arrays, one after the other."""
    return np.frombuffer(b"".join(parts), _ELEMENT)["value"].astype(np.int64)


def sizes_of(parts: Sequence[bytes]) -> Numbers:
    """The number of elements of each array."""
    return np.array([len(each) // _ELEMENT.itemsize for each in parts], np.int64)


def unpacked(firsts: Sequence[int], parts: Sequence[bytes]) -> PostingList:
    """The postings of a term's blocks, which are in ascending order."""
    numbers = numbers_of(parts)
    chunk_ids = np.repeat(np.array(firsts, np.int64), sizes_of(parts)) + (numbers >> 32)
    return PostingList(
        chunk_ids,
        (numbers >> 16 & MAX_COUNT).astype(np.uint16),
        (numbers & MAX_COUNT).astype(np.uint16),
    )
