"""Postings come back from blocks as they were, however they are divided."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_rag.features.shared_library.postgres.database.posting_blocks import (
    BLOCK,
    MAX_COUNT,
    Blocks,
    divided,
    insert_blocks,
    packed_blocks,
    place_in,
    signed,
    unpacked,
    unsigned,
)
from desktop_rag.features.shared_library.postgres.database.server_database import ServerDatabase
from desktop_rag.store.contract.engine import Engine

POSTINGS = st.dictionaries(
    st.tuples(st.integers(-(2**63), 2**63 - 1), st.integers(1, 2**40)),
    st.tuples(st.integers(1, MAX_COUNT), st.integers(0, MAX_COUNT)),
    max_size=40,
)


def numbers(values: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(values, np.int64)


@given(POSTINGS)
def test_blocks_hold_what_was_put_in(postings: dict[tuple[int, int], tuple[int, int]]) -> None:
    rows = sorted((*place, *counts) for place, counts in postings.items())
    assert rows_in(blocks_of(rows)) == rows


@given(POSTINGS, st.lists(st.integers(0, 2**40), min_size=4, max_size=4, unique=True))
def test_blocks_are_divided_without_a_loss(
    postings: dict[tuple[int, int], tuple[int, int]], bounds: list[int]
) -> None:
    rows = sorted((*place, *counts) for place, counts in postings.items())
    # As after moves: two collections in one, whose blocks overlap.
    parts = [blocks_of([row for row in rows if row[1] % 2 == rest]) for rest in (0, 1)]
    stored = sorted(block for part in parts for block in stored_blocks(part))
    low, high, later, last = sorted(bounds)
    firsts, lasts = numbers([low, later]), numbers([high, last])
    divisions = divided(stored, lambda chunk_ids: place_in(chunk_ids, firsts, lasts))
    for group, (first, end) in enumerate(((low, high), (later, last))):
        found = rows_in(divisions[group]) if group in divisions else []
        assert found == [row for row in rows if first <= row[1] <= end]


def blocks_of(rows: list[tuple[int, int, int, int]]) -> Blocks:
    return packed_blocks(*(numbers([row[n] for row in rows]) for n in range(4)))


def rows_in(blocks: Blocks) -> list[tuple[int, int, int, int]]:
    """The postings of blocks: key, chunk, frequency, length."""
    found: list[tuple[int, int, int, int]] = []
    ends = np.cumsum(blocks.sizes)
    for n, end in enumerate(ends.tolist()):
        part = blocks.packed[end - int(blocks.sizes[n]) : end]
        for value in part.tolist():
            chunk = int(blocks.firsts[n]) + (value >> 32)
            assert blocks.firsts[n] <= chunk <= blocks.lasts[n]
            found.append((int(blocks.keys[n]), chunk, value >> 16 & 0xFFFF, value & 0xFFFF))
    return found


def stored_blocks(blocks: Blocks) -> list[tuple[int, int, bytes]]:
    """Blocks as the server sends them: each number with its size."""
    ends = np.cumsum(blocks.sizes).tolist()
    return [
        (
            int(key),
            int(first),
            b"".join(
                (8).to_bytes(4) + value.to_bytes(8)
                for value in blocks.packed[end - int(size) : end].tolist()
            ),
        )
        for key, first, size, end in zip(
            blocks.keys, blocks.firsts, blocks.sizes, ends, strict=True
        )
    ]


def test_a_long_list_is_divided() -> None:
    count = 2 * BLOCK + 1
    ones = numbers([1] * count)
    blocks = packed_blocks(ones, np.arange(count), ones, ones)
    assert blocks.sizes.tolist() == [BLOCK, BLOCK, 1]


def test_more_than_two_bytes_hold_are_as_many_as_they_hold() -> None:
    blocks = packed_blocks(*(numbers([n]) for n in (1, 5, 70_000, 80_000)))
    assert blocks.packed.tolist() == [MAX_COUNT << 16 | MAX_COUNT]


@pytest.mark.parametrize("key", [0, 1, 2**63 - 1, 2**63, 2**64 - 1])
def test_keys_fit_into_a_bigint(key: int) -> None:
    assert -(2**63) <= signed(key) < 2**63
    assert unsigned(signed(key)) == key


def test_the_server_gives_blocks_back(engine: Engine) -> None:
    keys, chunks = numbers([7] * 500 + [9]), np.append(np.arange(500) * 3 + 2**33, 4)
    blocks = packed_blocks(keys, chunks, keys + 1, keys + 2)
    assert isinstance(engine.storage, ServerDatabase)
    engine.storage.write(lambda con: insert_blocks(con, blocks, "of-odd-size"))
    with engine.storage.read() as con:
        rows = con.rows_with_arrays(
            "SELECT key, first_chunk, packed FROM posting_blocks ORDER BY key, first_chunk", []
        )
        as_rows = con.execute("SELECT count(*), max(chunk_id), max(tf) FROM postings").fetchall()
    assert [row[0] for row in rows] == [7, 7, 7, 9]
    found = unpacked([row[1] for row in rows], [row[2] for row in rows])
    assert (found.chunk_ids == chunks).all()
    assert (found.tf == keys + 1).all()
    assert (found.lengths == keys + 2).all()
    assert as_rows == [(501, 2**33 + 3 * 499, 10)]
