"""Postings come back from blocks as they were, however they are divided."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.postgres.database.server_database import ServerDatabase
from desktop_rag.store.postgres.documents.posting_blocks import (
    BLOCK,
    MAX_COUNT,
    insert_blocks,
    packed_blocks,
    signed,
    unpacked,
    unsigned,
)

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
    blocks = packed_blocks(*(numbers([row[n] for row in rows]) for n in range(4)))
    found: list[tuple[int, int, int, int]] = []
    ends = np.cumsum(blocks.sizes)
    for n, end in enumerate(ends.tolist()):
        part = blocks.packed[end - int(blocks.sizes[n]) : end]
        for value in part.tolist():
            chunk = int(blocks.firsts[n]) + (value >> 32)
            assert blocks.firsts[n] <= chunk <= blocks.lasts[n]
            found.append((int(blocks.keys[n]), chunk, value >> 16 & 0xFFFF, value & 0xFFFF))
    assert found == rows


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
    engine.storage.write(lambda con: insert_blocks(con, blocks))
    with engine.storage.read() as con:
        rows = con.rows_with_arrays(
            "SELECT key, first_chunk, packed FROM posting_blocks ORDER BY key, first_chunk",
            [],
        )
        as_rows = con.execute("SELECT count(*), max(chunk_id), max(tf) FROM postings").fetchall()
    assert [row[0] for row in rows] == [7, 7, 7, 9]
    found = unpacked([row[1] for row in rows], [row[2] for row in rows])
    assert (found.chunk_ids == chunks).all()
    assert (found.tf == keys + 1).all()
    assert (found.lengths == keys + 2).all()
    assert as_rows == [(501, 2**33 + 3 * 499, 10)]
